use super::{AllowanceOutcome, AllowanceVerdict, ValidationReason, ValidationSignal};
use crate::report::ReportRefusal;

/// How reports without a module fared, by outcome and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowanceCounters {
    /// Reports accepted as they were.
    pub accepted: u64,
    /// Reports whose position was clamped.
    pub clamped: u64,
    /// Reports after which the character was put back.
    pub put_back: u64,
    /// Reports of seated characters, taken for their controls alone.
    pub seated: u64,
    /// Corrections called for.
    pub corrections: u64,
    refused: [u64; ReportRefusal::ALL.len()],
    signalled: [u64; ValidationReason::ALL.len()],
}

impl AllowanceCounters {
    /// Counts one outcome and the signals it came with.
    pub fn count(&mut self, outcome: &AllowanceOutcome, signals: &[ValidationSignal]) {
        match outcome.verdict {
            AllowanceVerdict::Accepted => self.accepted += 1,
            AllowanceVerdict::Clamped => self.clamped += 1,
            AllowanceVerdict::PutBack => self.put_back += 1,
            AllowanceVerdict::Seated => self.seated += 1,
            AllowanceVerdict::Refused(refusal) => self.refused[refusal as usize] += 1,
        }
        self.corrections += u64::from(outcome.correction);
        for signal in signals {
            self.signalled[signal.reason as usize] += 1;
        }
    }

    /// Adds another set, e.g. that of another worker.
    pub fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.clamped += other.clamped;
        self.put_back += other.put_back;
        self.seated += other.seated;
        self.corrections += other.corrections;
        for (sum, count) in self.refused.iter_mut().zip(other.refused) {
            *sum += count;
        }
        for (sum, count) in self.signalled.iter_mut().zip(other.signalled) {
            *sum += count;
        }
    }

    /// Reports refused for `reason`.
    #[must_use]
    pub fn refused(&self, reason: ReportRefusal) -> u64 {
        self.refused[reason as usize]
    }

    /// Signals given for `reason`.
    #[must_use]
    pub fn signalled(&self, reason: ValidationReason) -> u64 {
        self.signalled[reason as usize]
    }

    /// Signals given in all.
    #[must_use]
    pub fn all_signalled(&self) -> u64 {
        self.signalled.iter().sum()
    }
}
