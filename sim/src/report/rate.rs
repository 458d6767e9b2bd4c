use crate::time::SimTime;

/// A token bucket in integer time: so many a second, so many at once. It starts full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Time saved up, in units of 1/61,440 s times the rate, so that one token is one second's worth of units.
    saved: u64,
    capacity: u64,
    per_second: u64,
    last: Option<SimTime>,
}

impl TokenBucket {
    /// A full bucket giving `per_second` tokens a second and at most `burst` at once.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> Self {
        let capacity = u64::from(burst) * SimTime::UNITS_PER_SECOND;
        Self { saved: capacity, capacity, per_second: u64::from(per_second), last: None }
    }

    /// Takes one token at `now`, or says there is none. A `now` before the last one refills nothing.
    pub fn take(&mut self, now: SimTime) -> bool {
        let last = *self.last.get_or_insert(now);
        let elapsed = now.0.saturating_sub(last.0);
        self.saved = self.saved.saturating_add(elapsed.saturating_mul(self.per_second)).min(self.capacity);
        self.last = Some(last.max(now));
        let enough = self.saved >= SimTime::UNITS_PER_SECOND;
        if enough {
            self.saved -= SimTime::UNITS_PER_SECOND;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-21
    #[test]
    fn no_window_lets_more_through_than_rate_and_burst() {
        let mut bucket = TokenBucket::new(30, 8);
        let mut passed = 0;
        for step in 0..10_000_u64 {
            passed += u32::from(bucket.take(SimTime((1 << 40) + step * 61)));
        }
        let seconds = 10_000.0 * 61.0 / 61_440.0;
        assert!(f64::from(passed) <= 8.0 + 30.0 * seconds && f64::from(passed) > 7.0 + 30.0 * seconds, "{passed}");
        assert!(!bucket.take(SimTime(0)), "time running backwards gives nothing");
    }
}
