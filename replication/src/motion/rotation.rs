use glam::{Quat, Vec3};

/// A rotation in 8 bytes: unit axis and angle of the quaternion with nonnegative w.
///
/// Nonfinite rotations, and those whose norm or vector part is below 1e-6, are all zeros: the identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedRotation {
    /// Axis times 32,767.
    pub axis: [i16; 3],
    /// Angle in units of π/65,535.
    pub angle: u16,
}

/// Below this length a quaternion, or its vector part, has no direction.
const EPSILON: f32 = 1e-6;

impl PackedRotation {
    /// Bytes on the wire.
    pub const BYTES: usize = 8;

    /// Packs a rotation, normalising it first.
    #[must_use]
    pub fn pack(rotation: Quat) -> Self {
        let norm = rotation.length();
        if !rotation.is_finite() || !norm.is_finite() || norm < EPSILON {
            return Self::default();
        }
        let unit = if rotation.w < 0.0 { rotation * (-1.0 / norm) } else { rotation * (1.0 / norm) };
        let vector = Vec3::new(unit.x, unit.y, unit.z);
        let sine = vector.length();
        if sine < EPSILON {
            return Self::default();
        }
        let axis = vector * (32_767.0 / sine);
        let angle = 2.0 * libm::atan2f(sine, unit.w);
        Self {
            axis: [axis.x.round() as i16, axis.y.round() as i16, axis.z.round() as i16],
            angle: (angle * (65_535.0 / std::f32::consts::PI)).round() as u16,
        }
    }

    /// The rotation, with its axis normalised again; the identity when the axis is zero.
    #[must_use]
    pub fn unpack(self) -> Quat {
        let [x, y, z] = self.axis.map(f32::from);
        let axis = Vec3::new(x, y, z);
        let length = axis.length();
        if length < EPSILON {
            return Quat::IDENTITY;
        }
        let half = f32::from(self.angle) * (std::f32::consts::FRAC_PI_2 / 65_535.0);
        let vector = axis * (libm::sinf(half) / length);
        Quat::from_xyzw(vector.x, vector.y, vector.z, libm::cosf(half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        //
        #[test]
        fn rotations_come_back_close(x in -1f32..1.0, y in -1f32..1.0, z in -1f32..1.0, w in -1f32..1.0) {
            let rotation = Quat::from_xyzw(x, y, z, w);
            prop_assume!(rotation.length() > 0.01);
            let rotation = rotation.normalize();
            prop_assert!(PackedRotation::pack(rotation).unpack().dot(rotation).abs() > 1.0 - 1e-6);
        }

        #[test]
        fn any_words_unpack_to_a_unit_rotation(axis: [i16; 3], angle: u16) {
            let unpacked = PackedRotation { axis, angle }.unpack();
            prop_assert!((unpacked.length() - 1.0).abs() < 1e-5);
        }
    }

    //
    #[test]
    fn what_has_no_direction_is_the_identity() {
        for rotation in [
            Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0),
            Quat::from_xyzw(f32::INFINITY, 0.0, 0.0, 1.0),
            Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            Quat::from_xyzw(1e-8, 0.0, 0.0, -1.0),
            Quat::from_xyzw(3e38, 3e38, 3e38, 3e38),
        ] {
            assert_eq!(PackedRotation::pack(rotation), PackedRotation::default());
        }
        assert_eq!(PackedRotation::default().unpack(), Quat::IDENTITY);
    }
}
