use std::collections::BTreeMap;

use serde::Serialize;
use tidelock::InputCounters;
use tidelock::sim::allowance::{AllowanceCounters, ValidationReason};
use tidelock::sim::input::InputRefusal;
use tidelock::sim::report::ReportRefusal;

/// How reports fared that are judged by allowances.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Judged {
    accepted: u64,
    clamped: u64,
    put_back: u64,
    seated: u64,
    corrections: u64,
    signals: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<&'static str, u64>,
}

/// How inputs of ticks fared.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Inputs {
    /// Messages let through, and those refused whole.
    messages: u64,
    refusals: BTreeMap<&'static str, u64>,
    /// Steps that had their input, those that repeated the last one, and those in which nothing was held.
    present: u64,
    guessed: u64,
    absent: u64,
    /// Guesses that were right, inputs folded into one, inputs that found no room.
    guesses_confirmed: u64,
    merged: u64,
    dropped: u64,
    presses: u64,
    presses_lost: u64,
}

impl From<&AllowanceCounters> for Judged {
    fn from(counters: &AllowanceCounters) -> Self {
        let signals = ValidationReason::ALL.into_iter().map(|reason| (reason.name(), counters.signalled(reason)));
        let refusals = ReportRefusal::ALL.into_iter().map(|reason| (reason.name(), counters.refused(reason)));
        Self {
            accepted: counters.accepted,
            clamped: counters.clamped,
            put_back: counters.put_back,
            seated: counters.seated,
            corrections: counters.corrections,
            signals: signals.collect(),
            refusals: refusals.collect(),
        }
    }
}

impl From<&InputCounters> for Inputs {
    fn from(InputCounters { gate, buffer }: &InputCounters) -> Self {
        Self {
            messages: gate.admitted,
            refusals: InputRefusal::ALL.into_iter().map(|reason| (reason.name(), gate.refused(reason))).collect(),
            present: buffer.applied,
            guessed: buffer.starved - buffer.neutral,
            absent: buffer.neutral,
            guesses_confirmed: buffer.speculation_hits,
            merged: buffer.merged,
            dropped: buffer.dropped,
            presses: buffer.presses.applied,
            presses_lost: buffer.presses.lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_name() {
        let judged = serde_json::to_value(Judged::from(&AllowanceCounters::default())).unwrap();
        let inputs = serde_json::to_value(Inputs::from(&InputCounters::default())).unwrap();
        let names = |value: &serde_json::Value| value.as_object().unwrap().len();
        assert_eq!(names(&judged["signals"]), ValidationReason::ALL.len());
        assert_eq!(names(&judged["refusals"]), ReportRefusal::ALL.len());
        assert_eq!(names(&inputs["refusals"]), InputRefusal::ALL.len());
        assert_eq!(inputs["refusals"]["ahead"], 0);
    }
}
