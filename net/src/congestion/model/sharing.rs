//! Even shares of a path that several flows use.

use super::Model;

/// Share of earlier looks for more that is remembered.
const MEMORY: f64 = 0.85;
/// Least queue a look is taken to have made, in seconds, and the share beyond the rate it counts with at most.
const LEAST_WAIT: f64 = 200e-6;
const MOST_LOOK: f64 = 0.1;
/// Own share of the path below which it is taken for shared.
const OWN_SHARE: f64 = 0.6;
/// Part of the time with a queue above which it is taken for shared, and the time over which that is reckoned, in seconds or round
/// trips.
const BUSY: f64 = 0.25;
const BUSY_TIME: f64 = 2.0;
const BUSY_ROUNDS: f64 = 20.0;
/// Time after which a queue must show anew that the path is shared, for it may be one's own.
const DOUBT: f64 = 10.0;
/// Bytes that each flow leaves in the queue: a queue of *t* seconds tells each that these by *t* is its even share.
const QUEUED_BYTES: f64 = 2_000.0;
/// Bytes per second below which nothing is told: packets come too rarely, and a flow alone would keep a queue for nobody.
const LEAST_TELLING: f64 = 150_000.0;
/// Part of the difference to the even share that is made up for in a second, and in a round at most.
const PACE: f64 = 2.0;
const MOST_STEP: f64 = 0.5;
/// Fastest growth a second; less where round trips are long, so that the queue it makes before it is seen stays short: that
/// many seconds by the square of the round trip.
const GROWTH: f64 = 0.15;
const GROWTH_QUEUE: f64 = 0.001;

/// What tells whether others use the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sharing {
    /// Longest round trip of the round before the look for more.
    usual_longest: f64,
    /// Bytes sent beyond the rate in looks for more and the seconds of queue they made; older ones count less.
    sent_more: f64,
    waited: f64,
    /// Part of the time in which there is a queue, and since when it is enough.
    busy: f64,
    busy_since: Option<f64>,
}

impl Model {
    /// Notes that a look for more begins.
    pub(super) fn begin_look(&mut self) {
        self.sharing.usual_longest = self.round.longest;
    }

    /// Notes a look for more that ended with this longest round trip. The bytes it sent, by the queue they made, are what the whole
    /// path passes, whoever uses it.
    pub(super) fn note_look(&mut self, longest: f64) {
        let before = self.sharing.usual_longest.max(self.min_rtt.unwrap_or(longest));
        let sent = self.probed_rate * self.probe.min(MOST_LOOK) * self.probe_time;
        let sharing = &mut self.sharing;
        sharing.sent_more = sharing.sent_more * MEMORY + sent;
        sharing.waited = sharing.waited * MEMORY + (longest - before).max(LEAST_WAIT);
    }

    /// Notes at a round's end how much of the time there is a queue. One that stays though this flow yields is made by others.
    pub(super) fn note_queue(&mut self, now: f64, shows_limit: bool) {
        let waits = self.queue() > self.noise() / 2.0;
        let lasted = (now - self.round.since).max(0.0);
        let within = BUSY_TIME.max(self.smoothed_rtt * BUSY_ROUNDS);
        let stale = self.stale_rounds > 0;
        let sharing = &mut self.sharing;
        if !shows_limit || sharing.busy_since.is_some_and(|since| since + DOUBT < now) {
            (sharing.busy, sharing.busy_since) = (0.0, None);
        } else if !stale {
            sharing.busy += (f64::from(u8::from(waits)) - sharing.busy) * (lasted / within).min(0.5);
            sharing.busy_since = sharing.busy_since.or(Some(now)).filter(|_| sharing.busy > BUSY);
        }
    }

    /// Whether others use the path too.
    pub(super) fn is_shared(&self) -> bool {
        let Sharing { sent_more, waited, busy, .. } = self.sharing;
        let told = !self.is_jittery() && self.limit > LEAST_TELLING && self.stale_rounds == 0;
        told && (busy > BUSY || self.limit * waited < OWN_SHARE * sent_more)
    }

    /// Whether so long a queue is more than flows make that share evenly.
    pub(super) fn is_beyond_even(&self, queue: f64) -> bool {
        queue > self.noise() * 4.0 && self.even_rate(queue) < self.limit / 2.0
    }

    /// What the queue tells every flow that its even share is: the same to all, whatever each sends. So who sends more yields and who
    /// sends less grows, until the queue holds [`QUEUED_BYTES`] of each.
    fn even_rate(&self, queue: f64) -> f64 {
        QUEUED_BYTES / queue.max(1e-4)
    }

    /// The limit, closer to the even share by what a round of that length may change.
    pub(super) fn share_evenly(&self, queue: f64, lasted: f64) -> f64 {
        let round = self.smoothed_rtt.max(1e-3);
        let growth = GROWTH.min(GROWTH_QUEUE / (round * round)) * lasted;
        let step = (self.even_rate(queue) / self.limit - 1.0) * (lasted * PACE).min(MOST_STEP);
        self.limit * (1.0 + step.min(growth))
    }
}
