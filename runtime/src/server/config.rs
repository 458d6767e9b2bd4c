use std::net::{Ipv4Addr, SocketAddr};

/// What a [`Server`](crate::Server) is made from, besides protocol and place.
#[derive(Clone)]
pub struct ServerConfig {
    /// Address and UDP port to listen at; port 0 lets the system choose. Default 127.0.0.1:7777.
    pub bind: SocketAddr,
    /// Key shared with the issuer of connect tokens.
    pub private_key: [u8; 32],
    /// Public addresses of this server; a token must name one of them. Empty takes tokens for any address. Default empty.
    pub public_addresses: Vec<SocketAddr>,
    /// Players at a time, 1 to 65,536. Default 4,096.
    pub max_players: usize,
    /// Network threads, each with a socket on the common address: 1 to 64 (more than 1 on Linux only), or 0 to poll the socket
    /// inside the tick. Default 1.
    pub network_threads: usize,
    /// Worker threads for the parallel stages; 0 takes one per core. Default 0.
    pub worker_threads: usize,
    /// Ticks between two motion broadcasts to one player, 1 to 10. Default 3, which is 20 a second.
    pub broadcast_divisor: u32,
    /// Connection requests taken per second from one IPv4 /24 or IPv6 /56. Default 1,000.
    pub requests_per_prefix_s: u32,
    /// How long connect tokens live, in seconds: after a start, tokens that expire sooner than this are refused, since a
    /// server before may have used them. 0 takes them. Default 0.
    pub token_lifetime_s: u64,
    /// Adoption, replay and rate limits of movement reports.
    pub replay_limits: tidelock_sim::report::ReplayLimits,
    /// What characters may do whose reports are judged and not run ([`Controller::Allowances`](crate::Controller)).
    pub allowance_limits: tidelock_sim::allowance::AllowanceLimits,
    /// How loose parts' owners are elected.
    pub election: tidelock_sim::ownership::ElectionConfig,
    /// Leases of loose parts and limits of what their owners report.
    pub ownership_limits: tidelock_sim::ownership::OwnershipLimits,
}

impl ServerConfig {
    /// A configuration with every default.
    #[must_use]
    pub fn new(private_key: [u8; 32]) -> Self {
        Self {
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 7777)),
            private_key,
            public_addresses: Vec::new(),
            max_players: 4_096,
            network_threads: 1,
            worker_threads: 0,
            broadcast_divisor: 3,
            requests_per_prefix_s: 1_000,
            token_lifetime_s: 0,
            replay_limits: tidelock_sim::report::ReplayLimits::default(),
            allowance_limits: tidelock_sim::allowance::AllowanceLimits::default(),
            election: tidelock_sim::ownership::ElectionConfig::default(),
            ownership_limits: tidelock_sim::ownership::OwnershipLimits::default(),
        }
    }

    /// Checks ranges.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] naming the key, its value and what is allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        let range = |key, value: usize, from: usize, to: usize| {
            if (from..=to).contains(&value) { Ok(()) } else { Err(ConfigError { key, value, from, to }) }
        };
        range("max_players", self.max_players, 1, 65_536)?;
        range("network_threads", self.network_threads, 0, 64)?;
        range("worker_threads", self.worker_threads, 0, 1_024)?;
        range("broadcast_divisor", self.broadcast_divisor as usize, 1, 10)
    }
}

impl ServerConfig {
    pub(crate) fn network(&self) -> tidelock_net::ServerConfig {
        let mut network = tidelock_net::ServerConfig::new(crate::Protocol::NETCODE_ID, self.private_key);
        network.addresses.clone_from(&self.public_addresses);
        network.max_clients = self.max_players;
        network.token_lifetime_s = self.token_lifetime_s;
        network.limits.requests_per_prefix_s = self.requests_per_prefix_s;
        network
    }
}

impl std::fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of logs.
        f.debug_struct("ServerConfig")
            .field("bind", &self.bind)
            .field("public_addresses", &self.public_addresses)
            .field("max_players", &self.max_players)
            .field("network_threads", &self.network_threads)
            .field("worker_threads", &self.worker_threads)
            .field("broadcast_divisor", &self.broadcast_divisor)
            .finish_non_exhaustive()
    }
}

/// A number of a configuration that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {value}; it must be {from} to {to}")]
pub struct ConfigError {
    /// Which key.
    pub key: &'static str,
    /// Its value.
    pub value: usize,
    /// The least allowed.
    pub from: usize,
    /// The most allowed.
    pub to: usize,
}
