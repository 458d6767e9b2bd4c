use std::collections::{BTreeMap, VecDeque};

use crate::ids::InstanceId;
use crate::instance::{CharacterPatch, PartPatch};

/// Patches held for instances that are not there.
pub const MAX_WAITING: usize = 16_384;
/// Bytes of such patches, their names, tags and meshes included.
pub const MAX_WAITING_BYTES: usize = 32 << 20;
/// Passes after which a held patch expires.
pub const WAITING_PASSES: u64 = 600;

/// What waits for one instance; later patches lie over earlier ones.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    since: u64,
    pub(super) part: Option<PartPatch>,
    pub(super) character: Option<CharacterPatch>,
}

impl Waiting {
    fn bytes(&self) -> usize {
        let part = self.part.as_ref().map_or(0, |patch| patch.properties.heap_bytes());
        let character = self.character.as_ref().map_or(0, |patch| patch.properties.heap_bytes());
        size_of::<Self>() + part + character
    }
}

/// Patches whose instances are not there, bounded in number, bytes and passes; the oldest go first.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingPatches {
    held: BTreeMap<InstanceId, Waiting>,
    /// Ids in the order they began to wait; those no longer waiting are passed over.
    order: VecDeque<(InstanceId, u64)>,
    pass: u64,
    bytes: usize,
}

impl WaitingPatches {
    /// Instances waited for.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Lets a patch of a part wait. Returns for how many instances patches were given up.
    pub(super) fn part(&mut self, id: InstanceId, patch: PartPatch) -> usize {
        self.change(id, |waiting| match &mut waiting.part {
            Some(held) => held.merge(&patch),
            none => *none = Some(patch),
        })
    }

    /// The same of a character.
    pub(super) fn character(&mut self, id: InstanceId, patch: CharacterPatch) -> usize {
        self.change(id, |waiting| match &mut waiting.character {
            Some(held) => held.merge(&patch),
            none => *none = Some(patch),
        })
    }

    fn change(&mut self, id: InstanceId, change: impl FnOnce(&mut Waiting)) -> usize {
        let mut dropped = 0;
        if !self.held.contains_key(&id) {
            while self.order.len() >= MAX_WAITING {
                dropped += self.give_up_oldest();
            }
            self.order.push_back((id, self.pass));
        }
        let waiting = self.held.entry(id).or_insert(Waiting { since: self.pass, part: None, character: None });
        let before = if waiting.part.is_none() && waiting.character.is_none() { 0 } else { waiting.bytes() };
        change(waiting);
        self.bytes = self.bytes - before + waiting.bytes();
        while self.bytes > MAX_WAITING_BYTES {
            dropped += self.give_up_oldest();
        }
        dropped
    }

    /// Takes out what waited for an instance.
    pub(super) fn remove(&mut self, id: InstanceId) -> Option<Waiting> {
        let waiting = self.held.remove(&id)?;
        self.bytes -= waiting.bytes();
        Some(waiting)
    }

    /// Forgets what waited for the ids from `first` to `last`.
    pub(super) fn remove_range(&mut self, first: InstanceId, last: InstanceId) {
        while let Some((&id, _)) = self.held.range(first..=last).next() {
            self.remove(id);
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.order.clear();
        self.bytes = 0;
    }

    /// Ends a pass. Returns for how many instances patches have waited too long and were given up.
    pub(super) fn end_pass(&mut self) -> usize {
        self.pass += 1;
        let mut dropped = 0;
        while self.order.front().is_some_and(|(_, since)| self.pass - since >= WAITING_PASSES) {
            dropped += self.give_up_oldest();
        }
        dropped
    }

    /// Passes over the oldest entry; 1 when its patches waited still.
    fn give_up_oldest(&mut self) -> usize {
        let Some((id, since)) = self.order.pop_front() else { return 0 };
        let waits = self.held.get(&id).is_some_and(|waiting| waiting.since == since);
        usize::from(waits && self.remove(id).is_some())
    }
}
