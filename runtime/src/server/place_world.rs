use std::collections::{HashMap, HashSet};

use glam::Vec3;
use hecs::{Entity, World};
use tidelock_replication::ids::{Generation, InstanceId, Placed, PlayerId, Slot, SlotMap};
use tidelock_replication::instance::{Audience, CharacterPose, PartProperties, Pose, Seat};
use tidelock_replication::interest::InterestGrid;
use tidelock_replication::motion::MotionArena;
use tidelock_replication::place::{Place, Spawn};
use tidelock_replication::publish::{CurrentPoses, InstancePublisher};
use tidelock_sim::bytes::is_bounded;
use tidelock_sim::collision::CollisionIndex;
use tidelock_sim::motor::MotorSettings;
use tidelock_sim::physics::{LooseMotion, LooseParts, LoosePartsConfig, PartState};
use tidelock_sim::report::CharacterTruth;
use tidelock_sim::{SimTime, Tick, collision::ColliderId};

use super::body::CharacterBody;
use super::inputs::InputTruth;
use super::ownership::Owners;
use super::pusher::Pusher;
use super::seats::SeatPlace;
use super::{ServerConfig, ServerError};
use crate::scene::{Scene, add_collider};
use crate::testing::Digest;

/// Edge of the interest grid's cells, studs: a fair share of the usual radius.
const INTEREST_CELL: f32 = 64.0;

/// A place as the server runs it: the authored file, the hecs world of what differs from it or moves, and what is derived.
pub(crate) struct PlaceWorld {
    scene: Scene,
    world: World,
    /// Entities of instances that differ from the authored place or can move by themselves.
    entities: HashMap<InstanceId, Entity>,
    slots: SlotMap<Entity>,
    /// Authored parts that were destroyed.
    destroyed: HashSet<InstanceId>,
    pub(super) grid: InterestGrid,
    pub(super) motion: MotionArena,
    pub(super) publisher: InstancePublisher,
    pub(super) loose: LooseParts,
    pub(super) loose_motion: LooseMotion,
    /// Who simulates each loose part.
    pub(super) owners: Owners,
    /// Parts that physics or a script moved in this tick.
    pub(super) moved_parts: Vec<Entity>,
    /// Who sits, by player slot, and where its seat is; empty between ticks.
    pub(super) sitters: Vec<(Entity, usize, Option<SeatPlace>)>,
    spawns: Vec<Spawn>,
    next_spawn: usize,
    players: u64,
}

/// Velocities of a part: studs/s and radians/s about the world's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartVelocity {
    /// Linear.
    pub linear: Vec3,
    /// Angular.
    pub angular: Vec3,
}

impl PlaceWorld {
    /// Opens a place for players.
    pub(crate) fn new(place: Place, server: &ServerConfig) -> Result<Self, ServerError> {
        let spawns: Vec<_> = place.spawns().collect();
        if spawns.is_empty() {
            return Err(ServerError::NoSpawns(place.name().to_owned()));
        }
        let scene = Scene::client(place.clone());
        let settings = scene.settings;
        let config =
            LoosePartsConfig { gravity: settings.up * -settings.gravity, up: settings.up, ..Default::default() };
        let mut opened = Self {
            grid: InterestGrid::new(INTEREST_CELL, settings.up, place.interest()),
            scene,
            world: World::new(),
            entities: HashMap::new(),
            slots: SlotMap::new(),
            destroyed: HashSet::new(),
            motion: MotionArena::new(server.broadcast_divisor),
            publisher: InstancePublisher::new(place.clone(), Generation(1)),
            loose: LooseParts::new(config),
            loose_motion: LooseMotion::default(),
            owners: Owners::new(server),
            moved_parts: Vec::new(),
            sitters: Vec::new(),
            spawns,
            next_spawn: 0,
            players: 0,
        };
        for part in place.parts() {
            opened.add_to_physics(part.id, &part.properties, part.pose);
            if !part.properties.anchored {
                opened.spawn_part(part.id, part.properties, part.pose, Audience::Shared);
            }
        }
        for hidden in place.hidden_parts() {
            let part = hidden.part;
            let Some(audience) = hidden.audience else { continue };
            opened.create_part(part.id, part.properties, part.pose, audience);
        }
        Ok(opened)
    }

