use crate::time::{SimSpan, SimTime};

/// The speed a character is judged by: a raise counts at once, a lowering after a while, since reports of faster movement
/// are still under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeldSpeed {
    speed: f32,
    until: SimTime,
}

impl HeldSpeed {
    pub(super) fn new() -> Self {
        Self { speed: 0.0, until: SimTime(0) }
    }

    /// The speed to judge by at `now`, when `speed` is granted and a lowered one counts for `hold` longer.
    pub(super) fn at(&mut self, now: SimTime, speed: f32, hold: SimSpan) -> f32 {
        if speed >= self.speed || now >= self.until {
            *self = Self { speed, until: now + hold };
        }
        self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-25
    #[test]
    fn a_lowered_speed_counts_after_a_while() {
        let mut held = HeldSpeed::new();
        let hold = SimSpan(30_720);
        assert_eq!(held.at(SimTime(0), 16.0, hold), 16.0);
        assert_eq!(held.at(SimTime(100), 40.0, hold), 40.0);
        assert_eq!(held.at(SimTime(30_819), 16.0, hold), 40.0);
        assert_eq!(held.at(SimTime(30_820), 16.0, hold), 16.0);
        assert_eq!(held.at(SimTime(30_821), 20.0, hold), 20.0);
    }
}
