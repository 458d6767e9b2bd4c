use super::Report;
use super::checks::duration_is_valid;

/// How many of a report's frames the budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Why it ended there.
    pub verdict: AdmissionVerdict,
    /// Frames to run, from the first; the others are discarded.
    pub frames: usize,
}

/// Why a report's replay ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionVerdict {
    /// All frames run.
    Complete,
    /// The next frame did not fit the budget.
    Exhausted,
    /// Too many frames or an impossible duration: nothing runs and nothing is spent.
    Malformed,
}

/// Movement time a character may still spend (S-22): full at first, refilled by elapsed server time alone, so that over
/// any window of W seconds no client moves for more than W + `capacity` seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayBudget {
    capacity: f64,
    available: f64,
    last: Option<f64>,
}

/// A frame this much too long for the budget still fits, seconds.
const TOLERANCE: f64 = 1e-9;

impl Default for ReplayBudget {
    fn default() -> Self {
        Self::new(0.25)
    }
}

impl ReplayBudget {
    /// A full budget of `capacity` seconds (0.25 by default). Its clock starts at the first report.
    #[must_use]
    pub fn new(capacity: f64) -> Self {
        Self { capacity, available: capacity, last: None }
    }

    /// Refills up to server time `now`, then spends on frames of these durations while they fit. All in seconds.
    pub fn admit<I>(&mut self, now: f64, durations: I) -> Admission
    where
        I: ExactSizeIterator<Item = f64> + Clone,
    {
        self.refill(now);
        if durations.len() > Report::MAX_FRAMES || !durations.clone().all(duration_is_valid) {
            return Admission { verdict: AdmissionVerdict::Malformed, frames: 0 };
        }
        let mut frames = 0;
        for duration in durations {
            if duration > self.available + TOLERANCE {
                return Admission { verdict: AdmissionVerdict::Exhausted, frames };
            }
            self.available = (self.available - duration).max(0.0);
            frames += 1;
        }
        Admission { verdict: AdmissionVerdict::Complete, frames }
    }

    /// Refills up to server time `now` in seconds; a time before the last one refills nothing.
    pub fn refill(&mut self, now: f64) {
        let last = *self.last.get_or_insert(now);
        if now > last {
            self.available = (self.available + (now - last)).min(self.capacity);
            self.last = Some(now);
        }
    }

    /// Seconds of movement left as of the last refill.
    #[must_use]
    pub fn available(&self) -> f64 {
        self.available
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-22, B20
        #[test]
        fn no_window_holds_more_movement_than_its_length_and_the_capacity(
            reports in prop::collection::vec((0.0_f64..0.2, 1_usize..20, 256_u32..=2048), 1..60),
        ) {
            let mut budget = ReplayBudget::default();
            let mut now = 1e6;
            let mut runs: Vec<(f64, f64)> = Vec::new();
            for (wait, count, units) in reports {
                now += wait;
                let duration = f64::from(units) / 61_440.0;
                let admitted = budget.admit(now, vec![duration; count].into_iter());
                runs.push((now, duration * admitted.frames as f64));
            }
            for first in 0..runs.len() {
                for last in first..runs.len() {
                    let moved: f64 = runs[first..=last].iter().map(|(_, moved)| moved).sum();
                    prop_assert!(moved <= runs[last].0 - runs[first].0 + 0.25 + 1e-6);
                }
            }
        }
    }
}
