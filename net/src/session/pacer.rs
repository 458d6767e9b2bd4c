//! Spacing of packets at a rate, with a bounded burst.

use std::time::Duration;

/// Furthest ahead of the rate that what passed regardless of it is remembered.
const MAX_AHEAD: Duration = Duration::from_millis(250);

/// Lets bytes pass at a rate, up to a burst at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When everything passed so far would have passed at the rate exactly.
    even: Duration,
}

impl Pacer {
    /// When the next packet may leave, if `burst` of time may be used ahead.
    pub(crate) fn ready_at(&self, burst: Duration) -> Duration {
        self.even.saturating_sub(burst)
    }

    /// Notes that `bytes` passed at `bytes_s` bytes per second, which is not 0.
    pub(crate) fn pass(&mut self, now: Duration, bytes: usize, bytes_s: u64) {
        let takes = (bytes as u64).saturating_mul(1_000_000_000) / bytes_s.max(1);
        self.even = self.even.max(now) + Duration::from_nanos(takes);
    }

    /// The same for bytes that may pass without having asked; those further ahead of the rate than a quarter of a second are
    /// forgotten.
    pub(crate) fn pass_regardless(&mut self, now: Duration, bytes: usize, bytes_s: u64) {
        self.pass(now, bytes, bytes_s);
        self.even = self.even.min(now + MAX_AHEAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-5: pacing.
    #[test]
    fn the_rate_holds_and_so_does_the_burst() {
        let (mut pacer, burst) = (Pacer::default(), Duration::from_millis(20));
        let (mut now, mut passed, mut at_once) = (Duration::ZERO, 0u64, None);
        while now < Duration::from_secs(2) {
            while pacer.ready_at(burst) <= now {
                pacer.pass(now, 1_000, 100_000);
                passed += 1_000;
            }
            at_once.get_or_insert(passed);
            now += Duration::from_millis(1);
        }
        assert_eq!(at_once, Some(3_000));
        assert!((200_000..=204_000).contains(&passed), "{passed}");
    }
}
