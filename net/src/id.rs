//! Names of connections, lanes and receipts.

use std::fmt;

const INDEX_BITS: u32 = 20;
const SHARD_BITS: u32 = 8;
/// Bytes of a connection's name on the wire.
pub(crate) const WIRE_NAME_BYTES: usize = 6;

/// Names one connection of one shard: slot index, shard number and the slot's generation.
///
/// A generation is never used twice by a shard, so an id never comes to mean another peer. The order of ids carries no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

impl ConnectionId {
    /// Largest number of slots one shard can have.
    pub const MAX_SLOTS: usize = 1 << INDEX_BITS;

    /// Joins the parts. `index` is below [`ConnectionId::MAX_SLOTS`]; the generation uses its low 36 bits.
    #[must_use]
    pub fn new(shard: u8, index: u32, generation: u64) -> Self {
        debug_assert!((index as usize) < Self::MAX_SLOTS);
        Self(u64::from(index) | u64::from(shard) << INDEX_BITS | generation << (INDEX_BITS + SHARD_BITS))
    }

    /// The low 48 bits, which name the connection on the wire: index, shard and 20 bits of the generation.
    pub(crate) fn to_wire(self) -> [u8; WIRE_NAME_BYTES] {
        let bytes = self.0.to_le_bytes();
        std::array::from_fn(|at| bytes[at])
    }

    /// An id of which only the low 48 bits are known.
    pub(crate) fn from_wire(name: &[u8; WIRE_NAME_BYTES]) -> Self {
        let mut bytes = [0; 8];
        bytes[..WIRE_NAME_BYTES].copy_from_slice(name);
        Self(u64::from_le_bytes(bytes))
    }

    /// Whether this, as read from the wire, names `other`.
    pub(crate) fn is_wire_name_of(self, other: Self) -> bool {
        self.to_wire() == other.to_wire()
    }

    /// Number of the shard that owns the connection.
    #[must_use]
    pub fn shard(self) -> u8 {
        (self.0 >> INDEX_BITS) as u8
    }

    /// Slot within the shard. Slots are dense and reused, so this indexes columns kept per connection.
    #[must_use]
    pub fn index(self) -> u32 {
        (self.0 & ((1 << INDEX_BITS) - 1)) as u32
    }

    /// How often the slot was taken before, counted from 1.
    #[must_use]
    pub fn generation(self) -> u64 {
        self.0 >> (INDEX_BITS + SHARD_BITS)
    }
}

impl fmt::Debug for ConnectionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.shard(), self.index(), self.generation())
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// Names a lane: its index in the [`LaneSet`](crate::LaneSet) of the connection, 0 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaneId(pub u8);

/// The sender's own name for one message, handed back when the message's fate is known. The transport only carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReceiptKey(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        let id = ConnectionId::new(200, 1_048_575, (1 << 36) - 1);
        assert_eq!((id.shard(), id.index(), id.generation()), (200, 1_048_575, (1 << 36) - 1));
        assert_ne!(ConnectionId::new(0, 1, 1), ConnectionId::new(1, 1, 1));
    }
}
