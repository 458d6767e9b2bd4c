use crate::time::SimTime;

/// How a [`PredictionClock`] follows the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionClockConfig {
    /// Rate change per second of error, default 0.1: an error of 0.05 s is worked off at the full slew.
    pub gain: f64,
    /// Largest departure of the rate from 1, default 0.005.
    pub max_slew: f64,
    /// Error beyond which the time jumps, seconds, default 0.25.
    pub jump: f64,
    /// Movement budget below which the client slows down, seconds, default 0.05.
    pub low_budget: f64,
}

impl Default for PredictionClockConfig {
    fn default() -> Self {
        Self { gain: 0.1, max_slew: 0.005, jump: 0.25, low_budget: 0.05 }
    }
}

/// What to do with the next frame of prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// Seconds of motor time per second of wall time, 0.995 to 1.005.
    pub rate: f64,
    /// Mover time at which the frame ends instead, when it would be too far off.
    pub jump: Option<SimTime>,
}

/// Steers a client's motor time P so that a report arrives when the server's time is P (S-20b).
///
/// The server's time is taken from messages that carry it, by their shortest transit; together with the round trip that
/// gives the server's time when something sent now arrives. Local times are seconds from any fixed instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionClock {
    config: PredictionClockConfig,
    floor: Option<f64>,
    round_trip: Option<f64>,
    budget: f64,
    /// Whether it has jumped to the server's time, and whether it knew the round trip then.
    started: bool,
    timed: bool,
    last_steer: Option<f64>,
}

/// Longest frame a client runs, seconds; the rest is dropped (S-10).
const LONGEST_FRAME: f64 = 0.25;

/// Share of a transit above the floor by which the floor rises.
const FLOOR_RISE: f64 = 0.002;

impl PredictionClock {
    /// A clock that has heard nothing.
    #[must_use]
    pub fn new(config: PredictionClockConfig) -> Self {
        Self {
            config,
            floor: None,
            round_trip: None,
            budget: f64::INFINITY,
            started: false,
            timed: false,
            last_steer: None,
        }
    }

    /// Takes in the server time of a message and when it arrived by the local clock.
    pub fn sample(&mut self, server: SimTime, arrival: f64) {
        let transit = arrival - server.seconds();
        if !transit.is_finite() {
            return;
        }
        self.floor = Some(lowered(self.floor, transit));
    }

    /// Takes in a round trip time of the connection in seconds, as measured or smoothed. Like transits it is followed
    /// down at once and up slowly, so that a stall does not push the client ahead of its time.
    pub fn set_round_trip(&mut self, seconds: f64) {
        if seconds.is_finite() && seconds >= 0.0 {
            self.round_trip = Some(lowered(self.round_trip, seconds));
        }
    }

    /// Takes in the movement budget that an acknowledgement says is left, in seconds.
    pub fn acknowledge(&mut self, budget_left: f64) {
        self.budget = budget_left;
    }

    /// Server time, in seconds, at which something sent at local time `now` arrives; `None` before the first sample.
    #[must_use]
    pub fn target(&self, now: f64) -> Option<f64> {
        self.floor.map(|floor| now - floor + self.round_trip.unwrap_or(0.0))
    }

    /// Call it once a frame, before the frame that ends at local time `now` is run: compares the motor time it will end
    /// at with where it should be. `predicted` is the motor time before it, in seconds; the frame began at the last call. The first
    /// call after the first sample, and after the first round trip, jumps whatever the error.
    pub fn steer(&mut self, now: f64, predicted: f64) -> Steering {
        let Some(target) = self.target(now) else { return Steering { rate: 1.0, jump: None } };
        let frame = self.last_steer.replace(now).map_or(0.0, |last| (now - last).clamp(0.0, LONGEST_FRAME));
        let error = target - (predicted + frame);
        let news = !self.started || (!self.timed && self.round_trip.is_some());
        if news || error.abs() > self.config.jump {
            self.started = true;
            self.timed = self.round_trip.is_some();
            return Steering { rate: 1.0, jump: Some(SimTime::from_seconds(target)) };
        }
        let max = self.config.max_slew;
        let mut slew = (error * self.config.gain).clamp(-max, max);
        if self.budget < self.config.low_budget {
            slew = slew.min(max * (self.budget / self.config.low_budget - 1.0));
        }
        Steering { rate: 1.0 + slew.max(-max), jump: None }
    }
}

