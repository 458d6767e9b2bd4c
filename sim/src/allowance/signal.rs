/// What was wrong with a report that was changed (S-26). Its number is its place in counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ValidationReason {
    /// So far away that the character was put back. Amount: studs moved.
    Teleport = 0,
    /// Far above the allowance. Amount: studs beyond it.
    Speed = 1,
    /// Above the allowance too often in a row. Amount: studs beyond it.
    Streak = 2,
    /// More than a second's distance within a second. Amount: studs beyond it.
    Distance = 3,
    /// Rising faster than jumps and flight allow. Amount: studs beyond it.
    Rise = 4,
    /// Higher than gravity allows so long after leaving ground. Amount: studs beyond it.
    Hover = 5,
    /// Falling faster than gravity. Amount: studs beyond it.
    Fall = 6,
    /// Reported velocity too great. Amount: studs/s beyond it.
    Velocity = 7,
    /// Reported velocity changed too much. Amount: studs/s beyond it.
    Acceleration = 8,
    /// It said it stood where nothing is to stand on. Amount: 0.
    Grounded = 9,
    /// It said it flew or swam, which was not granted. Amount: 0.
    State = 10,
}

impl ValidationReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Teleport,
        Self::Speed,
        Self::Streak,
        Self::Distance,
        Self::Rise,
        Self::Hover,
        Self::Fall,
        Self::Velocity,
        Self::Acceleration,
        Self::Grounded,
        Self::State,
    ];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Teleport => "teleport",
            Self::Speed => "speed",
            Self::Streak => "streak",
            Self::Distance => "distance",
            Self::Rise => "rise",
            Self::Hover => "hover",
            Self::Fall => "fall",
            Self::Velocity => "velocity",
            Self::Acceleration => "acceleration",
            Self::Grounded => "grounded",
            Self::State => "state",
        }
    }
}

/// Tells the game that a report was changed, and by how much; what follows from it is the game's to decide (S-26).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationSignal {
    /// Why.
    pub reason: ValidationReason,
    /// By how much the report was beyond what is allowed; the reason says in what unit.
    pub amount: f32,
    /// Reports in a row above the allowance when it happened, this one included.
    pub streak: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_distinct() {
        for (index, reason) in ValidationReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            assert_eq!(ValidationReason::ALL.iter().filter(|other| other.name() == reason.name()).count(), 1);
        }
    }
}
