use std::ops::{Add, AddAssign, Sub};

use crate::tick::Tick;

/// An instant of game time: units of 1/61,440 s since the server's start.
///
/// 256 units are one motor tick (1/240 s), 1,024 one server tick (1/60 s), so both are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(pub u64);

impl SimTime {
    /// Units in one second.
    pub const UNITS_PER_SECOND: u64 = 61_440;
    /// Units in one server tick.
    pub const UNITS_PER_TICK: u64 = 1_024;
    /// Units in one motor tick.
    pub const UNITS_PER_MOTOR_TICK: u64 = 256;

    /// The instant `seconds` after the server's start, rounded once; negative and nonfinite count as 0.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        // A float cast saturates and maps NaN to 0.
        Self((seconds * Self::UNITS_PER_SECOND as f64).round() as u64)
    }

    /// Seconds since the server's start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Self::UNITS_PER_SECOND as f64
    }

    /// The server tick this instant lies in.
    #[must_use]
    pub fn tick(self) -> Tick {
        Tick(self.0 / Self::UNITS_PER_TICK)
    }

    /// Time from `earlier` to `self`, zero when `earlier` is later, saturating at [`SimSpan::MAX`].
    #[must_use]
    pub fn since(self, earlier: Self) -> SimSpan {
        SimSpan(u32::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(u32::MAX))
    }
}

impl Add<SimSpan> for SimTime {
    type Output = Self;
    fn add(self, span: SimSpan) -> Self {
        Self(self.0.saturating_add(u64::from(span.0)))
    }
}

impl AddAssign<SimSpan> for SimTime {
    fn add_assign(&mut self, span: SimSpan) {
        *self = *self + span;
    }
}

impl Sub<SimSpan> for SimTime {
    type Output = Self;
    fn sub(self, span: SimSpan) -> Self {
        Self(self.0.saturating_sub(u64::from(span.0)))
    }
}

/// A length of game time: units of 1/61,440 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimSpan(pub u32);

impl SimSpan {
    /// The longest span, over 19 hours.
    pub const MAX: Self = Self(u32::MAX);
    /// One motor tick, 1/240 s.
    pub const MOTOR_TICK: Self = Self(256);
    /// One server tick, 1/60 s.
    pub const TICK: Self = Self(1_024);

    /// A span of `seconds`, rounded once to units; negative and nonfinite count as 0.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * SimTime::UNITS_PER_SECOND as f64).round() as u32)
    }

    /// The span in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.0) / SimTime::UNITS_PER_SECOND as f64
    }
}

impl Add for SimSpan {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
