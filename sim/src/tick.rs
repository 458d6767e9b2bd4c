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

    /// The instant at which this tick begins, or the last there is: a client counts on from whatever tick it was told.
    #[must_use]
    pub fn time(self) -> SimTime {
        SimTime(self.0.saturating_mul(SimTime::UNITS_PER_TICK))
    }

    /// Seconds from tick 0 to the beginning of this tick.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / f64::from(Self::HZ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Bad input: ticks behind the last one a message may hold have a time too.
    #[test]
    fn no_tick_is_beyond_time() {
        let last = Tick(u64::MAX / SimTime::UNITS_PER_TICK);
        assert_eq!(last.time(), SimTime(u64::MAX - 1_023));
        assert_eq!(last.next().time(), SimTime(u64::MAX));
    }
}
