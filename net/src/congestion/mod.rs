//! Congestion control: how much may be on its way, and how fast it leaves.

/// Which controller a session uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// Sends at the delivery rate it measures and keeps the path's queue short; random loss does not slow it.
    #[default]
    Model,
    /// Loss-based, after RFC 9438: the window grows until packets are lost.
    Cubic,
}
