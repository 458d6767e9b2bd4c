//! Behaviour of sessions.

use std::time::Duration;

use crate::congestion::Algorithm;

/// How a session behaves. The two ends need not agree, except on `first_packet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// The congestion control. Default [`Algorithm::Model`].
    pub congestion: Algorithm,
    /// Most bytes per second the session sends, headers included, whatever the path would take. Default 32 MB/s.
    pub max_rate_bytes_s: u64,
    /// Longest silence before a keep-alive is sent. Default 0.5 s.
    pub keep_alive: Duration,
    /// Faults inside the session before the peer is disconnected; one is forgiven each second. Default 16.
    pub max_faults: u32,
    /// Whether to find out, on connections that speak the extension, if the path passes longer datagrams than 1,200 bytes, and use
    /// them. Probes are packets of their own and count as no loss. Default off: it saves 3 % of headers at most.
    pub probe_mtu: bool,
    /// Number of the first packet in each direction, below 2^62. Both ends must agree. Default 0; tests start it near an edge.
    pub first_packet: u64,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            congestion: Algorithm::Model,
            max_rate_bytes_s: 32_000_000,
            keep_alive: Duration::from_millis(500),
            max_faults: 16,
            probe_mtu: false,
            first_packet: 0,
        }
    }
}
