use glam::{Mat3, Quat, Vec3};
use parry3d::bounding_volume::Aabb;

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// Lowest corner.
    pub(crate) min: Vec3,
    /// Highest corner.
    pub(crate) max: Vec3,
}

impl Bounds {
    /// Holds nothing, not even a point.
    pub(super) const NOTHING: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The box of a centre and half its size.
    pub(crate) fn around(center: Vec3, half: Vec3) -> Self {
        Self { min: center - half, max: center + half }
    }

    /// The smallest box around points.
    pub(super) fn of(points: &[Vec3]) -> Self {
        points.iter().fold(Self::NOTHING, |all, point| Self { min: all.min.min(*point), max: all.max.max(*point) })
    }

    /// The box larger by `by` on every side.
    pub(crate) fn grown(self, by: f32) -> Self {
        Self { min: self.min - Vec3::splat(by), max: self.max + Vec3::splat(by) }
    }

    /// The box that also holds itself moved by `delta`.
    pub(crate) fn swept(self, delta: Vec3) -> Self {
        Self { min: self.min + delta.min(Vec3::ZERO), max: self.max + delta.max(Vec3::ZERO) }
    }

    /// Whether the two touch.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        // Without branches: it runs for every piece nearby.
        (self.min.x <= other.max.x)
            & (other.min.x <= self.max.x)
            & (self.min.y <= other.max.y)
            & (other.min.y <= self.max.y)
            & (self.min.z <= other.max.z)
            & (other.min.z <= self.max.z)
    }

    /// Whether `other` lies inside.
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && self.max.cmpge(other.max).all()
    }

    /// Radius of the ball about the origin that holds it.
    pub(super) fn reach(&self) -> f32 {
        self.min.abs().max(self.max.abs()).length()
    }

    pub(super) fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    pub(super) fn half(&self) -> Vec3 {
        (self.max - self.min) * 0.5
    }

    pub(super) fn aabb(&self) -> Aabb {
        Aabb::new(self.min, self.max)
    }
}

/// A box with a margin around it, rounded at edges and corners: what a capsule's axis passes through, and its radius.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded {
    core: Bounds,
    /// Square of the margin.
    square: f32,
}

impl Rounded {
    /// A margin of `by` around `core`.
    pub(super) fn new(core: Bounds, by: f32) -> Self {
        // Kernels round too, so that what they would find touching is never left out.
        let by = by + 1e-3;
        Self { core, square: by * by }
    }

    /// Whether `bounds` comes as near as the margin.
    pub(super) fn touches(&self, bounds: &Bounds) -> bool {
        let apart = (bounds.min - self.core.max).max(self.core.min - bounds.max).max(Vec3::ZERO);
        apart.length_squared() <= self.square
    }
}

/// Where a collider is and how it is turned, ready for kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Its centre.
    pub(super) position: Vec3,
    /// Its own axes, in the world's.
    axes: Mat3,
    /// Whether its axes differ from the world's.
    turned: bool,
}

impl Placement {
    pub(super) fn new(position: Vec3, rotation: Quat) -> Self {
        Self { position, axes: Mat3::from_quat(rotation), turned: rotation != Quat::IDENTITY }
    }

    /// A direction of the world in the collider's axes.
    #[inline]
    pub(super) fn inward(&self, direction: Vec3) -> Vec3 {
        if !self.turned {
            return direction;
        }
        let Mat3 { x_axis, y_axis, z_axis } = self.axes;
        Vec3::new(x_axis.dot(direction), y_axis.dot(direction), z_axis.dot(direction))
    }

    /// A direction of the collider's axes in the world's.
    #[inline]
    pub(super) fn outward(&self, direction: Vec3) -> Vec3 {
        if self.turned { self.axes * direction } else { direction }
    }

    /// Bounds in the world of bounds in the collider's axes.
    pub(super) fn bounds_outward(&self, bounds: &Bounds) -> Bounds {
        let half = bounds.half();
        let half = if self.turned {
            self.axes.x_axis.abs() * half.x + self.axes.y_axis.abs() * half.y + self.axes.z_axis.abs() * half.z
        } else {
            half
        };
        Bounds::around(self.position + self.outward(bounds.center()), half)
    }

    /// Bounds in the collider's axes of bounds in the world.
    pub(super) fn bounds_inward(&self, bounds: &Bounds) -> Bounds {
        let half = bounds.half();
        let half = if self.turned {
            let Mat3 { x_axis, y_axis, z_axis } = self.axes;
            Vec3::new(x_axis.abs().dot(half), y_axis.abs().dot(half), z_axis.abs().dot(half))
        } else {
            half
        };
        Bounds::around(self.inward(bounds.center() - self.position), half)
    }
}
