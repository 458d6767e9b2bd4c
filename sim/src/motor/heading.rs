use glam::Vec3;

use super::InputFrame;

/// Horizontal length below which a direction is none.
const NONE: f32 = 1e-4;

/// The direction a character with this yaw faces: −Z at yaw 0, turning counter-clockwise about `up`; unit length.
///
/// For an up other than +Y the axes are the world's, turned the shortest way from +Y to it.
#[must_use]
pub fn facing(yaw: f32, up: Vec3) -> Vec3 {
    let (right, back) = horizontal_axes(up);
    let (sin, cos) = (libm::sinf(yaw), libm::cosf(yaw));
    -(right * sin + back * cos)
}

/// The yaw at which a character faces along `direction`, or `None` when it points along `up` or nowhere.
#[must_use]
pub fn yaw_towards(direction: Vec3, up: Vec3) -> Option<f32> {
    let (right, back) = horizontal_axes(up);
    let (x, z) = (direction.dot(right), direction.dot(back));
    (x * x + z * z > NONE * NONE).then(|| libm::atan2f(-x, -z))
}

/// The movement an input frame asks for in the world's axes: at most unit length, zero when it is nonfinite (S-23).
#[must_use]
pub fn wanted_direction(frame: &InputFrame, up: Vec3) -> Vec3 {
    let direction = frame.direction;
    let square = direction.length_squared();
    if !square.is_finite() || square == 0.0 {
        return Vec3::ZERO;
    }
    let direction = if square > 1.0 { direction / square.sqrt() } else { direction };
    if !frame.camera_relative {
        return direction;
    }
    let yaw = if frame.camera_yaw.is_finite() { frame.camera_yaw } else { 0.0 };
    let (sin, cos) = (libm::sinf(yaw), libm::cosf(yaw));
    let (right, back) = horizontal_axes(up);
    let (x, z) = (direction.x * cos + direction.z * sin, direction.z * cos - direction.x * sin);
    right * x + up * direction.y + back * z
}

/// Where +X and +Z go when +Y turns the shortest way to `up`.
fn horizontal_axes(up: Vec3) -> (Vec3, Vec3) {
    if up == Vec3::Y {
        return (Vec3::X, Vec3::Z);
    }
    let cos = up.y;
    if cos < -0.9999 {
        return (Vec3::X, -Vec3::Z);
    }
    let axis = Vec3::Y.cross(up);
    let turn = |v: Vec3| v * cos + axis.cross(v) + axis * (axis.dot(v) / (1.0 + cos));
    (turn(Vec3::X), turn(Vec3::Z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{FRAC_PI_2, PI};

    #[test]
    fn yaw_turns_counter_clockwise_from_minus_z() {
        assert!((facing(0.0, Vec3::Y) + Vec3::Z).length() < 1e-6);
        assert!((facing(FRAC_PI_2, Vec3::Y) + Vec3::X).length() < 1e-6);
        for step in -30..=30 {
            let yaw = step as f32 * 0.1;
            for up in [Vec3::Y, -Vec3::Y, Vec3::X, Vec3::new(0.6, 0.8, 0.0)] {
                let seen = yaw_towards(facing(yaw, up), up).unwrap();
                assert!((seen - yaw).abs() < 1e-5, "{seen} {yaw} {up}");
                assert!(facing(yaw, up).dot(up).abs() < 1e-6);
            }
        }
        assert_eq!(yaw_towards(Vec3::Y, Vec3::Y), None);
    }

    // S-23
    #[test]
    fn wanted_direction_is_finite_and_at_most_unit() {
        let frame = InputFrame { direction: Vec3::new(3.0, 0.0, 4.0), ..InputFrame::default() };
        assert!((wanted_direction(&frame, Vec3::Y) - Vec3::new(0.6, 0.0, 0.8)).length() < 1e-6);
        let frame = InputFrame { direction: Vec3::new(f32::NAN, 0.0, 1.0), ..frame };
        assert_eq!(wanted_direction(&frame, Vec3::Y), Vec3::ZERO);
        let forward =
            InputFrame { direction: -Vec3::Z, camera_relative: true, camera_yaw: PI * 0.5, ..InputFrame::default() };
        assert!((wanted_direction(&forward, Vec3::Y) - facing(PI * 0.5, Vec3::Y)).length() < 1e-6);
        let lost = InputFrame { camera_yaw: f32::INFINITY, ..forward };
        assert_eq!(wanted_direction(&lost, Vec3::Y), -Vec3::Z);
    }
}
