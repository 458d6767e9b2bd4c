//! One direction of an emulated path.

use std::collections::BTreeMap;
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

/// Bytes of IPv4 and UDP headers a datagram is counted with.
const HEADER_BYTES: u64 = 28;

/// One direction of an emulated path, in virtual time. Equal seeds treat equal traffic equally.
#[derive(Debug)]
pub struct Link {
    config: LinkConfig,
    stats: LinkStats,
    luck: Luck,
    /// Datagrams on their way by time of arrival, then order of entry.
    flight: BTreeMap<(Duration, u64), Vec<u8>>,
    entered: u64,
    /// When the rate-limited part of the link has passed everything accepted so far.
    busy_until: Duration,
    burst_until: Duration,
}

impl Link {
    /// A link that draws its luck from `seed`.
    #[must_use]
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        Self {
            config,
            stats: LinkStats::default(),
            luck: Luck(seed),
            flight: BTreeMap::new(),
            entered: 0,
            busy_until: Duration::ZERO,
            burst_until: Duration::ZERO,
        }
    }

    /// Changes how datagrams pushed from now on are treated.
    pub fn set_config(&mut self, config: LinkConfig) {
        self.config = config;
    }

    /// How datagrams are treated.
    #[must_use]
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// What the link did so far.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    /// Gives a datagram to the link.
    pub fn push(&mut self, now: Duration, datagram: &[u8]) {
        self.stats.pushed += 1;
        let wire_bytes = datagram.len() as u64 + HEADER_BYTES;
        if self.config.mtu > 0 && wire_bytes > self.config.mtu as u64 {
            self.stats.too_long += 1;
        } else if self.is_lost(now) {
            self.stats.lost += 1;
        } else if let Some(leaves) = self.pass_queue(now, wire_bytes) {
            self.enter(leaves, datagram.to_vec());
            if self.luck.happens(self.config.duplicate) {
                self.stats.duplicated += 1;
                self.enter(leaves, datagram.to_vec());
            }
        } else {
            self.stats.overflowed += 1;
        }
    }

    /// Takes the next datagram due at `now`.
    pub fn pop(&mut self, now: Duration) -> Option<Vec<u8>> {
        let entry = self.flight.first_entry()?;
        if entry.key().0 > now {
            return None;
        }
        let datagram = entry.remove();
        self.stats.delivered_bytes += datagram.len() as u64;
        Some(datagram)
    }

    /// When the next datagram comes out.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        self.flight.first_key_value().map(|(&(due, _), _)| due)
    }

    /// How long a datagram pushed at `now` would wait for those before it, when the rate is limited.
    #[must_use]
    pub fn queue_delay(&self, now: Duration) -> Duration {
        self.busy_until.saturating_sub(now)
    }

    fn is_lost(&mut self, now: Duration) -> bool {
        let random = self.luck.happens(self.config.loss);
        if self.luck.happens(self.config.burst_loss) && now >= self.burst_until {
            self.burst_until = now + self.config.burst;
        }
        random || now < self.burst_until || self.config.partition
    }

    /// When the datagram has passed the rate limit, or `None` if its queue has no room.
    fn pass_queue(&mut self, now: Duration, wire_bytes: u64) -> Option<Duration> {
        let rate = self.config.rate_bytes_s;
        if rate == 0 {
            return Some(now);
        }
        let waiting = self.queue_delay(now).as_nanos() * u128::from(rate) / 1_000_000_000;
        if waiting + u128::from(wire_bytes) > u128::from(self.config.queue_bytes.max(wire_bytes)) {
            return None;
        }
        let takes = Duration::from_nanos(wire_bytes * 1_000_000_000 / rate);
        self.busy_until = self.busy_until.max(now) + takes;
        Some(self.busy_until)
    }

    fn enter(&mut self, leaves: Duration, mut datagram: Vec<u8>) {
        let mut due = leaves + self.config.latency + self.luck.up_to(self.config.jitter);
        if self.luck.happens(self.config.reorder) {
            due += self.config.reorder_delay;
        }
        if self.luck.happens(self.config.corrupt) && !datagram.is_empty() {
            self.stats.corrupted += 1;
            let at = self.luck.below(datagram.len() as u64) as usize;
            datagram[at] ^= 1 << self.luck.below(8);
        }
        self.entered += 1;
        self.flight.insert((due, self.entered), datagram);
    }
}

/// SplitMix64: a small generator with a seed.
#[derive(Debug)]
struct Luck(u64);

impl Luck {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_nanos(self.below(most.as_nanos() as u64 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn run(config: LinkConfig, seed: u64, count: u32) -> (Vec<(u32, Duration)>, LinkStats) {
        let mut link = Link::new(config, seed);
        let mut arrived = Vec::new();
        for tick in 0..count + 1_000 {
            let now = MS * tick;
            if tick < count {
                link.push(now, &tick.to_le_bytes());
            }
            while let Some(datagram) = link.pop(now) {
                arrived.push((u32::from_le_bytes(datagram.try_into().unwrap()), now));
            }
        }
        assert_eq!(link.next(), None);
        (arrived, link.stats())
    }

    #[test]
    fn a_perfect_link_delivers_all_in_order_after_its_latency() {
        let (arrived, _) = run(LinkConfig { latency: 40 * MS, ..LinkConfig::default() }, 1, 500);
        assert!(arrived.iter().enumerate().all(|(i, &(number, at))| number as usize == i && at == MS * (number + 40)));
        assert_eq!(arrived.len(), 500);
    }

    #[test]
    fn equal_seeds_are_equally_unlucky() {
        let bad = LinkConfig {
            jitter: 30 * MS,
            loss: 0.2,
            duplicate: 0.25,
            burst_loss: 0.01,
            burst: 20 * MS,
            reorder: 0.1,
            reorder_delay: 50 * MS,
            ..LinkConfig::default()
        };
        let (one, stats) = run(bad, 7, 5_000);
        assert_eq!(run(bad, 7, 5_000).0, one);
        assert_ne!(run(bad, 8, 5_000).0, one);
        assert!((1_300..2_600).contains(&stats.lost), "{stats:?}");
        assert!((600..1_200).contains(&stats.duplicated), "{stats:?}");
        assert!(one.windows(2).any(|pair| pair[1].0 < pair[0].0), "jitter reorders");
    }

    #[test]
    fn the_rate_limits_and_the_queue_ends() {
        let slow = LinkConfig { rate_bytes_s: 8_000, queue_bytes: 320, ..LinkConfig::default() };
        let (arrived, stats) = run(slow, 1, 1_000);
        // 32 bytes each with headers: one per 4 ms, ten waiting.
        assert!((255..=265).contains(&arrived.len()), "{}", arrived.len());
        assert_eq!(stats.overflowed + arrived.len() as u64, 1_000);
    }

    #[test]
    fn partition_mtu_and_corruption() {
        let closed = LinkConfig { partition: true, ..LinkConfig::default() };
        assert_eq!(run(closed, 1, 100).1.lost, 100);
        let narrow = LinkConfig { mtu: 31, ..LinkConfig::default() };
        assert_eq!(run(narrow, 1, 100).1.too_long, 100);
        let noisy = LinkConfig { corrupt: 1.0, ..LinkConfig::default() };
        assert!(run(noisy, 1, 100).0.iter().enumerate().all(|(i, &(number, _))| (number ^ i as u32).count_ones() == 1));
    }
}
