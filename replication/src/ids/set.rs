/// A set of slot indices: one bit each, and above every 64 words one word saying which of them are not zero.
///
/// Walking costs what is found; whole sets combine word by word. Indices beyond the highest inserted read as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSet {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl SlotSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for indices below `columns`, so that inserting them allocates nothing.
    pub fn reserve(&mut self, columns: usize) {
        let words = columns.div_ceil(64);
        if words > self.words.len() {
            self.words.resize(words, 0);
            self.summary.resize(words.div_ceil(64), 0);
        }
    }

    /// Adds an index; true when it was absent.
    #[inline]
    pub fn insert(&mut self, index: usize) -> bool {
        let word = index / 64;
        if word >= self.words.len() {
            self.reserve(index + 1);
        }
        let bit = 1 << (index % 64);
        let absent = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.summary[word / 64] |= 1 << (word % 64);
        absent
    }

    /// Adds an index if `wanted`, without a branch. Indices for which no room was [reserved](Self::reserve) are left out.
    #[inline]
    pub(crate) fn insert_if(&mut self, index: usize, wanted: bool) {
        let word = index / 64;
        if let (Some(bits), Some(group)) = (self.words.get_mut(word), self.summary.get_mut(word / 64)) {
            *bits |= u64::from(wanted) << (index % 64);
            *group |= u64::from(wanted) << (word % 64);
        }
    }

    /// Removes an index; true when it was present.
    #[inline]
    pub fn remove(&mut self, index: usize) -> bool {
        let word = index / 64;
        let bit = 1 << (index % 64);
        match self.words.get_mut(word) {
            Some(bits) if *bits & bit != 0 => {
                *bits &= !bit;
                if *bits == 0 {
                    self.summary[word / 64] &= !(1 << (word % 64));
                }
                true
            }
            _ => false,
        }
    }

    /// Whether an index is present.
    #[inline]
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        self.word(index / 64) >> (index % 64) & 1 != 0
    }

    /// Bits of the indices `64 * word ..`.
    #[inline]
    #[must_use]
    pub fn word(&self, word: usize) -> u64 {
        self.words.get(word).copied().unwrap_or(0)
    }

    /// Replaces the bits of the indices `64 * word ..`.
    #[inline]
    pub fn set_word(&mut self, word: usize, bits: u64) {
        if word >= self.words.len() {
            if bits == 0 {
                return;
            }
            self.reserve((word + 1) * 64);
        }
        self.words[word] = bits;
        let mark = 1 << (word % 64);
        if bits == 0 {
            self.summary[word / 64] &= !mark;
        } else {
            self.summary[word / 64] |= mark;
        }
    }

    /// Words that are not zero, in order, each with its number.
    pub fn words(&self) -> impl Iterator<Item = (usize, u64)> {
        self.summary
            .iter()
            .enumerate()
            .flat_map(|(group, &bits)| Bits(bits).map(move |bit| group * 64 + bit))
            .map(|word| (word, self.words[word]))
    }

    /// Indices present, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words().flat_map(|(word, bits)| Bits(bits).map(move |bit| word * 64 + bit))
    }

    /// Indices present; counts by walking.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words().map(|(_, bits)| bits.count_ones() as usize).sum()
    }

    /// Whether no index is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summary.iter().all(|&bits| bits == 0)
    }

    /// Removes every index, at the cost of those present; keeps the memory.
    pub fn clear(&mut self) {
        for (group, bits) in self.summary.iter_mut().enumerate() {
            for bit in Bits(*bits) {
                self.words[group * 64 + bit] = 0;
            }
            *bits = 0;
        }
    }

    /// Whether an index is present that is absent in `other`.
    pub(crate) fn exceeds(&self, other: &Self) -> bool {
        let shared = self.words.len().min(other.words.len());
        let (within, beyond) = self.words.split_at(shared);
        // All words without a branch between them: there are few, and mostly none differs.
        let more = within.iter().zip(&other.words).fold(0, |more, (own, others)| more | (own & !others));
        more != 0 || beyond.iter().any(|word| *word != 0)
    }

    /// Adds every index of `other`.
    pub fn union_with(&mut self, other: &Self) {
        self.reserve(other.words.len() * 64);
        for (word, bits) in other.words() {
            self.words[word] |= bits;
            self.summary[word / 64] |= 1 << (word % 64);
        }
    }
}

/// The set bits of a word, lowest first.
#[derive(Clone, Copy, Debug)]
pub struct Bits(pub u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_slot_set_equals_a_set(ops in proptest::collection::vec((0usize..9_000, 0u8..8), 0..120)) {
            let mut set = SlotSet::new();
            let mut naive = BTreeSet::new();
            for (index, op) in ops {
                match op {
                    0 => {
                        set.clear();
                        naive.clear();
                    }
                    1..=3 => prop_assert_eq!(set.remove(index), naive.remove(&index)),
                    _ => prop_assert_eq!(set.insert(index), naive.insert(index)),
                }
            }
            prop_assert_eq!(set.len(), naive.len());
            prop_assert_eq!(set.is_empty(), naive.is_empty());
            prop_assert!(set.iter().eq(naive.iter().copied()));
            prop_assert!(naive.iter().all(|&index| set.contains(index)));
            let mut union = SlotSet::new();
            union.insert(3);
            union.union_with(&set);
            naive.insert(3);
            prop_assert!(union.iter().eq(naive.iter().copied()));
            prop_assert_eq!(union.exceeds(&set), !set.contains(3));
            prop_assert!(!set.exceeds(&union));
            prop_assert_eq!(set.exceeds(&SlotSet::new()), !set.is_empty());
            for word in 0..150 {
                union.set_word(word, 0);
            }
            prop_assert!(union.is_empty());
        }
    }
}
