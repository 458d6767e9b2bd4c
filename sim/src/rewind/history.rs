use glam::{Quat, Vec3};
use parry3d::shape::SharedShape;

use super::RewindView;
use crate::collision::{ColliderError, ColliderId, Shape};
use crate::tick::Tick;
use crate::time::SimTime;

/// A shape registered with a [`RewindHistory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RewindShape(pub(super) u32);

/// Where one body is in one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewindPose {
    /// Which body.
    pub id: ColliderId,
    /// Its shape.
    pub shape: RewindShape,
    /// Its centre, studs.
    pub position: Vec3,
    /// Its rotation, unit length.
    pub rotation: Quat,
    /// Whether it was put there since the last tick rather than moved: nobody saw it in between.
    pub teleported: bool,
}

/// Ticks kept: half a second and both ends.
const TICKS: u64 = 32;

#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    tick: Option<Tick>,
    /// By id.
    pub(super) poses: Vec<RewindPose>,
}

pub(super) struct Registered {
    pub(super) shape: SharedShape,
    /// Radius of the ball about its position that holds it, studs.
    pub(super) reach: f32,
}

/// Half a second of poses of characters, and of whatever else can be hit (S-60). Recording allocates nothing once as many
/// bodies have been recorded as there will be; asking never does.
#[derive(Default)]
pub struct RewindHistory {
    frames: [Frame; TICKS as usize],
    shapes: Vec<Registered>,
    newest: Option<Tick>,
}

impl std::fmt::Debug for RewindHistory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RewindHistory").field("newest", &self.newest).field("shapes", &self.shapes.len()).finish()
    }
}

impl RewindHistory {
    /// A history without shapes and poses.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a shape. Register each once: it is never forgotten.
    ///
    /// # Errors
    ///
    /// When a size is impossible, or the shape has no inside (a mesh or a heightfield counts as empty).
    pub fn register(&mut self, shape: &Shape) -> Result<RewindShape, ColliderError> {
        let shape = solid(shape)?;
        let bounds = shape.compute_local_aabb();
        let reach = bounds.mins.abs().max(bounds.maxs.abs()).length();
        self.shapes.push(Registered { shape, reach });
        Ok(RewindShape(self.shapes.len() as u32 - 1))
    }

    /// Records where all bodies are in `tick`, which must be newer than the last; false, and nothing recorded, when it is
    /// not. Poses that are nonfinite or of unknown shape are left out; of several of one id, one is kept.
    pub fn record(&mut self, tick: Tick, poses: impl IntoIterator<Item = RewindPose>) -> bool {
        if self.newest.is_some_and(|newest| tick <= newest) {
            return false;
        }
        let shapes = self.shapes.len() as u32;
        let frame = &mut self.frames[(tick.0 % TICKS) as usize];
        frame.tick = Some(tick);
        frame.poses.clear();
        let fine = |pose: &RewindPose| pose.position.is_finite() && pose.rotation.is_finite() && pose.shape.0 < shapes;
        frame.poses.extend(poses.into_iter().filter(fine));
        frame.poses.sort_unstable_by_key(|pose| pose.id);
        frame.poses.dedup_by_key(|pose| pose.id);
        self.newest = Some(tick);
        true
    }

    /// The newest tick recorded.
    #[must_use]
    pub fn newest(&self) -> Option<Tick> {
        self.newest
    }

    /// The world as it was at `time`, between two recorded ticks interpolated; beyond either end of history, that end.
    /// `None` before anything was recorded.
    #[must_use]
    pub fn view(&self, time: SimTime) -> Option<RewindView<'_>> {
        let newest = self.newest?;
        let oldest = Tick(newest.0.saturating_sub(TICKS - 1));
        let at = time.tick().clamp(oldest, newest);
        // Ticks may have been left out: the nearest recorded on both sides.
        let earlier = (oldest.0..=at.0).rev().find_map(|tick| self.frame(Tick(tick)));
        let later = (at.0 + 1..=newest.0).find_map(|tick| self.frame(Tick(tick)));
        let (earlier, later) = match (earlier, later) {
            (Some(earlier), later) => (earlier, later),
            (None, Some(later)) => (later, None),
            (None, None) => return None,
        };
        let share = later.map_or(0.0, |later| {
            let (start, end) = (earlier.0.time(), later.0.time());
            time.since(start).seconds() / end.since(start).seconds()
        });
        Some(RewindView::new(self, earlier.1, later.map(|later| later.1), share.clamp(0.0, 1.0) as f32))
    }

    pub(super) fn shape(&self, shape: RewindShape) -> &Registered {
        &self.shapes[shape.0 as usize]
    }

    fn frame(&self, tick: Tick) -> Option<(Tick, &Frame)> {
        let frame = &self.frames[(tick.0 % TICKS) as usize];
        (frame.tick == Some(tick)).then_some((tick, frame))
    }
}

fn solid(shape: &Shape) -> Result<SharedShape, ColliderError> {
    match shape {
        Shape::Box { half } => {
            check(&half.to_array())?;
            Ok(SharedShape::cuboid(half.x, half.y, half.z))
        }
        &Shape::Ball { radius } => {
            check(&[radius])?;
            Ok(SharedShape::ball(radius))
        }
        &Shape::Cylinder { half_height, radius } => {
            check(&[half_height, radius])?;
            Ok(SharedShape::cylinder(half_height, radius))
        }
        &Shape::Capsule { half_height, radius } => {
            check(&[half_height, radius])?;
            Ok(SharedShape::capsule_y((half_height - radius).max(0.0), radius))
        }
        Shape::Wedge { half } => {
            check(&half.to_array())?;
            let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
            let corners = corners.map(|(y, z)| [-1.0, 1.0].map(|x| *half * Vec3::new(x, y, z)));
            hull(corners.as_flattened())
        }
        Shape::ConvexHull { points } => hull(points),
        Shape::TriMesh { .. } | Shape::Heightfield { .. } | Shape::Voxels { .. } => Err(ColliderError::Empty),
    }
}

fn check(sizes: &[f32]) -> Result<(), ColliderError> {
    if !sizes.iter().all(|size| size.is_finite()) {
        return Err(ColliderError::NonFinite);
    }
    if sizes.iter().all(|size| *size > 0.0) { Ok(()) } else { Err(ColliderError::Empty) }
}

fn hull(points: &[Vec3]) -> Result<SharedShape, ColliderError> {
    if !points.iter().all(|point| point.is_finite()) {
        return Err(ColliderError::NonFinite);
    }
    if points.len() < 4 {
        return Err(ColliderError::Empty);
    }
    SharedShape::convex_hull(points).ok_or(ColliderError::Empty)
}
