use tidelock_sim::Tick;

use super::held::Held;
use super::waiting::WaitingPatches;

use crate::ids::{Admission, Generation, IdRanges, InstanceId};
use crate::instance::{CharacterPatch, CharacterPose, CharacterProperties, PartMask, PartPatch, PartProperties, Pose};
use crate::wire::{Record, Records};

/// Why an instance is gone from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Departure {
    /// It is no more.
    Destroyed,
    /// This player may no longer know of it; it may come back.
    Hidden,
}

/// What a server made a mirror give up: a client of it shows the place wrong from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MirrorFault {
    /// More records or bytes of generations not entered than a mirror holds.
    HeldFull,
    /// More patches or bytes for instances that are not there than a mirror holds.
    WaitingFull,
}

/// Where a mirror puts what it learns: a client's replica.
pub trait MirrorStore {
    /// Whether there is an instance of this id, authored ones included.
    fn contains(&self, id: InstanceId) -> bool;
    /// A part came to be; there is none of this id.
    fn create_part(&mut self, id: InstanceId, properties: PartProperties, pose: Pose, tick: Tick);
    /// A character came to be; there is none of this id.
    fn create_character(&mut self, id: InstanceId, properties: CharacterProperties, pose: CharacterPose, tick: Tick);
    /// Properties of a part that is there have new values. Runtime state stays; one notice is due per property that changed
    ///
    fn patch_part(&mut self, id: InstanceId, patch: &PartPatch, tick: Tick);
    /// Properties of a character that is there have new values.
    fn patch_character(&mut self, id: InstanceId, patch: &CharacterPatch, tick: Tick);
    /// An instance that is there is gone.
    fn remove(&mut self, id: InstanceId, departure: Departure, tick: Tick);
    /// Calls `found` with the ids from `first` on, `count` (at least 1) in a row, that are there. A range may be far longer than
    /// anything there is, so its cost must follow what is there.
    fn each_of_range(&self, first: InstanceId, count: u64, found: &mut dyn FnMut(InstanceId));
}

/// What a mirror did with records so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirrorCounters {
    /// Records applied.
    pub applied: u64,
    /// Records of a generation that was left.
    pub stale: u64,
    /// Records held for a generation not entered yet.
    pub held: u64,
    /// Patches held for an instance that was not there.
    pub waited: u64,
    /// Patches and creations of instances known as destroyed.
    pub destroyed: u64,
    /// Held records and patches given up: at a bound, or after too many passes.
    pub dropped: u64,
    /// Removals of instances that were not there.
    pub unknown: u64,
}

/// Applies a server's records to a client's store: in the entered generation only, never to what was destroyed, and later when
/// what they need is not there yet.
#[derive(Clone, Debug, Default)]
pub struct Mirror {
    generation: Generation,
    destroyed: IdRanges,
    waiting: WaitingPatches,
    later: Held,
    removed: Vec<InstanceId>,
    counters: MirrorCounters,
}

impl Mirror {
    /// A mirror that has entered no place.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The entered generation.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Counters since the beginning.
    #[must_use]
    pub fn counters(&self) -> MirrorCounters {
        self.counters
    }

