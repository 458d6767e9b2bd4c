//! The byte cursor every message codec is written with: little-endian numbers, varints, checked reads.

use glam::Vec3;

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadError {
    /// The slice ended before the value did.
    Truncated,
    /// A varint was longer than its type or not in its shortest form.
    Varint,
    /// A value lies outside what its field allows: an unknown tag, a length above its limit, a nonfinite float.
    Value,
    /// Bytes were left over where a message had to end.
    Trailing,
}

/// The largest float a message may hold: 2^30. Products of a few such numbers stay finite, so that what was read as a finite
/// number does not become infinite by being reckoned with.
pub const MAX_MAGNITUDE: f32 = 1_073_741_824.0;

/// Whether a message may hold the vector: each component at most [`MAX_MAGNITUDE`] either way.
#[must_use]
pub fn is_bounded(vector: Vec3) -> bool {
    vector.is_finite() && vector.abs().max_element() <= MAX_MAGNITUDE
}

/// Reads values from a slice, front to back. Never panics, never allocates.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

macro_rules! fixed {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Reads a little-endian `", stringify!($type), "`.\n\n# Errors\n\n[`ReadError::Truncated`] when too few bytes are left.")]
        pub fn $name(&mut self) -> Result<$type, ReadError> {
            let (head, tail) = self.bytes.split_first_chunk().ok_or(ReadError::Truncated)?;
            self.bytes = tail;
            Ok(<$type>::from_le_bytes(*head))
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fixed!(u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f32: f32, f64: f64);

    /// Bytes not read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a varint: 7 bits a byte, low bits first, at most 10 bytes, shortest form only.
    ///
    /// # Errors
    ///
    /// [`ReadError::Truncated`] or [`ReadError::Varint`].
    pub fn varint(&mut self) -> Result<u64, ReadError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(ReadError::Varint);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift != 0 { Err(ReadError::Varint) } else { Ok(value) };
            }
        }
        Err(ReadError::Varint)
    }

    /// Reads a varint that must be at most `limit`; use it for every length and count.
    ///
    /// # Errors
    ///
    /// As [`Reader::varint`], and [`ReadError::Value`] above the limit.
    pub fn varint_at_most(&mut self, limit: u64) -> Result<u64, ReadError> {
        let value = self.varint()?;
        if value > limit { Err(ReadError::Value) } else { Ok(value) }
    }

    /// Reads `len` bytes without copying them.
    ///
    /// # Errors
    ///
    /// [`ReadError::Truncated`] when fewer are left.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], ReadError> {
        let (head, tail) = self.bytes.split_at_checked(len).ok_or(ReadError::Truncated)?;
        self.bytes = tail;
        Ok(head)
    }

    /// Reads bytes prefixed by their varint length, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// As [`Reader::varint_at_most`] and [`Reader::take`].
    pub fn prefixed(&mut self, limit: usize) -> Result<&'a [u8], ReadError> {
        let len = self.varint_at_most(limit as u64)?;
        self.take(len as usize)
    }

    /// Reads UTF-8 text prefixed by its varint length in bytes, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// As [`Reader::prefixed`], and [`ReadError::Value`] when it is not UTF-8.
    pub fn text(&mut self, limit: usize) -> Result<&'a str, ReadError> {
        std::str::from_utf8(self.prefixed(limit)?).map_err(|_| ReadError::Value)
    }

    /// Reads a byte that must be 0 or 1.
    ///
    /// # Errors
    ///
    /// [`ReadError::Truncated`], or [`ReadError::Value`] for any other byte.
    pub fn bool(&mut self) -> Result<bool, ReadError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ReadError::Value),
        }
    }

    /// Reads three `f32`, which may be nonfinite: whoever uses them checks.
    ///
    /// # Errors
    ///
    /// [`ReadError::Truncated`].
    pub fn vec3(&mut self) -> Result<Vec3, ReadError> {
        Ok(Vec3::new(self.f32()?, self.f32()?, self.f32()?))
    }

    /// Reads an `f32` of at most [`MAX_MAGNITUDE`] either way.
    ///
    /// # Errors
    ///
    /// [`ReadError::Truncated`], or [`ReadError::Value`] when it is larger or nonfinite.
    pub fn bounded_f32(&mut self) -> Result<f32, ReadError> {
        let value = self.f32()?;
        if value.abs() <= MAX_MAGNITUDE { Ok(value) } else { Err(ReadError::Value) }
    }

    /// Reads three `f32`, each of at most [`MAX_MAGNITUDE`] either way.
    ///
    /// # Errors
    ///
    /// As [`Reader::bounded_f32`].
    pub fn bounded_vec3(&mut self) -> Result<Vec3, ReadError> {
        Ok(Vec3::new(self.bounded_f32()?, self.bounded_f32()?, self.bounded_f32()?))
    }

    /// Ends the message.
    ///
    /// # Errors
    ///
    /// [`ReadError::Trailing`] when bytes are left.
    pub fn finish(self) -> Result<(), ReadError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(ReadError::Trailing) }
    }
}

/// Appends values to a byte vector; the mirror image of [`Reader`].
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
}

macro_rules! write_fixed {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Appends a little-endian `", stringify!($type), "`.")]
        pub fn $name(&mut self, value: $type) {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    )*};
}

impl<'a> Writer<'a> {
    /// Appends to `bytes`, keeping what it holds.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes }
    }

    write_fixed!(u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f32: f32, f64: f64);

    /// Appends a varint in its shortest form.
    pub fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes after their varint length.
    pub fn prefixed(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Appends UTF-8 text after its varint length in bytes.
    pub fn text(&mut self, text: &str) {
        self.prefixed(text.as_bytes());
    }

    /// Appends 1 for true, 0 for false.
    pub fn bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    /// Appends three `f32`.
    pub fn vec3(&mut self, value: Vec3) {
        self.f32(value.x);
        self.f32(value.y);
        self.f32(value.z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_round_trip_in_shortest_form(value: u64) {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes).varint(value);
            prop_assert!(bytes.len() <= 10);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.varint(), Ok(value));
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn any_bytes_read_without_panic(bytes: Vec<u8>, limit: u16) {
            let mut reader = Reader::new(&bytes);
            let _ = reader.varint();
            let _ = reader.prefixed(usize::from(limit));
            let _ = reader.text(usize::from(limit));
            let _ = reader.bounded_vec3();
            let _ = reader.bool();
        }
    }

    // B21: what is finite and still overflows as soon as it is squared is refused as well.
    #[test]
    fn floats_are_bounded() {
        let read = |value: f32| Reader::new(&value.to_le_bytes()).bounded_f32();
        for fine in [0.0, -0.0, MAX_MAGNITUDE, -MAX_MAGNITUDE, f32::MIN_POSITIVE / 2.0] {
            assert_eq!(read(fine), Ok(fine));
            assert!(is_bounded(Vec3::splat(fine)));
        }
        for bad in [MAX_MAGNITUDE.next_up(), -1e38, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert_eq!(read(bad), Err(ReadError::Value));
            assert!(!is_bounded(Vec3::new(0.0, bad, 0.0)));
        }
    }

    #[test]
    fn overlong_and_oversized_varints_are_refused() {
        assert_eq!(Reader::new(&[0x80, 0x00]).varint(), Err(ReadError::Varint));
        assert_eq!(Reader::new(&[0xff; 10]).varint(), Err(ReadError::Varint));
        assert_eq!(Reader::new(&[0x80]).varint(), Err(ReadError::Truncated));
        assert_eq!(Reader::new(&[5]).varint_at_most(4), Err(ReadError::Value));
    }
}
