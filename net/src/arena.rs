//! Shared bytes: written once, sliced into spans, reused when the last span is gone.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// How many chunks still in use are looked at before a new one is allocated.
const CANDIDATES: usize = 4;

/// A range of bytes in a shared chunk. Clones share the chunk; the chunk returns to its [`Arena`] when the last one is gone.
#[derive(Clone)]
pub struct Span {
    /// None for a span without bytes.
    chunk: Option<Arc<Vec<u8>>>,
    start: u32,
    end: u32,
}

impl Span {
    /// A span without bytes.
    #[must_use]
    pub fn empty() -> Self {
        Self { chunk: None, start: 0, end: 0 }
    }

    /// A part of this span, sharing its chunk.
    ///
    /// # Panics
    /// If the range is not within the span.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.len(), "range within the span");
        let start = self.start + range.start as u32;
        Self { chunk: self.chunk.clone(), start, end: self.start + range.end as u32 }
    }
}

impl Deref for Span {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.chunk {
            Some(chunk) => &chunk[self.start as usize..self.end as usize],
            None => &[],
        }
    }
}

impl AsRef<[u8]> for Span {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Span {
    /// Takes the bytes into a chunk of their own, outside any arena.
    ///
    /// # Panics
    /// If there are 4 GiB or more.
    fn from(bytes: Vec<u8>) -> Self {
        let end = u32::try_from(bytes.len()).expect("spans are shorter than 4 GiB");
        Self { chunk: Some(Arc::new(bytes)), start: 0, end }
    }
}

impl From<&[u8]> for Span {
    /// Copies the bytes into a chunk of their own, outside any arena.
    fn from(bytes: &[u8]) -> Self {
        bytes.to_vec().into()
    }
}

impl PartialEq for Span {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Span {}

impl fmt::Debug for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Span({} bytes)", self.len())
    }
}

/// A frozen chunk, from which spans are cut. See [`Arena::freeze`].
#[derive(Clone, Debug)]
pub struct Chunk(Arc<Vec<u8>>);

impl Chunk {
    /// The bytes of `range`, as returned by [`ArenaWriter::write`] or computed from [`ArenaWriter::bytes`].
    ///
    /// # Panics
    /// If the range is not within the chunk.
    #[must_use]
    pub fn span(&self, range: Range<u32>) -> Span {
        assert!(range.start <= range.end && range.end as usize <= self.0.len(), "range within the chunk");
        Span { chunk: Some(Arc::clone(&self.0)), start: range.start, end: range.end }
    }

    /// All bytes of the chunk.
    #[must_use]
    pub fn whole(&self) -> Span {
        self.span(0..self.0.len() as u32)
    }
}

/// A pool of chunks. A chunk is written by one [`ArenaWriter`], frozen, cut into [`Span`]s, and taken again once no span of it
/// is left, on whatever thread the last one was dropped.
#[derive(Debug)]
pub struct Arena {
    issued: VecDeque<Arc<Vec<u8>>>,
    chunk_bytes: usize,
    max_chunks: usize,
}

impl Arena {
    /// An arena whose new chunks start with a capacity of `chunk_bytes` (they grow when written beyond) and which remembers at
    /// most `max_chunks` of them for reuse, at least 1.
    #[must_use]
    pub fn new(chunk_bytes: usize, max_chunks: usize) -> Self {
        Self { issued: VecDeque::new(), chunk_bytes, max_chunks: max_chunks.max(1) }
    }

    /// Starts a chunk, reusing one without spans when there is one among the oldest.
    #[must_use]
    pub fn begin(&mut self) -> ArenaWriter {
        for _ in 0..CANDIDATES.min(self.issued.len()) {
            let Some(mut home) = self.issued.pop_front() else { break };
            if let Some(bytes) = Arc::get_mut(&mut home) {
                let mut bytes = std::mem::take(bytes);
                bytes.clear();
                return ArenaWriter { home, bytes };
            }
            self.issued.push_back(home);
        }
        ArenaWriter { home: Arc::default(), bytes: Vec::with_capacity(self.chunk_bytes) }
    }

    /// Ends the writing of a chunk and remembers it for reuse.
    #[must_use]
    pub fn freeze(&mut self, writer: ArenaWriter) -> Chunk {
        let ArenaWriter { mut home, bytes } = writer;
        *Arc::get_mut(&mut home).expect("a writer alone holds its chunk") = bytes;
        if self.issued.len() >= self.max_chunks {
            self.issued.pop_front();
        }
        self.issued.push_back(Arc::clone(&home));
        Chunk(home)
    }

    /// Copies `bytes` into a chunk of their own and returns the span of all of them.
    #[must_use]
    pub fn copy(&mut self, bytes: &[u8]) -> Span {
        let mut writer = self.begin();
        writer.write(bytes);
        self.freeze(writer).whole()
    }

    /// Gives one chunk back if more than `spare` are remembered and the two oldest are unused. For owners that begin a chunk now
    /// and then and may once have needed many, while somebody held them.
    pub fn relax(&mut self, spare: usize) {
        if self.issued.len() > spare && self.issued.iter().take(2).all(|chunk| Arc::strong_count(chunk) == 1) {
            self.issued.pop_front();
        }
    }

    /// Chunks remembered, in use or not.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.issued.len()
    }
}

/// A chunk being written. End it with [`Arena::freeze`]; dropped without, its bytes are lost and its memory freed.
#[derive(Debug)]
pub struct ArenaWriter {
    home: Arc<Vec<u8>>,
    bytes: Vec<u8>,
}

impl ArenaWriter {
    /// Appends bytes and returns where they are, for [`Chunk::span`].
    pub fn write(&mut self, bytes: &[u8]) -> Range<u32> {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len() as u32
    }

    /// The chunk's bytes, for encoders that append to a vector themselves. Bytes before the current end must stay.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_keep_their_bytes_and_slices_share_them() {
        let mut arena = Arena::new(64, 4);
        let mut writer = arena.begin();
        let (first, second) = (writer.write(b"one"), writer.write(b"second"));
        let chunk = arena.freeze(writer);
        assert_eq!(&*chunk.span(first), b"one");
        assert_eq!(&*chunk.span(second).slice(1..4), b"eco");
        assert!(Span::empty().is_empty());
    }

    // N-6: what a stalled reader held is given back when it is gone.
    #[test]
    fn chunks_beyond_the_spare_ones_are_given_back() {
        let mut arena = Arena::new(64, 512);
        let held: Vec<_> = (0..400).map(|_| arena.copy(b"held")).collect();
        arena.relax(16);
        assert_eq!(arena.chunks(), 400, "they are in use");
        drop(held);
        (0..400).for_each(|_| {
            drop(arena.copy(b"passing"));
            arena.relax(16);
        });
        assert_eq!(arena.chunks(), 16);
    }

    // N-10: arenas are reused when the last span is gone.
    #[test]
    fn a_chunk_is_reused_only_when_its_last_span_is_gone() {
        let mut arena = Arena::new(1_024, 8);
        let span = arena.copy(b"kept");
        let address = span.as_ptr();
        let other = arena.copy(b"other");
        assert_ne!(other.as_ptr(), address);
        assert_eq!(&*span, b"kept");
        let clone = span.clone();
        drop(span);
        drop(other);
        assert_ne!(arena.copy(b"x").as_ptr(), address, "a clone still holds it");
        std::thread::spawn(move || drop(clone)).join().unwrap();
        let reused = (0..4).map(|_| arena.copy(b"y")).any(|span| span.as_ptr() == address);
        assert!(reused);
        assert!(arena.chunks() <= 3);
    }
}
