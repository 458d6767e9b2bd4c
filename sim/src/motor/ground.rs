use glam::Vec3;

use super::GroundContact;
use super::fall::{HELD, SLIDES};
use super::plan::clipped;
use super::tick::MotorTick;
use crate::collision::{Bounds, Hit, NEAR, SKIN, Sweep};

/// Least cosine between an edge's way out and up at which it carries.
const EDGE_CARRIES: f32 = 0.02;
/// Below this cosine a character that moves away from an edge needs ground beyond it.
const EDGE_LEFT: f32 = 0.5;
/// Difference of height within which things count as touched at once, studs.
const AT_ONCE: f32 = 0.05;
/// Error of the gap to the ground that is left alone while moving, studs.
const GAP_MOVING: f32 = 1e-3;
/// Error of the gap to the ground that is left alone at rest, studs.
const GAP_RESTING: f32 = 0.012;

/// Ground under a capsule.
#[derive(Clone, Copy)]
pub(super) struct Support {
    pub(super) contact: GroundContact,
    /// Way out of the surface at the point touched.
    pub(super) normal: Vec3,
    /// The point touched.
    pub(super) point: Vec3,
    /// How far to go down until the gap is [`SKIN`]; negative when it is less, studs.
    pub(super) drop: f32,
}

impl MotorTick<'_, '_> {
    /// Finds the ground under a character that stands, and keeps it there; without any, it falls from now on.
    pub(super) fn settle(&mut self, moved: bool) {
        let plan = self.plan;
        let reach = plan.settings.step_height + SKIN;
        let support = self.support(self.snapshot.position, reach).filter(|support| self.carries(support));
        let Some(support) = support else {
            if !self.is_held() {
                self.drop_off();
            }
            return;
        };
        self.snapshot.ground = Some(support.contact);
        let slack = if moved { GAP_MOVING } else { GAP_RESTING };
        if support.drop > slack {
            self.snapshot.position -= plan.up * support.drop;
        } else if support.drop < -slack {
            let lift = plan.up * -support.drop;
            let share = self.sweep(self.snapshot.position, lift).map_or(1.0, |hit| hit.share);
            self.snapshot.position += lift * share;
        }
    }

    /// The most level walkable thing that a capsule at `from` reaches first within `reach` below.
    pub(super) fn support(&self, from: Vec3, reach: f32) -> Option<Support> {
        let plan = self.plan;
        let sweep = Sweep { from, delta: -plan.up * reach, gap: NEAR, through: None };
        let first = self.world.sweep_expecting(&plan.form, &sweep)?;
        if let Some(support) = self.walkable(&sweep, &first) {
            return Some(support);
        }
        // What it only brushes past does not bear it.
        let mut latest = 1.0_f32;
        self.world.each_hit(&plan.form, &sweep, |_, hit| {
            if hit.normal.dot(plan.up) >= EDGE_CARRIES {
                latest = latest.min(hit.share + AT_ONCE / reach);
            }
        });
        let mut best: Option<Support> = None;
        self.world.each_hit(&plan.form, &sweep, |_, hit| {
            if hit.share > latest {
                return;
            }
            if let Some(found) = self.walkable(&sweep, &hit) {
                let level = |support: &Support| support.contact.normal.dot(plan.up);
                if best.as_ref().is_none_or(|best| level(&found) > level(best)) {
                    best = Some(found);
                }
            }
        });
        best
    }

    fn walkable(&self, sweep: &Sweep, hit: &Hit) -> Option<Support> {
        let plan = self.plan;
        let upward = hit.normal.dot(plan.up);
        if upward < EDGE_CARRIES {
            return None;
        }
        let surface = self.world.surface(&plan.form, sweep, hit);
        if surface.face.dot(plan.up) < plan.steepest {
            return None;
        }
        let drop = hit.share * sweep.delta.length() - (SKIN - NEAR) / upward.max(0.5);
        let contact = GroundContact { collider: hit.collider, normal: surface.face };
        Some(Support { contact, normal: hit.normal, point: surface.point, drop })
    }

    /// Whether ground still carries: off an edge only while there is ground within a step below.
    fn carries(&mut self, support: &Support) -> bool {
        let plan = self.plan;
        let upward = support.normal.dot(plan.up);
        let outward = plan.across(support.normal);
        if upward >= EDGE_LEFT || self.snapshot.velocity.dot(outward) <= 1e-3 {
            return true;
        }
        let radius = plan.settings.radius;
        let outward = outward.normalize_or_zero();
        let clear = radius * (1.0 - (1.0 - upward * upward).max(0.0).sqrt()) + 2.0 * SKIN;
        let sunk = radius * (1.0 - upward);
        let from = self.snapshot.position + outward * clear - plan.up * support.drop.max(0.0);
        let reach = plan.settings.step_height - sunk + SKIN;
        if reach <= 0.0 {
            return false;
        }
        let region = Bounds::around(from, plan.form.half).swept(-plan.up * reach).grown(SKIN);
        self.world.prepare(&region, self.time);
        let beyond = self.support(from, reach).is_some();
        self.look_around(self.snapshot.position);
        beyond
    }

    /// Whether surfaces each too steep to stand on hold the capsule between them.
    fn is_held(&self) -> bool {
        let plan = self.plan;
        let sweep = Sweep { from: self.snapshot.position, delta: -plan.up * AT_ONCE, gap: NEAR, through: None };
        let (mut normals, mut count) = ([Vec3::ZERO; SLIDES], 0);
        self.world.each_hit(&plan.form, &sweep, |_, hit| {
            if count < SLIDES && hit.normal.dot(plan.up) > 0.0 {
                normals[count] = hit.normal;
                count += 1;
            }
        });
        count >= 2 && (2..=count).any(|count| clipped(-plan.up, &normals[..count]).dot(plan.up) > -HELD)
    }
}
