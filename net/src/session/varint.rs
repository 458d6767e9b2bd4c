//! Integers of one, two, four or eight bytes, and the reader they are read with.

/// Largest number a varint can hold.
pub(crate) const MAX_VARINT: u64 = (1 << 62) - 1;

/// Appends `value`, which is at most [`MAX_VARINT`]: the two low bits of the first byte tell the length, little-endian.
pub(crate) fn write_varint(value: u64, out: &mut Vec<u8>) {
    debug_assert!(value <= MAX_VARINT);
    let shifted = value << 2;
    match value {
        0..=0x3F => out.push(shifted as u8),
        0x40..=0x3FFF => out.extend_from_slice(&((shifted | 1) as u16).to_le_bytes()),
        0x4000..=0x3FFF_FFFF => out.extend_from_slice(&((shifted | 2) as u32).to_le_bytes()),
        _ => out.extend_from_slice(&(shifted | 3).to_le_bytes()),
    }
}

/// Bytes [`write_varint`] takes for `value`.
pub(crate) fn varint_bytes(value: u64) -> usize {
    match value {
        0..=0x3F => 1,
        0x40..=0x3FFF => 2,
        0x4000..=0x3FFF_FFFF => 4,
        _ => 8,
    }
}

/// Takes pieces off the front of a payload; `None` where it is too short.
#[derive(Clone, Copy)]
pub(crate) struct PayloadReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> PayloadReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes taken so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// A little-endian number of `count` bytes, one to eight.
    pub(crate) fn number(&mut self, count: usize) -> Option<u64> {
        if let Some(eight) = self.bytes[self.at..].first_chunk() {
            self.at += count;
            return Some(u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * count)));
        }
        let mut number = [0; 8];
        number[..count].copy_from_slice(self.take(count)?);
        Some(u64::from_le_bytes(number))
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        self.number(1 << (first & 3)).map(|number| number >> 2)
    }
}

/// The number nearest to `expected` whose low `bits` bits are `low`.
pub(crate) fn widen(low: u64, bits: u32, expected: u64) -> u64 {
    let span = 1u64 << bits;
    let candidate = (expected & !(span - 1)) | low;
    if candidate.saturating_add(span / 2) <= expected && candidate <= u64::MAX - span {
        candidate + span
    } else if candidate > expected.saturating_add(span / 2) && candidate >= span {
        candidate - span
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_come_back(value in 0..=MAX_VARINT, shift in 0u32..62) {
            let value = value >> shift;
            let mut out = Vec::new();
            write_varint(value, &mut out);
            prop_assert_eq!(out.len(), varint_bytes(value));
            let mut reader = PayloadReader::new(&out);
            prop_assert_eq!(reader.varint(), Some(value));
            prop_assert_eq!(reader.remaining(), 0);
            prop_assert_eq!(PayloadReader::new(&out[..out.len() - 1]).varint(), None);
        }

        // Invariant 9: numbers shortened on the wire come back wide, near every edge.
        #[test]
        fn shortened_numbers_come_back(edge in 0u32..63, near in -600i64..600, ahead in -100i64..100, bytes in 1u32..=4) {
            let expected = (1u64 << edge).saturating_add_signed(near);
            let number = expected.saturating_add_signed(ahead);
            let bits = 8 * bytes;
            prop_assert_eq!(widen(number & ((1 << bits) - 1), bits, expected), number);
        }
    }
}
