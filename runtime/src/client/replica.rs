use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hecs::{Entity, World};
use tidelock_replication::ids::{InstanceId, Slot, SlotMap};
use tidelock_replication::instance::{
    CharacterPatch, CharacterPose as SpawnPose, CharacterProperties, PartPatch, PartProperties, PartProperty, Pose,
};
use tidelock_replication::mirror::{Departure, MirrorStore};
use tidelock_replication::motion::MotionGate;
use tidelock_replication::place::PlacePart;
use tidelock_sim::Tick;
use tidelock_sim::collision::{ColliderId, CollisionIndex};
use tidelock_sim::ownership::{PartView, PartViewConfig};
use tidelock_sim::tracks::{CharacterTrack, PartPose};

use super::carried::Carried;
use super::projection::PartOwner;
use crate::scene::{Scene, add_collider};

/// What the client may know of the place: the authored file, and a hecs world of what differs from it or moves.
#[derive(Default)]
pub(crate) struct Replica {
    scene: Option<Arc<Scene>>,
    pub(crate) world: World,
    entities: HashMap<InstanceId, Entity>,
    slots: SlotMap<Entity>,
    /// Authored parts destroyed or hidden.
    gone: HashSet<InstanceId>,
    /// Colliders, once they differ from the scene's.
    colliders: Option<CollisionIndex>,
    /// Parts whose motion is a function of time, by ascending id.
    pub(crate) movers: Vec<PlacePart>,
    pub(crate) gate: MotionGate,
    /// Parts whose shape cannot be walked on.
    unwalkable: usize,
    /// Seconds between two broadcasts.
    interval: f64,
    /// How parts are drawn across changes of owner.
    pub(crate) views: PartViewConfig,
    /// Parts that came, went or changed shape since local physics looked.
    pub(crate) reshaped: Vec<InstanceId>,
    /// Bytes of all instances, by [`part_cost`] and [`INSTANCE_BYTES`].
    bytes: usize,
    /// Creations and patches for which there was no room.
    pub(crate) refused: u64,
}

/// Bytes of all instances at most.
const MAX_BYTES: usize = 512 << 20;
/// Bytes an instance is counted with beside its names, tags and mesh.
const INSTANCE_BYTES: usize = 1_024;

/// How much faster or slower a part is drawn while it goes over to its new owner's timeline: with the timeline's own changes
/// of rate, below a tenth.
const VIEW_SLEW: f64 = 0.07;

/// Server time from which an instance may be drawn, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Born(pub(crate) f64);

impl Replica {
    /// Enters a scene, forgetting the last one.
    pub(crate) fn enter(&mut self, scene: Arc<Scene>, broadcast_divisor: u32) {
        *self = Self {
            views: PartViewConfig {
                slew: VIEW_SLEW,
                gravity: scene.settings.up * -scene.settings.gravity,
                ..PartViewConfig::default()
            },
            movers: scene.movers.clone(),
            scene: Some(scene),
            interval: f64::from(broadcast_divisor) / f64::from(Tick::HZ),
            ..Self::default()
        };
    }

    /// What the own character walks on.
    pub(crate) fn colliders<'a>(&'a self, scene: &'a Scene) -> &'a CollisionIndex {
        self.colliders.as_ref().unwrap_or(&scene.colliders)
    }

    /// Colliders that differ from the scene's, lent for the length of a frame; [`Self::take_back`] has to follow.
    pub(crate) fn lend_colliders(&mut self) -> Option<CollisionIndex> {
        self.colliders.take()
    }

    /// Takes back what was lent.
    pub(crate) fn take_back(&mut self, colliders: Option<CollisionIndex>) {
        self.colliders = colliders;
    }

    /// The entity of an instance that is here, made from the authored place when nothing has touched it yet.
    pub(crate) fn touch(&mut self, id: InstanceId) -> Option<Entity> {
        if let Some(entity) = self.entities.get(&id) {
            return Some(*entity);
        }
        if self.gone.contains(&id) {
            return None;
        }
        let part = self.scene.as_ref()?.place.part(id)?;
        self.spawn_part(id, part.properties, part.pose, Born(f64::NEG_INFINITY))
    }

    /// A part that is here, as last told reliably.
    pub(crate) fn part(&self, id: InstanceId) -> Option<(PartProperties, Pose)> {
        if let Some(entity) = self.entities.get(&id) {
            let properties = self.world.get::<&PartProperties>(*entity).ok()?;
            let pose = self.world.get::<&Pose>(*entity).ok()?;
            return Some((PartProperties::clone(&properties), *pose));
        }
        let authored = self.scene.as_ref()?.place.part(id).filter(|_| !self.gone.contains(&id))?;
        Some((authored.properties, authored.pose))
    }

