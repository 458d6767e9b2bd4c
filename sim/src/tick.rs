use crate::time::SimTime;

/// A server tick: 1/60 s of game time, counted from the server's start. Wide inside, shortened only on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

impl Tick {
    /// Ticks in one second.
    pub const HZ: u32 = 60;

    /// The tick after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The instant at which this tick begins.
    #[must_use]
    pub fn time(self) -> SimTime {
        SimTime(self.0 * SimTime::UNITS_PER_TICK)
    }

    /// Seconds from tick 0 to the beginning of this tick.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / f64::from(Self::HZ)
    }
}
