//! The fixed-step clock (S-1, S-2).

use std::fmt;

/// What happens to time left over when a frame needed more steps than it may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overrun {
    /// Forget it: the game falls behind the wall and stays there.
    #[default]
    Drop,
    /// Keep up to `max_frame_delta` of it, to be caught up in later frames.
    Carry,
    /// Never take in more than `max_steps_per_frame` steps, and keep only less than one step: the game slows down.
    SlowMotion,
}

/// How a [`FixedStepClock`] turns frames into steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedStepClockConfig {
    /// Steps in one second, above 0, default 60.
    pub hz: u32,
    /// Longest frame taken at face value, seconds, above 0, default 0.25. A longer one counts as this long.
    pub max_frame_delta: f64,
    /// Most steps one frame may take, above 0, default 8.
    pub max_steps_per_frame: u32,
    /// What becomes of the rest when that is not enough, default [`Overrun::Drop`].
    pub overrun: Overrun,
}

impl Default for FixedStepClockConfig {
    fn default() -> Self {
        Self { hz: 60, max_frame_delta: 0.25, max_steps_per_frame: 8, overrun: Overrun::Drop }
    }
}

/// Why a [`FixedStepClockConfig`] makes no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockConfigError {
    /// `hz` is 0.
    ZeroHz,
    /// `max_steps_per_frame` is 0.
    ZeroSteps,
    /// `max_frame_delta` is not above 0.
    FrameDelta,
}

impl fmt::Display for ClockConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroHz => "hz must be above 0",
            Self::ZeroSteps => "max_steps_per_frame must be above 0",
            Self::FrameDelta => "max_frame_delta must be above 0",
        })
    }
}

impl std::error::Error for ClockConfigError {}

/// What one frame amounted to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockAdvance {
    /// Steps to take now.
    pub steps: u32,
    /// The frame as it counted, seconds: 0 when it was negative or nonfinite, at most `max_frame_delta`; before scaling.
    pub clamped: f64,
    /// Whether exactly `max_steps_per_frame` steps were taken.
    pub overrun: bool,
}

/// Cuts uneven frames into even steps (S-1). Its arithmetic is f64 and gives the same bits everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedStepClock {
    config: FixedStepClockConfig,
    dt: f64,
    accumulator: f64,
}

impl FixedStepClock {
    /// A clock with nothing accumulated.
    ///
    /// # Errors
    ///
    /// When the rate, the step limit or the frame limit is not above 0.
    pub fn new(config: FixedStepClockConfig) -> Result<Self, ClockConfigError> {
        if config.hz == 0 {
            return Err(ClockConfigError::ZeroHz);
        }
        if config.max_steps_per_frame == 0 {
            return Err(ClockConfigError::ZeroSteps);
        }
        if config.max_frame_delta.is_nan() || config.max_frame_delta <= 0.0 {
            return Err(ClockConfigError::FrameDelta);
        }
        let dt = f64::from((1.0 / f64::from(config.hz)) as f32);
        Ok(Self { config, dt, accumulator: 0.0 })
    }

    /// Takes in a frame of `frame` seconds, times `scale` (1 is real time, 0 stands still; negative and nonfinite
    /// count as 0), and says how many steps are due.
    pub fn advance(&mut self, frame: f64, scale: f64) -> ClockAdvance {
        let frame = if frame.is_finite() && frame > 0.0 { frame } else { 0.0 };
        let clamped = frame.min(self.config.max_frame_delta);
        let scale = if scale.is_finite() && scale > 0.0 { scale } else { 0.0 };
        let max_steps = self.config.max_steps_per_frame;
        let mut added = clamped * scale;
        if self.config.overrun == Overrun::SlowMotion {
            added = added.min(self.dt * f64::from(max_steps));
        }
        self.accumulator += added;
        let mut steps = 0;
        while steps < max_steps && self.accumulator >= self.dt {
            self.accumulator -= self.dt;
            steps += 1;
        }
        let overrun = steps == max_steps;
        if overrun {
            self.accumulator = match self.config.overrun {
                Overrun::Drop => 0.0,
                Overrun::Carry => self.accumulator.min(self.config.max_frame_delta),
                Overrun::SlowMotion => self.accumulator % self.dt,
            };
        }
        ClockAdvance { steps, clamped, overrun }
    }

    /// When step `index` of the `steps` of the last advance ends on the wall clock, in milliseconds, with `now_ms` the
    /// end of the frame: device changes after it belong to later steps. `None` means no cutoff (S-2).
    #[must_use]
    pub fn step_cutoff_ms(&self, index: u32, steps: u32, now_ms: f64, scale: f64) -> Option<f64> {
        let later = steps.saturating_sub(1).saturating_sub(index);
        let after = self.accumulator + f64::from(later) * self.dt;
        let last_allowed = index + 1 == self.config.max_steps_per_frame;
        if last_allowed || after < self.dt || scale.is_nan() || scale <= 0.0 {
            return None;
        }
        Some(now_ms - after / scale * 1000.0)
    }

    /// Length of one step in seconds.
    #[must_use]
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Time taken in and not yet stepped, seconds.
    #[must_use]
    pub fn accumulator(&self) -> f64 {
        self.accumulator
    }

    /// How far drawing stands between the last step and the next, 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        (self.accumulator / self.dt).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-1
    #[test]
    fn impossible_configurations_are_refused() {
        let good = FixedStepClockConfig::default();
        let refused = |config| FixedStepClock::new(config).unwrap_err();
        assert_eq!(refused(FixedStepClockConfig { hz: 0, ..good }), ClockConfigError::ZeroHz);
        assert_eq!(refused(FixedStepClockConfig { max_steps_per_frame: 0, ..good }), ClockConfigError::ZeroSteps);
        for delta in [0.0, -1.0, f64::NAN] {
            assert_eq!(refused(FixedStepClockConfig { max_frame_delta: delta, ..good }), ClockConfigError::FrameDelta);
        }
    }

    // S-1
    #[test]
    fn nonsense_frames_and_scales_count_as_nothing() {
        let mut clock = FixedStepClock::new(FixedStepClockConfig::default()).unwrap();
        for frame in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(clock.advance(frame, 1.0), ClockAdvance::default());
        }
        for scale in [0.0, -3.0, f64::NAN] {
            assert_eq!(clock.advance(0.1, scale).steps, 0);
        }
        assert_eq!(clock.alpha(), 0.0);
    }

    // B10
    #[test]
    fn a_second_clock_starts_from_nothing() {
        let mut first = FixedStepClock::new(FixedStepClockConfig::default()).unwrap();
        first.advance(0.02, 1.0);
        let second = FixedStepClock::new(FixedStepClockConfig::default()).unwrap();
        assert_eq!(second.accumulator(), 0.0);
    }
}
