use glam::Vec3;

use super::fall::SLIDES;
use super::plan::{DT, approach};
use super::tick::MotorTick;
use crate::collision::{Bounds, Hit, NEAR, SKIN, Sweep};
use crate::time::SimSpan;

/// Movement of a tick below which a character is at rest and its position stays as it is, studs.
const AT_REST: f32 = 2e-5;
/// Least way forward of a step, studs: enough that the foot comes to stand on the ledge.
const STEP_AHEAD: f32 = 0.02;
/// Slack of the step height, studs.
const STEP_SLACK: f32 = 0.01;
/// Least upward part of an obstacle's way out for a step over it.
const OVERHANG: f32 = -0.05;
/// How much of a jump's height auto-jump counts on.
const JUMP_SHARE: f32 = 0.95;

impl MotorTick<'_, '_> {
    /// One tick on the ground.
    pub(super) fn walk(&mut self) {
        let plan = self.plan;
        let normal = self.snapshot.ground.map_or(plan.up, |ground| ground.normal);
        let velocity = self.snapshot.velocity - normal * self.snapshot.velocity.dot(normal);
        let settings = &plan.settings;
        let velocity = match self.drive {
            Some(drive) => plan.along(plan.across(drive.velocity), normal),
            None if plan.heading == Vec3::ZERO => approach(velocity, Vec3::ZERO, settings.ground_friction * DT),
            None => {
                let wanted = plan.along(plan.heading * settings.walk_speed, normal);
                approach(velocity, wanted, settings.ground_acceleration * DT)
            }
        };
        self.snapshot.velocity = if velocity.length_squared() < 1e-6 { Vec3::ZERO } else { velocity };
        let moved = self.stride(self.snapshot.velocity * DT);
        self.settle(moved);
    }

    /// Moves along the ground by `left`: up slopes and ledges, along walls. Returns whether the position changed.
    pub(super) fn stride(&mut self, mut left: Vec3) -> bool {
        let plan = self.plan;
        let start = self.snapshot.position;
        let mut ground = self.snapshot.ground.map_or(plan.up, |ground| ground.normal);
        let (mut walls, mut count) = ([Vec3::ZERO; SLIDES], 0);
        for _ in 0..SLIDES {
            if left.length_squared() < 1e-12 {
                break;
            }
            let (from, delta) = (self.snapshot.position, left);
            let Some(hit) = self.advance(&mut left) else { break };
            let upward = hit.normal.dot(plan.up);
            if upward >= plan.steepest {
                ground = hit.normal;
                let sweep = Sweep { from, delta, gap: NEAR, through: None };
                let face = self.world.surface(&plan.form, &sweep, &hit).face;
                if face.dot(plan.up) > upward + 1e-3 {
                    // Over an edge at full speed across.
                    left = plan.over(left, ground);
                } else {
                    left = plan.along(left, ground);
                    self.snapshot.velocity = plan.along(self.snapshot.velocity, ground);
                }
                continue;
            }
            if self.step_up(left, &hit) {
                break;
            }
            self.result.blocked = true;
            self.consider_auto_jump(&hit);
            walls[count] = hit.normal;
            count += 1;
            let crease = ground.cross(hit.normal);
            let square = crease.length_squared();
            let slide =
                |movement: Vec3| if square > 1e-6 { crease * (movement.dot(crease) / square) } else { Vec3::ZERO };
            let slid = slide(self.snapshot.velocity);
            let free = walls[..count].iter().all(|wall| slid.dot(*wall) >= -1e-4 * slid.length());
            self.snapshot.velocity = if free { slid } else { Vec3::ZERO };
            left = if free { slide(left) } else { Vec3::ZERO };
        }
        if (self.snapshot.position - start).length_squared() < AT_REST * AT_REST {
            self.snapshot.position = start;
        }
        self.snapshot.position != start
    }

    /// Steps onto the ledge that stopped a movement with `left` still to go, if it is one.
    fn step_up(&mut self, left: Vec3, hit: &Hit) -> bool {
        let plan = self.plan;
        let settings = &plan.settings;
        let ahead = plan.across(left);
        let distance = ahead.length();
        if distance < 1e-6 || settings.step_height <= 0.0 || hit.normal.dot(plan.up) < OVERHANG {
            return false;
        }
        let start = self.snapshot.position;
        let highest = start.dot(plan.up) - settings.half_height + settings.step_height;
        if self.world.is_wall_above(&plan.form, hit, highest + STEP_SLACK) {
            return false;
        }
        let rise = self.reach(start, plan.up * (settings.step_height + SKIN));
        if rise < SKIN {
            return false;
        }
        let lifted = start + plan.up * rise;
        let over = self.reach_sliding(lifted, ahead * (distance.max(STEP_AHEAD) / distance));
        if (over - lifted).length_squared() < 0.25 * STEP_AHEAD * STEP_AHEAD {
            return false;
        }
        let Some(support) = self.support(over, rise + SKIN) else {
            return false;
        };
        let height = (support.point - start).dot(plan.up) + settings.half_height + SKIN;
        let position = over - plan.up * support.drop.max(0.0);
        if height > settings.step_height + STEP_SLACK || (position - start).dot(plan.up) < 1e-3 {
            return false;
        }
        self.snapshot.position = position;
        self.snapshot.ground = Some(support.contact);
        true
    }

    /// How far a capsule at `from` gets along `delta`, studs.
    pub(super) fn reach(&self, from: Vec3, delta: Vec3) -> f32 {
        self.sweep(from, delta).map_or_else(|| delta.length(), |hit| Self::travel(delta, &hit))
    }

    /// Where a capsule at `from` gets along `delta`, sliding along the first wall.
    fn reach_sliding(&self, from: Vec3, delta: Vec3) -> Vec3 {
        let Some(hit) = self.sweep(from, delta) else {
            return from + delta;
        };
        let share = Self::travel(delta, &hit) / delta.length();
        let at = from + delta * share;
        let left = delta * (1.0 - share);
        let crease = self.plan.up.cross(hit.normal);
        let square = crease.length_squared();
        if square <= 1e-6 {
            return at;
        }
        let slid = crease * (left.dot(crease) / square);
        let length = slid.length();
        if length <= 1e-6 { at } else { at + slid * (self.reach(at, slid) / length) }
    }

    /// Lets a jump wait for the next tick when what is in the way is low enough to be jumped onto.
    fn consider_auto_jump(&mut self, hit: &Hit) {
        let plan = self.plan;
        let settings = &plan.settings;
        let into = -plan.heading.dot(hit.normal);
        if !plan.auto_jump || into <= 0.5 * plan.heading.length() || into <= 0.0 || settings.gravity <= 0.0 {
            return;
        }
        let height = JUMP_SHARE * settings.jump_speed * settings.jump_speed / (2.0 * settings.gravity);
        let ahead = plan.heading.normalize_or_zero() * settings.radius;
        let start = self.snapshot.position;
        let region = Bounds::around(start, plan.form.half).swept(plan.up * height).swept(ahead).grown(2.0 * NEAR);
        self.world.prepare(&region, self.time);
        let rise = self.reach(start, plan.up * height);
        if self.reach(start + plan.up * rise, ahead) > 0.5 * settings.radius {
            self.snapshot.jump_buffer = SimSpan::MOTOR_TICK;
        }
        self.look_around(start);
    }
}
