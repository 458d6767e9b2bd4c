use std::sync::Arc;

use glam::Vec3;

use super::voxels::Voxels;

/// Geometry of a collider in its own axes, centred on its position; lengths in studs.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box.
    Box {
        /// Half of its size on each axis, positive.
        half: Vec3,
    },
    /// A ball.
    Ball {
        /// Radius, positive.
        radius: f32,
    },
    /// A cylinder about Y.
    Cylinder {
        /// Half of its height, positive.
        half_height: f32,
        /// Radius, positive.
        radius: f32,
    },
    /// A box cut in half from its lower −Z edge to its upper +Z edge: the upright face is at +Z, the slope rises towards it.
    Wedge {
        /// Half of the box's size on each axis, positive.
        half: Vec3,
    },
    /// A capsule about Y.
    Capsule {
        /// Half of its whole height, at least `radius`.
        half_height: f32,
        /// Radius, positive.
        radius: f32,
    },
    /// The convex hull of points, solid.
    ConvexHull {
        /// At least four points, not all in one plane.
        points: Arc<[Vec3]>,
    },
    /// Triangles, each solid from both sides, without an inside.
    TriMesh {
        /// Corners.
        vertices: Arc<[Vec3]>,
        /// Three indices into `vertices` a triangle; triangles without area are ignored.
        indices: Arc<[[u32; 3]]>,
    },
    /// A surface over a grid in the XZ plane, each cell two triangles, without an inside.
    Heightfield {
        /// Height above the collider's position of each grid point: `rows` rows (along +Z) of `columns` (along +X).
        heights: Arc<[f32]>,
        /// Grid points along X, at least 2.
        columns: u32,
        /// Grid points along Z, at least 2.
        rows: u32,
        /// Distance between neighbouring grid points, positive.
        cell: f32,
    },
    /// Solid cubes on a grid through the collider's position, see [`Voxels`]; edited in place with
    /// [`CollisionIndex::fill_voxels`](super::CollisionIndex::fill_voxels).
    Voxels {
        /// At least one solid voxel.
        voxels: Arc<Voxels>,
    },
}

/// Why a collider was refused; the index is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColliderError {
    /// The id is taken.
    Duplicate,
    /// A number is infinite or not a number.
    NonFinite,
    /// A size is zero or negative, or the shape has no triangle, no volume or the wrong number of heights.
    Empty,
    /// A triangle names a vertex that is not there.
    Index,
    /// A rotation or axis is not of unit length, or a period is too short.
    Motion,
}
