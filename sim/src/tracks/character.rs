use glam::Vec3;

use super::window::{Place, Timed, Window};
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

/// Displacement between neighbours above which the character was put elsewhere, studs.
const TELEPORT: f32 = 25.0;
/// Gap above which a character rested in between, seconds.
const QUIET_GAP: f64 = 0.3;
/// How long before the arriving sample a resting character starts to move, seconds.
const BRIDGE: f64 = 0.1;
/// How long a character moves on without news, seconds.
const EXTRAPOLATION: f64 = 0.25;

/// The last 16 received poses of one character (S-43). Nothing allocates.
#[derive(Clone, Copy, Debug)]
pub struct CharacterTrack {
    window: Window<CharacterPose>,
    send_interval: f64,
}

impl Default for CharacterTrack {
    fn default() -> Self {
        Self::new()
    }
}

impl CharacterTrack {
    /// A track without poses.
    #[must_use]
    pub fn new() -> Self {
        Self { window: Window::new(), send_interval: 0.0 }
    }

    /// Tells how often the server sends this character, seconds, when that is known and may be slow; 0 means unknown.
    pub fn set_send_interval(&mut self, seconds: f64) {
        self.send_interval = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    }

    /// Takes in a pose; false when it is not newer than the newest one and was left out. A displacement above 25
    /// studs starts the window afresh; a gap above 0.3 s means the character rested until just before this pose.
    pub fn push(&mut self, pose: CharacterPose) -> bool {
        let Some(newest) = self.window.newest().copied() else {
            self.window.push(pose);
            return !pose.time.is_nan();
        };
        // Not `<=`: a time that is no number is not newer either.
        if pose.time.partial_cmp(&newest.time) != Some(std::cmp::Ordering::Greater) {
            return false;
        }
        if pose.position.distance(newest.position) > TELEPORT {
            self.window.clear();
        } else if pose.time - newest.time > QUIET_GAP.max(1.5 * self.send_interval) {
            self.window.clear();
            self.window.push(CharacterPose { time: pose.time - BRIDGE, ..newest });
        }
        self.window.push(pose);
        true
    }

    /// Poses kept, at most 16.
    #[must_use]
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether nothing was received yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all poses.
    pub fn clear(&mut self) {
        self.window.clear();
    }

    /// Server time of the earliest pose: a character is not shown before it. `None` without poses.
    #[must_use]
    pub fn first_time(&self) -> Option<f64> {
        self.window.first().map(|first| first.time)
    }

    /// The newest pose received.
    #[must_use]
    pub fn newest(&self) -> Option<&CharacterPose> {
        self.window.newest()
    }

    /// The pose at server time `time`: position and yaw interpolated between poses, before the first the first, after
    /// the last moved on for at most 0.25 s with yaw held. `None` without poses.
    #[must_use]
    pub fn sample(&self, time: f64) -> Option<CharacterPose> {
        Some(match self.window.place(time)? {
            Place::Before(first) => CharacterPose { time, yaw: wrap_angle(first.yaw), ..first },
            Place::Between(earlier, later, share) => {
                let share = share as f32;
                CharacterPose {
                    time,
                    position: earlier.position.lerp(later.position, share),
                    velocity: earlier.velocity.lerp(later.velocity, share),
                    yaw: wrap_angle(earlier.yaw + wrap_angle(later.yaw - earlier.yaw) * share),
                    state: if share < 1.0 { earlier.state } else { later.state },
                }
            }
            Place::After(last, by) => CharacterPose {
                time,
                position: last.position + last.velocity * by.min(EXTRAPOLATION) as f32,
                velocity: if by <= EXTRAPOLATION { last.velocity } else { Vec3::ZERO },
                yaw: wrap_angle(last.yaw),
                state: last.state,
            },
        })
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
}
