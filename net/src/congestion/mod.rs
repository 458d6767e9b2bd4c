//! Congestion control: how much may be on its way, and how fast it leaves.

mod cubic;
mod model;

pub use cubic::Cubic;
pub use model::Model;

use std::time::Duration;

/// Which controller a session uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// Sends at the delivery rate it measures and keeps the path's queue short; random loss does not slow it.
    #[default]
    Model,
    /// Loss-based, after RFC 9438: the window grows until packets are lost.
    ///
    /// For paths that are shared with transfers of the same kind and lose nothing but what finds no room: such a path it fills, and
    /// its queue with it, which everything else then waits for. Random loss and disorder it takes for a full path, and slows down to
    /// [`MIN_RATE_BYTES_S`] at worst. Reliable messages arrive all the same, and motion as young as with the default.
    Cubic,
}

/// The least rate a session sends at, in bytes per second, headers included; not for its background, the reliable lanes of the
/// lowest priority, which take what the others leave.
pub const MIN_RATE_BYTES_S: u64 = 16_000;
/// Bytes a full packet is counted with, and those of them around its payload.
pub(crate) const PACKET_BYTES: u64 = 1_150;
pub(crate) const HEADER_BYTES: u64 = 50;
/// Window before anything is known.
pub(crate) const INITIAL_WINDOW_BYTES: u64 = 12 * PACKET_BYTES;
/// Smallest window.
pub(crate) const MIN_WINDOW_BYTES: u64 = 4 * PACKET_BYTES;

/// Decides the window and the pacing rate from acknowledgements and losses. Time comes with each event.
pub trait Controller: Send {
    /// A packet of `bytes` left; `in_flight` counts it already.
    fn on_sent(&mut self, now: Duration, bytes: u64, in_flight: u64);
    /// Packets were acknowledged.
    fn on_ack(&mut self, ack: &AckEvent);
    /// Packets were given up.
    fn on_loss(&mut self, loss: &LossEvent);
    /// Bytes that may be on their way.
    fn window_bytes(&self) -> u64;
    /// Bytes per second that may leave. It may be below [`MIN_RATE_BYTES_S`].
    fn rate_bytes_s(&self) -> u64;
}

/// What one acknowledgement frame brought.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it came.
    pub now: Duration,
    /// Bytes of packets acknowledged for the first time.
    pub acked_bytes: u64,
    /// Bytes on their way before.
    pub in_flight_before: u64,
    /// Bytes on their way now.
    pub in_flight: u64,
    /// When the newest of the packets was sent.
    pub sent_at: Duration,
    /// How long the peer says it held the acknowledgement back.
    pub ack_delay: Duration,
    /// Its round trip with the peer's delay, if it was the newest acknowledged at all.
    pub rtt: Option<Duration>,
    /// Smoothed round trip.
    pub smoothed_rtt: Duration,
    /// Mean change of the round trip from one measurement to the next.
    pub jitter: Duration,
    /// Smallest round trip of the connection.
    pub min_rtt: Duration,
    /// How fast data arrived since that packet was sent.
    pub delivery: Option<Delivery>,
}

/// A measurement of how fast data arrives.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Bytes per second.
    pub bytes_s: u64,
    /// Whether the sender had too little to send for the measurement to show the path's limit.
    pub app_limited: bool,
    /// Bytes delivered when the packet was sent.
    pub delivered_before: u64,
    /// Bytes delivered in all.
    pub delivered: u64,
}

/// Packets given up together.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent {
    /// When that was found.
    pub now: Duration,
    /// Their bytes.
    pub lost_bytes: u64,
    /// When the newest of them was sent.
    pub newest_sent_at: Duration,
    /// Bytes on their way now.
    pub in_flight: u64,
    /// Whether everything sent for several probe timeouts was lost.
    pub persistent: bool,
}

impl Algorithm {
    /// A controller that knows nothing of its path yet.
    #[must_use]
    pub fn controller(self) -> Box<dyn Controller> {
        match self {
            Self::Model => Box::new(Model::new()),
            Self::Cubic => Box::new(Cubic::new()),
        }
    }
}
