use glam::Vec3;

use super::index::CollisionIndex;
use super::nearby::Nearby;
use crate::motor::{GroundContact, MotorSettings};
use crate::time::SimTime;

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
    /// (S-24a). What it touches or overlaps at the start only blocks it from going deeper.
    pub fn path_is_clear(&mut self, from: Vec3, to: Vec3, settings: &MotorSettings, at: SimTime) -> bool {
        let _ = (from, to, settings, at);
        true
    }

    /// Walkable ground within `distance` studs below the feet of a capsule at `position`.
    pub fn support_below(
        &mut self,
        position: Vec3,
        settings: &MotorSettings,
        distance: f32,
        at: SimTime,
    ) -> Option<GroundContact> {
        let _ = (position, settings, distance, at);
        None
    }

    /// Whether a capsule at `position`, shrunk by the depth the motor tolerates (0.02 studs), overlaps anything.
    pub fn overlaps(&mut self, position: Vec3, settings: &MotorSettings, at: SimTime) -> bool {
        let _ = (position, settings, at);
        false
    }
}
