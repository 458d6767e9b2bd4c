use crate::collision::ColliderId;
use crate::part::PartState;
use crate::sequence::Sequence;
use crate::time::SimTime;

/// What an owner says of one part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnedSnapshot {
    /// Which part.
    pub part: ColliderId,
    /// The epoch in which the player owns it, as the server told it.
    pub epoch: u32,
    /// Where it is and how it moves; the rotation need not be of unit length.
    pub state: PartState,
}

/// What a player says of the parts they own (S-51): a claim. The newest replaces older ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnedReport {
    /// The player's own count of these reports, apart from all others.
    pub sequence: Sequence,
    /// Server time for which the player simulated these states. It decides when they are shown to have been, within 0.15 s
    /// of their arrival, and nothing else.
    pub time: SimTime,
    /// The parts, at most 64, each once.
    pub snapshots: Vec<OwnedSnapshot>,
}

impl OwnedReport {
    /// The most parts one report can name.
    pub const MAX_SNAPSHOTS: usize = 64;
}

/// What was decided about a whole report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OwnedVerdict {
    /// Its parts were looked at one by one.
    Processed = 0,
    /// It is not newer than the last one, or its player is unknown: nothing happened.
    Stale = 1,
    /// Too many parts, one twice, or an impossible number: nothing happened, the sequence did not advance.
    Malformed = 2,
    /// More reports than the rate allows: nothing happened.
    Rate = 3,
}

/// A verdict, and how many parts fared how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedOutcome {
    /// The verdict.
    pub verdict: OwnedVerdict,
    /// Parts whose state holds from now on.
    pub accepted: u32,
    /// Parts that were ignored.
    pub ignored: u32,
}

/// Why one part of a report was ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SnapshotRefusal {
    /// There is no such part.
    Unknown = 0,
    /// Someone else owns it.
    Owner = 1,
    /// It changed hands, or the game moved it, since.
    Epoch = 2,
    /// It has a state for this tick already.
    SameTick = 3,
    /// Too fast.
    Speed = 4,
    /// Spinning too fast.
    Spin = 5,
    /// Too far from where it was.
    Step = 6,
    /// Turned too far.
    Rotation = 7,
    /// More than a second's distance within a second.
    Distance = 8,
}

impl SnapshotRefusal {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Unknown,
        Self::Owner,
        Self::Epoch,
        Self::SameTick,
        Self::Speed,
        Self::Spin,
        Self::Step,
        Self::Rotation,
        Self::Distance,
    ];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Owner => "owner",
            Self::Epoch => "epoch",
            Self::SameTick => "same_tick",
            Self::Speed => "speed",
            Self::Spin => "spin",
            Self::Step => "step",
            Self::Rotation => "rotation",
            Self::Distance => "distance",
        }
    }
}

/// How owned reports fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnedCounters {
    /// Reports by verdict, in the order of [`OwnedVerdict`]'s numbers.
    verdicts: [u64; 4],
    /// States accepted.
    pub accepted: u64,
    refused: [u64; SnapshotRefusal::ALL.len()],
}

impl OwnedCounters {
    /// Reports with this verdict.
    #[must_use]
    pub fn reports(&self, verdict: OwnedVerdict) -> u64 {
        self.verdicts[verdict as usize]
    }

    /// Parts ignored for `reason`.
    #[must_use]
    pub fn refused(&self, reason: SnapshotRefusal) -> u64 {
        self.refused[reason as usize]
    }

    pub(super) fn count_report(&mut self, verdict: OwnedVerdict) {
        self.verdicts[verdict as usize] += 1;
    }

    pub(super) fn count_refusal(&mut self, reason: SnapshotRefusal) {
        self.refused[reason as usize] += 1;
    }
}
