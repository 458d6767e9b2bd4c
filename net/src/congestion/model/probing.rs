//! Looks for more than the path is known to deliver.

use super::{FIRST_PROBE, Model, PATIENCE};

/// Least, least where there is jitter, largest least, and largest share sent beyond the known rate to look for more.
const LEAST_PROBE: f64 = 0.03;
const LEAST_LONG_PROBE: f64 = 0.01;
const MOST_LEAST_PROBE: f64 = 0.1;
const MOST_PROBE: f64 = 1.0;
/// Time that a round trip is measured to.
const RESOLUTION: f64 = 0.001;
/// Queue that a look for more may make where there is no jitter.
const PROBE_QUEUE: f64 = 0.0025;
/// Longest time between two looks that only made a queue, while jitter makes a long one necessary.
const MOST_PATIENCE: f64 = 8.0;

impl Model {
    /// Begins a look for more, after one that `paid` or not.
    pub(super) fn begin_probe(&mut self, now: f64, paid: bool) {
        self.cycle_since = now;
        let round = self.smoothed_rtt.max(self.least_round());
        let queue = self.probe_queue();
        self.begin_look();
        let least = if self.is_jittery() { LEAST_LONG_PROBE } else { LEAST_PROBE };
        let least = (queue / round).clamp(least, MOST_LEAST_PROBE);
        let most =
            if self.is_jittery() { (3.0 * queue / round).clamp(MOST_LEAST_PROBE, MOST_PROBE) } else { MOST_PROBE };
        self.probe = self.probe.clamp(least, if paid { most.max(FIRST_PROBE) } else { most });
        self.probed_rate = self.limit;
        let time = if self.is_jittery() { round } else { (queue / self.probe).min(round) };
        self.probe_bytes = self.limit * (1.0 + self.probe) * time;
        self.probe_time = time;
    }

    /// Queue that a look for more makes if there is no more.
    fn probe_queue(&self) -> f64 {
        let told = if self.is_jittery() { self.noise_of(self.round.samples).max(self.jitter) } else { PROBE_QUEUE };
        told.max(self.packet_time() * 5.0 / 4.0)
    }

    /// Judges the look for more at the end of the round in which it was acknowledged; whether there was more.
    pub(super) fn judge_probe(&mut self, now: f64, shows_limit: bool) -> bool {
        let long = self.queue() > self.noise();
        if self.is_jittery() {
            return self.judge_long_probe(now, shows_limit && !long);
        }
        self.patience = PATIENCE;
        let longest = self.round.longest.max(self.last_longest);
        // One packet before it is no queue.
        let wait = (longest - self.min_rtt.unwrap_or(longest) - self.packet_time()).max(0.0);
        // Had the path passed as much as was sent, nothing would have waited.
        let unsure = (self.packet_time() + RESOLUTION) / 2.0;
        let more = self.probed_rate * (1.0 + self.probe);
        let passed = more / (1.0 + (wait + unsure) / self.probe_time.max(1e-3));
        let paid = shows_limit && !long && passed > self.limit * (1.0 + self.probe / 2.0);
        if shows_limit && !long {
            self.note_look(longest);
            self.limit = self.limit.max(passed);
        }
        self.probe = if wait > self.probe_queue() / 2.0 { 0.0 } else { self.probe * 2.0 };
        paid
    }

    /// The same where there is jitter: the mean round trip must have grown, or the path passed it all.
    fn judge_long_probe(&mut self, now: f64, counts: bool) -> bool {
        let noise = self.noise_of(self.round.samples);
        let waited = self.queue() > self.noise() || self.wait(self.round.sum, self.round.samples) > noise;
        let lasted = (now - self.round.since).max(0.0);
        // A shorter queue than that would not have been noticed.
        let told = lasted * (self.probe / 2.0) > noise;
        let paid = counts && !waited && told;
        if paid {
            self.limit = self.limit.max(self.probed_rate * (1.0 + self.probe));
        }
        self.patience = if waited { (self.patience * 2.0).min(MOST_PATIENCE) } else { PATIENCE };
        self.probe = if waited { 0.0 } else { self.probe * 2.0 };
        paid
    }
}
