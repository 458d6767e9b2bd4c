/// Why a whole report was refused before it touched anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ReportRefusal {
    /// Its sequence is not newer than the last one.
    StaleSequence = 0,
    /// A game command the client had not heard of came in between.
    StaleEpoch = 1,
    /// It names a game command that was never given.
    UnknownEpoch = 2,
    /// The character is dead, so it does not replay.
    NotReplayed = 3,
    /// A number of the pose is nonfinite.
    Nonfinite = 4,
    /// Position, velocity or yaw lies outside the envelope.
    Envelope = 5,
    /// It holds more than 96 frames.
    TooManyFrames = 6,
    /// A frame is shorter than 1/240 s or longer than 1/30 s.
    Duration = 7,
    /// More reports than the rate allows.
    Rate = 8,
}

impl ReportRefusal {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::StaleSequence,
        Self::StaleEpoch,
        Self::UnknownEpoch,
        Self::NotReplayed,
        Self::Nonfinite,
        Self::Envelope,
        Self::TooManyFrames,
        Self::Duration,
        Self::Rate,
    ];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StaleSequence => "stale_sequence",
            Self::StaleEpoch => "stale_epoch",
            Self::UnknownEpoch => "unknown_epoch",
            Self::NotReplayed => "not_replayed",
            Self::Nonfinite => "nonfinite",
            Self::Envelope => "envelope",
            Self::TooManyFrames => "too_many_frames",
            Self::Duration => "duration",
            Self::Rate => "rate",
        }
    }
}

/// How reports fared, by outcome and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportCounters {
    /// Reports whose numbers were adopted.
    pub adopted: u64,
    /// Of those, reports that did not equal their replay to the bit.
    pub adopted_inexact: u64,
    /// Times client and server parted that had agreed to the bit.
    pub desyncs: u64,
    /// Reports of seated characters, taken for their controls alone.
    pub seated: u64,
    /// Input frames run.
    pub frames: u64,
    /// Motor ticks run.
    pub ticks: u64,
    refused: [u64; ReportRefusal::ALL.len()],
    corrected: [u64; super::CorrectionCause::ALL.len()],
}

impl ReportCounters {
    /// Counts one outcome.
    pub fn count(&mut self, outcome: &super::ReplayOutcome) {
        self.frames += u64::from(outcome.frames);
        self.desyncs += u64::from(outcome.desync.is_some());
        self.ticks += u64::from(outcome.ticks);
        match outcome.verdict {
            super::ReplayVerdict::Adopted { exact } => {
                self.adopted += 1;
                self.adopted_inexact += u64::from(!exact);
            }
            super::ReplayVerdict::Seated => self.seated += 1,
            super::ReplayVerdict::Refused(refusal) => self.refused[refusal as usize] += 1,
            super::ReplayVerdict::Corrected { ref correction, .. } => self.corrected[correction.cause as usize] += 1,
        }
    }

    /// Adds another set, e.g. that of another worker.
    pub fn add(&mut self, other: &Self) {
        self.adopted += other.adopted;
        self.adopted_inexact += other.adopted_inexact;
        self.seated += other.seated;
        self.desyncs += other.desyncs;
        self.frames += other.frames;
        self.ticks += other.ticks;
        for (sum, count) in self.refused.iter_mut().zip(other.refused) {
            *sum += count;
        }
        for (sum, count) in self.corrected.iter_mut().zip(other.corrected) {
            *sum += count;
        }
    }

    /// Reports refused for `reason`.
    #[must_use]
    pub fn refused(&self, reason: ReportRefusal) -> u64 {
        self.refused[reason as usize]
    }

    /// Corrections sent for `cause`.
    #[must_use]
    pub fn corrected(&self, cause: super::CorrectionCause) -> u64 {
        self.corrected[cause as usize]
    }

    /// Corrections sent in all.
    #[must_use]
    pub fn all_corrected(&self) -> u64 {
        self.corrected.iter().sum()
    }

    /// Reports refused in all.
    #[must_use]
    pub fn all_refused(&self) -> u64 {
        self.refused.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_distinct() {
        for (index, refusal) in ReportRefusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index);
            assert_eq!(ReportRefusal::ALL.iter().filter(|other| other.name() == refusal.name()).count(), 1);
        }
    }
}
