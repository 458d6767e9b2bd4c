use std::collections::VecDeque;

use super::PressActions;

/// What became of presses between the client and the step that should apply them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PressCounts {
    /// Presses that arrived.
    pub offered: u64,
    /// Presses that a step applied.
    pub applied: u64,
    /// Presses at or before a consumed input that no step applied.
    pub lost: u64,
    /// Of the applied, those that were not the first expected.
    pub reordered: u64,
    /// Presses a step applied that never arrived.
    pub extra: u64,
}

/// Follows every press from its arrival to the step that applies it.
#[derive(Clone, Debug)]
pub(super) struct PressAudit {
    /// Sequence and button of presses that arrived and were not applied yet.
    expected: VecDeque<(u64, u8)>,
    counts: PressCounts,
}

impl PressAudit {
    /// The most presses followed at once; beyond, the oldest counts as lost.
    const CAPACITY: usize = 512;

    pub(super) fn new() -> Self {
        Self { expected: VecDeque::with_capacity(Self::CAPACITY), counts: PressCounts::default() }
    }

    pub(super) fn counts(&self) -> PressCounts {
        self.counts
    }

    /// Expects what the input of `sequence` presses.
    pub(super) fn expect(&mut self, sequence: u64, actions: &PressActions, before: u32, after: u32) {
        for button in actions.presses(before, after) {
            if self.expected.len() == Self::CAPACITY {
                self.expected.pop_front();
                self.counts.lost += 1;
            }
            self.expected.push_back((sequence, button));
            self.counts.offered += 1;
        }
    }

    /// Takes in what the step that consumed `sequence` presses.
    pub(super) fn apply(&mut self, sequence: u64, actions: &PressActions, before: u32, after: u32) {
        for button in actions.presses(before, after) {
            match self.expected.iter().position(|(_, expected)| *expected == button) {
                Some(index) => {
                    self.expected.remove(index);
                    self.counts.applied += 1;
                    self.counts.reordered += u64::from(index != 0);
                }
                None => self.counts.extra += 1,
            }
        }
        let before = self.expected.len();
        self.expected.retain(|(expected, _)| *expected > sequence);
        self.counts.lost += (before - self.expected.len()) as u64;
    }
}
