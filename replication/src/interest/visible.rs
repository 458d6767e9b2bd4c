use crate::ids::{Slot, SlotSet};

/// The subjects one player sees, by slot, and how that last changed.
#[derive(Clone, Debug, Default)]
pub struct VisibleSet {
    pub(super) now: SlotSet,
    pub(super) before: SlotSet,
    pub(super) revision: u64,
}

impl VisibleSet {
    /// A player that sees nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the subject in `slot` is seen.
    #[must_use]
    pub fn contains(&self, slot: Slot) -> bool {
        self.now.contains(slot.index())
    }

    /// The subjects seen, by [`Slot::index`].
    #[must_use]
    pub fn set(&self) -> &SlotSet {
        &self.now
    }

    /// Subjects that the last update brought into sight, by index.
    pub fn entered(&self) -> impl Iterator<Item = usize> {
        difference(&self.now, &self.before)
    }

    /// Subjects that the last update took out of sight, by index. Never means destroyed.
    pub fn left(&self) -> impl Iterator<Item = usize> {
        difference(&self.before, &self.now)
    }

    /// Updates so far.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Forgets everything seen, as on entering a place.
    pub fn clear(&mut self) {
        self.now.clear();
        self.before.clear();
        self.revision = 0;
    }

    /// Whether the last update brought anything into sight.
    pub(crate) fn has_entered(&self) -> bool {
        self.now.exceeds(&self.before)
    }

    #[inline]
    pub(crate) fn entered_word(&self, word: usize) -> u64 {
        self.now.word(word) & !self.before.word(word)
    }
}

fn difference<'a>(of: &'a SlotSet, without: &'a SlotSet) -> impl Iterator<Item = usize> + 'a {
    of.words().flat_map(|(word, bits)| crate::ids::Bits(bits & !without.word(word)).map(move |bit| word * 64 + bit))
}
