use glam::Quat;

/// A joint's rotation in four bytes: which component is largest (2 bits), and the three others in 10 bits each
/// ("smallest three"). Off by at most 0.28°.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackedJoint(pub u32);

/// Largest magnitude of the three smaller components.
const RANGE: f32 = std::f32::consts::FRAC_1_SQRT_2;
/// Steps from the middle to either end.
const STEPS: f32 = 511.0;

impl PackedJoint {
    /// Packs a rotation, normalising it first; one without direction becomes the identity.
    #[must_use]
    pub fn pack(rotation: Quat) -> Self {
        let norm = rotation.length();
        let unit = if norm.is_finite() && norm > 1e-6 { rotation * (1.0 / norm) } else { Quat::IDENTITY };
        let parts = unit.to_array();
        let mut largest = 0;
        for (index, part) in parts.iter().enumerate() {
            if part.abs() > parts[largest].abs() {
                largest = index;
            }
        }
        let sign = if parts[largest] < 0.0 { -1.0 } else { 1.0 };
        let mut word = (largest as u32) << 30;
        let mut shift = 20;
        for (index, part) in parts.iter().enumerate() {
            if index != largest {
                let step = (part * sign / RANGE * STEPS).round().clamp(-STEPS, STEPS) + STEPS;
                word |= (step as u32) << shift;
                shift -= 10_i32;
            }
        }
        Self(word)
    }

    /// The rotation, of unit length whatever the bits.
    #[must_use]
    pub fn unpack(self) -> Quat {
        let largest = (self.0 >> 30) as usize;
        let mut parts = [0.0_f32; 4];
        let (mut sum, mut shift) = (0.0_f32, 20);
        for (index, part) in parts.iter_mut().enumerate() {
            if index != largest {
                let step = ((self.0 >> shift) & 1_023) as f32;
                *part = (step - STEPS) / STEPS * RANGE;
                sum += *part * *part;
                shift -= 10_i32;
            }
        }
        parts[largest] = (1.0 - sum).max(0.0).sqrt();
        Quat::from_array(parts).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-44a
        #[test]
        fn rotations_come_back_close(x in -1f32..1.0, y in -1f32..1.0, z in -1f32..1.0, w in -1f32..1.0) {
            let rotation = Quat::from_xyzw(x, y, z, w);
            prop_assume!(rotation.length() > 0.01);
            let rotation = rotation.normalize();
            let packed = PackedJoint::pack(rotation);
            let between = packed.unpack() * rotation.conjugate();
            let sine = glam::Vec3::new(between.x, between.y, between.z).length();
            prop_assert!(2.0 * sine < 0.28_f32.to_radians(), "{} degrees", (2.0 * sine).to_degrees());
            prop_assert_eq!(PackedJoint::pack(-rotation).unpack().dot(packed.unpack()).abs() > 0.99999, true);
        }

        #[test]
        fn any_word_unpacks_to_a_unit_rotation(word: u32) {
            let rotation = PackedJoint(word).unpack();
            prop_assert!((rotation.length() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn what_has_no_direction_is_the_identity() {
        for rotation in [Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0), Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)] {
            assert!(PackedJoint::pack(rotation).unpack().dot(Quat::IDENTITY) > 0.99999);
        }
    }
}
