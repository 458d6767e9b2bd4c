use glam::{Quat, Vec3};

use super::{PackedJoint, RigFrame};
use crate::time::{SimSpan, SimTime};
use crate::tracks::MAX_JOINTS;

/// How often and to whom rigs are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigStreamConfig {
    /// Least time between two frames of one rig, default 0.1 s.
    pub interval: SimSpan,
    /// Frames in which a changed joint is told, default 3: the stream may lose packets.
    pub repeats: u8,
    /// Farthest a viewer may be to be told a rig, studs, default 40.
    pub radius: f32,
    /// Most rigs a viewer is told, the nearest, default 24.
    pub most: usize,
}

impl Default for RigStreamConfig {
    fn default() -> Self {
        Self { interval: SimSpan(6_144), repeats: 3, radius: 40.0, most: 24 }
    }
}

/// What of one character's rig is sent when; one for all viewers, so that a frame is encoded once (S-44a).
///
/// Joints are told when they change, some times over; besides, each frame that has any tells one more in turn, so that a
/// viewer who has just come near, or lost much, soon knows all.
#[derive(Clone, Copy, Debug)]
pub struct RigSelection {
    held: RigFrame,
    /// Frames in which each joint is still to be told.
    due: [u8; MAX_JOINTS],
    turn: u8,
    next: SimTime,
}

impl Default for RigSelection {
    fn default() -> Self {
        Self { held: RigFrame::default(), due: [0; MAX_JOINTS], turn: 0, next: SimTime(0) }
    }
}

impl RigSelection {
    /// The frame to send at `now` of a rig with these rotations, or `None` when it is too early or nothing changed lately.
    pub fn poll(&mut self, now: SimTime, rotations: &[Quat], config: &RigStreamConfig) -> Option<RigFrame> {
        if now < self.next {
            return None;
        }
        let joints = rotations.len().min(MAX_JOINTS);
        let mut frame = RigFrame::default();
        for (joint, rotation) in rotations.iter().enumerate().take(joints) {
            let packed = PackedJoint::pack(*rotation);
            let bit = 1_u32 << joint;
            if self.held.mask & bit == 0 || self.held.joints[joint] != packed {
                self.held.joints[joint] = packed;
                self.held.mask |= bit;
                self.due[joint] = config.repeats.max(1);
            }
            frame.joints[joint] = packed;
            if self.due[joint] > 0 {
                self.due[joint] -= 1;
                frame.mask |= bit;
            }
        }
        if frame.mask == 0 {
            return None;
        }
        self.turn = (self.turn + 1) % joints as u8;
        frame.mask |= 1 << self.turn;
        self.next = now + config.interval;
        Some(frame)
    }

    /// Writes to `chosen` which of `positions` a viewer at `viewer` is told the rigs of: the nearest within the radius,
    /// nearest first, as indices. Positions that are no numbers are not.
    pub fn viewed(viewer: Vec3, positions: &[Vec3], config: &RigStreamConfig, chosen: &mut Vec<u32>) {
        let distance = |index: &u32| positions[*index as usize].distance_squared(viewer);
        chosen.clear();
        let near = (0..positions.len() as u32).filter(|index| distance(index) <= config.radius * config.radius);
        chosen.extend(near);
        if chosen.len() > config.most && config.most > 0 {
            chosen.select_nth_unstable_by(config.most - 1, |a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
        }
        chosen.truncate(config.most);
        chosen.sort_unstable_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaw(angle: f32) -> Quat {
        Quat::from_xyzw(0.0, libm::sinf(angle * 0.5), 0.0, libm::cosf(angle * 0.5))
    }

    // S-44a
    #[test]
    fn changed_joints_travel_at_ten_hertz_and_loss_heals() {
        let config = RigStreamConfig::default();
        let (mut stream, mut rig, mut seen) = (RigSelection::default(), [yaw(0.0); 15], [Quat::IDENTITY; 15]);
        let (mut frames, mut bytes, mut seed) = (0, 0, 1_u32);
        for tick in 0..600_u32 {
            if tick < 540 {
                rig[3] = yaw(tick as f32 * 0.01);
                rig[4] = yaw(tick as f32 * -0.02);
            }
            if let Some(frame) = stream.poll(SimTime(1_024 * u64::from(tick)), &rig, &config) {
                frames += 1;
                bytes += frame.encoded_bytes();
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if seed >> 29 != 0 {
                    frame.apply(&mut seen);
                }
            }
        }
        assert!((90..=101).contains(&frames), "{frames}");
        assert!(bytes < 101 * (4 + 4 * 4) + 3 * 15 * 4, "{bytes}");
        assert!(rig.iter().zip(seen).all(|(want, got)| want.dot(got).abs() > 0.9999));
        assert_eq!(stream.poll(SimTime(1_024 * 700), &rig, &config), None, "at rest it is silent");
    }

    // S-44a
    #[test]
    fn viewers_are_told_the_nearest() {
        let config = RigStreamConfig { most: 3, ..RigStreamConfig::default() };
        let positions: Vec<Vec3> = [30.0, 5.0, 41.0, 1.0, f32::NAN, 20.0, 5.0].iter().map(|x| Vec3::X * *x).collect();
        let mut chosen = Vec::new();
        RigSelection::viewed(Vec3::ZERO, &positions, &config, &mut chosen);
        assert_eq!(chosen, [3, 1, 6]);
        RigSelection::viewed(Vec3::X * 500.0, &positions, &config, &mut chosen);
        assert_eq!(chosen, []);
    }
}
