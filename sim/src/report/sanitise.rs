use glam::Vec3;

use crate::motor::InputFrame;

/// Length squared up to which a direction counts as unit length: what f32 makes of a unit vector.
const UNIT: f32 = 1.0 + 1e-6;

/// The frame as the server runs it (S-23): a direction longer than 1 cut to unit length, a nonfinite one zero, nonfinite
/// yaw zero. Frames of an honest client come out as they went in.
#[must_use]
pub fn sanitised(frame: &InputFrame) -> InputFrame {
    let mut clean = *frame;
    if !clean.direction.is_finite() {
        clean.direction = Vec3::ZERO;
    } else if clean.direction.length_squared() > UNIT {
        // Scaled first, so that the length of a huge vector does not overflow.
        let scaled = clean.direction / clean.direction.abs().max_element();
        clean.direction = scaled / scaled.length();
    }
    if !clean.camera_yaw.is_finite() {
        clean.camera_yaw = 0.0;
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-23, B21
        #[test]
        fn anything_becomes_a_finite_direction_of_at_most_unit_length(
            x in prop::num::f32::ANY, y in prop::num::f32::ANY, z in prop::num::f32::ANY, yaw in prop::num::f32::ANY,
        ) {
            let clean = sanitised(&InputFrame { direction: Vec3::new(x, y, z), camera_yaw: yaw, ..InputFrame::default() });
            prop_assert!(clean.direction.is_finite() && clean.direction.length() <= 1.000_001);
            prop_assert!(clean.camera_yaw.is_finite());
            prop_assert_eq!(sanitised(&clean), clean);
        }

        // S-23
        #[test]
        fn snapped_frames_are_left_alone(x in -1.5_f32..1.5, y in -1.5_f32..1.5, z in -1.5_f32..1.5, yaw in -9.0_f32..9.0) {
            let frame = InputFrame { direction: Vec3::new(x, y, z), camera_yaw: yaw, ..InputFrame::default() }.snapped();
            prop_assert_eq!(sanitised(&frame), frame);
        }
    }
}
