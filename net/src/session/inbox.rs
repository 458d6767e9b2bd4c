//! Messages on their way to the owner, many in one chunk.

use std::ops::Range;

use crate::arena::{Arena, ArenaWriter, Span};
use crate::event::Ingress;
use crate::id::{ConnectionId, LaneId};
use crate::session::inbound::Delivery;

/// Capacity of a new chunk.
const CHUNK_BYTES: usize = 4 << 10;
/// Chunks remembered for reuse.
const CHUNKS: usize = 4_096;

/// Messages of datagrams received together lie in one chunk: a chunk for each would be a cache miss or two for each. Until
/// [`seal`](Self::seal) what was delivered has no bytes yet.
pub(crate) struct Inbox {
    arena: Arena,
    writer: Option<ArenaWriter>,
    /// Where in the owner's list of events each message is whose bytes are still being written, and where in the chunk they are.
    unsealed: Vec<(usize, Range<u32>)>,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { arena: Arena::new(CHUNK_BYTES, CHUNKS), writer: None, unsealed: Vec::new() }
    }

    /// Appends a message to the owner's events.
    pub(crate) fn deliver(
        &mut self,
        connection: ConnectionId,
        lane: LaneId,
        message: Delivery<'_>,
        ingress: &mut Vec<Ingress>,
    ) {
        let bytes = match message {
            Delivery::Fresh(content) => self.write(content, ingress.len()),
            Delivery::Held(bytes) => bytes.into(),
        };
        ingress.push(Ingress::Message { connection, lane, bytes });
    }

    /// Appends a raw payload to the owner's events.
    pub(crate) fn deliver_raw(&mut self, connection: ConnectionId, payload: &[u8], ingress: &mut Vec<Ingress>) {
        let bytes = self.write(payload, ingress.len());
        ingress.push(Ingress::Raw { connection, bytes });
    }

    /// Gives the messages delivered since the last time their bytes. Nothing may be taken out of `ingress` before.
    pub(crate) fn seal(&mut self, ingress: &mut [Ingress]) {
        let Some(writer) = self.writer.take() else { return };
        let chunk = self.arena.freeze(writer);
        for (event, range) in self.unsealed.drain(..) {
            if let Ingress::Message { bytes, .. } | Ingress::Raw { bytes, .. } = &mut ingress[event] {
                *bytes = chunk.span(range);
            }
        }
    }

    /// Chunks remembered, in use or not.
    #[cfg(test)]
    pub(crate) fn chunks(&self) -> usize {
        self.arena.chunks()
    }

    /// Copies bytes for the event that is the next, which has none until it is sealed.
    fn write(&mut self, content: &[u8], event: usize) -> Span {
        let arena = &mut self.arena;
        let range = self.writer.get_or_insert_with(|| arena.begin()).write(content);
        self.unsealed.push((event, range));
        Span::empty()
    }
}
