//! A long transfer over one cell of the emulator matrix: what it makes of the link, and what it does to the state lane beside it.

use std::time::Duration;

use tidelock_net::LaneSet;
use tidelock_net::congestion::Algorithm;

use super::cell::{Cell, percentile};
use super::{MS, STEP, number_of, numbered};

/// Time a sender may take to get to know the link before the state lane's latency counts.
/// Twenty round trips come on top.
const SETTLING: Duration = Duration::from_secs(3);

/// A long transfer's use of the link and what it added to the state lane's latency at its 99th percentile.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Share of what a full link delivers: of its rate, less what it lost.
    pub share: f64,
    /// On a link that loses, what packets waited at it: how often the slowest message of a hundred was lost is luck, and each time
    /// costs a round trip, with the transfer or without.
    pub added: Duration,
    /// The state lane's latency at its 99th percentile without the transfer.
    pub quiet: Duration,
    /// How long packets waited at the link, at the median and the 99th percentile.
    pub queue: [Duration; 2],
    /// Packets for which the link's queue had no room.
    pub overflowed: u64,
}

/// One run with or without a transfer.
struct Run {
    share: f64,
    state: Duration,
    queue: [Duration; 2],
    overflowed: u64,
}

impl Cell {
    /// What a transfer of 8 MiB, or of twenty seconds if that is more, makes of the link and does to the state lane.
    pub fn transfer(&self, algorithm: Algorithm) -> Transfer {
        let bytes = (8 << 20).max(self.link.rate_bytes_s as usize * 20);
        let quiet = self.state_latency(algorithm, 0);
        let busy = self.state_latency(algorithm, bytes);
        let loses = self.loss() > 0.0;
        Transfer {
            added: if loses { busy.queue[1] } else { busy.state.saturating_sub(quiet.state) },
            quiet: quiet.state,
            share: busy.share,
            queue: busy.queue,
            overflowed: busy.overflowed,
        }
    }

    /// Most that a transfer may add to the state lane's latency: 5 ms, or on a slow link what a datagram of 1,200 bytes and a
    /// quarter takes to pass, and the world's own steps. A queue as long as the jitter and another datagram's time hides in it.
    ///
    /// A link that loses before its queue is filled by sending more than it passes, and what reaches the queue strays from the
    /// mean: by 2.33 standard deviations of a second's losses at the 99th percentile, since it looks anew once a second. After a burst of losses all of it is
    /// sent again, and finds the first of what came after.
    pub fn most_added(&self) -> Duration {
        let datagrams = if self.link.jitter.is_zero() { 1.25 } else { 2.0 };
        let passing = Duration::from_secs_f64(datagrams * 1_200.0 / self.link.rate_bytes_s as f64);
        let per_s = self.datagrams_s();
        let loss = self.link.loss;
        let strays = 2.33 * (per_s * loss / (1.0 - loss)).sqrt() / per_s;
        let again = if self.loses_in_bursts() {
            self.link.burst + Duration::from_secs_f64(1.0 / per_s)
        } else {
            Duration::ZERO
        };
        (5 * MS).max(passing + 2 * STEP) + self.link.jitter + Duration::from_secs_f64(strays) + again
    }

    /// Full datagrams the link passes each second.
    fn datagrams_s(&self) -> f64 {
        self.link.rate_bytes_s as f64 / 1_150.0
    }

    fn loses_in_bursts(&self) -> bool {
        self.link.burst_loss > 0.0
    }

    /// Share of a full link's rate that comes out of it, of which it lost `lost`. While a burst lasts, longer than the round trip,
    /// nothing is acknowledged and a sender stops; that it is over is found by the next probe, and those are 30 to 60 ms apart.
    fn deliverable(&self, lost: f64) -> f64 {
        if !self.loses_in_bursts() {
            return 1.0 - lost;
        }
        let between = 1.0 / (self.link.burst_loss * self.datagrams_s());
        between / (between + self.link.burst.as_secs_f64() + 0.05)
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
        let used = (world.client_bytes(peer) - before) as f64 / (1.0 + self.link.duplicate);
        let stats = world.peers[peer].down.stats();
        let deliverable = self.deliverable(stats.lost as f64 / stats.pushed as f64);
        Run {
            share: used / (self.link.rate_bytes_s as f64 * deliverable * self.useful_s(world.now - started)),
            state: percentile(&mut ages, 99),
            queue: [percentile(&mut queues, 50), percentile(&mut queues, 99)],
            overflowed: stats.overflowed,
        }
    }

    /// Seconds of `took` in which a sender can fill the link: one that does not know it needs a round trip for each doubling.
    fn useful_s(&self, took: Duration) -> f64 {
        let round = (self.link.latency * 2 + self.link.jitter).as_secs_f64();
        let held = self.link.rate_bytes_s as f64 * round;
        took.as_secs_f64() - (held / 13_800.0 + 1.0).log2() * round
    }
}