    /// Puts a part among those that loose parts fall on, or makes it one. A shape physics cannot hold takes no part in it.
    fn add_to_physics(&mut self, id: InstanceId, properties: &PartProperties, pose: Pose) {
        let (collider, shape) = (ColliderId(id.0), properties.collider_shape());
        let added = if !properties.can_collide || properties.water {
            return;
        } else if !properties.anchored {
            let state = PartState::resting(pose.position, pose.rotation);
            let added = self.loose.insert_part(collider, &shape, &state);
            if added.is_ok() {
                self.owners.add(id, state);
            }
            added
        } else if let Some(mover) = properties.mover_at(pose) {
            self.loose.insert_mover(collider, &shape, mover, SimTime(0))
        } else {
            self.loose.insert_anchored(collider, &shape, pose.position, pose.rotation)
        };
        if let Err(error) = added {
            tracing::warn!(id = id.0, ?error, "part has no physics");
        }
    }

    fn spawn_part(
        &mut self,
        id: InstanceId,
        properties: PartProperties,
        pose: Pose,
        audience: Audience,
    ) -> Option<Slot> {
        let entity = self.world.reserve_entity();
        let slot = self.slots.insert(entity)?;
        self.world.flush();
        let position = pose.position;
        let inserted = self.world.insert(entity, (id, slot, properties, pose, PartVelocity::default(), audience));
        inserted.expect("an entity that was just reserved");
        self.entities.insert(id, entity);
        self.grid.insert(slot, position, audience);
        Some(slot)
    }

    /// Creates a part that is in no client's place file. False when there is no room for more.
    pub(super) fn create_part(
        &mut self,
        id: InstanceId,
        properties: PartProperties,
        pose: Pose,
        audience: Audience,
    ) -> bool {
        let Some(slot) = self.spawn_part(id, properties.clone(), pose, audience) else { return false };
        if audience == Audience::Shared {
            self.add_to_physics(id, &properties, pose);
            // A shape without extent is drawn and not walked on; physics has said so in the log.
            self.scene.refused += usize::from(add_collider(&mut self.scene.colliders, id, &properties, pose).is_err());
        }
        self.publisher.create_part(Placed { slot, id }, properties, pose, audience);
        true
    }

    /// The entity of a part, made from the authored place when nothing has touched it yet. `None` for ids unknown or destroyed.
    pub(super) fn touch_part(&mut self, id: InstanceId) -> Option<Entity> {
        if let Some(entity) = self.entities.get(&id) {
            return Some(*entity);
        }
        if self.destroyed.contains(&id) {
            return None;
        }
        let part = self.scene.place.part(id)?;
        self.spawn_part(id, part.properties, part.pose, Audience::Shared)?;
        self.entities.get(&id).copied()
    }

    /// Gives a part other properties; collision and physics follow.
    pub(super) fn set_part(&mut self, id: InstanceId, properties: PartProperties) -> bool {
        let Some(entity) = self.touch_part(id) else { return false };
        let Ok((slot, pose, audience)) = self.world.query_one_mut::<(&Slot, &Pose, &Audience)>(entity) else {
            return false;
        };
        let (slot, pose, audience) = (*slot, *pose, *audience);
        self.publisher.set_part(Placed { slot, id }, &properties);
        if audience == Audience::Shared {
            self.scene.colliders.remove(ColliderId(id.0));
            self.scene.refused += usize::from(add_collider(&mut self.scene.colliders, id, &properties, pose).is_err());
            self.loose.remove(ColliderId(id.0));
            if properties.anchored || !properties.can_collide {
                self.owners.remove(id, slot);
            }
            self.add_to_physics(id, &properties, pose);
        }
        if let Ok(held) = self.world.query_one_mut::<&mut PartProperties>(entity) {
            *held = properties;
        }
        true
    }

