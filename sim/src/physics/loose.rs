use std::collections::BTreeMap;

use glam::{Quat, Vec3};
use rapier3d::math::Pose;
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, RigidBody, RigidBodyBuilder, RigidBodyHandle, RigidBodyType, SharedShape,
};

use super::motion::LooseMotion;
use super::reach::Reach;
use super::solid::{is_solid, shared_shape};
use crate::collision::{ColliderError, ColliderId, Mover, Shape};
use crate::part::PartState;
use crate::time::SimTime;

/// How loose parts move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoosePartsConfig {
    /// Acceleration of everything loose, studs/s², default 196.2 down.
    pub gravity: Vec3,
    /// Direction in which characters stand, unit length, default +Y.
    pub up: Vec3,
    /// Friction coefficient of all surfaces, default 0.5.
    pub friction: f32,
    /// Share of speed kept in a bounce, 0 to 1, default 0.1.
    pub restitution: f32,
    /// Share of spin lost per second, as rolling resistance, default 0.8: without it a ball never comes to rest.
    pub angular_damping: f32,
    /// Mass of a cubic stud, default 0.7. Only ratios matter, and all parts share it.
    pub density: f32,
    /// Length of a typical part in studs, default 2: rapier scales its tolerances by it.
    pub length_unit: f32,
    /// Displacement within a tick above which a character was put elsewhere and pushes nothing, studs, default 10.
    pub character_teleport: f32,
}

impl Default for LoosePartsConfig {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -196.2, 0.0),
            up: Vec3::Y,
            friction: 0.5,
            restitution: 0.1,
            angular_damping: 0.8,
            density: 0.7,
            length_unit: 2.0,
            character_teleport: 10.0,
        }
    }
}

/// A character as loose parts feel it: issued by [`LooseParts::insert_character`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PushingBody(RigidBodyHandle);

/// A place's loose parts with everything they collide with (S-50, the server's side).
///
/// The same calls in the same order give the same bits on every machine. Sleeping parts cost nothing in a step.
pub struct LooseParts {
    pub(super) config: LoosePartsConfig,
    pub(super) world: PhysicsWorld,
    pub(super) bodies: BTreeMap<ColliderId, RigidBodyHandle>,
    /// Parts of others, driven.
    pub(super) driven: Vec<(ColliderId, RigidBodyHandle)>,
    movers: Vec<(ColliderId, RigidBodyHandle, Mover)>,
    /// Loose parts awake after the last step.
    pub(super) awake: Vec<(ColliderId, RigidBodyHandle)>,
    characters: usize,
    /// Where parts are that a character can push.
    pub(super) reach: Reach,
}

impl std::fmt::Debug for LooseParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LooseParts")
            .field("bodies", &self.bodies.len())
            .field("movers", &self.movers.len())
            .field("characters", &self.characters)
            .field("awake", &self.awake.len())
            .finish_non_exhaustive()
    }
}

impl LooseParts {
    /// Length of a step in seconds.
    pub const STEP: f32 = 1.0 / 60.0;