    fn spawn_part(&mut self, id: InstanceId, properties: PartProperties, pose: Pose, born: Born) -> Option<Entity> {
        let view = PartView::new().with_send_interval(self.interval);
        let (entity, slot) = self.spawn(id, part_cost(&properties))?;
        self.world.insert(entity, (id, slot, properties, pose, view, born, PartOwner::Server)).ok()?;
        Some(entity)
    }

    /// An entity for an instance that costs so many bytes; `None` where there is no room for it.
    fn spawn(&mut self, id: InstanceId, cost: usize) -> Option<(Entity, Slot)> {
        self.take_room(cost)?;
        let entity = self.world.reserve_entity();
        let Some(slot) = self.slots.insert(entity) else {
            self.bytes -= cost;
            self.refused += 1;
            return None;
        };
        self.world.flush();
        self.entities.insert(id, entity);
        Some((entity, slot))
    }

    /// Counts bytes if there is room for them, else that there was none.
    fn take_room(&mut self, bytes: usize) -> Option<()> {
        if bytes > MAX_BYTES - self.bytes {
            self.refused += 1;
            return None;
        }
        self.bytes += bytes;
        Some(())
    }

    /// Makes what is walked on follow a part's new properties or pose.
    fn collide(&mut self, id: InstanceId, part: Option<(&PartProperties, Pose)>) {
        let Some(scene) = &self.scene else { return };
        let colliders = self.colliders.get_or_insert_with(|| scene.colliders.clone());
        colliders.remove(ColliderId(id.0));
        self.movers.retain(|mover| mover.id != id);
        let Some((properties, pose)) = part else { return };
        // A shape without extent is drawn and not walked on, as on the server.
        self.unwalkable += usize::from(add_collider(colliders, id, properties, pose).is_err());
        if properties.mover.is_some() {
            let place = self.movers.partition_point(|mover| mover.id < id);
            self.movers.insert(place, PlacePart { id, properties: properties.clone(), pose });
        }
    }
}

impl MirrorStore for Replica {
    fn contains(&self, id: InstanceId) -> bool {
        let authored = || self.scene.as_ref().is_some_and(|scene| scene.place.contains(id));
        self.entities.contains_key(&id) || !self.gone.contains(&id) && authored()
    }

    fn create_part(&mut self, id: InstanceId, properties: PartProperties, pose: Pose, tick: Tick) {
        if self.spawn_part(id, properties.clone(), pose, Born(tick.seconds())).is_none() {
            return;
        }
        self.gone.remove(&id);
        self.reshaped.push(id);
        self.collide(id, Some((&properties, pose)));
    }

    fn create_character(&mut self, id: InstanceId, properties: CharacterProperties, pose: SpawnPose, tick: Tick) {
        let Some((entity, slot)) = self.spawn(id, INSTANCE_BYTES) else { return };
        let mut track = CharacterTrack::new();
        track.set_send_interval(self.interval);
        let inserted = self
            .world
            .insert(entity, (id, slot, properties, SpawnedAt(pose), track, Born(tick.seconds()), Carried::default()));
        inserted.expect("an entity that was just reserved");
    }

    fn patch_part(&mut self, id: InstanceId, patch: &PartPatch, tick: Tick) {
        // What it replaces is given back below.
        let grown = patch.properties.heap_bytes();
        let Some(entity) = self.touch(id) else { return };
        if self.take_room(grown).is_none() {
            return;
        }
        let query = self.world.query_one_mut::<(&Slot, &mut PartProperties, &mut Pose, &mut PartView)>(entity);
        let Ok((slot, properties, pose, view)) = query else { return };
        let before = part_cost(properties);
        let changed = patch.apply(properties, pose);
        self.bytes = self.bytes - grown - before + part_cost(properties);
        let walked_on = [
            PartProperty::Shape,
            PartProperty::Size,
            PartProperty::Anchored,
            PartProperty::CanCollide,
            PartProperty::Mover,
            PartProperty::Water,
        ];
        let moves = changed.contains(PartProperty::Pose);
        let collides = moves || walked_on.iter().any(|one| changed.contains(*one));
        // The reliable pose is the last of a movement: it joins the track, so that it is reached when playback gets there.
        if moves && !view.track().is_empty() && self.gate.admit(*slot, tick) {
            let pose = PartPose {
                time: tick.seconds(),
                position: pose.position,
                rotation: pose.rotation,
                velocity: glam::Vec3::ZERO,
                angular: glam::Vec3::ZERO,
            };
            view.receive(pose, &self.views);
        }
        let (properties, pose) = (properties.clone(), *pose);
        if collides {
            self.reshaped.push(id);
            self.collide(id, Some((&properties, pose)));
        }
    }

