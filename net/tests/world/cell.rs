//! One cell of the emulator matrix: what a link does to a burst of state, to motion, and to state beside a long transfer.

use std::time::Duration;

use tidelock_net::congestion::Algorithm;
use tidelock_net::emulator::LinkConfig;
use tidelock_net::{ClientConfig, ConnectionId, LaneSet, ServerConfig, SessionConfig};

use super::{KEY, MS, PROTOCOL, STEP, World, number_of, numbered, token_lasting};

/// Messages of the burst, and their length.
const BURST: u32 = 300;
const BURST_BYTES: usize = 1_000;
/// Time between motion broadcasts.
pub const BROADCAST: Duration = Duration::from_millis(50);

/// Time a sender may take to get to know the link before the state lane's latency counts.
/// Twenty round trips come on top.
const SETTLING: Duration = Duration::from_secs(3);

/// A link in both directions, and how long it is cut while the burst is under way.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub link: LinkConfig,
    pub partition: Duration,
    pub seed: u64,
}

impl Cell {
    pub fn new(link: LinkConfig) -> Self {
        Self { link, partition: Duration::ZERO, seed: 1 }
    }

    fn world(&self, algorithm: Algorithm) -> (World, usize, ConnectionId) {
        let session = SessionConfig { congestion: algorithm, ..SessionConfig::default() };
        let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, self.seed);
        let config = ClientConfig { session, seed: Some([self.seed as u8; 32]), ..ClientConfig::default() };
        let token = token_lasting(1, world.now, 60, self.seed);
        let calm = LinkConfig { loss: 0.0, burst_loss: 0.0, ..self.link };
        let peer = world.join_with(token, config, (calm, calm), ([10, 0, 1, 1], 1_000).into());
        let name = world.await_connection(peer);
        world.run(Duration::from_secs(2));
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
            assert!(world.now - started < self.ideal() * 30, "{next} of {BURST} came: {self:?}");
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

    /// What a transfer of 8 MiB, or of twenty seconds if that is more, makes of the link and does to the state lane.
    pub fn transfer(&self, algorithm: Algorithm) -> Transfer {
        let bytes = (8 << 20).max(self.link.rate_bytes_s as usize * 20);
        let quiet = self.state_latency(algorithm, 0);
        let busy = self.state_latency(algorithm, bytes);
        Transfer {
            added: busy.state.saturating_sub(quiet.state),
            quiet: quiet.state,
            share: busy.share,
            queue: busy.queue,
            overflowed: busy.overflowed,
        }
    }

    /// Most that a transfer may add to the state lane's latency: 5 ms, or on a slow link what a datagram of 1,200 bytes and a
    /// quarter takes to pass, and the world's own steps. A queue as long as the jitter and another datagram's time hides in it.
    pub fn most_added(&self) -> Duration {
        let datagrams = if self.link.jitter.is_zero() { 1.25 } else { 2.0 };
        let passing = Duration::from_secs_f64(datagrams * 1_200.0 / self.link.rate_bytes_s as f64);
        (5 * MS).max(passing + 2 * STEP) + self.link.jitter
    }

    /// Share of the link used until `bulk` bytes are through, and the state lane's latency at its 99th percentile meanwhile.
    fn state_latency(&self, algorithm: Algorithm, bulk: usize) -> Run {
        let (mut world, peer, name) = self.world(algorithm);
        let (started, before) = (world.now, world.client_bytes(peer));
        let (mut sent_at, mut ages, mut queues) = (vec![], vec![], vec![]);
        let mut left = bulk;
        let mut parts = bulk.div_ceil(1 << 20);
        let settled = started + SETTLING + self.link.latency * 40;
        let enough = settled - started + Duration::from_secs(10);
        while parts > 0 || (bulk == 0 && world.now - started < enough) {
            world.server_send(name, LaneSet::STATE, &numbered(sent_at.len() as u32, 100), None);
            sent_at.push(world.now);
            // The lane takes what it has room for.
            while left > 0 && world.server.stats(name).is_some_and(|stats| stats.lanes[4].queued_bytes < 8 << 20) {
                let part = left.min(1 << 20);
                world.server_send(name, LaneSet::BULK, &vec![5; part], None);
                left -= part;
            }
            world.server_flush();
            for _ in 0..17 {
                world.step();
                if world.now > settled {
                    queues.push(world.peers[peer].down.queue_delay(world.now));
                }
                parts -= world.client_messages(peer, LaneSet::BULK).len();
                for message in world.client_messages(peer, LaneSet::STATE) {
                    let sent = sent_at[number_of(&message) as usize];
                    if sent > settled {
                        ages.push(world.now - sent);
                    }
                }
            }
            world.events.clear();
        }
        // A sender that does not know the link needs a round trip for each doubling until it fills it.
        let round = (self.link.latency * 2 + self.link.jitter).as_secs_f64();
        let held = self.link.rate_bytes_s as f64 * round;
        let doublings = (held / 13_800.0 + 1.0).log2();
        let seconds = (world.now - started).as_secs_f64() - doublings * round;
        let used = (world.client_bytes(peer) - before) as f64;
        Run {
            share: used / (self.link.rate_bytes_s as f64 * seconds),
            state: percentile(&mut ages, 99),
            queue: [percentile(&mut queues, 50), percentile(&mut queues, 99)],
            overflowed: world.peers[peer].down.stats().overflowed,
        }
    }
}