    /// Puts a part elsewhere.
    pub(super) fn move_part(&mut self, id: InstanceId, pose: Pose, velocity: PartVelocity, tick: Tick) -> bool {
        let bounded = [pose.position, velocity.linear, velocity.angular].into_iter().all(is_bounded);
        if !bounded || !pose.rotation.is_finite() {
            return false;
        }
        let Some(entity) = self.touch_part(id) else { return false };
        let query = self.world.query_one_mut::<(&Slot, &mut Pose, &mut PartVelocity, &PartProperties)>(entity);
        let Ok((slot, held, velocities, properties)) = query else { return false };
        (*held, *velocities) = (pose, velocity);
        let (slot, anchored) = (*slot, properties.anchored);
        let PartVelocity { linear, angular } = velocity;
        let state = PartState { position: pose.position, rotation: pose.rotation, velocity: linear, angular };
        self.loose.place(ColliderId(id.0), &state);
        self.owners.write(id, state, tick);
        if anchored {
            self.scene.colliders.move_to(ColliderId(id.0), pose.position, pose.rotation);
            self.publisher.move_anchored(Placed { slot, id }, pose, tick);
        }
        self.moved_parts.push(entity);
        true
    }

    /// Changes who may know of a part.
    pub(super) fn set_audience(&mut self, id: InstanceId, audience: Audience, tick: Tick) -> bool {
        let Some(entity) = self.touch_part(id) else { return false };
        let Ok((slot, held)) = self.world.query_one_mut::<(&Slot, &mut Audience)>(entity) else { return false };
        *held = audience;
        let slot = *slot;
        self.grid.set_audience(slot, audience);
        self.owners.set_hidden(id, audience != Audience::Shared, tick);
        self.publisher.set_audience(Placed { slot, id }, audience);
        true
    }

    /// Destroys an instance.
    pub(super) fn destroy(&mut self, id: InstanceId) -> bool {
        let Some(entity) = self.touch_part(id) else { return false };
        let Ok(slot) = self.world.query_one_mut::<&Slot>(entity).copied() else { return false };
        self.remove_pusher(entity);
        self.publisher.destroy(Placed { slot, id });
        self.owners.remove(id, slot);
        self.grid.remove(slot);
        self.motion.remove(slot);
        self.loose.remove(ColliderId(id.0));
        self.scene.colliders.remove(ColliderId(id.0));
        self.entities.remove(&id);
        self.slots.remove(slot);
        if self.scene.place.contains(id) {
            self.destroyed.insert(id);
        }
        self.world.despawn(entity).is_ok()
    }

    /// Adds an entity with a slot for an instance that stands at `position`. `None` when there is no room for more.
    pub(super) fn enter(&mut self, id: InstanceId, position: Vec3) -> Option<(Entity, Slot)> {
        let entity = self.world.reserve_entity();
        let slot = self.slots.insert(entity)?;
        self.world.flush();
        self.world.insert(entity, (id, slot)).expect("an entity that was just reserved");
        self.entities.insert(id, entity);
        self.grid.insert(slot, position, Audience::Shared);
        Some((entity, slot))
    }

    /// The next spawn, all in turn.
    pub(super) fn next_spawn(&mut self) -> Spawn {
        self.next_spawn = (self.next_spawn + 1) % self.spawns.len();
        self.spawns[self.next_spawn]
    }

    /// Where a seat is at `now`. `None` when its part is no more, or not for everyone to know of.
    pub(super) fn seat_place(&self, seat: &Seat, now: SimTime) -> Option<SeatPlace> {
        let mut query =
            self.world.query_one::<(&Pose, &PartVelocity, &PartProperties, &Audience)>(self.entity(seat.part)?);
        let (pose, moving, properties, audience) = query.get().ok()?;
        if *audience != Audience::Shared {
            return None;
        }
        let up = self.scene.settings.up;
        let Some(mover) = properties.mover_at(*pose) else {
            let (position, yaw) = seat.place(*pose, up);
            return Some(SeatPlace { position, velocity: seat.velocity(*pose, moving.linear, moving.angular), yaw });
        };
        let (position, rotation) = mover.pose(now);
        let (position, yaw) = seat.place(Pose { position, rotation }, up);
        Some(SeatPlace { position, velocity: mover.velocity_at(position, now), yaw })
    }

    /// Lets a character push loose parts.
    pub(super) fn add_pusher(&mut self, entity: Entity, position: Vec3) {
        let MotorSettings { radius, half_height, .. } = self.scene.settings;
        if let Ok(body) = self.loose.insert_character(position, radius, half_height) {
            self.world.insert_one(entity, Pusher::new(body, position)).expect("the entity of a character in the place");
        }
    }

    /// Takes a character out of the way of loose parts.
    pub(super) fn remove_pusher(&mut self, entity: Entity) {
        if let Ok(pusher) = self.world.remove_one::<Pusher>(entity) {
            self.loose.remove_character(pusher.body);
        }
    }