    /// A place without parts.
    #[must_use]
    pub fn new(config: LoosePartsConfig) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = config.gravity;
        world.integration_parameters.dt = Self::STEP;
        world.integration_parameters.length_unit = config.length_unit;
        Self {
            config,
            world,
            bodies: BTreeMap::new(),
            driven: Vec::new(),
            movers: Vec::new(),
            awake: Vec::new(),
            characters: 0,
            reach: Reach::default(),
        }
    }

    /// Adds a part that never moves by itself.
    ///
    /// # Errors
    ///
    /// When the id is taken, a number nonfinite or the shape impossible; nothing changes then.
    pub fn insert_anchored(
        &mut self,
        id: ColliderId,
        shape: &Shape,
        position: Vec3,
        rotation: Quat,
    ) -> Result<(), ColliderError> {
        let state = PartState::resting(position, rotation);
        self.insert(id, RigidBodyType::Fixed, shape, &state).map(|_| ())
    }

    /// Adds a scripted mover, which pushes and carries loose parts; it stands where it is at `at`.
    ///
    /// # Errors
    ///
    /// As [`Self::insert_anchored`].
    pub fn insert_mover(
        &mut self,
        id: ColliderId,
        shape: &Shape,
        mover: Mover,
        at: SimTime,
    ) -> Result<(), ColliderError> {
        let (position, rotation) = mover.pose(at);
        let state = PartState::resting(position, rotation);
        let handle = self.insert(id, RigidBodyType::KinematicPositionBased, shape, &state)?;
        self.movers.push((id, handle, mover));
        Ok(())
    }

    /// Adds a loose part. It falls asleep by itself when it rests.
    ///
    /// # Errors
    ///
    /// As [`Self::insert_anchored`]; a surface without an inside cannot be loose and counts as empty.
    pub fn insert_part(&mut self, id: ColliderId, shape: &Shape, state: &PartState) -> Result<(), ColliderError> {
        if !is_solid(shape) {
            return Err(ColliderError::Empty);
        }
        let handle = self.insert(id, RigidBodyType::Dynamic, shape, state)?;
        self.awake.push((id, handle));
        self.note_reach(id, handle);
        Ok(())
    }

    pub(super) fn insert(
        &mut self,
        id: ColliderId,
        kind: RigidBodyType,
        shape: &Shape,
        state: &PartState,
    ) -> Result<RigidBodyHandle, ColliderError> {
        if self.bodies.contains_key(&id) {
            return Err(ColliderError::Duplicate);
        }
        if !state.is_sound() {
            let finite = state.position.is_finite() && state.rotation.is_finite();
            return Err(if finite { ColliderError::Motion } else { ColliderError::NonFinite });
        }
        let body = RigidBodyBuilder::new(kind)
            .angular_damping(self.config.angular_damping)
            .pose(Pose::from_parts(state.position, state.rotation))
            .linvel(state.velocity)
            .angvel(state.angular)
            .ccd_enabled(kind == RigidBodyType::Dynamic)
            .user_data(u128::from(id.0));
        let handle = self.add(body, shared_shape(shape)?);
        self.bodies.insert(id, handle);
        Ok(handle)
    }

    fn add(&mut self, body: RigidBodyBuilder, shape: SharedShape) -> RigidBodyHandle {
        let collider = ColliderBuilder::new(shape)
            .density(self.config.density)
            .friction(self.config.friction)
            .restitution(self.config.restitution);
        self.world.insert(body, collider).0
    }

    /// Removes a part or mover of any kind, waking what rested on it; false when there was none.
    pub fn remove(&mut self, id: ColliderId) -> bool {
        let Some(handle) = self.bodies.remove(&id) else { return false };
        self.world.remove_body_with_colliders(handle, true);
        self.movers.retain(|(mover, ..)| *mover != id);
        self.awake.retain(|(part, _)| *part != id);
        self.driven.retain(|(part, _)| *part != id);
        self.reach.remove(id);
        true
    }

    /// Puts a loose or anchored part elsewhere and wakes it; false when there is none or `state` is not sound. A mover
    /// goes on from its own pose at the next step.
    pub fn place(&mut self, id: ColliderId, state: &PartState) -> bool {
        let Some(handle) = self.bodies.get(&id).copied() else { return false };
        let Some(body) = self.world.bodies.get_mut(handle).filter(|_| state.is_sound()) else { return false };
        body.set_position(Pose::from_parts(state.position, state.rotation), true);
        if body.is_dynamic() {
            body.set_linvel(state.velocity, true);
            body.set_angvel(state.angular, true);
            if !self.awake.iter().any(|(part, _)| *part == id) {
                self.awake.push((id, handle));
            }
            self.note_reach(id, handle);
        }
        true
    }

    /// Notes where a loose part is, for the characters that may push it.
    pub(super) fn note_reach(&mut self, id: ColliderId, handle: RigidBodyHandle) {
        let Some(body) = self.world.bodies.get(handle) else { return };
        for collider in body.colliders() {
            if let Some(collider) = self.world.colliders.get(*collider) {
                let bounds = collider.shape().compute_aabb(body.position());
                self.reach.set(id, bounds.mins, bounds.maxs);
            }
        }
    }

    /// Where a part is, whatever its kind.
    #[must_use]
    pub fn state(&self, id: ColliderId) -> Option<PartState> {
        self.world.bodies.get(*self.bodies.get(&id)?).map(state_of)
    }

    /// Adds a character: a capsule of the given size that pushes parts and is pushed by none.
    ///
    /// # Errors
    ///
    /// When a number is nonfinite or a size not positive.
    pub fn insert_character(
        &mut self,
        position: Vec3,
        radius: f32,
        half_height: f32,
    ) -> Result<PushingBody, ColliderError> {
        let shape = shared_shape(&Shape::Capsule { half_height, radius })?;
        if !position.is_finite() {
            return Err(ColliderError::NonFinite);
        }
        let upright = Quat::from_rotation_arc(Vec3::Y, self.config.up);
        let body = RigidBodyBuilder::kinematic_position_based().pose(Pose::from_parts(position, upright));
        self.characters += 1;
        Ok(PushingBody(self.add(body, shape)))
    }

    /// Moves a character during the next step; from far away, or to a nonfinite place, it does not sweep.
    pub fn move_character(&mut self, character: PushingBody, position: Vec3) {
        let Some(body) = self.world.bodies.get_mut(character.0).filter(|_| position.is_finite()) else { return };
        if !self.reach.contains(position) {
            // Far from all parts it pushes nothing, and as long as that lasts it costs nothing.
            if body.is_enabled() {
                body.set_enabled(false);
            }
            return;
        }
        let moved = position.distance(body.translation());
        if !body.is_enabled() || moved > self.config.character_teleport {
            body.set_enabled(true);
            body.set_translation(position, true);
        } else if moved > 0.0 {
            body.set_next_kinematic_translation(position);
        }
    }

    /// Puts a character elsewhere at once, pushing nothing on its way; false when it is gone, or `position` is nonfinite.
    pub fn put_character(&mut self, character: PushingBody, position: Vec3) -> bool {
        let Some(body) = self.world.bodies.get_mut(character.0).filter(|_| position.is_finite()) else { return false };
        body.set_translation(position, true);
        true
    }

    /// Removes a character; false when it is gone already.
    pub fn remove_character(&mut self, character: PushingBody) -> bool {
        let removed = self.world.remove_body_with_colliders(character.0, true).is_some();
        self.characters -= usize::from(removed);
        removed
    }

    /// Simulates 1/60 s ending at `at`, which is where the movers go, and replaces `moved` by the parts that are awake or
    /// have just come to rest, these with zero velocities.
    pub fn step(&mut self, at: SimTime, moved: &mut LooseMotion) {
        self.move_movers(at);
        self.world.step();
        self.read(moved);
        for at in 0..self.awake.len() {
            let (id, handle) = self.awake[at];
            self.note_reach(id, handle);
        }
    }

    /// Moves scripted movers during the next step to where they are at `at`.
    pub(super) fn move_movers(&mut self, at: SimTime) {
        for (_, handle, mover) in &self.movers {
            if let Some(body) = self.world.bodies.get_mut(*handle) {
                let (position, rotation) = mover.pose(at);
                let next = Pose::from_parts(position, rotation);
                if *body.position() != next {
                    body.set_next_kinematic_position(next);
                }
            }
        }
    }

    /// Puts scripted movers where they are at `at`, without sweeping.
    pub(super) fn put_movers(&mut self, at: SimTime) {
        for (_, handle, mover) in &self.movers {
            if let Some(body) = self.world.bodies.get_mut(*handle) {
                let (position, rotation) = mover.pose(at);
                body.set_position(Pose::from_parts(position, rotation), true);
            }
        }
    }

    fn read(&mut self, moved: &mut LooseMotion) {
        moved.clear();
        let bodies = &self.world.bodies;
        // Those that have come to rest since the last step say so once.
        for (id, handle) in self.awake.drain(..) {
            if let Some(body) = bodies.get(handle).filter(|body| body.is_sleeping()) {
                moved.push(id, &PartState::resting(body.translation(), *body.rotation()));
            }
        }
        for handle in self.world.islands.active_bodies() {
            let Some(body) = bodies.get(handle).filter(|body| body.is_dynamic() && !body.is_sleeping()) else {
                continue;
            };
            let id = ColliderId(body.user_data as u64);
            let state = state_of(body);
            self.awake.push((id, handle));
            if state.is_sound() {
                moved.push(id, &state);
            }
        }
    }

    /// Loose parts awake after the last step.
    #[must_use]
    pub fn awake(&self) -> usize {
        self.awake.len()
    }

    /// Parts and movers of all kinds, characters apart.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }
}

