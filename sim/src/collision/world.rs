use glam::Vec3;

use super::ColliderId;
use super::index::CollisionIndex;
use super::mover::Mover;
use super::nearby::Nearby;
use super::placement::Bounds;
use super::sweep::{Form, NEAR, SKIN, Sweep};
use crate::motor::{GroundContact, MotorSettings};
use crate::time::SimTime;

/// Depth the motor tolerates, studs.
const TOLERATED: f32 = 0.02;
/// Longest piece of a path tested at once, studs.
const PATH_PIECE: f32 = 8.0;
/// Longest path that can be clear, studs.
const LONGEST_PATH: f32 = 1_024.0;

/// The world as a motor sees it: an index shared by all, and scratch of its own.
#[derive(Debug)]
pub struct CollisionWorld<'a> {
    /// Colliders and movers.
    pub index: &'a CollisionIndex,
    /// Scratch; any will do, the one last used nearby is quickest.
    pub nearby: &'a mut Nearby,
}

impl CollisionWorld<'_> {
    /// Whether a capsule can be moved straight from one position to another with the movers where they are at `at`
    /// (S-24a). What it touches or overlaps at the start only blocks it from going deeper. No path longer than 1,024
    /// studs is clear.
    pub fn path_is_clear(&mut self, from: Vec3, to: Vec3, settings: &MotorSettings, at: SimTime) -> bool {
        let (form, way) = (Form::new(settings), to - from);
        let length = way.length();
        if !length.is_finite() || length > LONGEST_PATH {
            return false;
        }
        let pieces = (length / PATH_PIECE).ceil().max(1.0);
        let delta = way / pieces;
        (0..pieces as u32).all(|piece| {
            let sweep = Sweep { from: from + delta * piece as f32, delta, gap: 0.0, through: None };
            self.prepare(&Bounds::around(sweep.from, form.half).swept(delta).grown(SKIN), at);
            self.sweep(&form, &sweep).is_none()
        })
    }

    /// Walkable ground within `distance` studs below the feet of a capsule at `position`.
    pub fn support_below(
        &mut self,
        position: Vec3,
        settings: &MotorSettings,
        distance: f32,
        at: SimTime,
    ) -> Option<GroundContact> {
        let form = Form::new(settings);
        let delta = settings.up * -(distance.max(0.0) + SKIN);
        self.prepare(&Bounds::around(position, form.half).swept(delta).grown(SKIN), at);
        let steepest = libm::cosf(settings.slope_limit) - super::SLOPE_TOLERANCE;
        let sweep = Sweep { from: position, delta, gap: NEAR, through: None };
        // The nearest, and of those at one distance the flattest.
        let mut best: Option<(f32, f32, GroundContact)> = None;
        self.each_hit(&form, &sweep, |world, hit| {
            let face = world.surface(&form, &sweep, &hit).face;
            let upward = face.dot(settings.up);
            let better = |(share, flat, _): (f32, f32, _)| hit.share < share || hit.share == share && upward > flat;
            if upward >= steepest && best.is_none_or(better) {
                best = Some((hit.share, upward, GroundContact { collider: hit.collider, normal: face }));
            }
        });
        best.map(|(.., contact)| contact)
    }

    /// Whether a capsule at `position`, shrunk by the depth the motor tolerates (0.02 studs), overlaps anything.
    pub fn overlaps(&mut self, position: Vec3, settings: &MotorSettings, at: SimTime) -> bool {
        let form = Form::scaled(settings, TOLERATED);
        self.prepare(&Bounds::around(position, form.half), at);
        self.deepest(&form, position, 0.0).is_some()
    }

    /// Whether a point is in water.
    pub fn in_water(&mut self, point: Vec3) -> bool {
        self.prepare(&Bounds::around(point, Vec3::splat(SKIN)), SimTime(0));
        self.in_water_nearby(point)
    }

    /// Whether a point of the region last prepared for is in water.
    pub(crate) fn in_water_nearby(&self, point: Vec3) -> bool {
        self.nearby.has_water() && self.nearby.in_water(point, self.index)
    }

    /// Makes ready for questions inside `region` with movers where they are at `time`.
    pub(crate) fn prepare(&mut self, region: &Bounds, time: SimTime) {
        self.nearby.prepare(self.index, region, time);
    }

    /// The motion of the mover of that id, if it is one and near.
    pub(crate) fn mover_nearby(&self, id: ColliderId) -> Option<&Mover> {
        self.nearby.mover(id)
    }
}
