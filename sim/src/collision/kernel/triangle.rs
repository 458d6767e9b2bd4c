use glam::Vec3;

use super::{Axis, Separation, TOUCHING, earliest};

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

    /// The middle of the corners.
    pub(in crate::collision) fn middle(&self) -> Vec3 {
        let [a, b, c] = self.corners;
        (a + b + c) * (1.0 / 3.0)
    }

    /// The point closest to `point`, by the corner, edge or face whose region it lies in.
    fn closest_to(&self, point: Vec3) -> Vec3 {
        let [a, b, c] = self.corners;
        let (ab, ac, ap) = (b - a, c - a, point - a);
        let (d1, d2) = (ab.dot(ap), ac.dot(ap));
        if d1 <= 0.0 && d2 <= 0.0 {
            return a;
        }
        let bp = point - b;
        let (d3, d4) = (ab.dot(bp), ac.dot(bp));
        if d3 >= 0.0 && d4 <= d3 {
            return b;
        }
        let cp = point - c;
        let (d5, d6) = (ab.dot(cp), ac.dot(cp));
        if d6 >= 0.0 && d5 <= d6 {
            return c;
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return a + ab * (d1 / (d1 - d3));
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return a + ac * (d2 / (d2 - d6));
        }
        let va = d3 * d6 - d5 * d4;
        if va <= 0.0 && d4 >= d3 && d5 >= d6 {
            return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
        }
        let scale = 1.0 / (va + vb + vc);
        a + ab * (vb * scale) + ac * (vc * scale)
    }

    /// Whether the projection of `point` onto the plane lies in the triangle.
    fn covers(&self, point: Vec3) -> bool {
        let [a, b, c] = self.corners;
        let inside = |from: Vec3, to: Vec3| (to - from).cross(point - from).dot(self.normal) >= 0.0;
        inside(a, b) && inside(b, c) && inside(c, a)
    }
}

/// The earliest share of a movement by `delta` at which an axis can be within `reach` of the triangle, going by its plane
/// alone; infinite if never.
pub(in crate::collision) fn triangle_earliest(axis: &Axis, delta: Vec3, triangle: &Triangle, reach: f32) -> f32 {
    let start = triangle.normal.dot(axis.center - triangle.corners[0]);
    let over = start.abs() - triangle.normal.dot(axis.half).abs() - reach;
    let closing = triangle.normal.dot(delta);
    earliest(over, if start > 0.0 { -closing } else { closing })
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
    let end = axis.end_against(out);
    if apart > 0.0 {
        if lies_beyond(axis, triangle, end) {
            return Some(from_end(end, triangle, out));
        }
        if triangle.covers(end) {
            return Some(Separation { distance: apart, normal: out, on_axis: end });
        }
    } else if reach != 0.0 && triangle.covers(axis.at((-middle / reach).clamp(-1.0, 1.0))) {
        return Some(Separation { distance: apart, normal: out, on_axis: end });
    }
    Some(from_edges(axis, triangle, out))
}

/// Whether the whole triangle lies beyond one end of the axis, which is then the point closest to every point of it.
fn lies_beyond(axis: &Axis, triangle: &Triangle, end: Vec3) -> bool {
    let outward = end - axis.center;
    triangle.corners.iter().all(|corner| (*corner - end).dot(outward) >= 0.0)
}

fn from_end(end: Vec3, triangle: &Triangle, out: Vec3) -> Separation {
    let away = end - triangle.closest_to(end);
    let distance = away.length();
    let normal = if distance > TOUCHING { away / distance } else { out };
    Separation { distance, normal, on_axis: end }
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
