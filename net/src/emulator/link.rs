//! One direction of an emulated path.

use std::time::Duration;

/// How a link mistreats datagrams. Probabilities are 0 to 1. The default is a perfect link.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LinkConfig {
    /// Time every datagram takes.
    pub latency: Duration,
    /// Largest extra time, drawn evenly per datagram; datagrams overtake each other when it exceeds their spacing.
    pub jitter: Duration,
    /// Probability that a datagram is lost, independently of others.
    pub loss: f64,
    /// Probability that a datagram begins a burst of losses, in which all are lost.
    pub burst_loss: f64,
    /// How long a burst of losses lasts.
    pub burst: Duration,
    /// Probability that a datagram arrives twice.
    pub duplicate: f64,
    /// Probability that a datagram is held back by `reorder_delay`, so that later ones overtake it.
    pub reorder: f64,
    /// How long a datagram that is held back is held.
    pub reorder_delay: Duration,
    /// Probability that one bit of a datagram is flipped.
    pub corrupt: f64,
    /// Bytes per second the link passes, 28 bytes of IP and UDP headers per datagram included; 0 is unlimited.
    pub rate_bytes_s: u64,
    /// Bytes that wait for the link at most, when its rate is limited; a datagram that finds no room is lost.
    pub queue_bytes: u64,
    /// Longest datagram that passes, headers included; 0 is unlimited. Longer ones are lost.
    pub mtu: usize,
    /// While set, nothing passes.
    pub partition: bool,
}

/// What a link did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Datagrams given to the link.
    pub pushed: u64,
    /// Datagrams lost at random, in bursts or while partitioned.
    pub lost: u64,
    /// Datagrams lost because the queue was full.
    pub overflowed: u64,
    /// Datagrams lost because they were too long.
    pub too_long: u64,
    /// Extra copies made.
    pub duplicated: u64,
    /// Datagrams with a bit flipped.
    pub corrupted: u64,
    /// Bytes of datagrams that came out.
    pub delivered_bytes: u64,
}

/// One direction of an emulated path, in virtual time. Equal seeds treat equal traffic equally.
#[derive(Debug)]
pub struct Link {
    config: LinkConfig,
    stats: LinkStats,
}

impl Link {
    /// A link that draws its luck from `seed`.
    #[must_use]
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        let _ = seed;
        Self { config, stats: LinkStats::default() }
    }

    /// Changes how datagrams pushed from now on are treated.
    pub fn set_config(&mut self, config: LinkConfig) {
        self.config = config;
    }

    /// What the link did so far.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    /// Gives a datagram to the link.
    pub fn push(&mut self, now: Duration, datagram: &[u8]) {
        let _ = (now, datagram);
        self.stats.pushed += 1;
    }

    /// Takes the next datagram due at `now`.
    pub fn pop(&mut self, now: Duration) -> Option<Vec<u8>> {
        let _ = now;
        None
    }

    /// When the next datagram comes out.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        None
    }
}