/// One run with or without a transfer.
struct Run {
    share: f64,
    state: Duration,
    queue: [Duration; 2],
    overflowed: u64,
}

/// A long transfer's use of the link and what it added to the state lane's latency at its 99th percentile.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub share: f64,
    pub added: Duration,
    /// The state lane's latency at its 99th percentile without the transfer.
    pub quiet: Duration,
    /// How long packets waited at the link, at the median and the 99th percentile.
    pub queue: [Duration; 2],
    /// Packets for which the link's queue had no room.
    pub overflowed: u64,
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

pub const LATENCIES: [u32; 3] = [0, 50, 250];
pub const JITTERS: [u32; 3] = [0, 30, 100];
pub const LOSSES: [f64; 5] = [0.0, 0.01, 0.05, 0.2, 0.3];
/// Bytes per second at which transfers are looked at.
pub const TRANSFER_RATES: [u64; 4] = [16_000, 125_000, 1_250_000, 2_500_000];
/// Bytes per second; 0 is unlimited.
pub const RATES: [u64; 4] = [16_000, 125_000, 1_250_000, 0];

/// A path with a queue of 200 ms, times in milliseconds.
pub fn path(latency: u32, jitter: u32, rate_bytes_s: u64) -> LinkConfig {
    let queue_bytes = (rate_bytes_s / 5).max(12_000);
    LinkConfig { latency: MS * latency, jitter: MS * jitter, rate_bytes_s, queue_bytes, ..LinkConfig::default() }
}

/// Every way a path of this shape loses, repeats and disorders.
fn spoiled(base: LinkConfig) -> Vec<LinkConfig> {
    let mut links: Vec<_> = LOSSES.iter().map(|&loss| LinkConfig { loss, ..base }).collect();
    links.push(LinkConfig { burst_loss: 0.005, burst: 60 * MS, ..base });
    let disorder = |link: &LinkConfig| LinkConfig { duplicate: 0.25, reorder: 0.1, reorder_delay: 20 * MS, ..*link };
    let disordered: Vec<_> = links.iter().map(disorder).collect();
    links.extend(disordered);
    links
}

/// The whole matrix: every latency, jitter, rate and way of spoiling; cuts of 1 and 30 s; lengths a path passes.
pub fn matrix() -> Vec<Cell> {
    let mut cells = vec![];
    for latency in LATENCIES {
        for rate in RATES {
            for jitter in JITTERS {
                cells.extend(spoiled(path(latency, jitter, rate)).into_iter().map(Cell::new));
            }
            for seconds in [1, 30] {
                let partition = Duration::from_secs(seconds);
                let link = |loss| LinkConfig { loss, ..path(latency, 30, rate) };
                cells.extend(LOSSES.map(|loss| Cell { partition, ..Cell::new(link(loss)) }));
            }
            for mtu in [1_200, 1_280, 9_000] {
                cells.push(Cell::new(LinkConfig { mtu, loss: 0.01, ..path(latency, 0, rate) }));
            }
        }
    }
    cells
}

impl Cell {
    /// Whether motion's age has a bound here: at 5 % loss and less.
    pub fn bounds_motion(&self) -> bool {
        self.loss() <= 0.05 && self.link.burst_loss == 0.0 && self.link.reorder == 0.0 && self.partition.is_zero()
    }
}
