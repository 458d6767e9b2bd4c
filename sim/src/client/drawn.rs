use glam::Vec3;

use crate::angle::wrap_angle;
use crate::motor::MotorSnapshot;

/// Where the own character is drawn. Presentation only: nothing computed from it may enter simulation (S-37).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DrawnPose {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Facing, radians in (-π, π].
    pub yaw: f32,
}

/// The last two motor states and how far apart they are, for drawing between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    position: Vec3,
    yaw: f32,
    ticks: u32,
}

impl Stride {
    /// A stride that goes nowhere.
    pub(super) fn at(motor: &MotorSnapshot) -> Self {
        Self { position: motor.position, yaw: motor.yaw, ticks: 1 }
    }

    /// A stride that began at `before` and took `ticks` motor ticks.
    pub(super) fn new(before: &MotorSnapshot, ticks: u32) -> Self {
        Self { position: before.position, yaw: before.yaw, ticks: ticks.max(1) }
    }

    /// Moves the beginning along with a correction.
    pub(super) fn shift(&mut self, position: Vec3, angle: f32) {
        self.position += position;
        self.yaw = wrap_angle(self.yaw + angle);
    }

    /// The pose one motor tick before the present, which is `pending` units after `current`. A present less than a tick
    /// away lies inside the stride; beyond, the stride is continued, for less than another tick.
    pub(super) fn pose(&self, current: &MotorSnapshot, pending: f64) -> DrawnPose {
        let length = f64::from(self.ticks) * 256.0;
        let share = (1.0 + (pending - 256.0) / length) as f32;
        DrawnPose {
            position: self.position + (current.position - self.position) * share,
            yaw: wrap_angle(self.yaw + wrap_angle(current.yaw - self.yaw) * share),
        }
    }
}
