//! The timeline everyone else is drawn on (S-40).

/// How a [`RemoteTimeline`] follows the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemoteTimelineConfig {
    /// Send interval assumed until two samples have been seen, seconds, default 0.05.
    pub initial_interval: f64,
    /// Share of a new deviation that enters the jitter, 0 to 1, default 0.1.
    pub jitter_weight: f64,
    /// Rate change per second of error, default 1; higher follows faster and shows more.
    pub rate_gain: f64,
}

impl Default for RemoteTimelineConfig {
    fn default() -> Self {
        Self { initial_interval: 0.05, jitter_weight: 0.1, rate_gain: 1.0 }
    }
}

/// The instant of server time at which everyone else is drawn: a little in the past, so that the next sample has
/// usually arrived, moving evenly whatever the network does (S-40). One per client, fed once per motion batch.
///
/// All times are f64 seconds; server time counts from the server's start, local time from any fixed instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemoteTimeline {
    config: RemoteTimelineConfig,
    floor: f64,
    jitter: f64,
    interval: f64,
    last_sample: f64,
    playback: Option<f64>,
    rate: f64,
}

/// Shortest and longest playback delay in seconds.
const DELAY: (f64, f64) = (0.03, 0.4);
/// Share of a transit above the floor by which the floor rises.
const FLOOR_RISE: f64 = 0.002;
/// Longest gap between samples that says something about the send interval, seconds.
const INTERVAL_GAP: f64 = 0.25;
/// Share of a new gap that enters the interval.
const INTERVAL_WEIGHT: f64 = 0.1;
/// Error beyond which playback jumps, seconds.
const JUMP: f64 = 0.5;
/// Largest departure of the rate from 1.
const RATE: f64 = 0.15;

impl RemoteTimeline {
    /// A timeline that has heard nothing.
    #[must_use]
    pub fn new(config: RemoteTimelineConfig) -> Self {
        Self {
            config,
            floor: 0.0,
            jitter: 0.0,
            interval: config.initial_interval,
            last_sample: 0.0,
            playback: None,
            rate: 1.0,
        }
    }

    /// Takes in the server time of a motion batch and when it arrived by the local clock. Nonfinite times are ignored.
    pub fn sample(&mut self, server: f64, arrival: f64) {
        let transit = arrival - server;
        if !transit.is_finite() {
            return;
        }
        if self.playback.is_none() {
            self.floor = transit;
            self.last_sample = server;
            self.playback = Some(server - self.delay());
            return;
        }
        if transit < self.floor {
            self.floor = transit;
        } else {
            self.floor += FLOOR_RISE * (transit - self.floor);
        }
        self.jitter += self.config.jitter_weight * ((transit - self.floor) - self.jitter);
        let gap = server - self.last_sample;
        if gap > 0.0 {
            self.last_sample = server;
            if gap <= INTERVAL_GAP {
                self.interval += INTERVAL_WEIGHT * (gap - self.interval);
            }
        }
    }

    /// Moves playback by one drawn frame of `dt` seconds ending at local time `now`, and returns it; `None` before the
    /// first sample.
    pub fn advance(&mut self, now: f64, dt: f64) -> Option<f64> {
        let playback = self.playback?;
        let target = now - self.floor - self.delay();
        let error = target - (playback + dt);
        let moved = if error.abs() > JUMP {
            self.rate = 1.0;
            target
        } else {
            self.rate = 1.0 + (error * self.config.rate_gain).clamp(-RATE, RATE);
            playback + dt * self.rate
        };
        self.playback = Some(moved);
        self.playback
    }

    /// Learns that the path has become longer: that no transit has been below `transit` for a while. A floor below is raised to
    /// it at once, since by its own slow rise all transits would count as jitter for a minute. Nothing happens otherwise.
    pub fn raise_floor(&mut self, transit: f64) {
        if self.playback.is_some() && transit > self.floor {
            self.jitter = (self.jitter - (transit - self.floor)).max(0.0);
            self.floor = transit;
        }
    }

    /// How far playback is meant to stay behind the newest sample, seconds, 0.03 to 0.4.
    #[must_use]
    pub fn delay(&self) -> f64 {
        let wanted = 1.2 * self.interval + 3.0 * self.jitter;
        // Not clamp: an interval above the upper bound would make its bounds cross.
        wanted.max(self.interval.max(DELAY.0)).min(DELAY.1)
    }

    /// Server time being drawn, `None` before the first sample.
    #[must_use]
    pub fn playback(&self) -> Option<f64> {
        self.playback
    }

    /// Shortest transit seen, local arrival less server time, seconds; it rises slowly so that drifting clocks are followed.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// Smoothed transit above the floor, seconds.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Smoothed time between samples, seconds.
    #[must_use]
    pub fn interval(&self) -> f64 {
        self.interval
    }

    /// Seconds of playback per second during the last advance, 0.85 to 1.15.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B05: the first sample is one jump, whatever the server's uptime.
    #[test]
    fn a_new_client_is_in_step_at_once() {
        for uptime in [0.0, 600.0, 2_592_000.0] {
            let mut timeline = RemoteTimeline::new(RemoteTimelineConfig::default());
            assert_eq!(timeline.advance(5.0, 0.016), None);
            timeline.sample(uptime, 5.0);
            let playback = timeline.advance(5.016, 0.016).unwrap();
            assert!((playback - (uptime + 0.016 - timeline.delay())).abs() < 1e-3, "{playback}");
        }
    }

    // B38
    #[test]
    fn playback_seldom_outruns_the_samples() {
        for hz in [5.0, 10.0, 20.0, 60.0, 120.0] {
            for jitter in [0.0, 0.02, 0.06] {
                let mut timeline = RemoteTimeline::new(RemoteTimelineConfig::default());
                let mut seed = 7_u64;
                let (mut arrivals, mut newest, mut underruns, mut delays) = (Vec::new(), f64::MIN, 0, 0.0);
                for index in 0..(120.0 * hz) as u32 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let server = f64::from(index) / hz;
                    let late = (seed >> 33) as f64 / f64::from(1_u32 << 31) * jitter;
                    arrivals.push((server + 0.05 + late, server));
                }
                arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
                let mut next = arrivals.iter().peekable();
                for frame in 0..120 * 60 {
                    let now = f64::from(frame) / 60.0;
                    while let Some((arrival, server)) = next.next_if(|(arrival, _)| *arrival <= now) {
                        timeline.sample(*server, *arrival);
                        newest = newest.max(*server);
                    }
                    // The first ten seconds are for learning the interval.
                    let playback = timeline.advance(now, 1.0 / 60.0);
                    delays += if frame > 600 { timeline.delay() } else { 0.0 };
                    if frame > 600 && playback.is_some_and(|playback| playback > newest) {
                        underruns += 1;
                    }
                }
                // Lateness is even from none to `jitter`, so 95 of 100 are within 0.95 of it.
                let (delay, least) = (delays / 6_599.0, 1.0 / hz + 0.95 * jitter);
                assert!(delay >= least, "{hz} Hz, {jitter} s: {delay} and not {least}");
                assert!(underruns <= 7, "{hz} Hz, {jitter} s: {underruns} of 6,600 frames");
            }
        }
    }
}
