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
