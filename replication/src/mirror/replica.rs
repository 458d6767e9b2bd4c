use std::collections::{BTreeMap, BTreeSet};

use tidelock_sim::Tick;

use super::{Departure, MirrorStore};
use crate::ids::InstanceId;
use crate::instance::{
    CharacterPatch, CharacterPose, CharacterProperties, CharacterProperty, PartPatch, PartProperties, PartProperty,
    Pose,
};
use crate::place::Place;

/// A store without an entity world: the authored place, and beside it what differs.
#[derive(Clone, Debug)]
pub struct Replica {
    place: Place,
    differing: BTreeMap<InstanceId, ReplicaInstance>,
    gone: BTreeSet<InstanceId>,
    changes: Vec<MirrorChange>,
}

/// An instance as a replica holds it.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplicaInstance {
    /// A part.
    Part {
        /// Its properties.
        properties: PartProperties,
        /// Its pose as last told reliably.
        pose: Pose,
    },
    /// A character.
    Character {
        /// Its properties.
        properties: CharacterProperties,
        /// Where it was created.
        pose: CharacterPose,
    },
}

/// A notice of what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorChange {
    /// An instance came to be, or into this player's audience.
    Created {
        /// Which.
        id: InstanceId,
    },
    /// One property of a part has another value.
    PartChanged {
        /// Which part.
        id: InstanceId,
        /// Which property.
        property: PartProperty,
    },
    /// One property of a character has another value.
    CharacterChanged {
        /// Which character.
        id: InstanceId,
        /// Which property.
        property: CharacterProperty,
    },
    /// An instance is gone.
    Departed {
        /// Which.
        id: InstanceId,
        /// Why.
        departure: Departure,
    },
}

impl Replica {
    /// The place as it was authored.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self { place, differing: BTreeMap::new(), gone: BTreeSet::new(), changes: Vec::new() }
    }

    /// The instance of this id.
    #[must_use]
    pub fn get(&self, id: InstanceId) -> Option<ReplicaInstance> {
        if let Some(instance) = self.differing.get(&id) {
            return Some(instance.clone());
        }
        self.authored(id)
    }

    /// Ids of all instances, ascending.
    #[must_use]
    pub fn ids(&self) -> BTreeSet<InstanceId> {
        let authored = self.place.parts().map(|part| part.id).filter(|id| !self.gone.contains(id));
        authored.chain(self.differing.keys().copied()).collect()
    }

    /// Notices since the last call, in order.
    pub fn drain_changes(&mut self) -> impl Iterator<Item = MirrorChange> {
        self.changes.drain(..)
    }

    fn authored(&self, id: InstanceId) -> Option<ReplicaInstance> {
        if self.gone.contains(&id) {
            return None;
        }
        let part = self.place.part(id)?;
        Some(ReplicaInstance::Part { properties: part.properties, pose: part.pose })
    }

    fn instance(&mut self, id: InstanceId) -> Option<&mut ReplicaInstance> {
        if !self.differing.contains_key(&id) {
            let authored = self.authored(id)?;
            self.differing.insert(id, authored);
        }
        self.differing.get_mut(&id)
    }
}

impl MirrorStore for Replica {
    fn contains(&self, id: InstanceId) -> bool {
        self.differing.contains_key(&id) || self.place.contains(id) && !self.gone.contains(&id)
    }

    fn create_part(&mut self, id: InstanceId, properties: PartProperties, pose: Pose, _: Tick) {
        self.differing.insert(id, ReplicaInstance::Part { properties, pose });
        self.changes.push(MirrorChange::Created { id });
    }

    fn create_character(&mut self, id: InstanceId, properties: CharacterProperties, pose: CharacterPose, _: Tick) {
        self.differing.insert(id, ReplicaInstance::Character { properties, pose });
        self.changes.push(MirrorChange::Created { id });
    }

    fn patch_part(&mut self, id: InstanceId, patch: &PartPatch, _: Tick) {
        let Some(ReplicaInstance::Part { properties, pose }) = self.instance(id) else { return };
        let changed = patch.apply(properties, pose);
        self.changes.extend(changed.iter().map(|property| MirrorChange::PartChanged { id, property }));
    }

    fn patch_character(&mut self, id: InstanceId, patch: &CharacterPatch, _: Tick) {
        let Some(ReplicaInstance::Character { properties, .. }) = self.instance(id) else { return };
        let changed = patch.apply(properties);
        for property in [CharacterProperty::Player, CharacterProperty::Name, CharacterProperty::Color] {
            if changed.contains(property) {
                self.changes.push(MirrorChange::CharacterChanged { id, property });
            }
        }
    }

    fn remove(&mut self, id: InstanceId, departure: Departure, _: Tick) {
        self.differing.remove(&id);
        if self.place.contains(id) {
            self.gone.insert(id);
        }
        self.changes.push(MirrorChange::Departed { id, departure });
    }

    fn each_of_range(&self, first: InstanceId, count: u64, found: &mut dyn FnMut(InstanceId)) {
        let last = first.0.saturating_add(count - 1);
        // What is not authored is found by its own order; a range may be longer than anything there is.
        let authored = first.0..=last.min(self.place.authored());
        authored.map(InstanceId).filter(|&id| self.contains(id)).for_each(&mut *found);
        let beyond = first.0.max(self.place.authored().saturating_add(1));
        if beyond <= last {
            self.differing.range(InstanceId(beyond)..=InstanceId(last)).for_each(|(&id, _)| found(id));
        }
    }
}