/// The lowest of what was seen, rising slowly towards what is seen.
fn lowered(floor: Option<f64>, seen: f64) -> f64 {
    floor.filter(|floor| seen > *floor).map_or(seen, |floor| floor + FLOOR_RISE * (seen - floor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{AdmissionVerdict, ReplayBudget};

    // B05: one jump, not a rate.
    #[test]
    fn the_first_sample_snaps_whatever_the_uptime() {
        for uptime in [0.0, 600.0, 2_592_000.0] {
            let mut clock = PredictionClock::new(PredictionClockConfig::default());
            assert_eq!(clock.steer(3.0, 0.0), Steering { rate: 1.0, jump: None });
            clock.sample(SimTime::from_seconds(uptime), 3.0);
            clock.set_round_trip(0.1);
            let jump = clock.steer(3.0, 0.0).jump.unwrap().seconds();
            assert!((jump - (uptime + 0.1)).abs() < 1e-4);
            let next = clock.steer(3.01, jump);
            assert!(next.jump.is_none() && (next.rate - 1.0).abs() < 1e-4);
        }
    }

    // S-20b
    #[test]
    fn rates_stay_within_the_slew_and_a_draining_budget_slows() {
        let mut clock = PredictionClock::new(PredictionClockConfig::default());
        clock.sample(SimTime(0), 0.0);
        clock.set_round_trip(0.0);
        clock.steer(0.0, 0.0);
        clock.steer(1.0, 1.0);
        assert_eq!(clock.steer(1.0, 0.8), Steering { rate: 1.005, jump: None });
        assert_eq!(clock.steer(1.0, 1.2), Steering { rate: 0.995, jump: None });
        clock.acknowledge(0.0);
        assert_eq!(clock.steer(1.0, 0.8).rate, 0.995);
        clock.acknowledge(0.025);
        assert!((clock.steer(1.0, 0.8).rate - 0.9975).abs() < 1e-9);
        assert!(clock.steer(1.0, 0.7).jump.is_some());
    }

    /// Uniform in 0 to 1.
    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as f64 / f64::from(1_u32 << 31)
    }

    // S-20b, B20: ten hours, a crystal off by 200 ppm, 200 ± 80 ms: the budget always covers the reports.
    #[test]
    fn ten_hours_with_a_crooked_crystal_stay_within_the_budget() {
        for (crystal, mut seed) in [(1.0 + 200e-6, 11), (1.0 - 200e-6, 12), (1.0, 13)] {
            let mut clock = PredictionClock::new(PredictionClockConfig::default());
            let mut budget = ReplayBudget::default();
            let (mut predicted, mut worst, mut lowest) = (0.0, 0.0_f64, f64::INFINITY);
            let (mut last_up, mut last_down) = (0.0_f64, 0.0_f64);
            let step = 0.05;
            for report in 1..=(36_000.0 / step) as u32 {
                // True time of this report; the client's clock runs at its own pace.
                let sent = 500.0 + f64::from(report) * step / crystal;
                let local = f64::from(report) * step;
                let steering = clock.steer(local, predicted);
                predicted = steering.jump.map_or(predicted + step * steering.rate, SimTime::seconds);
                // Each way 100 ± 40 ms, in order.
                let up = (sent + 0.06 + 0.08 * random(&mut seed)).max(last_up);
                let down = (up + 0.06 + 0.08 * random(&mut seed)).max(last_down);
                (last_up, last_down) = (up, down);
                let duration = step * steering.rate;
                let admitted = budget.admit(up, [duration / 3.0; 3].into_iter());
                assert_eq!(admitted.verdict, AdmissionVerdict::Complete, "report {report} at {crystal}");
                lowest = lowest.min(budget.available());
                clock.set_round_trip(down - sent);
                clock.acknowledge(budget.available());
                clock.sample(SimTime::from_seconds(up), local + (down - sent) * crystal);
                if report > 200 {
                    worst = worst.max((predicted - (sent + 0.06)).abs());
                }
            }
            assert!(worst < 0.05, "{worst} s off at {crystal}");
            assert!(lowest > 0.0);
        }
    }
}
