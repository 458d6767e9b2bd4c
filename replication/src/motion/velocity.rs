use glam::Vec3;

/// Packs a vector into 48 bits: 4 bits of exponent and three signed mantissas of 14 bits.
///
/// The largest component is right to 1/8,191 of itself, the others to the same step; the finest step is 1/1,024. Components are
/// cut to ±200,000; nonfinite ones count as 0.
#[must_use]
pub fn pack_velocity6(velocity: Vec3) -> [u8; 6] {
    let packed = pack(velocity, 14, -10).to_le_bytes();
    [packed[0], packed[1], packed[2], packed[3], packed[4], packed[5]]
}

/// Unpacks [`pack_velocity6`]; any bytes give a finite vector.
#[must_use]
pub fn unpack_velocity6(b: [u8; 6]) -> Vec3 {
    unpack(u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], 0, 0]), 14, -10)
}

/// Packs a vector into 40 bits: 4 bits of exponent and three signed mantissas of 12 bits.
///
/// The largest component is right to 1/2,047 of itself; the finest step is 1/256. Components are cut to ±200,000; nonfinite
/// ones count as 0.
#[must_use]
pub fn pack_velocity5(velocity: Vec3) -> [u8; 5] {
    let packed = pack(velocity, 12, -8).to_le_bytes();
    [packed[0], packed[1], packed[2], packed[3], packed[4]]
}

/// Unpacks [`pack_velocity5`]; any bytes give a finite vector.
#[must_use]
pub fn unpack_velocity5(b: [u8; 5]) -> Vec3 {
    unpack(u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], 0, 0, 0]), 12, -8)
}

/// 2^exponent, exact.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

fn pack(velocity: Vec3, bits: u32, finest: i32) -> u64 {
    let clean = velocity.to_array().map(|v| if v.is_finite() { v.clamp(-200_000.0, 200_000.0) } else { 0.0 });
    let largest = clean.iter().fold(0f32, |largest, v| largest.max(v.abs()));
    let most = ((1 << (bits - 1)) - 1) as f32;
    let mut exponent = 0;
    while exponent < 15 && (largest * power(-finest - exponent)).round() > most {
        exponent += 1;
    }
    let scale = power(-finest - exponent);
    let mut packed = exponent as u64;
    for (axis, value) in clean.into_iter().enumerate() {
        let mantissa = (value * scale).round().clamp(-most, most) as i32;
        packed |= u64::from(mantissa as u32 & ((1 << bits) - 1)) << (4 + bits * axis as u32);
    }
    packed
}

fn unpack(packed: u64, bits: u32, finest: i32) -> Vec3 {
    let scale = power(finest + (packed & 15) as i32);
    let component = |axis: u32| {
        let raw = (packed >> (4 + bits * axis)) as u32 & ((1 << bits) - 1);
        // Shifting up and back down repeats the sign bit.
        let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
        signed as f32 * scale
    };
    Vec3::new(component(0), component(1), component(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn velocities_come_back_within_their_step(x in -9e3f32..9e3, y in -9e3f32..9e3, z in -9e3f32..9e3, small in 0u8..4) {
            let velocity = Vec3::new(x, y, z) * [1.0, 0.1, 0.01, 1e-4][usize::from(small)];
            let largest = velocity.abs().max_element();
            let six = (unpack_velocity6(pack_velocity6(velocity)) - velocity).abs().max_element();
            prop_assert!(six <= (largest / 8_191.0).max(0.5 / 1_024.0));
            let five = (unpack_velocity5(pack_velocity5(velocity)) - velocity).abs().max_element();
            prop_assert!(five <= (largest / 2_047.0).max(0.5 / 256.0));
        }

        #[test]
        fn any_bytes_and_floats_are_finite_after(bytes: [u8; 6], x: f32, y: f32, z: f32) {
            prop_assert!(unpack_velocity6(bytes).is_finite());
            prop_assert!(unpack_velocity5([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]]).is_finite());
            prop_assert!(unpack_velocity6(pack_velocity6(Vec3::new(x, y, z))).is_finite());
        }
    }

    #[test]
    fn packing_what_was_unpacked_changes_nothing() {
        for speed in [0.0, 0.01, 1.0, 15.99, 16.0, 49.3, 500.0, 9_999.0, 1e9] {
            let once = unpack_velocity6(pack_velocity6(Vec3::new(speed, -speed, 0.3)));
            assert_eq!(unpack_velocity6(pack_velocity6(once)), once);
        }
        assert_eq!(pack_velocity5(Vec3::ZERO), [0; 5]);
    }
}
