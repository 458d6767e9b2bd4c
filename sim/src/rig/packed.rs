use glam::Quat;

use crate::smallest_three::SmallestThree;

/// A joint's rotation in four bytes: which component is largest (2 bits), and the three others in 10 bits each
/// ("smallest three"). Off by at most 0.28°.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackedJoint(pub u32);

impl PackedJoint {
    /// Packs a rotation, normalising it first; one without direction becomes the identity.
    #[must_use]
    pub fn pack(rotation: Quat) -> Self {
        let SmallestThree { largest, steps: [a, b, c] } = SmallestThree::<10>::pack(rotation);
        Self((largest as u32) << 30 | a << 20 | b << 10 | c)
    }

    /// The rotation, of unit length whatever the bits.
    #[must_use]
    pub fn unpack(self) -> Quat {
        let steps = [20, 10, 0].map(|shift| (self.0 >> shift) & 1_023);
        SmallestThree::<10> { largest: (self.0 >> 30) as usize, steps }.unpack()
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
