use glam::Vec3;

use super::plan::{DT, Plan, clipped};
use super::settings::Drive;
use super::{CharacterState, MotorResult, MotorSnapshot};
use crate::angle::wrap_angle;
use crate::collision::{Bounds, ColliderId, CollisionWorld, Hit, NEAR, SKIN, Sweep};
use crate::time::{SimSpan, SimTime};

/// Gap below which the capsule is pushed out, to [`NEAR`].
const PUSHED_BELOW: f32 = 0.5 * NEAR;
/// Most pushes of one tick.
const PUSHES: u32 = 8;
/// Farthest one push goes, studs; deeper overlaps take several.
const PUSH: f32 = 1.0;
/// Room around a tick's movement for stepping and probing, studs.
const ROOM: f32 = 0.2;

/// One motor tick of one character.
pub(super) struct MotorTick<'a, 'w> {
    pub(super) snapshot: &'a mut MotorSnapshot,
    pub(super) plan: &'a Plan,
    pub(super) world: &'a mut CollisionWorld<'w>,
    pub(super) result: &'a mut MotorResult,
    /// When the tick ends; movers are where they are then.
    pub(super) time: SimTime,
    /// The drive, while it lasts.
    pub(super) drive: Option<Drive>,
}

impl MotorTick<'_, '_> {
    pub(super) fn run(&mut self) {
        self.look_around(self.snapshot.position);
        self.ride();
        self.push_out();
        self.turn();
        self.change_medium();
        match self.snapshot.state {
            CharacterState::Flying => self.fly(),
            CharacterState::Swimming => self.swim(),
            _ => {
                self.jump();
                if self.snapshot.state == CharacterState::Grounded { self.walk() } else { self.fall() }
            }
        }
        if self.snapshot.state == CharacterState::Grounded {
            self.snapshot.air_time = SimSpan(0);
        } else {
            self.snapshot.air_time = self.snapshot.air_time + SimSpan::MOTOR_TICK;
        }
    }

    /// Gathers what a tick that begins at `at` can touch.
    pub(super) fn look_around(&mut self, at: Vec3) {
        let snapshot = &self.snapshot;
        let moved = (snapshot.velocity.length() + snapshot.ground_velocity.length()) * DT;
        let room = Vec3::splat(self.plan.reach + moved + ROOM) + self.plan.up.abs() * self.plan.settings.step_height;
        self.world.prepare(&Bounds::around(at, self.plan.form.half + room), self.time);
    }

    /// The first hit of a movement that stops at [`NEAR`].
    pub(super) fn sweep(&self, from: Vec3, delta: Vec3) -> Option<Hit> {
        self.world.sweep(&self.plan.form, &Sweep { from, delta, gap: NEAR, through: None })
    }

    /// How far a movement goes that ended in `hit`: back from the touch, but not behind its start, until the gap is
    /// [`SKIN`] again.
    pub(super) fn travel(delta: Vec3, hit: &Hit) -> f32 {
        let length = delta.length();
        let approach = (-hit.normal.dot(delta) / length).max(1e-3);
        (hit.share * length - (SKIN - NEAR) / approach).max(0.0)
    }

    /// Moves by `delta` as far as surfaces allow, sliding along them, without touching the velocity.
    fn shift(&mut self, delta: Vec3, through: Option<ColliderId>) {
        let (mut left, mut normals, mut count) = (delta, [Vec3::ZERO; 3], 0);
        while count < normals.len() && left != Vec3::ZERO {
            let sweep = Sweep { from: self.snapshot.position, delta: left, gap: NEAR, through };
            let Some(hit) = self.world.sweep(&self.plan.form, &sweep) else {
                self.snapshot.position += left;
                return;
            };
            self.snapshot.position += left * hit.share;
            normals[count] = hit.normal;
            count += 1;
            left = clipped(left * (1.0 - hit.share), &normals[..count]);
        }
    }

    /// Goes along with the mover stood on.
    fn ride(&mut self) {
        self.snapshot.ground_velocity = Vec3::ZERO;
        let Some(ground) = self.snapshot.ground else { return };
        let Some(mover) = self.world.mover_nearby(ground.collider) else { return };
        let before = self.time - SimSpan::MOTOR_TICK;
        let target = mover.carry(self.snapshot.position, before, self.time);
        let yaw = mover.yaw_between(before, self.time, self.plan.up);
        let delta = target - self.snapshot.position;
        self.snapshot.ground_velocity = delta / DT;
        self.snapshot.yaw = wrap_angle(self.snapshot.yaw + yaw);
        if delta != Vec3::ZERO {
            self.look_around(self.snapshot.position);
            self.shift(delta, Some(ground.collider));
        }
    }

    /// Leaves whatever the capsule is in.
    fn push_out(&mut self) {
        for _ in 0..PUSHES {
            let Some((gap, normal)) = self.world.deepest(&self.plan.form, self.snapshot.position, PUSHED_BELOW) else {
                return;
            };
            let before = self.snapshot.position;
            self.shift(normal * (NEAR - gap).min(PUSH), None);
            if self.snapshot.position == before {
                return;
            }
            self.look_around(self.snapshot.position);
        }
    }

    /// Turns towards the wanted movement.
    fn turn(&mut self) {
        let Some(wanted) = self.plan.wish_yaw else { return };
        let left = wrap_angle(wanted - self.snapshot.yaw);
        let most = self.plan.settings.turn_speed * DT;
        self.snapshot.yaw =
            if left.abs() <= most { wanted } else { wrap_angle(self.snapshot.yaw + most.copysign(left)) };
    }

    /// Starts a jump if one is pressed or waits.
    fn jump(&mut self) {
        let snapshot = &mut *self.snapshot;
        let pressed = self.plan.jump && !snapshot.jump_held;
        snapshot.jump_held = self.plan.jump;
        let waits = snapshot.jump_buffer > SimSpan(0);
        let grounded = snapshot.state == CharacterState::Grounded;
        let coyote = !snapshot.left_by_jump && self.plan.coyote > SimSpan(0) && snapshot.air_time <= self.plan.coyote;
        if (grounded && (pressed || waits)) || (pressed && coyote) {
            self.result.jumped = true;
            self.leap();
        } else if pressed && snapshot.air_jumps_used < self.plan.settings.air_jumps {
            snapshot.air_jumps_used += 1;
            self.result.air_jumped = true;
            self.leap();
        } else if pressed {
            snapshot.jump_buffer = self.plan.buffer;
        } else {
            snapshot.jump_buffer = SimSpan(snapshot.jump_buffer.0.saturating_sub(SimSpan::MOTOR_TICK.0));
        }
    }

    /// Begins to rise by a jump.
    pub(super) fn leap(&mut self) {
        let (plan, snapshot) = (self.plan, &mut *self.snapshot);
        snapshot.velocity =
            plan.across(snapshot.velocity) + plan.up * plan.settings.jump_speed + snapshot.ground_velocity;
        snapshot.ground_velocity = Vec3::ZERO;
        snapshot.ground = None;
        snapshot.state = CharacterState::Jumping;
        snapshot.left_by_jump = true;
        snapshot.jump_buffer = SimSpan(0);
        snapshot.air_time = SimSpan(0);
    }

    /// After the last tick of a drive: no faster than a walk.
    pub(super) fn end_drive(&mut self) {
        let (plan, snapshot) = (self.plan, &mut *self.snapshot);
        let across = plan.across(snapshot.velocity);
        snapshot.velocity += across.clamp_length_max(plan.settings.walk_speed) - across;
    }
}
