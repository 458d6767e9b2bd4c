use glam::Vec3;

use super::plan::{DT, approach, clipped};
use super::tick::MotorTick;
use super::{CharacterState, GroundContact};
use crate::collision::{ColliderId, Hit, NEAR, Sweep};
use crate::time::SimSpan;

/// Most surfaces one tick's movement slides along.
pub(super) const SLIDES: usize = 5;
/// Least cosine between the way out of an edge and up for a fall to end on it.
const EDGE_LANDED: f32 = 0.5;
/// Share of a fall that may be left when steep surfaces hold a character between them.
pub(super) const HELD: f32 = 0.3;

/// How a movement through the air ended.
struct Glide {
    /// Walkable ground reached, and what was left of the movement there.
    landing: Option<(Landing, Vec3)>,
    normals: [Vec3; SLIDES],
    count: usize,
    /// The first thing hit.
    first: Option<ColliderId>,
}

/// Ground reached from the air.
#[derive(Clone, Copy)]
pub(super) struct Landing {
    pub(super) collider: ColliderId,
    pub(super) normal: Vec3,
    /// Velocity of the ground there.
    pub(super) velocity: Vec3,
}

impl MotorTick<'_, '_> {
    /// One tick in the air.
    pub(super) fn fall(&mut self) {
        let (plan, snapshot) = (self.plan, &mut *self.snapshot);
        let settings = &plan.settings;
        let rise = snapshot.velocity.dot(plan.up);
        let across = plan.across(snapshot.velocity);
        let across = match self.drive {
            Some(drive) => plan.across(drive.velocity),
            None if plan.heading == Vec3::ZERO => across,
            None => approach(across, plan.heading * settings.walk_speed, settings.air_acceleration * DT),
        };
        let rise = (rise - settings.gravity * DT).max(-settings.terminal_speed);
        snapshot.velocity = across + plan.up * rise;
        if rise <= 0.0 {
            snapshot.state = CharacterState::Falling;
        }
        let before = snapshot.position;
        let glide = self.glide_to_ground();
        if let Some((landing, left)) = glide.landing {
            self.land(&landing);
            let left = plan.along(plan.across(left), landing.normal);
            self.stride(left);
            self.settle(true);
            return;
        }
        let normals = &glide.normals[..glide.count];
        let upward = normals.iter().filter(|normal| normal.dot(plan.up) > 0.0).count();
        if upward >= 2
            && rise <= 0.0
            && clipped(-plan.up, normals).dot(plan.up) > -HELD
            && let Some(collider) = glide.first
        {
            // Between surfaces each too steep to stand on.
            if (self.snapshot.position - before).length_squared() < NEAR * NEAR {
                self.snapshot.position = before;
            }
            self.land(&Landing { collider, normal: plan.up, velocity: Vec3::ZERO });
        }
    }

    /// Moves by the velocity, sliding along everything.
    pub(super) fn glide(&mut self) {
        let mut left = self.snapshot.velocity * DT;
        let (mut normals, mut count) = ([Vec3::ZERO; SLIDES], 0);
        while count < SLIDES && left != Vec3::ZERO {
            let Some(hit) = self.advance(&mut left) else { return };
            normals[count] = hit.normal;
            count += 1;
            self.result.blocked = true;
            left = clipped(left, &normals[..count]);
            self.snapshot.velocity = clipped(self.snapshot.velocity, &normals[..count]);
        }
    }

    fn glide_to_ground(&mut self) -> Glide {
        let mut left = self.snapshot.velocity * DT;
        let mut glide = Glide { landing: None, normals: [Vec3::ZERO; SLIDES], count: 0, first: None };
        while glide.count < SLIDES && left != Vec3::ZERO {
            let (from, delta) = (self.snapshot.position, left);
            let Some(hit) = self.advance(&mut left) else { break };
            let sweep = Sweep { from, delta, gap: NEAR, through: None };
            if let Some(landing) = self.landing(&sweep, &hit) {
                glide.landing = Some((landing, left));
                break;
            }
            glide.first = glide.first.or(Some(hit.collider));
            glide.normals[glide.count] = hit.normal;
            glide.count += 1;
            self.result.blocked |= hit.normal.dot(self.plan.up).abs() < 0.5;
            let normals = &glide.normals[..glide.count];
            left = clipped(left, normals);
            self.snapshot.velocity = clipped(self.snapshot.velocity, normals);
        }
        glide
    }

    /// Moves along `left` to the first hit, leaving in it what remains to be moved; all of it when nothing is hit.
    pub(super) fn advance(&mut self, left: &mut Vec3) -> Option<Hit> {
        let Some(hit) = self.sweep(self.snapshot.position, *left) else {
            self.snapshot.position += *left;
            return None;
        };
        let share = Self::travel(*left, &hit) / left.length();
        self.snapshot.position += *left * share;
        *left *= 1.0 - share;
        Some(hit)
    }

    /// Whether a fall ends on what it hit.
    fn landing(&self, sweep: &Sweep, hit: &Hit) -> Option<Landing> {
        let plan = self.plan;
        let upward = hit.normal.dot(plan.up);
        if upward < EDGE_LANDED.min(plan.steepest) {
            return None;
        }
        let surface = self.world.surface(&plan.form, sweep, hit);
        let walkable = surface.face.dot(plan.up) >= plan.steepest && upward >= EDGE_LANDED;
        if !walkable {
            return None;
        }
        let mover = self.world.mover_nearby(hit.collider);
        let velocity = mover.map_or(Vec3::ZERO, |mover| mover.velocity_at(surface.point, self.time));
        let sinking = (self.snapshot.velocity - velocity).dot(plan.up) <= 0.0;
        sinking.then_some(Landing { collider: hit.collider, normal: surface.face, velocity })
    }

    /// Comes to stand; what is left of the velocity goes along the ground.
    pub(super) fn land(&mut self, landing: &Landing) {
        let (plan, snapshot) = (self.plan, &mut *self.snapshot);
        let across = plan.across(snapshot.velocity - landing.velocity);
        snapshot.velocity = plan.along(across, landing.normal);
        snapshot.ground_velocity = landing.velocity;
        snapshot.ground = Some(GroundContact { collider: landing.collider, normal: landing.normal });
        snapshot.state = CharacterState::Grounded;
        snapshot.air_jumps_used = 0;
        snapshot.left_by_jump = false;
        snapshot.air_time = SimSpan(0);
        self.result.landed = true;
    }

    /// Leaves the ground without a jump, with its momentum.
    pub(super) fn drop_off(&mut self) {
        let snapshot = &mut *self.snapshot;
        snapshot.velocity += snapshot.ground_velocity;
        snapshot.ground_velocity = Vec3::ZERO;
        snapshot.ground = None;
        snapshot.state = CharacterState::Falling;
        snapshot.left_by_jump = false;
        snapshot.air_time = SimSpan(0);
    }
}
