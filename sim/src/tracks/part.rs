use glam::{Quat, Vec3};

use super::rotation;
use super::window::{Place, Timed, Window};

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

/// Displacement between neighbours above which the part was put elsewhere, studs.
const TELEPORT: f32 = 20.0;
/// Gap above which a part rested in between, seconds.
const QUIET_GAP: f64 = 0.15;
/// How long before the arriving sample a resting part starts to move, seconds.
const BRIDGE: f64 = 0.1;
/// How long a part moves on without news, seconds.
const EXTRAPOLATION: f64 = 0.25;

/// The last 16 received samples of one part (S-42). Nothing allocates.
#[derive(Clone, Copy, Debug)]
pub struct PartTrack {
    window: Window<PartPose>,
    send_interval: f64,
}

impl Default for PartTrack {
    fn default() -> Self {
        Self::new()
    }
}

impl PartTrack {
    /// A track without samples.
    #[must_use]
    pub fn new() -> Self {
        Self { window: Window::new(), send_interval: 0.0 }
    }

    /// Tells how often the server sends this part, seconds, when that is known and may be slow; 0 means unknown.
    pub fn set_send_interval(&mut self, seconds: f64) {
        self.send_interval = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    }

    /// Takes in a sample; false when it is not newer than the newest one and was left out. A displacement above 20
    /// studs starts the window afresh; a long gap means the part rested until just before this sample.
    pub fn push(&mut self, sample: PartPose) -> bool {
        let Some(newest) = self.window.newest().copied() else {
            self.window.push(sample);
            return !sample.time.is_nan();
        };
        // Not `<=`: a time that is no number is not newer either.
        if sample.time.partial_cmp(&newest.time) != Some(std::cmp::Ordering::Greater) {
            return false;
        }
        if sample.position.distance(newest.position) > TELEPORT {
            self.window.clear();
        } else if sample.time - newest.time > QUIET_GAP.max(1.5 * self.send_interval) {
            self.window.clear();
            self.window.push(PartPose { time: sample.time - BRIDGE, ..newest });
        }
        self.window.push(sample);
        true
    }

    /// Samples kept, at most 16.
    #[must_use]
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether nothing was received yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all samples.
    pub fn clear(&mut self) {
        self.window.clear();
    }

    /// Server time of the earliest sample: a part is not shown before it. `None` without samples.
    #[must_use]
    pub fn first_time(&self) -> Option<f64> {
        self.window.first().map(|first| first.time)
    }

    /// The newest sample received.
    #[must_use]
    pub fn newest(&self) -> Option<&PartPose> {
        self.window.newest()
    }

    /// The sample `index` before the newest, 0 for the newest itself.
    #[must_use]
    pub fn recent(&self, index: usize) -> Option<&PartPose> {
        self.window.get(self.window.len().checked_sub(index + 1)?)
    }

    /// Drops samples at or after `time`, so that others of that time can be taken in.
    pub fn rewind(&mut self, time: f64) {
        self.window.rewind(time);
    }

    /// The pose at server time `time`: between samples interpolated, before the first the first, after the last moved
    /// on for at most 0.25 s and then at rest. `None` without samples.
    #[must_use]
    pub fn sample(&self, time: f64) -> Option<PartPose> {
        Some(match self.window.place(time)? {
            Place::Before(first) => PartPose { time, ..first },
            Place::Between(earlier, later, share) => {
                let share = share as f32;
                PartPose {
                    time,
                    position: earlier.position.lerp(later.position, share),
                    rotation: rotation::slerp(earlier.rotation, later.rotation, share),
                    velocity: earlier.velocity.lerp(later.velocity, share),
                    angular: earlier.angular.lerp(later.angular, share),
                }
            }
            Place::After(last, by) => {
                let seconds = by.min(EXTRAPOLATION) as f32;
                let moving = by <= EXTRAPOLATION;
                PartPose {
                    time,
                    position: last.position + last.velocity * seconds,
                    rotation: rotation::turn(last.rotation, last.angular, seconds),
                    velocity: if moving { last.velocity } else { Vec3::ZERO },
                    angular: if moving { last.angular } else { Vec3::ZERO },
                }
            }
        })
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
