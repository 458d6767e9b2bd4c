//! What all sessions of a shard share.

use crate::arena::Arena;
use crate::counters::Counters;
use crate::entropy::{Entropy, SeedEntropy};
use crate::event::Ingress;
use crate::id::{ConnectionId, ReceiptKey};
use crate::session::checks::Checks;
use crate::session::frame::Frame;
use crate::session::inbox::Inbox;
use crate::session::reassembly::Reassembly;
use crate::session::recovery::Settled;
use crate::session::sent::Carried;

/// Bytes of a chunk that holds one datagram for another shard.
const CHUNK_BYTES: usize = 1_400;
/// Chunks remembered for reuse.
const CHUNKS: usize = 4_096;

/// Counters, buffers for received messages and scratch space.
pub(crate) struct Desk {
    pub(crate) counters: Counters,
    /// Datagrams on their way to other shards.
    pub(crate) arena: Arena,
    pub(crate) inbox: Inbox,
    /// Frames of the payload being taken, and what they say.
    pub(crate) frames: Vec<Frame>,
    pub(crate) checks: Checks,
    pub(crate) entropy: SeedEntropy,
    pub(crate) reassembly: Reassembly,
    pub(crate) settled: Settled,
    pub(crate) carried: Vec<Carried>,
    pub(crate) delivered: Vec<ReceiptKey>,
    pub(crate) lost: Vec<ReceiptKey>,
    /// Lanes with a frame in the datagram being written, as bits.
    pub(crate) written: u16,
    /// The datagram being written.
    pub(crate) datagram: Vec<u8>,
}

impl Desk {
    pub(crate) fn new(reassembly: Reassembly, entropy: SeedEntropy) -> Self {
        Self {
            counters: Counters::default(),
            arena: Arena::new(CHUNK_BYTES, CHUNKS),
            inbox: Inbox::new(),
            frames: Vec::new(),
            checks: Checks::default(),
            entropy,
            reassembly,
            settled: Settled::default(),
            carried: Vec::new(),
            delivered: Vec::new(),
            lost: Vec::new(),
            written: 0,
            datagram: Vec::with_capacity(CHUNK_BYTES),
        }
    }

    /// Random bytes for challenges and keys.
    pub(crate) fn random<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// Tells the owner the receipts collected, if any.
    pub(crate) fn report_receipts(&mut self, connection: ConnectionId, ingress: &mut Vec<Ingress>) {
        if self.delivered.is_empty() && self.lost.is_empty() {
            return;
        }
        let (delivered, lost) = (self.delivered.drain(..).collect(), self.lost.drain(..).collect());
        ingress.push(Ingress::Receipts { connection, delivered, lost });
    }
}