pub(super) fn state_of(body: &RigidBody) -> PartState {
    PartState {
        position: body.translation(),
        rotation: *body.rotation(),
        velocity: body.linvel(),
        angular: body.angvel(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::Slide;
    use crate::time::SimSpan;

    fn floor() -> LooseParts {
        let mut parts = LooseParts::new(LoosePartsConfig::default());
        let half = Vec3::new(100.0, 1.0, 100.0);
        parts.insert_anchored(ColliderId(0), &Shape::Box { half }, Vec3::NEG_Y, Quat::IDENTITY).unwrap();
        parts
    }

    fn crate_at(parts: &mut LooseParts, id: u64, position: Vec3) {
        let shape = Shape::Box { half: Vec3::ONE };
        parts.insert_part(ColliderId(id), &shape, &PartState::resting(position, Quat::IDENTITY)).unwrap();
    }

    fn run(parts: &mut LooseParts, ticks: u64, mut each: impl FnMut(&mut LooseParts, u64, &LooseMotion)) {
        let mut moved = LooseMotion::default();
        for tick in 1..=ticks {
            parts.step(SimTime(tick * 1_024), &mut moved);
            each(parts, tick, &moved);
        }
    }

    // S-50
    #[test]
    fn parts_fall_come_to_rest_and_are_then_silent() {
        let mut parts = floor();
        crate_at(&mut parts, 1, Vec3::new(0.0, 5.0, 0.0));
        let shapes = [
            Shape::Ball { radius: 1.0 },
            Shape::Cylinder { half_height: 1.0, radius: 1.0 },
            Shape::Wedge { half: Vec3::ONE },
        ];
        for (index, shape) in shapes.iter().enumerate() {
            let state = PartState::resting(Vec3::new(10.0 * (index + 1) as f32, 4.0, 0.0), Quat::IDENTITY);
            parts.insert_part(ColliderId(2 + index as u64), shape, &state).unwrap();
        }
        let mut last_words = 0;
        run(&mut parts, 900, |_, tick, moved| {
            last_words += moved.velocities.iter().filter(|velocity| **velocity == Vec3::ZERO).count();
            assert!(tick < 890 || moved.is_empty(), "tick {tick}: {moved:?}");
        });
        assert_eq!(parts.awake(), 0);
        assert!(last_words >= 4);
        for id in 1..=4 {
            let y = parts.state(ColliderId(id)).unwrap().position.y;
            assert!((0.5..1.1).contains(&y), "part {id} at height {y}");
        }
    }

    // A character far from all parts is not simulated; whoever comes near pushes as if it always had been.
    #[test]
    fn a_character_from_far_away_pushes_when_it_arrives() {
        let mut parts = floor();
        crate_at(&mut parts, 1, Vec3::new(5.0, 1.0, 0.0));
        let start = Vec3::new(-90.0, 2.5, 0.0);
        let character = parts.insert_character(start, 1.0, 2.5).unwrap();
        let mut simulated = [0, 0];
        run(&mut parts, 60 * 20, |parts, tick, _| {
            let position = start + Vec3::X * (tick as f32 / 60.0 * 6.0);
            parts.move_character(character, position);
            let near = position.x > -28.0;
            simulated[usize::from(near)] += usize::from(parts.world.bodies[character.0].is_enabled());
        });
        assert!(simulated[0] <= 1, "far away it was simulated {} times", simulated[0]);
        assert!(simulated[1] > 300);
        assert!(parts.state(ColliderId(1)).unwrap().position.x > 25.0);
    }

    #[test]
    fn a_walking_character_pushes_a_crate() {
        let mut parts = floor();
        crate_at(&mut parts, 1, Vec3::new(5.0, 1.0, 0.0));
        let character = parts.insert_character(Vec3::new(0.0, 2.5, 0.0), 1.0, 2.5).unwrap();
        run(&mut parts, 120, |parts, tick, _| {
            parts.move_character(character, Vec3::new(tick as f32 / 60.0 * 6.0, 2.5, 0.0));
        });
        let pushed = parts.state(ColliderId(1)).unwrap().position;
        assert!(pushed.x > 12.0 && pushed.x < 16.0 && pushed.y > 0.9, "{pushed}");
        assert!(parts.remove_character(character) && !parts.remove_character(character));
    }

    #[test]
    fn a_teleported_character_throws_nothing() {
        let mut parts = floor();
        crate_at(&mut parts, 1, Vec3::new(20.0, 1.0, 0.0));
        let character = parts.insert_character(Vec3::new(0.0, 2.5, 0.0), 1.0, 2.5).unwrap();
        run(&mut parts, 10, |_, _, _| {});
        parts.move_character(character, Vec3::new(40.0, 2.5, 0.0));
        parts.move_character(character, Vec3::NAN);
        run(&mut parts, 60, |_, _, _| {});
        assert!(parts.state(ColliderId(1)).unwrap().position.distance(Vec3::new(20.0, 1.0, 0.0)) < 0.1);
    }

    #[test]
    fn what_rested_on_a_removed_part_falls() {
        let mut parts = floor();
        let half = Vec3::new(3.0, 1.0, 3.0);
        parts.insert_anchored(ColliderId(1), &Shape::Box { half }, Vec3::Y * 9.0, Quat::IDENTITY).unwrap();
        crate_at(&mut parts, 2, Vec3::Y * 11.0);
        run(&mut parts, 300, |_, _, _| {});
        assert_eq!(parts.awake(), 0);
        assert!(parts.remove(ColliderId(1)));
        run(&mut parts, 120, |_, _, _| {});
        assert!(parts.state(ColliderId(2)).unwrap().position.y < 1.1);
    }

    // S-12a
    #[test]
    fn movers_carry_what_lies_on_them() {
        let mut parts = floor();
        let slide = Slide { offset: Vec3::X * 20.0, period: SimSpan::from_seconds(8.0), phase: SimSpan(0) };
        let mover = Mover::resting(Vec3::new(0.0, 3.0, 0.0), Quat::IDENTITY).with_slide(slide);
        let half = Vec3::new(4.0, 0.5, 4.0);
        parts.insert_mover(ColliderId(1), &Shape::Box { half }, mover, SimTime(0)).unwrap();
        crate_at(&mut parts, 2, Vec3::new(0.0, 4.5, 0.0));
        run(&mut parts, 240, |_, _, _| {});
        let carried = parts.state(ColliderId(2)).unwrap().position;
        assert!(carried.x > 17.0 && carried.y > 4.0, "{carried}");
    }

    // B35, B108: the same calls, the same bits, whatever the parts are called: 50 boxes in mid-impact for 300 ticks. There is
    // no restoring: physics is handed over, never rolled back (S-50).
    #[test]
    fn the_same_calls_give_the_same_bits() {
        let digest = |first: u64, stride: u64| {
            let mut parts = floor();
            for index in 0..50_u64 {
                let position = Vec3::new((index % 3) as f32 * 0.7, 1.0 + index as f32 * 2.1, 0.0);
                crate_at(&mut parts, first + index * stride, position);
            }
            let character = parts.insert_character(Vec3::new(-9.0, 2.5, 0.0), 1.0, 2.5).unwrap();
            let mut digest = 0_u64;
            run(&mut parts, 300, |parts, tick, moved| {
                parts.move_character(character, Vec3::new(-9.0 + tick as f32 * 0.05, 2.5, 0.3));
                let numbers = moved.positions.iter().chain(&moved.velocities).flat_map(|vector| vector.to_array());
                for number in numbers {
                    digest = digest.rotate_left(5).wrapping_mul(0x517c_c1b7_2722_0a95) ^ u64::from(number.to_bits());
                }
            });
            digest
        };
        assert_eq!(digest(1, 1), digest(1, 1));
        assert_eq!(digest(1, 1), digest(7_000, 13));
    }

    #[test]
    fn ids_and_states_are_checked() {
        let mut parts = floor();
        crate_at(&mut parts, 1, Vec3::Y);
        let ball = Shape::Ball { radius: 1.0 };
        let state = PartState::resting(Vec3::ZERO, Quat::IDENTITY);
        assert_eq!(parts.insert_part(ColliderId(1), &ball, &state), Err(ColliderError::Duplicate));
        let nowhere = PartState { position: Vec3::NAN, ..state };
        assert_eq!(parts.insert_part(ColliderId(2), &ball, &nowhere), Err(ColliderError::NonFinite));
        let mesh = Shape::Heightfield { heights: [0.0; 4].into(), columns: 2, rows: 2, cell: 1.0 };
        assert_eq!(parts.insert_part(ColliderId(2), &mesh, &state), Err(ColliderError::Empty));
        assert!(!parts.place(ColliderId(1), &nowhere) && !parts.place(ColliderId(9), &state));
        assert!(parts.place(ColliderId(1), &PartState { velocity: Vec3::X, ..state }));
        assert!(parts.remove(ColliderId(1)) && !parts.remove(ColliderId(1)));
        assert_eq!(parts.len(), 1);
    }
}
