use std::ops::Range;

use tidelock_net::{Arena, ArenaWriter, Chunk, ConnectionId, DisconnectCode, Egress, LaneId, LaneSet, ReceiptKey};

/// First capacity of a tick's chunk, which grows to what ticks write. A client that acknowledges nothing holds the whole chunk of
/// every tick in which it was told anything, however little (N-6).
const CHUNK_BYTES: usize = 1_024;
/// Chunks remembered for reuse; reliable messages keep theirs until acknowledged.
const MAX_CHUNKS: usize = 512;
/// Chunks remembered though nothing of them is used: a second's.
const SPARE_CHUNKS: usize = 64;

/// What a tick wants sent: bytes written once, named by range until the tick ends, then handed over as shared spans.
pub(crate) struct Outbox {
    state: Lane,
    motion: Lane,
    disconnects: Vec<(ConnectionId, DisconnectCode, String)>,
    egress: Vec<Egress>,
}

/// Messages whose bytes share a chunk. Motion has its own, so that an unacknowledged state message holds no motion.
struct Lane {
    arena: Arena,
    writer: Option<ArenaWriter>,
    sends: Vec<Send>,
}

struct Send {
    connection: ConnectionId,
    lane: LaneId,
    bytes: Range<u32>,
    receipt: Option<ReceiptKey>,
}

impl Lane {
    fn new() -> Self {
        Self { arena: Arena::new(CHUNK_BYTES, MAX_CHUNKS), writer: None, sends: Vec::new() }
    }

    fn writer(&mut self) -> &mut ArenaWriter {
        let arena = &mut self.arena;
        self.writer.get_or_insert_with(|| arena.begin())
    }

    fn finish(&mut self, egress: &mut Vec<Egress>) {
        self.arena.relax(SPARE_CHUNKS);
        let Some(writer) = self.writer.take() else { return };
        let chunk: Chunk = self.arena.freeze(writer);
        egress.extend(self.sends.drain(..).map(|send| Egress::Send {
            connection: send.connection,
            lane: send.lane,
            bytes: chunk.span(send.bytes),
            receipt: send.receipt,
        }));
    }
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self { state: Lane::new(), motion: Lane::new(), disconnects: Vec::new(), egress: Vec::new() }
    }

    /// Writes a message on the state chunk; send the range to any number of connections within the tick.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Range<u32> {
        let writer = self.state.writer();
        let start = writer.len() as u32;
        write(writer.bytes());
        start..writer.len() as u32
    }

    /// Sends a written message on the state lane.
    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: Range<u32>) {
        self.state.sends.push(Send { connection, lane: LaneSet::STATE, bytes, receipt: None });
    }

    /// Writes a message and sends it on the state lane.
    pub(crate) fn send_state(&mut self, connection: ConnectionId, write: impl FnOnce(&mut Vec<u8>)) {
        let bytes = self.write(write);
        self.send(connection, bytes);
    }

    /// Writes a message and sends it on the bulk lane.
    pub(crate) fn send_bulk(
        &mut self,
        connection: ConnectionId,
        receipt: ReceiptKey,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let bytes = self.write(write);
        self.state.sends.push(Send { connection, lane: LaneSet::BULK, bytes, receipt: Some(receipt) });
    }

    /// Copies a player's batches and returns where they begin.
    pub(crate) fn write_motion(&mut self, bytes: &[u8]) -> u32 {
        self.motion.writer().write(bytes).start
    }

    /// Sends one written batch.
    pub(crate) fn send_motion(&mut self, connection: ConnectionId, bytes: Range<u32>, receipt: ReceiptKey) {
        self.motion.sends.push(Send { connection, lane: LaneSet::MOTION, bytes, receipt: Some(receipt) });
    }

    /// Writes a message and sends it on the newest lane.
    pub(crate) fn send_newest(&mut self, connection: ConnectionId, write: impl FnOnce(&mut Vec<u8>)) {
        let writer = self.motion.writer();
        let start = writer.len() as u32;
        write(writer.bytes());
        let bytes = start..writer.len() as u32;
        self.motion.sends.push(Send { connection, lane: LaneSet::NEWEST, bytes, receipt: None });
    }

    /// Ends a connection when the tick is sent.
    pub(crate) fn disconnect(&mut self, connection: ConnectionId, code: DisconnectCode, text: impl Into<String>) {
        self.disconnects.push((connection, code, text.into()));
    }

    /// Ends the tick: everything as wishes to the network, in order.
    pub(crate) fn finish(&mut self) -> &mut Vec<Egress> {
        self.state.finish(&mut self.egress);
        self.motion.finish(&mut self.egress);
        for (connection, code, text) in self.disconnects.drain(..) {
            self.egress.push(Egress::Disconnect { connection, code, text });
        }
        if !self.egress.is_empty() {
            self.egress.push(Egress::FlushAll);
        }
        &mut self.egress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-6: ten seconds of a word per tick, none acknowledged, hold little more than the words.
    #[test]
    fn small_ticks_that_are_held_cost_little() {
        let (mut outbox, mut held) = (Outbox::new(), Vec::with_capacity(4_096));
        let connection = ConnectionId::new(0, 0, 1);
        let grown = allocation_counter::measure(|| {
            for tick in 0..600_u32 {
                outbox.send_state(connection, |bytes| bytes.extend_from_slice(&tick.to_le_bytes()));
                outbox.send_newest(connection, |bytes| bytes.extend_from_slice(&tick.to_le_bytes()));
                held.append(outbox.finish());
            }
        });
        assert!(grown.bytes_current < 2 << 20, "{} bytes", grown.bytes_current);
        held.clear();
        (0..600).for_each(|_| drop(outbox.finish().drain(..)));
        assert_eq!(outbox.state.arena.chunks() + outbox.motion.arena.chunks(), 2 * SPARE_CHUNKS);
    }
}
