//! Rotations as the three smaller components of their unit quaternion.

use glam::Quat;

/// Largest magnitude of the three smaller components.
const RANGE: f32 = std::f32::consts::FRAC_1_SQRT_2;
/// Norm below which a quaternion has no direction.
const NO_DIRECTION: f32 = 1e-6;

/// A rotation in "smallest three" form with `BITS` bits a component, 2 to 16: which component of x, y, z, w is largest in
/// magnitude, the first of equals, and the others in that order as steps. How they lie in bytes is the codec's own.
///
/// Off by at most 4.9 / (2^`BITS` − 2) radians: 0.28° at 10 bits, 0.00016 radians at 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallestThree<const BITS: u32> {
    /// Index of the largest component, 0 to 3.
    pub largest: usize,
    /// The other components, 0 to 2^`BITS` − 2; more is past the end and read like it.
    pub steps: [u32; 3],
}

impl<const BITS: u32> SmallestThree<BITS> {
    /// Steps from the middle to either end.
    const HALF: f32 = ((1_u32 << (BITS - 1)) - 1) as f32;

    /// Packs a rotation, normalising it first; one without direction becomes the identity.
    #[must_use]
    pub fn pack(rotation: Quat) -> Self {
        let norm = rotation.length();
        let unit = if norm.is_finite() && norm > NO_DIRECTION { rotation * (1.0 / norm) } else { Quat::IDENTITY };
        let parts = unit.to_array();
        let larger =
            |largest: usize, index: usize| if parts[index].abs() > parts[largest].abs() { index } else { largest };
        let largest = (1..4).fold(0, larger);
        let sign = if parts[largest] < 0.0 { -1.0 } else { 1.0 };
        let mut steps = [0; 3];
        for (step, index) in steps.iter_mut().zip((0..4).filter(|index| *index != largest)) {
            *step =
                ((parts[index] * sign / RANGE * Self::HALF).round().clamp(-Self::HALF, Self::HALF) + Self::HALF) as u32;
        }
        Self { largest, steps }
    }

    /// The rotation, of unit length whatever the steps.
    #[must_use]
    pub fn unpack(self) -> Quat {
        let largest = self.largest & 3;
        let (mut parts, mut sum) = ([0.0_f32; 4], 0.0);
        for (step, index) in self.steps.into_iter().zip((0..4).filter(|index| *index != largest)) {
            parts[index] = (step as f32 - Self::HALF) / Self::HALF * RANGE;
            sum += parts[index] * parts[index];
        }
        parts[largest] = (1.0 - sum).max(0.0).sqrt();
        Quat::from_array(parts).normalize()
    }
}
