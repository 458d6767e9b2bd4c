use glam::Vec3;

use crate::sequence::Sequence;

/// Where each input left an entity, and when: a ring of the newest so many (S-31). Nothing allocates after construction.
#[derive(Clone, Debug)]
pub struct PoseHistory {
    slots: Box<[Recorded]>,
    /// Inputs ever recorded; the newest lies in the slot of this less one.
    count: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    sequence: Sequence,
    position: Vec3,
    at_s: f64,
}

impl PoseHistory {
    /// An empty history of at least `capacity` inputs, rounded up to a power of two, 2 to 65,536.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(2, 65_536).next_power_of_two();
        Self { slots: vec![Recorded::default(); capacity].into(), count: 0 }
    }

    /// How many inputs it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.min(self.slots.len() as u64) as usize
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Records that the input of `sequence` left the entity at `position` at the time `at_s`. One that is not newer than
    /// the newest is not recorded, and `false` comes back.
    pub fn record(&mut self, sequence: Sequence, position: Vec3, at_s: f64) -> bool {
        if self.newest().is_some_and(|newest| !sequence.is_newer_than(newest)) {
            return false;
        }
        let slot = self.slot(self.count);
        self.slots[slot] = Recorded { sequence, position, at_s };
        self.count += 1;
        true
    }

    /// Where the input of `sequence` left the entity.
    #[must_use]
    pub fn position(&self, sequence: Sequence) -> Option<Vec3> {
        let found = self.get(self.first_not_older(sequence))?;
        (found.sequence == sequence).then_some(found.position)
    }

    /// When the oldest input newer than `sequence` was recorded.
    #[must_use]
    pub fn first_after(&self, sequence: Sequence) -> Option<f64> {
        let index = self.first_not_older(sequence);
        let index = if self.get(index)?.sequence == sequence { index + 1 } else { index };
        self.get(index).map(|found| found.at_s)
    }

    /// The newest sequence recorded.
    #[must_use]
    pub fn newest(&self) -> Option<Sequence> {
        self.get(self.len().checked_sub(1)?).map(|newest| newest.sequence)
    }

    /// Moves every recorded pose.
    pub fn shift(&mut self, by: Vec3) {
        for index in 0..self.len() {
            self.slots[index].position += by;
        }
    }

    /// Puts every recorded pose in one place.
    pub fn gather(&mut self, at: Vec3) {
        for index in 0..self.len() {
            self.slots[index].position = at;
        }
    }

    fn slot(&self, count: u64) -> usize {
        (count & (self.slots.len() as u64 - 1)) as usize
    }

    /// The record at `index` from the oldest.
    fn get(&self, index: usize) -> Option<&Recorded> {
        let len = self.len();
        (index < len).then(|| &self.slots[self.slot(self.count - len as u64 + index as u64)])
    }

    /// Index of the oldest record that is not older than `sequence`.
    fn first_not_older(&self, sequence: Sequence) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let older = self.get(middle).is_some_and(|found| sequence.is_newer_than(found.sequence));
            if older { low = middle + 1 } else { high = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        // S-31, B28, B30: any size, gaps, out of order, across the wrap.
        #[test]
        fn the_history_is_the_newest_poses(
            capacity in 1_usize..257,
            start: u32,
            steps in prop::collection::vec(-3_i32..6, 0..400),
            asked in prop::collection::vec(-400_i32..900, 20),
        ) {
            let mut history = PoseHistory::new(capacity);
            let (mut model, mut sequence) = (VecDeque::<(Sequence, Vec3, f64)>::new(), start);
            for (index, step) in steps.into_iter().enumerate() {
                sequence = sequence.wrapping_add_signed(step);
                let newer = model.back().is_none_or(|(newest, ..)| Sequence(sequence).is_newer_than(*newest));
                let pose = Vec3::X * index as f32;
                prop_assert_eq!(history.record(Sequence(sequence), pose, index as f64), newer);
                if newer {
                    model.push_back((Sequence(sequence), pose, index as f64));
                    if model.len() > capacity.clamp(2, 65_536).next_power_of_two() {
                        model.pop_front();
                    }
                }
                if index % 50 == 49 {
                    history.shift(Vec3::Y);
                    model.iter_mut().for_each(|(_, pose, _)| *pose += Vec3::Y);
                }
            }
            prop_assert_eq!(history.len(), model.len());
            prop_assert_eq!(history.newest(), model.back().map(|(sequence, ..)| *sequence));
            for asked in asked {
                let asked = Sequence(start.wrapping_add_signed(asked));
                let found = model.iter().find(|(sequence, ..)| *sequence == asked).map(|(_, pose, _)| *pose);
                prop_assert_eq!(history.position(asked), found);
                let after = model.iter().find(|(sequence, ..)| sequence.is_newer_than(asked)).map(|(.., at)| *at);
                prop_assert_eq!(history.first_after(asked), after);
            }
        }
    }
}
