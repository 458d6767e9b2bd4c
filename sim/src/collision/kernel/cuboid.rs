use glam::Vec3;

use super::{Axis, Separation, TOUCHING, earliest};

/// Separation of an axis from a solid box.
pub(in crate::collision) fn cuboid(axis: &Axis, half: Vec3) -> Separation {
    let on_axis = closest_on_axis(axis, half);
    let away = on_axis - on_axis.clamp(-half, half);
    let square = away.length_squared();
    if square <= TOUCHING * TOUCHING {
        return overlapping(axis, half);
    }
    let distance = square.sqrt();
    Separation { distance, normal: away / distance, on_axis }
}

/// The earliest share of a movement by `delta` at which an axis can be within `reach` of the box, going by each pair of
/// faces alone; infinite if never.
pub(in crate::collision) fn cuboid_earliest(axis: &Axis, delta: Vec3, half: Vec3, reach: f32) -> f32 {
    let over = axis.center.abs() - axis.half.abs() - half - Vec3::splat(reach);
    let mut latest = 0.0_f32;
    for i in 0..3 {
        latest = latest.max(earliest(over[i], if axis.center[i] > 0.0 { -delta[i] } else { delta[i] }));
    }
    latest
}

/// Normal of the face next to the point of the box closest to `on_axis` that looks most along `up`.
pub(in crate::collision) fn cuboid_face(on_axis: Vec3, half: Vec3, normal: Vec3, up: Vec3) -> Vec3 {
    let away = on_axis - on_axis.clamp(-half, half);
    let mut best = None;
    for (part, axis) in away.to_array().into_iter().zip(Vec3::AXES) {
        if part.abs() > TOUCHING {
            let face = axis * part.signum();
            if best.is_none_or(|best: Vec3| face.dot(up) > best.dot(up)) {
                best = Some(face);
            }
        }
    }
    best.unwrap_or(normal)
}

/// The point of the axis closest to the box: where the slope of the squared distance, which grows piecewise linearly
/// along the axis, crosses zero.
fn closest_on_axis(axis: &Axis, half: Vec3) -> Vec3 {
    let (center, way) = (axis.center, axis.half);
    if way.x == 0.0 && way.z == 0.0 {
        let (low, high) = (center.y - way.y.abs(), center.y + way.y.abs());
        let y = if low > half.y {
            low
        } else if high < -half.y {
            high
        } else {
            center.y.clamp(low.max(-half.y), high.min(half.y))
        };
        return Vec3::new(center.x, y, center.z);
    }
    let slope = |s: f32| {
        let point = axis.at(s);
        (point - point.clamp(-half, half)).dot(way)
    };
    let (mut low, mut high) = (-1.0, 1.0);
    let (mut slope_low, mut slope_high) = (slope(low), slope(high));
    if slope_low >= 0.0 {
        return axis.at(low);
    }
    if slope_high <= 0.0 {
        return axis.at(high);
    }
    for i in 0..3 {
        if way[i] == 0.0 {
            continue;
        }
        for face in [-half[i], half[i]] {
            let s = (face - center[i]) / way[i];
            if s > low && s < high {
                let at = slope(s);
                if at >= 0.0 {
                    (high, slope_high) = (s, at);
                } else {
                    (low, slope_low) = (s, at);
                }
            }
        }
    }
    let rise = slope_high - slope_low;
    axis.at(if rise > 0.0 { low - slope_low * (high - low) / rise } else { low })
}

/// The shortest way out through a face.
fn overlapping(axis: &Axis, half: Vec3) -> Separation {
    let (mut distance, mut normal) = (f32::NEG_INFINITY, Vec3::Y);
    for (i, direction) in Vec3::AXES.into_iter().enumerate() {
        let inside = -axis.half[i].abs() - half[i];
        for (apart, sign) in [(axis.center[i] + inside, 1.0), (inside - axis.center[i], -1.0)] {
            if apart > distance {
                (distance, normal) = (apart, direction * sign);
            }
        }
    }
    Separation { distance, normal, on_axis: axis.end_against(normal) }
}