    fn patch_character(&mut self, id: InstanceId, patch: &CharacterPatch, _: Tick) {
        let Some(entity) = self.entities.get(&id) else { return };
        if let Ok(properties) = self.world.query_one_mut::<&mut CharacterProperties>(*entity) {
            patch.apply(properties);
        }
    }

    fn remove(&mut self, id: InstanceId, _: Departure, _: Tick) {
        self.reshaped.push(id);
        if let Some(entity) = self.entities.remove(&id) {
            if let Ok(slot) = self.world.query_one_mut::<&Slot>(entity).copied() {
                self.slots.remove(slot);
                self.gate.forget(slot);
            }
            let cost = self.world.query_one_mut::<&PartProperties>(entity).map_or(INSTANCE_BYTES, part_cost);
            self.bytes -= cost;
            drop(self.world.despawn(entity));
        }
        if self.scene.as_ref().is_some_and(|scene| scene.place.contains(id)) {
            self.gone.insert(id);
        }
        let walked_on = |scene: &Arc<Scene>| self.colliders(scene).contains(ColliderId(id.0));
        if self.scene.as_ref().is_some_and(walked_on) {
            self.collide(id, None);
        }
    }

    fn each_of_range(&self, first: InstanceId, count: u64, found: &mut dyn FnMut(InstanceId)) {
        let last = InstanceId(first.0.saturating_add(count - 1));
        let authored = self.scene.as_ref().map_or(0, |scene| scene.place.authored());
        // Whichever is shorter: the range, or all there is.
        if count <= self.entities.len() as u64 + authored {
            (first.0..=last.0).map(InstanceId).filter(|id| self.contains(*id)).for_each(found);
            return;
        }
        let mut here: Vec<_> = self.entities.keys().copied().filter(|id| *id >= first && *id <= last).collect();
        here.extend((first.0..=last.0.min(authored)).map(InstanceId).filter(|id| self.contains(*id)));
        here.sort_unstable();
        here.dedup();
        here.into_iter().for_each(found);
    }
}

/// Bytes a part is counted with.
fn part_cost(properties: &PartProperties) -> usize {
    INSTANCE_BYTES + properties.heap_bytes()
}

/// Where a character came to be, for as long as no motion says more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpawnedAt(pub(crate) SpawnPose);

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use tidelock_replication::instance::{PartMask, PartShape};

    use super::*;

    fn replica() -> Replica {
        let text = "name = \"Dot\"\n[[part]]\nname = \"Ground\"\nsize = [8, 2, 8]\nposition = [0, 0, 0]\n";
        let place = tidelock_replication::place::Place::compile(text).expect("a sound place");
        let mut replica = Replica::default();
        replica.enter(Arc::new(Scene::client(place)), 3);
        replica
    }

    fn meshed(points: &Arc<[Vec3]>) -> PartProperties {
        PartProperties { shape: PartShape::Hull(points.clone()), can_collide: false, ..PartProperties::default() }
    }

    // Bad input: what a server lets a client hold is bounded in bytes, and what goes gives its room back.
    #[test]
    fn instances_are_bounded_in_bytes() {
        let (mut replica, points) = (replica(), Arc::from(vec![Vec3::ONE; 4_096]));
        let cost = part_cost(&meshed(&points));
        let most = (MAX_BYTES / cost) as u64;
        for id in 100..=100 + most {
            replica.create_part(InstanceId(id), meshed(&points), Pose::default(), Tick(1));
        }
        assert_eq!((replica.refused, replica.bytes), (1, most as usize * cost));
        assert!(!replica.contains(InstanceId(100 + most)) && replica.contains(InstanceId(99 + most)));
        let grown = PartPatch {
            mask: PartMask::NONE.with(PartProperty::Shape),
            properties: meshed(&points),
            pose: Pose::default(),
        };
        replica.patch_part(InstanceId(100), &grown, Tick(1));
        assert_eq!(replica.refused, 2, "there is no room to change it either");
        replica.remove(InstanceId(101), Departure::Destroyed, Tick(1));
        replica.patch_part(InstanceId(100), &grown, Tick(1));
        let plain = PartPatch { properties: PartProperties::default(), ..grown };
        replica.patch_part(InstanceId(100), &plain, Tick(1));
        assert_eq!((replica.refused, replica.bytes), (2, (most as usize - 1) * cost - 4_096 * 12));
        (100..100 + most).for_each(|id| replica.remove(InstanceId(id), Departure::Destroyed, Tick(1)));
        assert_eq!(replica.bytes, 0);
    }
}
