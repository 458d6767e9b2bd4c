use tidelock_sim::bytes::{Reader, Writer};

use super::scalar::read_array;
use super::{MAX_PLACE_BYTES, WireError, check};
use crate::place::PlaceHash;

/// The most bytes of one chunk's content.
pub const MAX_CHUNK_BYTES: usize = 64 * 1_024;

/// A stretch of a place's client part, as the sender compressed it (bulk lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceChunk<'a> {
    /// Which place.
    pub hash: PlaceHash,
    /// Where the stretch begins, in bytes of the uncompressed whole.
    pub offset: u64,
    /// Uncompressed bytes of the whole.
    pub total: u64,
    /// Uncompressed bytes of this stretch.
    pub len: u32,
    /// Its content; whether and how it is compressed is the protocol's matter, not this codec's.
    pub bytes: &'a [u8],
}

impl<'a> PlaceChunk<'a> {
    /// Appends the chunk.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let mut out = Writer::new(bytes);
        out.raw(&self.hash.0);
        out.varint(self.offset);
        out.varint(self.total);
        out.varint(u64::from(self.len));
        out.raw(self.bytes);
    }

    /// Reads a chunk without copying its content.
    ///
    /// # Errors
    ///
    /// Any [`WireError`]: a stretch that is not within its whole, a whole above [`MAX_PLACE_BYTES`], a content or stretch above
    /// [`MAX_CHUNK_BYTES`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let hash = PlaceHash(read_array(&mut reader)?);
        let offset = reader.varint_at_most(MAX_PLACE_BYTES as u64)?;
        let total = reader.varint_at_most(MAX_PLACE_BYTES as u64)?;
        let len = reader.varint_at_most(MAX_CHUNK_BYTES as u64)?;
        check(offset + len <= total, WireError::Value)?;
        check(reader.remaining() <= MAX_CHUNK_BYTES, WireError::TooLong)?;
        Ok(Self { hash, offset, total, len: len as u32, bytes: reader.take(reader.remaining())? })
    }
}
