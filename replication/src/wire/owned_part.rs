//! One part of an owned report, in 16 to 31 bytes for most.

use glam::{Quat, Vec3};
use tidelock_sim::PartState;
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::OwnedSnapshot;
use tidelock_sim::smallest_three::SmallestThree;

use super::scalar::{read_id, varint_u32};
use super::{WireError, check};
use crate::motion::{pack_velocity6, unpack_velocity6};

/// The most bytes one part takes: id, epoch, flags, position, rotation, two velocities.
pub(super) const MAX_PART_BYTES: usize = 10 + 5 + 1 + 15 + 6 + 12;

/// Steps in a stud.
const STEPS: f64 = 1_024.0;
/// Farthest a coordinate may be, steps: 2^20 studs.
const FARTHEST: i64 = 1 << 30;

const LINEAR: u8 = 0x01;
const ANGULAR: u8 = 0x02;

/// Where the part before was, in steps; the origin for the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before([i64; 3]);

/// Appends a part. What is nonfinite or too far away is put to zero or to the limit.
pub(super) fn write_part(out: &mut Writer<'_>, snapshot: &OwnedSnapshot, before: &mut Before) {
    let OwnedSnapshot { part, epoch, state } = snapshot;
    let (linear, angular) = (pack_velocity6(state.velocity), pack_velocity6(state.angular));
    let flag = |bytes: [u8; 6], bit: u8| if bytes == [0; 6] { 0 } else { bit };
    out.varint(part.0);
    out.varint(u64::from(*epoch));
    out.u8(flag(linear, LINEAR) | flag(angular, ANGULAR));
    for (axis, last) in state.position.to_array().into_iter().zip(&mut before.0) {
        let steps = ((f64::from(axis) * STEPS).round() as i64).clamp(-FARTHEST, FARTHEST);
        let change = steps - *last;
        // Small changes of either sign are small numbers.
        out.varint((change << 1 ^ change >> 63) as u64);
        *last = steps;
    }
    out.raw(&pack_rotation(state.rotation));
    for velocity in [linear, angular].iter().filter(|velocity| **velocity != [0; 6]) {
        out.raw(velocity);
    }
}

/// Reads a part.
///
/// # Errors
///
/// Any [`WireError`]: an id of 0, unknown flags, a coordinate too far away, too few bytes.
pub(super) fn read_part(reader: &mut Reader<'_>, before: &mut Before) -> Result<OwnedSnapshot, WireError> {
    let part = ColliderId(read_id(reader)?.0);
    let epoch = varint_u32(reader)?;
    let flags = reader.u8()?;
    check(flags & !(LINEAR | ANGULAR) == 0, WireError::Flags)?;
    let mut axes = [0.0_f32; 3];
    for (axis, last) in axes.iter_mut().zip(&mut before.0) {
        let folded = reader.varint_at_most(4 * FARTHEST as u64)?;
        *last += (folded >> 1) as i64 ^ -((folded & 1) as i64);
        check(last.abs() <= FARTHEST, WireError::Value)?;
        *axis = (*last as f64 / STEPS) as f32;
    }
    let rotation = unpack_rotation(take6(reader)?);
    let mut velocity = |bit| -> Result<Vec3, WireError> {
        Ok(if flags & bit != 0 { unpack_velocity6(take6(reader)?) } else { Vec3::ZERO })
    };
    let (velocity, angular) = (velocity(LINEAR)?, velocity(ANGULAR)?);
    let state = PartState { position: Vec3::from_array(axes), rotation, velocity, angular };
    Ok(OwnedSnapshot { part, epoch, state })
}

fn take6(reader: &mut Reader<'_>) -> Result<[u8; 6], WireError> {
    let mut copied = [0; 6];
    copied.copy_from_slice(reader.take(6)?);
    Ok(copied)
}

/// "Smallest three" in 15 bits a component: which is largest in two bits, then the others. Right to 0.00016 radians.
fn pack_rotation(rotation: Quat) -> [u8; 6] {
    let SmallestThree { largest, steps } = SmallestThree::<15>::pack(rotation);
    let packed = (0..3).fold(largest as u64, |packed, place| packed | u64::from(steps[place]) << (2 + 15 * place));
    let [a, b, c, d, e, f, ..] = packed.to_le_bytes();
    [a, b, c, d, e, f]
}

/// The rotation, of unit length whatever the bytes.
fn unpack_rotation([a, b, c, d, e, f]: [u8; 6]) -> Quat {
    let packed = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
    let steps = [2, 17, 32].map(|shift| (packed >> shift & 0x7fff) as u32);
    SmallestThree::<15> { largest: (packed & 3) as usize, steps }.unpack()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rotations_come_back_close(x in -1f32..1.0, y in -1f32..1.0, z in -1f32..1.0, w in -1f32..1.0) {
            let rotation = Quat::from_xyzw(x, y, z, w);
            prop_assume!(rotation.length() > 0.01);
            let (rotation, read) = (rotation.normalize(), unpack_rotation(pack_rotation(rotation)));
            let between = rotation * read.conjugate();
            let angle = 2.0 * Vec3::new(between.x, between.y, between.z).length();
            prop_assert!(angle < 1.6e-4, "{} radians off", angle);
            let again = unpack_rotation(pack_rotation(read));
            prop_assert!(again.dot(read).abs() > 1.0 - 1e-6);
        }

        #[test]
        fn any_bytes_are_a_unit_rotation(bytes: [u8; 6]) {
            prop_assert!((unpack_rotation(bytes).length() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn no_rotation_stays_none() {
        for none in [Quat::IDENTITY, -Quat::IDENTITY, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)] {
            assert_eq!(unpack_rotation(pack_rotation(none)), Quat::IDENTITY);
        }
    }
}