    /// Patches now waiting for their instance.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of patches now waiting and of records held for a generation not entered, at most [`MAX_WAITING_BYTES`] and
    /// [`MAX_HELD_BYTES`](super::MAX_HELD_BYTES) together.
    ///
    /// [`MAX_WAITING_BYTES`]: super::MAX_WAITING_BYTES
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.waiting.bytes() + self.later.bytes()
    }

    /// Whether an id is known as destroyed in this generation.
    #[must_use]
    pub fn is_destroyed(&self, id: InstanceId) -> bool {
        self.destroyed.contains(id)
    }

    /// Enters a place whose store holds what was authored: forgets the last one and applies what was held for this.
    ///
    /// # Errors
    ///
    /// As [`Self::apply`], for any of what was held.
    pub fn enter(&mut self, generation: Generation, store: &mut impl MirrorStore) -> Result<(), MirrorFault> {
        self.generation = generation;
        self.destroyed.clear();
        self.waiting.clear();
        // Those for a still newer generation are held again.
        let mut outcome = Ok(());
        for records in self.later.take() {
            outcome = self.apply(records, store).and(outcome);
        }
        outcome
    }

    /// Applies, holds or drops a message.
    ///
    /// # Errors
    ///
    /// A [`MirrorFault`] when something older was given up for it, which is counted as dropped. The message itself was applied or
    /// is held.
    pub fn apply(&mut self, records: Records, store: &mut impl MirrorStore) -> Result<(), MirrorFault> {
        let (count, dropped) = (records.records.len() as u64, self.counters.dropped);
        let fault = match self.generation.admit(records.head.generation) {
            Admission::Drop => {
                self.counters.stale += count;
                return Ok(());
            }
            Admission::Hold => {
                self.counters.held += count;
                self.counters.dropped += self.later.push(records) as u64;
                MirrorFault::HeldFull
            }
            Admission::Apply => {
                for record in records.records {
                    self.apply_record(record, records.head.tick, store);
                }
                MirrorFault::WaitingFull
            }
        };
        if self.counters.dropped == dropped { Ok(()) } else { Err(fault) }
    }

    /// Ends a pass: patches that have waited for 600 expire. To be called once per update.
    pub fn end_pass(&mut self) {
        self.counters.dropped += self.waiting.end_pass() as u64;
    }

    fn apply_record(&mut self, record: Record, tick: Tick, store: &mut impl MirrorStore) {
        self.counters.applied += 1;
        match record {
            Record::CreatePart { id, properties, pose } => {
                if store.contains(id) {
                    store.patch_part(id, &PartPatch { mask: PartMask::ALL, properties, pose }, tick);
                } else if self.may_begin(id) {
                    store.create_part(id, properties, pose, tick);
                    self.settle(id, tick, store);
                }
            }
            Record::CreateCharacter { id, properties, pose } => {
                if store.contains(id) {
                    let mask = crate::instance::CharacterMask::ALL;
                    store.patch_character(id, &CharacterPatch { mask, properties }, tick);
                } else if self.may_begin(id) {
                    store.create_character(id, properties, pose, tick);
                    self.settle(id, tick, store);
                }
            }
            Record::PatchPart { id, patch } => {
                if store.contains(id) {
                    store.patch_part(id, &patch, tick);
                } else if self.may_wait(id) {
                    self.counters.dropped += self.waiting.part(id, patch) as u64;
                }
            }
            Record::PatchCharacter { id, patch } => {
                if store.contains(id) {
                    store.patch_character(id, &patch, tick);
                } else if self.may_wait(id) {
                    self.counters.dropped += self.waiting.character(id, patch) as u64;
                }
            }
            Record::Destroy { first, count } => self.destroy(first, count, tick, store),
            Record::Hide { id } => {
                self.waiting.remove(id);
                if store.contains(id) {
                    store.remove(id, Departure::Hidden, tick);
                } else {
                    self.counters.unknown += 1;
                }
            }
        }
    }

    fn may_begin(&mut self, id: InstanceId) -> bool {
        let destroyed = self.destroyed.contains(id);
        if destroyed {
            self.counters.applied -= 1;
            self.counters.destroyed += 1;
        }
        !destroyed
    }

    fn destroy(&mut self, first: InstanceId, count: u64, tick: Tick, store: &mut impl MirrorStore) {
        self.destroyed.insert_range(first, count);
        let last = InstanceId(first.0.saturating_add(count - 1));
        let mut removed = std::mem::take(&mut self.removed);
        removed.clear();
        store.each_of_range(first, count, &mut |id| removed.push(id));
        if removed.is_empty() {
            self.counters.unknown += 1;
        }
        removed.iter().for_each(|&id| store.remove(id, Departure::Destroyed, tick));
        self.removed = removed;
        self.waiting.remove_range(first, last);
    }

    /// Applies what waited for an instance that has just come.
    fn settle(&mut self, id: InstanceId, tick: Tick, store: &mut impl MirrorStore) {
        let Some(waiting) = self.waiting.remove(id) else { return };
        if let Some(patch) = waiting.part {
            store.patch_part(id, &patch, tick);
        }
        if let Some(patch) = waiting.character {
            store.patch_character(id, &patch, tick);
        }
    }

    /// Whether a patch of an instance that is not there may wait for it: not when that is known as destroyed.
    fn may_wait(&mut self, id: InstanceId) -> bool {
        self.counters.applied -= 1;
        let destroyed = self.destroyed.contains(id);
        self.counters.destroyed += u64::from(destroyed);
        self.counters.waited += u64::from(!destroyed);
        !destroyed
    }
}
