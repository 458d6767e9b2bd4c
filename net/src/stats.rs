//! Statistics of one connection.

use std::time::Duration;

/// What is known of one connection. Counts run from its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionStats {
    /// Smoothed round trip, without the peer's acknowledgement delay.
    pub rtt: Duration,
    /// Smallest round trip seen.
    pub rtt_min: Duration,
    /// Mean deviation of the round trip.
    pub rtt_var: Duration,
    /// Mean change of the round trip from one measurement to the next.
    pub jitter: Duration,
    /// Packets sent.
    pub packets_out: u64,
    /// Bytes of datagrams sent.
    pub bytes_out: u64,
    /// Packets received and taken.
    pub packets_in: u64,
    /// Bytes of datagrams received and taken.
    pub bytes_in: u64,
    /// Packets of ours found lost.
    pub lost_out: u64,
    /// Share of our packets that did not arrive there lately, 0 to 1.
    pub loss_out: f32,
    /// Share of the peer's packets that did not arrive here lately, 0 to 1.
    pub loss_in: f32,
    /// Congestion window, in bytes.
    pub window_bytes: u64,
    /// Bytes sent and neither acknowledged nor lost.
    pub in_flight_bytes: u64,
    /// Rate the congestion controller allows, in bytes per second.
    pub rate_bytes_s: u64,
    /// Longest payload put into one datagram, in bytes; it grows with [`probe_mtu`](crate::SessionConfig::probe_mtu).
    pub payload_bytes: usize,
    /// How often a length of datagrams in use was found to pass no longer.
    pub mtu_falls: u32,
    /// Faults the peer committed inside the session.
    pub faults: u64,
    /// Per lane, in order of lane ids; empty without lanes.
    pub lanes: Vec<LaneStats>,
}

/// What one lane carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Messages accepted for sending.
    pub messages_out: u64,
    /// Bytes of messages put into packets, repeats and resends included.
    pub bytes_out: u64,
    /// Bytes of those that were repeats or resends.
    pub resent_bytes: u64,
    /// Messages delivered to the owner.
    pub messages_in: u64,
    /// Bytes of messages delivered to the owner.
    pub bytes_in: u64,
    /// Bytes queued or unacknowledged now, each message counted with 32 bytes on top.
    pub queued_bytes: u64,
}