    /// A player id never used before.
    pub(super) fn new_player(&mut self) -> PlayerId {
        self.players += 1;
        PlayerId(self.players)
    }

    pub(super) fn entity(&self, id: InstanceId) -> Option<Entity> {
        self.entities.get(&id).copied()
    }

    /// The part or character in the slot of this index.
    pub(super) fn part_at(&self, index: usize) -> Option<InstanceId> {
        let (_, entity) = self.slots.at(index)?;
        self.world.get::<&InstanceId>(*entity).ok().map(|id| *id)
    }

    pub(super) fn place(&self) -> &Place {
        &self.scene.place
    }

    pub(super) fn settings(&self) -> &MotorSettings {
        &self.scene.settings
    }

    pub(super) fn world(&self) -> &World {
        &self.world
    }

    pub(super) fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    pub(super) fn grid(&self) -> &InterestGrid {
        &self.grid
    }

    pub(super) fn motion(&self) -> &MotionArena {
        &self.motion
    }

    pub(super) fn generation(&self) -> Generation {
        self.publisher.generation()
    }

    /// What replay reads: the world's columns, the colliders, the settings.
    pub(super) fn replay_parts(&self) -> (&World, &CollisionIndex, &MotorSettings) {
        (&self.world, &self.scene.colliders, &self.scene.settings)
    }

    /// World, publisher's poses and publisher at once.
    pub(super) fn publish_parts(&mut self) -> (WorldPoses<'_>, &mut InstancePublisher) {
        (WorldPoses { world: &self.world, slots: &self.slots }, &mut self.publisher)
    }

    /// Loose parts by id, with whether motion tells of them.
    pub(super) fn loose_parts(&self) -> Vec<(InstanceId, Pose, bool)> {
        let mut query = self.world.query::<(&InstanceId, &Slot, &Pose, &PartProperties)>();
        let loose = query.iter().filter(|(.., properties)| !properties.anchored);
        let mut parts: Vec<_> = loose.map(|(id, slot, pose, _)| (*id, *pose, self.motion.contains(*slot))).collect();
        parts.sort_unstable_by_key(|part| part.0);
        parts
    }

    /// The world's columns, and what its motion goes into.
    pub(super) fn motion_parts(&mut self) -> (&World, &mut MotionArena, &mut InterestGrid) {
        (&self.world, &mut self.motion, &mut self.grid)
    }

    /// The world's columns, and the loose parts that characters push.
    pub(super) fn physics_parts(&mut self) -> (&World, &mut LooseParts) {
        (&self.world, &mut self.loose)
    }

    /// Digest of every character and part in slot order.
    pub(super) fn digest(&self, tick: Tick) -> u64 {
        let mut digest = Digest::default();
        digest.number(tick.0);
        for (slot, entity) in self.slots.iter() {
            digest.number(u64::from(slot.0));
            if let Ok(truth) = self.world.get::<&CharacterTruth>(*entity) {
                digest.number(truth.sim().motor.digest());
                digest.bytes(truth.sim().custom.as_slice());
            }
            if let Ok(truth) = self.world.get::<&InputTruth>(*entity) {
                digest.number(truth.truth().sim().motor.digest());
                digest.bytes(truth.truth().sim().custom.as_slice());
            }
            if let Ok(body) = self.world.get::<&CharacterBody>(*entity) {
                digest.vector(body.position);
                digest.vector(body.velocity);
            }
            if let Ok(pose) = self.world.get::<&Pose>(*entity) {
                digest.vector(pose.position);
                digest.rotation(pose.rotation);
            }
        }
        digest.value()
    }
}

/// Where everything is now, for those who are told of it anew.
pub(crate) struct WorldPoses<'a> {
    world: &'a World,
    slots: &'a SlotMap<Entity>,
}

impl CurrentPoses for WorldPoses<'_> {
    fn part(&self, part: Placed) -> Option<Pose> {
        self.world.get::<&Pose>(*self.slots.get(part.slot)?).ok().map(|pose| *pose)
    }

    fn character(&self, character: Placed) -> Option<CharacterPose> {
        let body = self.world.get::<&CharacterBody>(*self.slots.get(character.slot)?).ok()?;
        Some(CharacterPose { position: body.position, yaw: body.yaw, state: body.state })
    }
}
