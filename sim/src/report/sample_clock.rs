use crate::time::{SimSpan, SimTime};

/// What the server knows of one client's clock: how long after their sample times its reports arrive at best (S-41).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleClock {
    /// Arrival less sample time, seconds: the lowest seen, rising slowly.
    floor: Option<f64>,
    sample: SimTime,
}

/// Share of a transit above the floor by which the floor rises.
const FLOOR_RISE: f64 = 0.002;

impl SampleClock {
    /// Takes in a report's sample time and when it arrived, both in server time.
    pub fn observe(&mut self, sample: SimTime, arrival: SimTime) {
        let transit = arrival.0 as f64 - sample.0 as f64;
        let transit = transit / SimTime::UNITS_PER_SECOND as f64;
        self.floor = Some(match self.floor {
            Some(floor) if transit > floor => floor + FLOOR_RISE * (transit - floor),
            _ => transit,
        });
        self.sample = sample;
    }

    /// How old the last sample is at `broadcast`, 0 to `limit`; 0 before the first.
    #[must_use]
    pub fn age(&self, broadcast: SimTime, limit: SimSpan) -> SimSpan {
        let Some(floor) = self.floor else { return SimSpan(0) };
        let age = broadcast.0 as f64 - self.sample.0 as f64 - floor * SimTime::UNITS_PER_SECOND as f64;
        // A float cast saturates, so a negative age is 0.
        SimSpan(age.round() as u32).min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-41
    #[test]
    fn age_is_lateness_beyond_the_clients_best() {
        let mut clock = SampleClock::default();
        let limit = SimSpan(9_216);
        assert_eq!(clock.age(SimTime(500), limit), SimSpan(0));
        clock.observe(SimTime(10_000), SimTime(9_000));
        assert_eq!(clock.age(SimTime(9_000), limit), SimSpan(0));
        assert_eq!(clock.age(SimTime(10_024), limit), SimSpan(1_024));
        assert_eq!(clock.age(SimTime(0), limit), SimSpan(0));
        assert_eq!(clock.age(SimTime(u64::MAX), limit), limit);
        clock.observe(SimTime(13_072), SimTime(14_000));
        assert!(clock.age(SimTime(14_000), limit).0.abs_diff(1_924) <= 4);
    }
}
