use rapier3d::math::Pose;
use rapier3d::prelude::RigidBodyType;

use super::LooseParts;
use super::loose::state_of;
use super::solid::is_solid;
use crate::collision::{ColliderError, ColliderId, Shape};
use crate::part::PartState;
use crate::time::SimTime;

/// Most steps a part can be simulated at once, half a second.
const MOST_BEHIND: u32 = 30;

impl LooseParts {
    /// Adds a loose part that someone else simulates: it goes where [`Self::drive`] says, pushes what is simulated here and
    /// is pushed by nothing (S-50).
    ///
    /// # Errors
    ///
    /// As [`Self::insert_part`].
    pub fn insert_driven(&mut self, id: ColliderId, shape: &Shape, state: &PartState) -> Result<(), ColliderError> {
        if !is_solid(shape) {
            return Err(ColliderError::Empty);
        }
        let handle = self.insert(id, RigidBodyType::KinematicPositionBased, shape, state)?;
        self.driven.push((id, handle));
        Ok(())
    }

    /// Simulates a driven part here from now on, from `state`: it was acquired. False when there is no driven part of that
    /// id, or `state` is not sound.
    pub fn acquire(&mut self, id: ColliderId, state: &PartState) -> bool {
        let Some(at) = self.driven.iter().position(|(part, _)| *part == id).filter(|_| state.is_sound()) else {
            return false;
        };
        let (_, handle) = self.driven.remove(at);
        if let Some(body) = self.world.bodies.get_mut(handle) {
            body.set_body_type(RigidBodyType::Dynamic, true);
        }
        self.place(id, state)
    }

    /// Acquires driven parts as they were `ticks` steps before `now` and simulates those steps at once, joints and contacts
    /// and all, at most 30; movers go the way they went meanwhile, parts simulated here already stand still. Before each
    /// step `move_characters` is called with the time it ends at, so that whoever pushed the parts does so now; and first,
    /// with `true`, for the instant it all begins, for [`Self::put_character`]. Parts that are not driven, or not sound, are
    /// passed over (S-52).
    pub fn acquire_behind(
        &mut self,
        parts: &[(ColliderId, PartState)],
        (now, ticks): (SimTime, u32),
        mut move_characters: impl FnMut(&mut Self, SimTime, bool),
    ) {
        let mut others: Vec<(ColliderId, PartState)> = Vec::new();
        for (id, handle) in &self.bodies {
            if let Some(body) = self.world.bodies.get(*handle).filter(|body| body.is_dynamic()) {
                others.push((*id, state_of(body)));
            }
        }
        for (id, state) in parts {
            self.acquire(*id, state);
        }
        let ticks = u64::from(ticks.min(MOST_BEHIND)).min(now.0 / SimTime::UNITS_PER_TICK);
        let ago = |ticks: u64| SimTime(now.0 - ticks * SimTime::UNITS_PER_TICK);
        if ticks == 0 {
            return;
        }
        self.put_movers(ago(ticks));
        move_characters(self, ago(ticks), true);
        for left in (0..ticks).rev() {
            self.move_movers(ago(left));
            move_characters(self, ago(left), false);
            self.world.step();
            for (id, state) in &others {
                if self.state(*id).is_some_and(|held| held != *state) {
                    self.place(*id, state);
                }
            }
        }
    }

    /// Lets someone else simulate a loose part from now on: it is driven. False when there is no loose part of that id.
    pub fn release(&mut self, id: ColliderId) -> bool {
        let Some(handle) = self.bodies.get(&id).copied() else { return false };
        let Some(body) = self.world.bodies.get_mut(handle).filter(|body| body.is_dynamic()) else { return false };
        body.set_body_type(RigidBodyType::KinematicPositionBased, true);
        self.awake.retain(|(part, _)| *part != id);
        self.driven.push((id, handle));
        true
    }

    /// Moves a driven part during the next step, sweeping; from far away it is put there. False when there is none, or
    /// `state` is not sound.
    pub fn drive(&mut self, id: ColliderId, state: &PartState) -> bool {
        let found = self.driven.iter().find(|(part, _)| *part == id).filter(|_| state.is_sound());
        let Some(body) = found.and_then(|(_, handle)| self.world.bodies.get_mut(*handle)) else { return false };
        let next = Pose::from_parts(state.position, state.rotation);
        if body.translation().distance(state.position) > self.config.character_teleport {
            body.set_position(next, true);
        } else if *body.position() != next {
            body.set_next_kinematic_position(next);
        }
        true
    }

    /// Whether a part is driven rather than simulated.
    #[must_use]
    pub fn is_driven(&self, id: ColliderId) -> bool {
        self.driven.iter().any(|(part, _)| *part == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::{LooseMotion, LoosePartsConfig};
    use glam::{Quat, Vec3};

    // S-50
    #[test]
    fn driven_parts_push_and_are_not_pushed() {
        let mut parts = LooseParts::new(LoosePartsConfig::default());
        let half = Vec3::new(50.0, 1.0, 50.0);
        parts.insert_anchored(ColliderId(0), &Shape::Box { half }, Vec3::NEG_Y, Quat::IDENTITY).unwrap();
        let cube = Shape::Box { half: Vec3::ONE };
        let at = |x: f32| PartState::resting(Vec3::new(x, 1.0, 0.0), Quat::IDENTITY);
        parts.insert_driven(ColliderId(1), &cube, &at(-5.0)).unwrap();
        parts.insert_part(ColliderId(2), &cube, &at(0.0)).unwrap();
        let mut moved = LooseMotion::default();
        for tick in 1..=60_u32 {
            assert!(parts.drive(ColliderId(1), &at(-5.0 + tick as f32 * 0.1)));
            parts.step(SimTime(u64::from(tick) * 1_024), &mut moved);
            assert!(!moved.ids.contains(&ColliderId(1)));
        }
        let (driver, pushed) = (parts.state(ColliderId(1)).unwrap(), parts.state(ColliderId(2)).unwrap());
        assert!((driver.position.x - 1.0).abs() < 1e-3 && pushed.position.x > 2.9, "{driver:?} {pushed:?}");
        assert!(parts.acquire(ColliderId(1), &driver) && !parts.is_driven(ColliderId(1)));
        assert!(parts.release(ColliderId(2)) && parts.is_driven(ColliderId(2)) && !parts.release(ColliderId(2)));
        assert!(!parts.drive(ColliderId(1), &driver) && !parts.acquire(ColliderId(1), &driver));
        parts.step(SimTime(70_000), &mut moved);
        assert_eq!(moved.ids, [ColliderId(1)]);
    }
}
