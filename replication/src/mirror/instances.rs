use std::collections::{HashMap, VecDeque};

use tidelock_sim::Tick;

use crate::ids::{Admission, Generation, IdRanges, InstanceId};
use crate::instance::{CharacterPatch, CharacterPose, CharacterProperties, PartMask, PartPatch, PartProperties, Pose};
use crate::wire::{Record, Records};

/// Patches held for instances that are not there.
pub const MAX_WAITING: usize = 16_384;
/// Passes after which a held patch expires.
pub const WAITING_PASSES: u64 = 600;
/// Records held for a generation not entered yet.
pub const MAX_HELD_RECORDS: usize = 65_536;

/// Why an instance is gone from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Departure {
    /// It is no more.
    Destroyed,
    /// This player may no longer know of it; it may come back.
    Hidden,
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
    waiting: HashMap<InstanceId, Waiting>,
    /// Ids in the order they began to wait; those no longer waiting are passed over.
    order: VecDeque<(InstanceId, u64)>,
    pass: u64,
    later: VecDeque<Records>,
    later_records: usize,
    removed: Vec<InstanceId>,
    counters: MirrorCounters,
}

#[derive(Clone, Debug)]
struct Waiting {
    since: u64,
    part: Option<PartPatch>,
    character: Option<CharacterPatch>,
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

    /// Whether an id is known as destroyed in this generation.
    #[must_use]
    pub fn is_destroyed(&self, id: InstanceId) -> bool {
        self.destroyed.contains(id)
    }

    /// Enters a place whose store holds what was authored: forgets the last one and applies what was held for this.
    pub fn enter(&mut self, generation: Generation, store: &mut impl MirrorStore) {
        self.generation = generation;
        self.destroyed.clear();
        self.waiting.clear();
        self.order.clear();
        self.later_records = 0;
        // Those for a still newer generation are held again.
        for records in std::mem::take(&mut self.later) {
            self.apply(records, store);
        }
    }

    /// Applies, holds or drops a message.
    pub fn apply(&mut self, records: Records, store: &mut impl MirrorStore) {
        let count = records.records.len();
        match self.generation.admit(records.head.generation) {
            Admission::Drop => self.counters.stale += count as u64,
            Admission::Hold => {
                self.counters.held += count as u64;
                self.later_records += count;
                // One without records would take room that nothing bounds.
                if count > 0 {
                    self.later.push_back(records);
                }
                while self.later_records > MAX_HELD_RECORDS {
                    let dropped = self.later.pop_front().map_or(0, |records| records.records.len());
                    self.later_records -= dropped;
                    self.counters.dropped += dropped as u64;
                }
            }
            Admission::Apply => {
                for record in records.records {
                    self.apply_record(record, records.head.tick, store);
                }
            }
        }
    }

    /// Ends a pass: patches that have waited for 600 expire. To be called once per update.
    pub fn end_pass(&mut self) {
        self.pass += 1;
        while let Some(&(id, since)) = self.order.front() {
            if self.pass - since < WAITING_PASSES {
                break;
            }
            self.order.pop_front();
            self.give_up(id, since);
        }
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
                } else if let Some(waiting) = self.wait(id) {
                    match &mut waiting.part {
                        Some(held) => held.merge(&patch),
                        none => *none = Some(patch),
                    }
                }
            }
            Record::PatchCharacter { id, patch } => {
                if store.contains(id) {
                    store.patch_character(id, &patch, tick);
                } else if let Some(waiting) = self.wait(id) {
                    match &mut waiting.character {
                        Some(held) => held.merge(&patch),
                        none => *none = Some(patch),
                    }
                }
            }
            Record::Destroy { first, count } => self.destroy(first, count, tick, store),
            Record::Hide { id } => {
                self.waiting.remove(&id);
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
        let last = first.0.saturating_add(count - 1);
        let mut removed = std::mem::take(&mut self.removed);
        removed.clear();
        store.each_of_range(first, count, &mut |id| removed.push(id));
        if removed.is_empty() {
            self.counters.unknown += 1;
        }
        removed.iter().for_each(|&id| store.remove(id, Departure::Destroyed, tick));
        self.removed = removed;
        if !self.waiting.is_empty() {
            self.waiting.retain(|id, _| id.0 < first.0 || id.0 > last);
        }
    }

    /// Applies what waited for an instance that has just come.
    fn settle(&mut self, id: InstanceId, tick: Tick, store: &mut impl MirrorStore) {
        let Some(waiting) = self.waiting.remove(&id) else { return };
        if let Some(patch) = waiting.part {
            store.patch_part(id, &patch, tick);
        }
        if let Some(patch) = waiting.character {
            store.patch_character(id, &patch, tick);
        }
    }

    /// Where a patch of an instance that is not there waits; `None` when that is known as destroyed.
    fn wait(&mut self, id: InstanceId) -> Option<&mut Waiting> {
        self.counters.applied -= 1;
        if self.destroyed.contains(id) {
            self.counters.destroyed += 1;
            return None;
        }
        self.counters.waited += 1;
        if !self.waiting.contains_key(&id) {
            while self.order.len() >= MAX_WAITING {
                if let Some((oldest, since)) = self.order.pop_front() {
                    self.give_up(oldest, since);
                }
            }
            self.order.push_back((id, self.pass));
        }
        let since = self.pass;
        Some(self.waiting.entry(id).or_insert(Waiting { since, part: None, character: None }))
    }

    fn give_up(&mut self, id: InstanceId, since: u64) {
        if self.waiting.get(&id).is_some_and(|waiting| waiting.since == since) {
            self.waiting.remove(&id);
            self.counters.dropped += 1;
        }
    }
}
