use glam::{Quat, Vec3};
use parry3d::math::Pose;
use parry3d::query::{Ray, intersection_test};
use parry3d::shape::{Ball, Cuboid, Shape};

use super::history::{Frame, RewindHistory, RewindPose};
use crate::collision::ColliderId;
use crate::tracks::slerp;

/// What a ray met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewindHit {
    /// Which body.
    pub id: ColliderId,
    /// How far along the ray, studs.
    pub distance: f32,
    /// Where, as the shooter saw it.
    pub point: Vec3,
    /// The surface's normal there, unit length; zero for a ray that begins inside.
    pub normal: Vec3,
}

/// The world at one past instant.
#[derive(Clone, Copy)]
pub struct RewindView<'a> {
    history: &'a RewindHistory,
    earlier: &'a Frame,
    later: Option<&'a Frame>,
    share: f32,
}

impl std::fmt::Debug for RewindView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RewindView").field("bodies", &self.earlier.poses.len()).field("share", &self.share).finish()
    }
}

impl<'a> RewindView<'a> {
    pub(super) fn new(history: &'a RewindHistory, earlier: &'a Frame, later: Option<&'a Frame>, share: f32) -> Self {
        Self { history, earlier, later, share }
    }

    /// Where a body was; `None` when it was not there. One that was gone a tick later is where it was last, one that was put
    /// elsewhere too.
    #[must_use]
    pub fn pose(&self, id: ColliderId) -> Option<(Vec3, Quat)> {
        let at = self.earlier.poses.binary_search_by_key(&id, |pose| pose.id).ok()?;
        let pose = &self.earlier.poses[at];
        let (position, rotation) = self.between(pose, self.later_of(at, id));
        Some((position, rotation))
    }

    /// The first body a ray from `origin` meets within `length` studs that `wanted` lets it hit (the shooter's own it should
    /// not). `direction` is of unit length. What stands in the way is asked of the collision world at the view's time.
    pub fn ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        length: f32,
        mut wanted: impl FnMut(ColliderId) -> bool,
    ) -> Option<RewindHit> {
        if !(origin.is_finite() && direction.is_finite() && length > 0.0) {
            return None;
        }
        let ray = Ray::new(origin, direction);
        let mut best: Option<RewindHit> = None;
        self.each(|id, shape, reach, position, rotation| {
            let limit = best.map_or(length, |best| best.distance);
            let along = (position - origin).dot(direction).clamp(0.0, limit);
            let near = (origin + direction * along).distance_squared(position) <= reach * reach;
            if !near || !wanted(id) {
                return;
            }
            let pose = Pose::from_parts(position, rotation);
            if let Some(hit) = shape.cast_ray_and_get_normal(&pose, &ray, limit, true)
                && best.is_none_or(|best| hit.time_of_impact < best.distance)
            {
                let (distance, point) = (hit.time_of_impact, origin + direction * hit.time_of_impact);
                best = Some(RewindHit { id, distance, point, normal: hit.normal });
            }
        });
        best
    }

    /// Appends to `found` the bodies that a ball of `radius` studs about `center` touches, by id.
    pub fn overlap_ball(&self, center: Vec3, radius: f32, found: &mut Vec<ColliderId>) {
        if radius > 0.0 {
            self.overlap(&Ball::new(radius), Pose::from_parts(center, Quat::IDENTITY), radius, found);
        }
    }

    /// Appends to `found` the bodies that a box of half the size `half` at `center`, turned by `rotation`, touches, by id.
    pub fn overlap_box(&self, center: Vec3, half: Vec3, rotation: Quat, found: &mut Vec<ColliderId>) {
        if half.min_element() > 0.0 {
            self.overlap(&Cuboid::new(half), Pose::from_parts(center, rotation), half.length(), found);
        }
    }

    fn overlap(&self, shape: &dyn Shape, at: Pose, reach: f32, found: &mut Vec<ColliderId>) {
        if !(at.translation.is_finite() && at.rotation.is_finite() && reach.is_finite()) {
            return;
        }
        self.each(|id, other, other_reach, position, rotation| {
            let most = reach + other_reach;
            if position.distance_squared(at.translation) <= most * most
                && intersection_test(&at, shape, &Pose::from_parts(position, rotation), other)
                    .is_ok_and(|met| met.intersecting)
            {
                found.push(id);
            }
        });
    }

    fn each(&self, mut visit: impl FnMut(ColliderId, &dyn Shape, f32, Vec3, Quat)) {
        for (at, pose) in self.earlier.poses.iter().enumerate() {
            let (position, rotation) = self.between(pose, self.later_of(at, pose.id));
            let registered = self.history.shape(pose.shape);
            visit(pose.id, &*registered.shape.0, registered.reach, position, rotation);
        }
    }

    /// The same body a tick later: usually in the same row.
    fn later_of(&self, row: usize, id: ColliderId) -> Option<&'a RewindPose> {
        let poses = &self.later?.poses;
        poses.get(row).filter(|pose| pose.id == id).or_else(|| {
            let found = poses.binary_search_by_key(&id, |pose| pose.id).ok()?;
            Some(&poses[found])
        })
    }

    fn between(&self, pose: &RewindPose, later: Option<&RewindPose>) -> (Vec3, Quat) {
        match later {
            Some(later) if !later.teleported => {
                (pose.position.lerp(later.position, self.share), slerp(pose.rotation, later.rotation, self.share))
            }
            _ => (pose.position, pose.rotation),
        }
    }
}
