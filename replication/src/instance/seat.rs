use glam::Vec3;
use tidelock_sim::motor::{facing, yaw_towards};

use super::Pose;
use crate::ids::InstanceId;

/// Where a character sits: a spot on a part, which it follows wherever the part goes (S-24).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    /// The part.
    pub part: InstanceId,
    /// Centre of the character's capsule in the part's axes, studs from the part's centre.
    pub offset: Vec3,
    /// Facing in the part's axes, radians.
    pub yaw: f32,
}

impl Seat {
    /// Position and yaw of who sits here while the part is at `part`. However the part leans, characters sit along `up`; when the
    /// seat faces straight up or down the yaw is 0.
    #[must_use]
    pub fn place(&self, part: Pose, up: Vec3) -> (Vec3, f32) {
        let ahead = part.rotation * facing(self.yaw, up);
        (part.position + part.rotation * self.offset, yaw_towards(ahead, up).unwrap_or(0.0))
    }

    /// Velocity of the seat while its part moves with these velocities, studs/s and radians/s about the world's axes.
    #[must_use]
    pub fn velocity(&self, part: Pose, linear: Vec3, angular: Vec3) -> Vec3 {
        linear + angular.cross(part.rotation * self.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use glam::Quat;

    use super::*;

    #[test]
    fn a_seat_turns_and_leans_with_its_part() {
        let seat = Seat { part: InstanceId(1), offset: Vec3::new(0.0, 1.0, -2.0), yaw: 0.0 };
        let turned = Pose { position: Vec3::new(5.0, 0.0, 0.0), rotation: Quat::from_rotation_y(FRAC_PI_2) };
        let (position, yaw) = seat.place(turned, Vec3::Y);
        assert!(position.abs_diff_eq(Vec3::new(3.0, 1.0, 0.0), 1e-5), "{position}");
        assert!((yaw - FRAC_PI_2).abs() < 1e-5, "{yaw}");
        let velocity = seat.velocity(turned, Vec3::X, Vec3::Y);
        assert!(velocity.abs_diff_eq(Vec3::new(1.0, 0.0, 2.0), 1e-5), "{velocity}");
        let rearing = Pose { position: Vec3::ZERO, rotation: Quat::from_rotation_x(FRAC_PI_2) };
        let (position, yaw) = seat.place(rearing, Vec3::Y);
        assert!(position.abs_diff_eq(Vec3::new(0.0, 2.0, 1.0), 1e-5), "{position}");
        assert_eq!(yaw, 0.0);
    }
}
