//! The connecting shard.

use std::net::SocketAddr;
use std::time::Duration;

use crate::client::config::ClientConfig;
use crate::counters::Counters;
use crate::event::{Egress, Ingress};
use crate::id::ConnectionId;
use crate::netcode::token::ConnectToken;
use crate::shard::Shard;
use crate::stats::ConnectionStats;

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// Asking the server at this address for a connection.
    Requesting(SocketAddr),
    /// Answering the challenge of the server at this address.
    Responding(SocketAddr),
    /// Connected.
    Connected(ConnectionId),
    /// Over. Make a new shard to connect anew.
    Disconnected,
}

/// One connection to a server.
pub struct ClientShard {
    state: ClientState,
    counters: Counters,
}

impl ClientShard {
    /// Starts connecting with `token`. `now` is on the caller's clock, `unix` is the time since the unix epoch at that moment; it
    /// only keeps two uses of one token from repeating a nonce, so it may be wrong but must advance.
    #[must_use]
    pub fn new(config: ClientConfig, token: ConnectToken, now: Duration, unix: Duration) -> Self {
        let _ = (config, now, unix);
        Self { state: ClientState::Requesting(token.server_addresses[0]), counters: Counters::default() }
    }

    /// Where the client stands.
    #[must_use]
    pub fn state(&self) -> ClientState {
        self.state
    }

    /// The id its connection has or will have.
    #[must_use]
    pub fn connection(&self) -> ConnectionId {
        ConnectionId::new(0, 0, 1)
    }

    /// What was counted since the shard was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Statistics of the connection, once connected.
    #[must_use]
    pub fn stats(&self, _connection: ConnectionId) -> Option<ConnectionStats> {
        None
    }
}

impl Shard for ClientShard {
    fn handle(&mut self, _now: Duration, _from: SocketAddr, _datagram: &mut [u8], _ingress: &mut Vec<Ingress>) {}
    fn apply(&mut self, _now: Duration, _egress: Egress, _ingress: &mut Vec<Ingress>) {}
    fn advance(&mut self, _now: Duration, _ingress: &mut Vec<Ingress>) {}
    fn transmit(&mut self, _now: Duration, _out: &mut dyn FnMut(SocketAddr, &[u8])) {}
    fn next_timeout(&self) -> Option<Duration> {
        None
    }
}
