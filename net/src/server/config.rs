//! Configuration of a server shard.

use std::fmt;
use std::net::SocketAddr;

use crate::lane::LaneSet;
use crate::netcode::KEY_BYTES;
use crate::session::SessionConfig;

/// What a [`ServerShard`](crate::ServerShard) is made from.
#[derive(Clone)]
pub struct ServerConfig {
    /// Protocol of clients that speak lanes.
    pub protocol_id: u64,
    /// Protocols of other netcode clients, which exchange raw payloads. Default none.
    pub foreign_protocol_ids: Vec<u64>,
    /// The key shared with the issuer of tokens.
    pub private_key: [u8; KEY_BYTES],
    /// Public addresses of this server; a token must name one of them. Empty takes tokens for any address. Default empty.
    pub addresses: Vec<SocketAddr>,
    /// Most clients connected at a time, at most [`ConnectionId::MAX_SLOTS`](crate::ConnectionId::MAX_SLOTS). Default 4,096.
    pub max_clients: usize,
    /// Lanes of clients that speak lanes. Default [`LaneSet::standard`].
    pub lanes: LaneSet,
    /// How long every token lives, in seconds. A restarted server cannot know which tokens were used before, so it refuses
    /// those that expire sooner than this after its start, up to a second later. 0 takes them. Default 30.
    pub token_lifetime_s: u64,
    /// Behaviour of each session.
    pub session: SessionConfig,
    /// Limits on handshakes.
    pub limits: AdmissionLimits,
    /// Most bytes all connections together may hold in unfinished or waiting messages; each may hold half of what is left, so
    /// one alone a third. Messages to a server should be shorter than that. Default 256 MiB.
    pub max_reassembly_bytes: usize,
    /// Whether clients that announce the extension are answered; foreign clients never see it. Default true.
    pub extension: bool,
    /// Number of this shard in its connections' ids. Default 0.
    pub shard: u8,
}

impl ServerConfig {
    /// A configuration with every default.
    #[must_use]
    pub fn new(protocol_id: u64, private_key: [u8; KEY_BYTES]) -> Self {
        Self {
            protocol_id,
            foreign_protocol_ids: Vec::new(),
            private_key,
            addresses: Vec::new(),
            max_clients: 4_096,
            lanes: LaneSet::standard(),
            token_lifetime_s: 30,
            session: SessionConfig::default(),
            limits: AdmissionLimits::default(),
            max_reassembly_bytes: 256 << 20,
            extension: true,
            shard: 0,
        }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ServerConfig")
            .field("protocol_id", &self.protocol_id)
            .field("foreign_protocol_ids", &self.foreign_protocol_ids)
            .field("addresses", &self.addresses)
            .field("max_clients", &self.max_clients)
            .field("token_lifetime_s", &self.token_lifetime_s)
            .finish_non_exhaustive()
    }
}

/// Limits on what strangers can cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Connection requests looked at per second from one source range (IPv4 /24, IPv6 /56); four seconds' worth may come at
    /// once. Default 1,000.
    pub requests_per_prefix_s: u32,
    /// Connection requests looked at per second altogether; each costs about 3 µs. Default 200,000.
    pub requests_s: u32,
    /// Handshakes under way; each is held for a valid token only, and for five seconds at most. Default 8,192.
    pub max_pending: usize,
    /// Tokens remembered until they expire, so that no other address can use them. Default 65,536.
    pub max_tokens: usize,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self { requests_per_prefix_s: 1_000, requests_s: 200_000, max_pending: 8_192, max_tokens: 65_536 }
    }
}
