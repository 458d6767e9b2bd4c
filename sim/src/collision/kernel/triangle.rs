use glam::Vec3;

use super::{Axis, Separation, TOUCHING};

/// A triangle, solid from both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::collision) struct Triangle {
    /// Corners.
    pub(in crate::collision) corners: [Vec3; 3],
    /// Unit normal, counter-clockwise corners towards the viewer.
    pub(in crate::collision) normal: Vec3,
}

impl Triangle {
    /// A triangle with its normal; `None` when it has no area.
    pub(in crate::collision) fn new(corners: [Vec3; 3]) -> Option<Self> {
        let cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let length = cross.length();
        if length > 1e-12 && length.is_finite() { Some(Self { corners, normal: cross / length }) } else { None }
    }

    /// Whether the projection of `point` onto the plane lies in the triangle.
    fn covers(&self, point: Vec3) -> bool {
        let [a, b, c] = self.corners;
        let inside = |from: Vec3, to: Vec3| (to - from).cross(point - from).dot(self.normal) >= 0.0;
        inside(a, b) && inside(b, c) && inside(c, a)
    }
}

/// Whether an axis moving straight by `delta` stays at least `reach` from the triangle's plane, on one side.
pub(in crate::collision) fn triangle_stays_apart(axis: &Axis, delta: Vec3, triangle: &Triangle, reach: f32) -> bool {
    let start = triangle.normal.dot(axis.center - triangle.corners[0]);
    let end = start + triangle.normal.dot(delta);
    let reach = reach + triangle.normal.dot(axis.half).abs();
    (start >= reach && end >= reach) || (start <= -reach && end <= -reach)
}

/// Separation of an axis from a triangle, or `None` when it is certainly more than `limit`.
pub(in crate::collision) fn triangle(axis: &Axis, triangle: &Triangle, limit: f32) -> Option<Separation> {
    let middle = triangle.normal.dot(axis.center - triangle.corners[0]);
    let reach = triangle.normal.dot(axis.half);
    // The side the axis is on decides which way is out.
    let side = if middle < 0.0 { -1.0 } else { 1.0 };
    let apart = middle.abs() - reach.abs();
    if apart > limit {
        return None;
    }
    let out = triangle.normal * side;
    if apart > 0.0 {
        let end = axis.end_against(out);
        if triangle.covers(end) {
            return Some(Separation { distance: apart, normal: out, on_axis: end });
        }
    } else if reach != 0.0 && triangle.covers(axis.at((-middle / reach).clamp(-1.0, 1.0))) {
        return Some(Separation { distance: apart, normal: out, on_axis: axis.end_against(out) });
    }
    Some(from_edges(axis, triangle, out))
}

fn from_edges(axis: &Axis, triangle: &Triangle, out: Vec3) -> Separation {
    let [a, b, c] = triangle.corners;
    let mut best = (f32::INFINITY, Vec3::ZERO, Vec3::ZERO);
    for (from, to) in [(a, b), (b, c), (c, a)] {
        let (on_axis, on_edge) = axis.closest_between(from, to);
        let away = on_axis - on_edge;
        let square = away.length_squared();
        if square < best.0 {
            best = (square, away, on_axis);
        }
    }
    let (square, away, on_axis) = best;
    let distance = square.sqrt();
    let normal = if distance > TOUCHING { away / distance } else { out };
    Separation { distance, normal, on_axis }
}
