use crate::motor::InputFrame;
use crate::report::Report;
use crate::sequence::Sequence;
use crate::simulation::CharacterSim;
use crate::time::SimTime;

/// How many reports a client remembers (S-30).
pub(super) const CAPACITY: usize = 128;

/// One report as the client remembers it.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    /// Its number.
    pub(super) sequence: Sequence,
    /// Mover time before its first motor tick.
    pub(super) start: SimTime,
    /// The character after it.
    pub(super) sim: CharacterSim,
    /// Its frames.
    pub(super) frames: Vec<InputFrame>,
}

/// The newest reports, oldest first. Slots are used again with their frame vectors, so nothing allocates once each slot
/// has held a long report.
#[derive(Clone, Debug)]
pub(super) struct ReportHistory {
    slots: Vec<Remembered>,
    start: usize,
    len: usize,
}

impl ReportHistory {
    pub(super) fn new() -> Self {
        // Twelve frames are 1/20 s at 240 Hz.
        let slot = || Remembered { frames: Vec::with_capacity(16), ..Remembered::default() };
        Self { slots: (0..CAPACITY).map(|_| slot()).collect(), start: 0, len: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Remembers one more, forgetting the oldest of a full history. `frames` is left empty.
    pub(super) fn push(&mut self, sequence: Sequence, start: SimTime, sim: CharacterSim, frames: &mut Vec<InputFrame>) {
        debug_assert!(frames.len() <= Report::MAX_FRAMES);
        let slot = &mut self.slots[(self.start + self.len) % CAPACITY];
        slot.sequence = sequence;
        slot.start = start;
        slot.sim = sim;
        slot.frames.clear();
        slot.frames.append(frames);
        if self.len == CAPACITY {
            self.start = (self.start + 1) % CAPACITY;
        } else {
            self.len += 1;
        }
    }

    /// Position of a report in the history, counted from the oldest. Sequences are consecutive.
    pub(super) fn find(&self, sequence: Sequence) -> Option<usize> {
        let oldest = self.slots[self.start].sequence;
        let index = usize::try_from(sequence.distance_from(oldest)).ok()?;
        (index < self.len && self.slots[(self.start + index) % CAPACITY].sequence == sequence).then_some(index)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Remembered> {
        (index < self.len).then(|| &self.slots[(self.start + index) % CAPACITY])
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Remembered> {
        (index < self.len).then(|| &mut self.slots[(self.start + index) % CAPACITY])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        // S-30, B28, B30: sequences across the wrap too.
        #[test]
        fn the_history_is_the_newest_reports(first: u32, count in 0_u32..400, clear_at in 0_u32..400, asked in -200_i32..400) {
            let mut history = ReportHistory::new();
            let mut model = VecDeque::new();
            for index in 0..count {
                if index == clear_at {
                    history.clear();
                    model.clear();
                }
                let sequence = Sequence(first.wrapping_add(index));
                let mut frames = vec![InputFrame::default(); (index % 5) as usize];
                model.push_back((sequence, frames.len()));
                if model.len() > CAPACITY {
                    model.pop_front();
                }
                history.push(sequence, SimTime(7), CharacterSim::default(), &mut frames);
                prop_assert!(frames.is_empty());
            }
            prop_assert_eq!(history.len(), model.len());
            let asked = Sequence(first.wrapping_add_signed(asked));
            prop_assert_eq!(history.find(asked), model.iter().position(|(sequence, _)| *sequence == asked));
            for (index, (sequence, frames)) in model.iter().enumerate() {
                let remembered = history.get(index).unwrap();
                prop_assert_eq!((remembered.sequence, remembered.frames.len()), (*sequence, *frames));
            }
            prop_assert!(history.get(model.len()).is_none());
        }
    }
}
