//! Distances between a capsule's axis and one convex piece, in the piece's own axes.
//!
//! Each kernel measures from the axis, a segment; a capsule's gap is that distance less its radius. Distances between
//! convex bodies are convex along a straight movement, which is what sweeps rely on.

mod cuboid;
mod hull;
#[cfg(test)]
mod oracle;
mod round;
mod triangle;

use glam::Vec3;

pub(super) use cuboid::{cuboid, cuboid_earliest, cuboid_face};
pub(super) use hull::Hull;
pub(super) use round::{ball, capsule, cylinder, cylinder_face};
pub(super) use triangle::{Triangle, triangle, triangle_earliest};

/// Distances below this are overlap: the direction between the closest points means nothing any more.
const TOUCHING: f32 = 1e-5;

/// The axis of a capsule: all points `center + s * half` with `s` in [-1, 1].
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// Middle of the segment.
    pub(super) center: Vec3,
    /// From the middle to its upper end.
    pub(super) half: Vec3,
}

/// How far an axis is from a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separation {
    /// Distance; where axis and piece overlap, minus the way out along `normal`.
    pub(super) distance: f32,
    /// From the piece to the axis, unit length.
    pub(super) normal: Vec3,
    /// The point of the axis closest to the piece.
    pub(super) on_axis: Vec3,
}

/// Share of a movement at which a plane is reached that is `over` away and nears by `closing` over the whole of it.
fn earliest(over: f32, closing: f32) -> f32 {
    if over <= 0.0 {
        0.0
    } else if closing > 0.0 {
        over / closing
    } else {
        f32::INFINITY
    }
}

impl Axis {
    /// The point at `s` in [-1, 1].
    fn at(&self, s: f32) -> Vec3 {
        self.center + self.half * s
    }

    /// The end that lies least far along `direction`.
    pub(super) fn end_against(&self, direction: Vec3) -> Vec3 {
        if self.half.dot(direction) > 0.0 { self.center - self.half } else { self.center + self.half }
    }

    /// The point closest to `point`.
    fn closest_to(&self, point: Vec3) -> Vec3 {
        let square = self.half.length_squared();
        if square <= f32::MIN_POSITIVE {
            return self.center;
        }
        self.at(((point - self.center).dot(self.half) / square).clamp(-1.0, 1.0))
    }

    /// Closest points of this axis and the segment from `start` to `end`.
    fn closest_between(&self, start: Vec3, end: Vec3) -> (Vec3, Vec3) {
        let origin = self.center - self.half;
        let (along, edge, apart) = (self.half * 2.0, end - start, origin - start);
        let (a, e) = (along.length_squared(), edge.length_squared());
        let (c, f) = (along.dot(apart), edge.dot(apart));
        if a <= f32::MIN_POSITIVE {
            let t = if e <= f32::MIN_POSITIVE { 0.0 } else { (f / e).clamp(0.0, 1.0) };
            return (self.center, start + edge * t);
        }
        if e <= f32::MIN_POSITIVE {
            return (origin + along * (-c / a).clamp(0.0, 1.0), start);
        }
        let b = along.dot(edge);
        let denominator = a * e - b * b;
        let mut s = if denominator > 1e-6 * a * e { ((b * f - c * e) / denominator).clamp(0.0, 1.0) } else { 0.5 };
        let mut t = (b * s + f) / e;
        if !(0.0..=1.0).contains(&t) {
            t = t.clamp(0.0, 1.0);
            s = ((b * t - c) / a).clamp(0.0, 1.0);
        }
        (origin + along * s, start + edge * t)
    }
}
