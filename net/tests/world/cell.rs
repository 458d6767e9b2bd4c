//! One cell of the emulator matrix: what a link does to a burst of state and to motion.

use std::time::Duration;

use tidelock_net::congestion::{Algorithm, MIN_RATE_BYTES_S};
use tidelock_net::emulator::LinkConfig;
use tidelock_net::{ClientConfig, ConnectionId, LaneSet, ServerConfig, SessionConfig};

use super::{KEY, MS, PROTOCOL, World, number_of, numbered, token_lasting};

/// Messages of the burst, and their length.
const BURST: u32 = 300;
const BURST_BYTES: usize = 1_000;
/// Time between motion broadcasts.
pub const BROADCAST: Duration = Duration::from_millis(50);

/// A link in both directions, and how long it is cut while the burst is under way.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub link: LinkConfig,
    pub partition: Duration,
    /// Whether both sides look for longer packets.
    pub probe_mtu: bool,
    pub seed: u64,
}

impl Cell {
    pub fn new(link: LinkConfig) -> Self {
        Self { link, partition: Duration::ZERO, probe_mtu: false, seed: 1 }
    }

    /// The same link with other luck.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    pub(super) fn world(&self, algorithm: Algorithm) -> (World, usize, ConnectionId) {
        let session = SessionConfig { congestion: algorithm, probe_mtu: self.probe_mtu, ..SessionConfig::default() };
        let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, self.seed);
        let config = ClientConfig { session, seed: Some([self.seed as u8; 32]), ..ClientConfig::default() };
        let token = token_lasting(1, world.now, 60, self.seed);
        let calm = LinkConfig { loss: 0.0, burst_loss: 0.0, ..self.link };
        let peer = world.join_with(token, config, (calm, calm), ([10, 0, 1, 1], 1_000).into());
        let name = world.await_connection(peer);
        // The search for longer packets is over by then too.
        world.run(Duration::from_secs(if self.probe_mtu { 15 } else { 2 }));
        world.set_links(peer, self.link);
        (world, peer, name)
    }

    /// Share of datagrams lost.
    pub fn loss(&self) -> f64 {
        let burst = self.link.burst_loss;
        self.link.loss.max(if burst > 0.0 { 0.05 } else { 0.0 })
    }

    /// Time a sender needs at best that doubles what it sends each round trip until it knows the rate, learns of a loss one round
    /// trip later and sends again: what none can do without.
    pub fn ideal(&self) -> Duration {
        let bytes = f64::from(BURST) * (BURST_BYTES as f64 + 60.0);
        let loss = self.loss();
        // A receiver may hold an acknowledgement back for 25 ms.
        let round = (self.link.latency * 2 + self.link.jitter).max(25 * MS).as_secs_f64();
        let rate = self.link.rate_bytes_s as f64;
        let passing = if rate > 0.0 { bytes / (rate * (1.0 - loss)) } else { 0.0 };
        let doublings = (bytes / 13_800.0 + 1.0).log2();
        let tries = if loss > 0.0 { f64::from(BURST).ln() / (1.0 / loss).ln() } else { 0.0 };
        let burst = if self.link.burst_loss > 0.0 { self.link.burst.as_secs_f64() } else { 0.0 };
        let seconds = round / 2.0 + passing + round * (doublings + tries) + burst;
        Duration::from_secs_f64(seconds) + self.partition
    }

    /// Longest that the burst may take for a sender that at least keeps to the least rate a session sends at: all of it at that
    /// rate, half of it again for what headers and repetitions take, and five seconds to begin.
    pub fn slowest(&self) -> Duration {
        let bytes = f64::from(BURST) * BURST_BYTES as f64 * 1.5 / (1.0 - self.loss());
        let seconds = bytes / MIN_RATE_BYTES_S as f64 + 5.0;
        (3 * self.ideal()).max(Duration::from_secs_f64(seconds) + self.partition)
    }

    /// How long a burst of reliable messages takes, each once and in order; panics if one is missing or comes twice.
    pub fn burst(&self, algorithm: Algorithm) -> Duration {
        let (mut world, peer, name) = self.world(algorithm);
        let started = world.now;
        (0..BURST).for_each(|number| world.server_send(name, LaneSet::STATE, &numbered(number, BURST_BYTES), None));
        world.server_flush();
        if !self.partition.is_zero() {
            world.run(20 * MS);
            world.set_links(peer, LinkConfig { partition: true, ..self.link });
            world.run(self.partition);
            world.set_links(peer, self.link);
        }
        let mut next = 0;
        while next < BURST {
            world.step();
            for message in world.client_messages(peer, LaneSet::STATE) {
                assert_eq!(number_of(&message), next, "in order, once: {self:?}");
                next += 1;
            }
            assert!(world.now - started < self.slowest() * 2, "{next} of {BURST} came: {self:?}");
        }
        let took = world.now - started;
        world.run(self.link.latency * 4 + Duration::from_millis(500));
        assert!(world.client_messages(peer, LaneSet::STATE).is_empty(), "none twice: {self:?}");
        took
    }

    /// Age of the newest motion at its 99th percentile over `seconds`, one broadcast of 400 bytes each 50 ms, and its bound.
    pub fn motion(&self, algorithm: Algorithm, seconds: u32) -> (Duration, Duration) {
        let (mut world, peer, name) = self.world(algorithm);
        let (mut sent_at, mut ages, mut newest) = (vec![], vec![], None);
        for broadcast in 0..20 * seconds {
            sent_at.push(world.now);
            world.server_send(name, LaneSet::MOTION, &numbered(broadcast, 400), None);
            world.server_flush();
            for _ in 0..BROADCAST.as_millis() {
                world.step();
                let came = world.client_messages(peer, LaneSet::MOTION);
                newest = came.iter().map(|message| number_of(message)).max().max(newest);
                ages.extend(newest.map(|newest: u32| world.now - sent_at[newest as usize]));
            }
        }
        let serialization = match self.link.rate_bytes_s {
            0 => Duration::ZERO,
            rate => Duration::from_secs_f64(500.0 / rate as f64),
        };
        // One step to be sent, one to be taken.
        let bound = self.link.latency + self.link.jitter + 2 * BROADCAST + serialization + 2 * MS;
        (percentile(&mut ages, 99), bound)
    }
}

pub(super) fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}
