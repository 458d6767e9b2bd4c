//! Round trips, estimated as in RFC 9002.

use std::time::Duration;

/// Assumed before the first measurement.
const INITIAL: Duration = Duration::from_millis(100);
/// Smallest time the clock is trusted to tell apart.
pub(crate) const GRANULARITY: Duration = Duration::from_millis(1);

/// Smoothed round trip, its deviation, the smallest and the latest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    pub(crate) smoothed: Duration,
    pub(crate) deviation: Duration,
    pub(crate) min: Duration,
    pub(crate) latest: Duration,
    /// Mean change from one measurement to the next.
    pub(crate) jitter: Duration,
    measured: bool,
}

/// Moves from `old` to `new` by one part in two to the power of `SHIFT`. Divisions of a `Duration` take many times longer.
fn blend<const SHIFT: u32>(old: Duration, new: Duration) -> Duration {
    let (old, new) = (old.as_nanos() as u64, new.as_nanos() as u64);
    Duration::from_nanos(old - (old >> SHIFT) + (new >> SHIFT))
}

impl Rtt {
    pub(crate) fn new() -> Self {
        let deviation = INITIAL / 2;
        Self { smoothed: INITIAL, deviation, min: INITIAL, latest: INITIAL, jitter: Duration::ZERO, measured: false }
    }

    /// Whether anything was measured yet.
    pub(crate) fn is_measured(&self) -> bool {
        self.measured
    }

    /// Takes a measurement of which the peer says it waited `delay` itself.
    pub(crate) fn sample(&mut self, latest: Duration, delay: Duration) {
        if !self.measured {
            let deviation = latest / 2;
            *self = Self { smoothed: latest, deviation, min: latest, latest, jitter: Duration::ZERO, measured: true };
            return;
        }
        self.jitter = blend::<4>(self.jitter, latest.abs_diff(self.latest));
        self.latest = latest;
        self.min = self.min.min(latest);
        let adjusted = if latest >= self.min + delay { latest - delay } else { latest };
        self.deviation = blend::<2>(self.deviation, self.smoothed.abs_diff(adjusted));
        self.smoothed = blend::<3>(self.smoothed, adjusted);
    }

    /// How long after a packet one may worry about it, when its acknowledgement may be held back by `delay`.
    pub(crate) fn probe_timeout(&self, delay: Duration) -> Duration {
        self.smoothed + (self.deviation * 4).max(GRANULARITY) + delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-2: acknowledgement delay excluded.
    #[test]
    fn the_peers_own_delay_does_not_count() {
        let mut rtt = Rtt::new();
        let ms = Duration::from_millis;
        rtt.sample(ms(50), ms(0));
        (0..100).for_each(|_| rtt.sample(ms(75), ms(25)));
        assert_eq!((rtt.smoothed, rtt.min), (ms(50), ms(50)));
        // A delay that would put the round trip below the smallest seen is not believed.
        rtt.sample(ms(60), ms(40));
        assert!(rtt.smoothed > ms(50));
    }
}
