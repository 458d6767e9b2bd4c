//! What the shards of one server know together.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::counters::Fault;
use crate::id::ConnectionId;
use crate::server::tokens::{TokenTag, Tokens};

/// An identity that is connected, as far as a new token for it is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) expire_s: u64,
    pub(super) tag: TokenTag,
    pub(super) connection: ConnectionId,
}

/// Tokens presented, identities connected and sequence numbers, shared by the shards of a set. Only handshakes and ends of
/// connections lock it, and datagrams from addresses a shard does not know.
#[derive(Clone)]
pub(super) struct Registry {
    shared: Arc<Mutex<Shared>>,
    /// Shards of the set.
    shards: u16,
}

/// The part behind the lock.
pub(super) struct Shared {
    pub(super) tokens: Tokens,
    clients: HashMap<u64, Holder>,
    max_clients: usize,
    /// Which shard owns the connection at an address; empty for a single shard.
    addresses: HashMap<SocketAddr, u8>,
    next_sequence: u64,
}

impl Registry {
    pub(super) fn new(shards: u16, max_clients: usize, max_tokens: usize) -> Self {
        let shared = Shared {
            tokens: Tokens::new(max_tokens),
            clients: HashMap::new(),
            max_clients,
            addresses: HashMap::new(),
            next_sequence: 0,
        };
        Self { shared: Arc::new(Mutex::new(shared)), shards }
    }

    /// Whether the set has a shard of this number.
    pub(super) fn has(&self, shard: u8) -> bool {
        u16::from(shard) < self.shards
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        // Every change is whole before anything could panic.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shard that owns the connection at `address`.
    pub(super) fn shard_at(&self, address: SocketAddr) -> Option<u8> {
        if self.shards == 1 { None } else { self.lock().addresses.get(&address).copied() }
    }

    /// Notes that `shard` owns the connection at `address`.
    pub(super) fn settle(&self, address: SocketAddr, shard: u8) {
        if self.shards > 1 {
            self.lock().addresses.insert(address, shard);
        }
    }

    /// Notes that `shard` no longer owns a connection at `address`.
    pub(super) fn leave(&self, address: SocketAddr, shard: u8) {
        if self.shards == 1 {
            return;
        }
        let mut shared = self.lock();
        if shared.addresses.get(&address) == Some(&shard) {
            shared.addresses.remove(&address);
        }
    }
}

impl Shared {
    /// The connection of an identity.
    pub(super) fn holder(&self, client_id: u64) -> Option<Holder> {
        self.clients.get(&client_id).copied()
    }

    pub(super) fn is_full(&self) -> bool {
        self.clients.len() >= self.max_clients
    }

    /// Gives an identity to a new connection; returns the one that held it.
    pub(super) fn claim(&mut self, client_id: u64, holder: Holder) -> Result<Option<ConnectionId>, Fault> {
        let before = self.holder(client_id);
        match before {
            Some(before) if before.expire_s >= holder.expire_s => return Err(Fault::IdentityHeld),
            None if self.is_full() => return Err(Fault::ServerFull),
            _ => {}
        }
        self.clients.insert(client_id, holder);
        Ok(before.map(|before| before.connection))
    }

    /// Frees an identity if `connection` still holds it.
    pub(super) fn release(&mut self, client_id: u64, connection: ConnectionId) {
        if self.clients.get(&client_id).is_some_and(|holder| holder.connection == connection) {
            self.clients.remove(&client_id);
        }
    }

    /// A sequence number above `floor` and every one given out or raised to before.
    pub(super) fn take_sequence(&mut self, floor: u64) -> u64 {
        let sequence = self.next_sequence.max(floor);
        self.next_sequence = sequence + 1;
        sequence
    }

    /// Never again gives out sequence numbers below `sequence`.
    pub(super) fn raise_sequence(&mut self, sequence: u64) {
        self.next_sequence = self.next_sequence.max(sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(expire_s: u64, shard: u8) -> Holder {
        Holder { expire_s, tag: [0; 16], connection: ConnectionId::new(shard, 0, 1) }
    }

    // N-1: takeover goes to the later expiry, whichever shard asks; the client limit holds for the set.
    #[test]
    fn an_identity_has_one_connection_in_all_shards() {
        let registry = Registry::new(2, 2, 10);
        let other = registry.clone();
        assert_eq!(registry.lock().claim(7, holder(10, 0)), Ok(None));
        assert_eq!(other.lock().claim(7, holder(10, 1)), Err(Fault::IdentityHeld));
        assert_eq!(other.lock().claim(7, holder(11, 1)), Ok(Some(ConnectionId::new(0, 0, 1))));
        registry.lock().release(7, ConnectionId::new(0, 0, 1));
        assert!(registry.lock().holder(7).is_some(), "the newer one stays");
        assert_eq!(registry.lock().claim(8, holder(10, 0)), Ok(None));
        assert_eq!(registry.lock().claim(9, holder(10, 0)), Err(Fault::ServerFull));
        assert_eq!(registry.lock().claim(8, holder(11, 0)).map(|old| old.is_some()), Ok(true), "no more than before");
        let address = SocketAddr::from(([1, 1, 1, 1], 1));
        registry.settle(address, 1);
        other.leave(address, 0);
        assert_eq!(other.shard_at(address), Some(1));
        other.leave(address, 1);
        assert_eq!(registry.shard_at(address), None);
    }

    // N-1: no sequence number twice, whichever shard takes it.
    #[test]
    fn sequence_numbers_only_grow() {
        let registry = Registry::new(2, 2, 10);
        let other = registry.clone();
        assert_eq!(registry.lock().take_sequence(100), 100);
        assert_eq!(other.lock().take_sequence(100), 101);
        registry.lock().raise_sequence(500);
        assert_eq!(other.lock().take_sequence(200), 500);
    }
}
