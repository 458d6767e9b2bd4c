use glam::Vec3;

use super::track::{EXTRAPOLATION, Track, TrackPose};
use super::window::Timed;
use crate::angle::wrap_angle;
use crate::motor::CharacterState;

/// Pose of a character at an instant of server time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CharacterPose {
    /// Server time in seconds.
    pub time: f64,
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Velocity in studs/s.
    pub velocity: Vec3,
    /// Facing about the up direction, radians.
    pub yaw: f32,
    /// What the character is doing.
    pub state: CharacterState,
}

impl Timed for CharacterPose {
    fn time(&self) -> f64 {
        self.time
    }
}

/// The last 16 received poses of one character (S-43).
pub type CharacterTrack = Track<CharacterPose>;

impl TrackPose for CharacterPose {
    const TELEPORT: f32 = 25.0;
    const QUIET_GAP: f64 = 0.3;

    fn position(&self) -> Vec3 {
        self.position
    }

    fn at(self, time: f64) -> Self {
        Self { time, ..self }
    }

    fn before(self, time: f64) -> Self {
        Self { time, yaw: wrap_angle(self.yaw), ..self }
    }

    fn towards(self, later: Self, share: f32, time: f64) -> Self {
        Self {
            time,
            position: self.position.lerp(later.position, share),
            velocity: self.velocity.lerp(later.velocity, share),
            yaw: wrap_angle(self.yaw + wrap_angle(later.yaw - self.yaw) * share),
            state: if share < 1.0 { self.state } else { later.state },
        }
    }

    fn beyond(self, by: f64, time: f64) -> Self {
        Self {
            time,
            position: self.position + self.velocity * by.min(EXTRAPOLATION) as f32,
            velocity: if by <= EXTRAPOLATION { self.velocity } else { Vec3::ZERO },
            yaw: wrap_angle(self.yaw),
            state: self.state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B43
    #[test]
    fn yaw_crosses_the_seam_by_the_short_way() {
        let mut track = CharacterTrack::new();
        track.push(CharacterPose { yaw: 179_f32.to_radians(), ..CharacterPose::default() });
        track.push(CharacterPose { time: 0.1, yaw: -179_f32.to_radians(), ..CharacterPose::default() });
        let middle = track.sample(0.05).unwrap().yaw.to_degrees();
        assert!(middle.abs() > 179.5, "{middle}");
    }

    // S-43
    #[test]
    fn extrapolation_ends() {
        let mut track = CharacterTrack::new();
        assert_eq!(track.sample(1.0), None);
        track.push(CharacterPose { velocity: Vec3::X * 8.0, ..CharacterPose::default() });
        assert_eq!(track.sample(0.125).unwrap().position.x, 1.0);
        assert_eq!(track.sample(9.0).unwrap().position.x, 2.0);
        assert!(!track.push(CharacterPose::default()), "not newer");
    }

    // S-43: five samples of a walk lost in a row are no rest.
    #[test]
    fn a_subject_known_to_have_moved_goes_straight_on() {
        let walks = |time: f64| CharacterPose {
            time,
            position: Vec3::X * 16.0 * time as f32,
            velocity: Vec3::X * 16.0,
            ..CharacterPose::default()
        };
        let drawn = |push: fn(&mut CharacterTrack, CharacterPose) -> bool, next: f64| {
            let mut track = CharacterTrack::new();
            track.push(walks(0.0));
            assert!(push(&mut track, walks(next)));
            track.sample(0.25).unwrap().position.x
        };
        assert!((drawn(CharacterTrack::push_moving, 0.35) - 4.0).abs() < 1e-4);
        assert!(drawn(CharacterTrack::push, 0.35) < 1e-4, "it rested until a tenth of a second before");
        assert!(drawn(CharacterTrack::push_moving, 1.2) < 1e-4, "longer than any loss");
    }
}
