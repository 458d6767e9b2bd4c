use glam::Vec3;

use super::{Axis, Separation, TOUCHING};

/// Halvings that narrow the closest point of a tilted axis down to the precision of an `f32`.
const HALVINGS: u32 = 26;

/// Separation of an axis from a solid ball about the origin.
pub(in crate::collision) fn ball(axis: &Axis, radius: f32) -> Separation {
    from_points(axis.closest_to(Vec3::ZERO), Vec3::ZERO, radius)
}

/// Separation of an axis from a solid capsule about Y; `half_segment` is half the length of its own axis.
pub(in crate::collision) fn capsule(axis: &Axis, half_segment: f32, radius: f32) -> Separation {
    let end = Vec3::new(0.0, half_segment, 0.0);
    let (on_axis, core) = axis.closest_between(-end, end);
    from_points(on_axis, core, radius)
}

/// Separation of an axis from a solid cylinder about Y.
pub(in crate::collision) fn cylinder(axis: &Axis, half_height: f32, radius: f32) -> Separation {
    let on_axis = closest_on_axis(axis, half_height, radius);
    let away = on_axis - clamped(on_axis, half_height, radius);
    let square = away.length_squared();
    if square > TOUCHING * TOUCHING {
        let distance = square.sqrt();
        return Separation { distance, normal: away / distance, on_axis };
    }
    overlapping(axis, half_height, radius)
}

/// The shortest way out through a cap, or sideways where the middle of the axis is.
fn overlapping(axis: &Axis, half_height: f32, radius: f32) -> Separation {
    let outward = Vec3::new(axis.center.x, 0.0, axis.center.z).normalize_or(Vec3::X);
    let cap = if axis.center.y < 0.0 { Vec3::NEG_Y } else { Vec3::Y };
    let apart = |normal: Vec3, extent: f32| normal.dot(axis.center) - normal.dot(axis.half).abs() - extent;
    let (side, top) = (apart(outward, radius), apart(cap, half_height));
    let (distance, normal) = if top > side { (top, cap) } else { (side, outward) };
    Separation { distance, normal, on_axis: axis.end_against(normal) }
}

/// Normal of the surface next to the point of the cylinder closest to `on_axis` that looks most along `up`.
pub(in crate::collision) fn cylinder_face(on_axis: Vec3, half_height: f32, normal: Vec3, up: Vec3) -> Vec3 {
    if on_axis.y.abs() - half_height <= TOUCHING {
        return normal;
    }
    let cap = Vec3::Y * on_axis.y.signum();
    let side = Vec3::new(on_axis.x, 0.0, on_axis.z).normalize_or_zero();
    if side.dot(up) > cap.dot(up) && normal.dot(side) > TOUCHING { side } else { cap }
}

fn from_points(on_axis: Vec3, core: Vec3, radius: f32) -> Separation {
    let away = on_axis - core;
    let length = away.length();
    let normal = if length > TOUCHING { away / length } else { Vec3::Y };
    Separation { distance: length - radius, normal, on_axis }
}

/// The point of the solid cylinder closest to `point`.
fn clamped(point: Vec3, half_height: f32, radius: f32) -> Vec3 {
    let out = (point.x * point.x + point.z * point.z).sqrt();
    let scale = if out > radius { radius / out } else { 1.0 };
    Vec3::new(point.x * scale, point.y.clamp(-half_height, half_height), point.z * scale)
}

fn closest_on_axis(axis: &Axis, half_height: f32, radius: f32) -> Vec3 {
    let (center, way) = (axis.center, axis.half);
    if way.x == 0.0 && way.z == 0.0 {
        let (low, high) = (center.y - way.y.abs(), center.y + way.y.abs());
        let y = if low > half_height {
            low
        } else if high < -half_height {
            high
        } else {
            center.y.clamp(low.max(-half_height), high.min(half_height))
        };
        return Vec3::new(center.x, y, center.z);
    }
    let slope = |s: f32| {
        let point = axis.at(s);
        (point - clamped(point, half_height, radius)).dot(way)
    };
    let (mut low, mut high) = (-1.0, 1.0);
    if slope(low) >= 0.0 {
        return axis.at(low);
    }
    if slope(high) <= 0.0 {
        return axis.at(high);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if slope(middle) >= 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    axis.at(0.5 * (low + high))
}
