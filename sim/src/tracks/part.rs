use glam::{Quat, Vec3};

use super::rotation;
use super::track::{EXTRAPOLATION, Track, TrackPose};
use super::window::Timed;

/// Pose and motion of a part at an instant of server time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartPose {
    /// Server time in seconds.
    pub time: f64,
    /// Position in studs.
    pub position: Vec3,
    /// Rotation, unit length.
    pub rotation: Quat,
    /// Velocity in studs/s.
    pub velocity: Vec3,
    /// Angular velocity about the world's axes in radians/s.
    pub angular: Vec3,
}

impl Default for PartPose {
    fn default() -> Self {
        Self { time: 0.0, position: Vec3::ZERO, rotation: Quat::IDENTITY, velocity: Vec3::ZERO, angular: Vec3::ZERO }
    }
}

impl Timed for PartPose {
    fn time(&self) -> f64 {
        self.time
    }
}

/// The last 16 received samples of one part (S-42).
pub type PartTrack = Track<PartPose>;

impl TrackPose for PartPose {
    const TELEPORT: f32 = 20.0;
    const QUIET_GAP: f64 = 0.15;

    fn position(&self) -> Vec3 {
        self.position
    }

    fn at(self, time: f64) -> Self {
        Self { time, ..self }
    }

    fn towards(self, later: Self, share: f32, time: f64) -> Self {
        Self {
            time,
            position: self.position.lerp(later.position, share),
            rotation: rotation::slerp(self.rotation, later.rotation, share),
            velocity: self.velocity.lerp(later.velocity, share),
            angular: self.angular.lerp(later.angular, share),
        }
    }

    fn beyond(self, by: f64, time: f64) -> Self {
        let seconds = by.min(EXTRAPOLATION) as f32;
        let moving = by <= EXTRAPOLATION;
        Self {
            time,
            position: self.position + self.velocity * seconds,
            rotation: rotation::turn(self.rotation, self.angular, seconds),
            velocity: if moving { self.velocity } else { Vec3::ZERO },
            angular: if moving { self.angular } else { Vec3::ZERO },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B40, from the first sample on; S-42 spreads what came before it over 0.1 s.
    #[test]
    fn movement_after_a_long_rest_starts_at_full_speed() {
        let mut track = PartTrack::new();
        let mut pose = PartPose::default();
        assert!(track.push(pose));
        for step in 0..10 {
            pose.time = 10.0 + f64::from(step) * 0.05;
            pose.position.x = step as f32 * 0.25 + 0.25;
            pose.velocity.x = 5.0;
            assert!(track.push(pose));
        }
        let mut before = track.sample(9.9).unwrap().position.x;
        let mut time = 9.9;
        while time < 10.3 {
            time += 1.0 / 60.0;
            let now = track.sample(time).unwrap().position.x;
            assert!(now >= before, "backwards at {time}");
            if before >= 0.25 {
                let speed = (now - before) * 60.0;
                assert!((4.5..=5.5).contains(&speed), "{speed} at {time}");
            }
            before = now;
        }
    }

    // S-42
    #[test]
    fn slow_sending_is_no_rest() {
        let mut track = PartTrack::new();
        track.set_send_interval(0.2);
        track.push(PartPose::default());
        track.push(PartPose { time: 0.25, ..PartPose::default() });
        assert_eq!((track.len(), track.first_time()), (2, Some(0.0)));
        track.push(PartPose { time: 0.6, ..PartPose::default() });
        assert_eq!((track.len(), track.first_time()), (2, Some(0.5)));
        assert!(!track.push(PartPose { time: f64::NAN, ..PartPose::default() }));
    }
}
