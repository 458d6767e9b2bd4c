use glam::Quat;

use super::PackedJoint;
use crate::bytes::{ReadError, Reader, Writer};
use crate::tracks::MAX_JOINTS;

/// Joints of a rig as they travel: those in the mask, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigFrame {
    /// Bit `i` set: joint `i` is here.
    pub mask: u32,
    /// Rotation of each joint; those outside the mask are not told.
    pub joints: [PackedJoint; MAX_JOINTS],
}

impl Default for RigFrame {
    fn default() -> Self {
        Self { mask: 0, joints: [PackedJoint::default(); MAX_JOINTS] }
    }
}

impl RigFrame {
    /// All joints of a rig.
    #[must_use]
    pub fn whole(rotations: &[Quat]) -> Self {
        let mut frame = Self::default();
        for (joint, rotation) in rotations.iter().enumerate().take(MAX_JOINTS) {
            frame.joints[joint] = PackedJoint::pack(*rotation);
            frame.mask |= 1 << joint;
        }
        frame
    }

    /// Those joints of `self` that differ from what was told last; `told` becomes what is told now.
    #[must_use]
    pub fn changes(&self, told: &mut Self) -> Self {
        let mut frame = *self;
        for joint in 0..MAX_JOINTS {
            let bit = 1 << joint;
            if told.mask & bit != 0 && told.joints[joint] == self.joints[joint] {
                frame.mask &= !bit;
            } else if self.mask & bit != 0 {
                told.joints[joint] = self.joints[joint];
                told.mask |= bit;
            }
        }
        frame
    }

    /// Lays told joints over a rig; joints beyond its end are passed over.
    pub fn apply(&self, rotations: &mut [Quat]) {
        for (joint, rotation) in rotations.iter_mut().enumerate().take(MAX_JOINTS) {
            if self.mask & (1 << joint) != 0 {
                *rotation = self.joints[joint].unpack();
            }
        }
    }

    /// Bytes on the wire.
    #[must_use]
    pub fn encoded_bytes(&self) -> usize {
        4 + 4 * self.mask.count_ones() as usize
    }
}

/// Writes a frame: the mask in four bytes, little-endian, then four bytes a joint.
pub fn write_rig(out: &mut Writer<'_>, frame: &RigFrame) {
    out.u32(frame.mask);
    for joint in 0..MAX_JOINTS {
        if frame.mask & (1 << joint) != 0 {
            out.u32(frame.joints[joint].0);
        }
    }
}

/// Reads a frame.
///
/// # Errors
///
/// When bytes are missing.
pub fn read_rig(bytes: &mut Reader<'_>) -> Result<RigFrame, ReadError> {
    let mut frame = RigFrame { mask: bytes.u32()?, ..RigFrame::default() };
    for joint in 0..MAX_JOINTS {
        if frame.mask & (1 << joint) != 0 {
            frame.joints[joint] = PackedJoint(bytes.u32()?);
        }
    }
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-44a
        #[test]
        fn frames_come_back(mask: u32, joints: [u32; MAX_JOINTS]) {
            let mut frame = RigFrame { mask, ..RigFrame::default() };
            for (joint, word) in joints.into_iter().enumerate().filter(|(joint, _)| mask & (1 << joint) != 0) {
                frame.joints[joint] = PackedJoint(word);
            }
            let mut bytes = Vec::new();
            write_rig(&mut Writer::new(&mut bytes), &frame);
            prop_assert_eq!(bytes.len(), frame.encoded_bytes());
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(read_rig(&mut reader), Ok(frame));
            prop_assert_eq!(reader.remaining(), 0);
            let mut cut = Reader::new(&bytes[..bytes.len() - 1]);
            prop_assert_eq!(read_rig(&mut cut), Err(ReadError::Truncated));
        }

        // S-44a: what is told over and over is what there is.
        #[test]
        fn changes_add_up(steps in prop::collection::vec((0_usize..20, -1_f32..1.0), 1..60)) {
            let mut rig = [Quat::IDENTITY; 20];
            let (mut told, mut seen) = (RigFrame::default(), [Quat::IDENTITY; 20]);
            for (joint, x) in steps {
                rig[joint] = Quat::from_xyzw(x, 0.0, 0.0, 1.0).normalize();
                let whole = RigFrame::whole(&rig);
                let changes = whole.changes(&mut told);
                changes.apply(&mut seen);
                for (got, want) in seen.iter().zip(whole.joints) {
                    prop_assert!(got.dot(want.unpack()).abs() > 0.99999);
                }
                prop_assert_eq!(whole.changes(&mut told).mask, 0);
            }
        }
    }
}
