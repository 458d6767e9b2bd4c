use tidelock_net::{ConnectionId, ReceiptKey};
use tidelock_replication::place::Place;
use tidelock_replication::wire::{MAX_CHUNK_BYTES, PlaceChunk};

use super::outbox::Outbox;

/// Pieces on their way to one client at most: enough for a long path, little memory.
const MAX_OUTSTANDING: u32 = 8;
/// Marks the receipts of pieces, which share a connection's keys with motion batches.
const RECEIPT_MARK: u64 = 1 << 63;

/// A place's client part on its way to one client: over the bulk lane, compressed piece by piece, from wherever the
/// client says it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceTransfer {
    next: u64,
    outstanding: u32,
}

impl PlaceTransfer {
    /// A transfer from byte `offset` on.
    pub(crate) fn from(offset: u64) -> Self {
        Self { next: offset, outstanding: 0 }
    }

    /// Whether a receipt is a piece's.
    pub(crate) fn is_receipt(key: ReceiptKey) -> bool {
        key.0 & RECEIPT_MARK != 0
    }

    /// Learns that a piece has arrived (or that the connection is over, which no longer matters).
    pub(crate) fn received(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// Sends pieces while the client has room for them. True when all are sent.
    pub(crate) fn send(&mut self, place: &Place, connection: ConnectionId, outbox: &mut Outbox) -> bool {
        let whole = place.client_bytes();
        while self.outstanding < MAX_OUTSTANDING {
            let Some(rest) = whole.get(self.next as usize..).filter(|rest| !rest.is_empty()) else { return true };
            // Compressed bytes may be a little longer than plain ones, so pieces stay below the limit.
            let piece = &rest[..rest.len().min(MAX_CHUNK_BYTES / 2)];
            let packed = lz4_flex::compress(piece);
            let chunk = PlaceChunk {
                hash: place.hash(),
                offset: self.next,
                total: whole.len() as u64,
                len: piece.len() as u32,
                bytes: &packed,
            };
            outbox.send_bulk(connection, ReceiptKey(RECEIPT_MARK | self.next), |bytes| chunk.write(bytes));
            self.next += piece.len() as u64;
            self.outstanding += 1;
        }
        false
    }
}
