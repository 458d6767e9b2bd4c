use glam::Vec3;

use super::CharacterState;
use super::plan::{DT, approach};
use super::tick::MotorTick;
use crate::time::SimSpan;

/// Depth of the centre under the surface at which a press of jump leaps out, studs.
const SURFACE: f32 = 0.25;

impl MotorTick<'_, '_> {
    /// Takes off when flight is granted, falls when it is no longer; begins and ends swimming where water does.
    pub(super) fn change_medium(&mut self) {
        let state = self.snapshot.state;
        if self.plan.settings.flight_speed > 0.0 {
            if state != CharacterState::Flying {
                self.float_off(CharacterState::Flying);
            }
            return;
        }
        let wet = self.world.in_water_nearby(self.snapshot.position);
        match (state, wet) {
            (CharacterState::Swimming, true) => {}
            // Rising out of water it is still on its way.
            (CharacterState::Jumping, true)
                if self.snapshot.velocity.dot(self.plan.up) > self.plan.settings.swim_speed => {}
            (_, true) => self.float_off(CharacterState::Swimming),
            (CharacterState::Swimming | CharacterState::Flying, false) => {
                self.snapshot.state = CharacterState::Falling;
                // Nothing was left that could still be jumped from.
                self.snapshot.left_by_jump = true;
            }
            _ => {}
        }
    }

    /// Leaves the ground with its momentum.
    fn float_off(&mut self, state: CharacterState) {
        let snapshot = &mut *self.snapshot;
        snapshot.velocity += snapshot.ground_velocity;
        snapshot.ground_velocity = Vec3::ZERO;
        snapshot.ground = None;
        snapshot.state = state;
        snapshot.air_jumps_used = 0;
        snapshot.jump_buffer = SimSpan(0);
    }

    /// One tick of flight: in every direction, up while jump is held.
    pub(super) fn fly(&mut self) {
        self.snapshot.jump_held = self.plan.jump;
        self.float(self.plan.settings.flight_speed);
        self.drift();
    }

    /// One tick in water: as in flight, but not out of it, unless by a press of jump at the surface.
    pub(super) fn swim(&mut self) {
        let plan = self.plan;
        let pressed = plan.jump && !self.snapshot.jump_held;
        self.snapshot.jump_held = plan.jump;
        let position = self.snapshot.position;
        if pressed && !self.world.in_water_nearby(position + plan.up * SURFACE) {
            self.result.jumped = true;
            self.leap();
            self.glide();
            return;
        }
        self.float(plan.settings.swim_speed);
        let rise = self.snapshot.velocity.dot(plan.up);
        if rise > 0.0 && !self.world.in_water_nearby(position + plan.up * (rise * DT)) {
            self.snapshot.velocity -= plan.up * rise;
        }
        self.drift();
    }

    /// Nears the wanted velocity, of at most `speed`, up and down alike.
    fn float(&mut self, speed: f32) {
        let (plan, snapshot) = (self.plan, &mut *self.snapshot);
        let lift = if plan.jump { plan.up } else { Vec3::ZERO };
        let wish = (plan.wish + lift).clamp_length_max(1.0);
        snapshot.velocity = match self.drive {
            Some(drive) => plan.across(drive.velocity),
            None => approach(snapshot.velocity, wish * speed, plan.settings.air_acceleration * DT),
        };
    }

    /// Moves by the velocity; not a bit of the position changes at rest.
    fn drift(&mut self) {
        if self.snapshot.velocity.length_squared() < 1e-6 {
            self.snapshot.velocity = Vec3::ZERO;
        } else {
            self.glide();
        }
    }
}
