use super::Sequence;
use crate::simulation::CharacterSim;
use crate::time::SimTime;

/// Why the server tells a client where its character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CorrectionCause {
    /// The replay ended too far from the report.
    Disagreement = 0,
    /// The movement budget did not cover all frames.
    Budget = 1,
    /// The report's mover time was outside the window, so it was replayed at another.
    MoverTime = 2,
    /// Something stands between the replayed and the reported position.
    AdoptionPath = 3,
    /// Small differences have added up to too much.
    AdoptionBudget = 4,
    /// The game put the character elsewhere.
    Teleport = 5,
    /// The game brought the character to life.
    Respawn = 6,
    /// The game killed the character.
    Death = 7,
    /// The game put the character on a seat.
    Seat = 8,
    /// A report that is not run again went beyond what it was allowed: position, velocity and facing alone are meant.
    Allowance = 9,
}

impl CorrectionCause {
    /// All causes, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Disagreement,
        Self::Budget,
        Self::MoverTime,
        Self::AdoptionPath,
        Self::AdoptionBudget,
        Self::Teleport,
        Self::Respawn,
        Self::Death,
        Self::Seat,
        Self::Allowance,
    ];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disagreement => "disagreement",
            Self::Budget => "budget",
            Self::MoverTime => "mover_time",
            Self::AdoptionPath => "adoption_path",
            Self::AdoptionBudget => "adoption_budget",
            Self::Teleport => "teleport",
            Self::Respawn => "respawn",
            Self::Death => "death",
            Self::Seat => "seat",
            Self::Allowance => "allowance",
        }
    }

    /// The cause with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Whether it comes from a game command, which starts a new epoch, and not from judging a report.
    #[must_use]
    pub fn is_command(self) -> bool {
        matches!(self, Self::Teleport | Self::Respawn | Self::Death | Self::Seat)
    }
}

/// The server's word on a character after a report or a game command, for its owner. Always sent, reliably.
///
/// It holds the whole simulation state, so that the client continues to the bit from where the server stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// The report it answers; for a game command the last report before it.
    pub sequence: Sequence,
    /// Epoch from which on the state holds.
    pub epoch: u32,
    /// Mover time of the state.
    pub time: SimTime,
    /// The character on the server.
    pub sim: CharacterSim,
    /// Why.
    pub cause: CorrectionCause,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_causes_match() {
        for (number, cause) in CorrectionCause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, number);
            assert_eq!(CorrectionCause::from_number(number as u8), Some(cause));
        }
        assert_eq!(CorrectionCause::from_number(10), None);
    }
}
