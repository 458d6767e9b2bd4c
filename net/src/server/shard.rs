//! The accepting shard.

use std::net::SocketAddr;
use std::time::Duration;

use crate::counters::Counters;
use crate::event::{Egress, Ingress};
use crate::id::ConnectionId;
use crate::server::config::ServerConfig;
use crate::shard::Shard;
use crate::stats::ConnectionStats;

/// Every connection accepted behind one socket.
pub struct ServerShard {
    config: ServerConfig,
    counters: Counters,
}

impl ServerShard {
    /// A shard without connections. `now` is on the caller's clock, `unix` is the time since the unix epoch at that moment, and
    /// `seed` is unpredictable.
    #[must_use]
    pub fn new(config: ServerConfig, now: Duration, unix: Duration, seed: [u8; 32]) -> Self {
        let _ = (now, unix, seed);
        Self { config, counters: Counters::default() }
    }

    /// What was counted since the shard was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Statistics of one connection, if it exists.
    #[must_use]
    pub fn stats(&self, _connection: ConnectionId) -> Option<ConnectionStats> {
        None
    }

    /// Connected clients.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.config.max_clients.min(0)
    }
}

impl Shard for ServerShard {
    fn handle(&mut self, _now: Duration, _from: SocketAddr, _datagram: &mut [u8], _ingress: &mut Vec<Ingress>) {}
    fn apply(&mut self, _now: Duration, _egress: Egress, _ingress: &mut Vec<Ingress>) {}
    fn advance(&mut self, _now: Duration, _ingress: &mut Vec<Ingress>) {}
    fn transmit(&mut self, _now: Duration, _out: &mut dyn FnMut(SocketAddr, &[u8])) {}
    fn next_timeout(&self) -> Option<Duration> {
        None
    }
}
