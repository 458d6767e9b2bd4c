//! Which blocks of a long message are there.

use crate::session::frame::BLOCK_BYTES;

/// A set of a message's blocks of [`BLOCK_BYTES`].
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    words: Box<[u64]>,
    total_bytes: u32,
    missing: u32,
}

impl Blocks {
    /// The empty set for a message of `total_bytes`.
    pub(crate) fn new(total_bytes: u32) -> Self {
        let blocks = total_bytes.div_ceil(BLOCK_BYTES as u32);
        Self { words: vec![0; blocks.div_ceil(64) as usize].into(), total_bytes, missing: blocks }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.missing == 0
    }

    /// Adds the blocks of bytes `start..end`; both are multiples of the block's length, or the message's end.
    pub(crate) fn insert(&mut self, start: u32, end: u32) {
        for block in self.blocks(start, end) {
            let (word, bit) = (&mut self.words[block as usize / 64], 1 << (block % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.missing -= 1;
            }
        }
    }

    /// The first gap within bytes `start..end`, as bytes.
    pub(crate) fn first_gap(&self, start: u32, end: u32) -> Option<(u32, u32)> {
        let mut blocks = self.blocks(start, end);
        let first = blocks.find(|&block| !self.has(block))?;
        let after = blocks.find(|&block| self.has(block)).map_or(end, |block| block * BLOCK_BYTES as u32);
        Some((first * BLOCK_BYTES as u32, after))
    }

    fn has(&self, block: u32) -> bool {
        self.words[block as usize / 64] >> (block % 64) & 1 == 1
    }

    fn blocks(&self, start: u32, end: u32) -> std::ops::Range<u32> {
        debug_assert!(start <= end && end <= self.total_bytes);
        start / BLOCK_BYTES as u32..end.div_ceil(BLOCK_BYTES as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_list_of_flags(total in 1u32..3_000, spans in prop::collection::vec((0u32..200, 1u32..40), 0..30)) {
            let mut blocks = Blocks::new(total);
            let count = total.div_ceil(16);
            let mut model = vec![false; count as usize];
            for (start, more) in spans {
                let start = start.min(count - 1);
                let end = (start + more).min(count);
                blocks.insert(start * 16, (end * 16).min(total));
                model[start as usize..end as usize].fill(true);
                prop_assert_eq!(blocks.is_full(), model.iter().all(|&there| there));
                let gap = model.iter().position(|&there| !there).map(|first| {
                    let after = model[first..].iter().position(|&there| there).map_or(total, |more| (first + more) as u32 * 16);
                    (first as u32 * 16, after)
                });
                prop_assert_eq!(blocks.first_gap(0, total), gap);
            }
        }
    }
}
