use std::f32::consts::TAU;

use glam::{Quat, Vec3};

use crate::motor::CharacterState;

/// Joints of the default rig, in order: root, waist, neck, then shoulder, elbow, wrist, hip, knee and ankle, left before
/// right.
pub const DEFAULT_JOINTS: usize = 15;

/// Studs a character walks in one cycle of both legs.
const STRIDE: f32 = 7.0;
/// Speed at which limbs swing fully, studs/s.
const FULL: f32 = 16.0;

/// What the default rig is derived from when nobody tells a rig (S-44a): how a character moves. Presentation only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Locomotion {
    /// Where in its cycle of steps it is, 0 to 1.
    phase: f32,
    /// How far limbs swing, 0 to 1, following the speed.
    swing: f32,
    /// How much it is in the air, 0 to 1.
    air: f32,
}

impl Locomotion {
    /// Moves on by `dt` seconds of a character that moves at `velocity` studs/s, with `up` of unit length.
    pub fn advance(&mut self, dt: f32, velocity: Vec3, up: Vec3, state: CharacterState) {
        let dt = if dt.is_finite() { dt.clamp(0.0, 0.25) } else { 0.0 };
        let speed = (velocity - up * velocity.dot(up)).length();
        let speed = if speed.is_finite() { speed } else { 0.0 };
        let stands = matches!(state, CharacterState::Grounded | CharacterState::Swimming);
        let kept = libm::expf(-10.0 * dt);
        let wanted = if stands { (speed / FULL).min(1.0) } else { 0.0 };
        self.swing = wanted + (self.swing - wanted) * kept;
        let aloft = if matches!(state, CharacterState::Jumping | CharacterState::Falling) { 1.0 } else { 0.0 };
        self.air = aloft + (self.air - aloft) * kept;
        if stands {
            self.phase = (self.phase + speed * dt / STRIDE).fract();
        }
    }
}

/// Writes the rotations of the default rig; joints beyond the end of `out` are left out.
pub fn default_rig(locomotion: &Locomotion, out: &mut [Quat]) {
    let wave = libm::sinf(locomotion.phase * TAU);
    let (swing, air) = (locomotion.swing, locomotion.air);
    let mut angles = [0.0_f32; DEFAULT_JOINTS];
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let forward = wave * sign * swing;
        angles[3 + side] = -0.8 * forward + 2.4 * air;
        angles[5 + side] = 0.5 * swing;
        angles[9 + side] = 0.9 * forward + 0.3 * air * sign;
        angles[11 + side] = -(0.9 * swing * (0.5 - 0.5 * wave * sign) + 0.5 * air);
    }
    angles[1] = -0.1 * swing;
    for (out, angle) in out.iter_mut().zip(angles) {
        *out = Quat::from_xyzw(libm::sinf(angle * 0.5), 0.0, 0.0, libm::cosf(angle * 0.5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limbs_swing_with_speed_and_come_to_rest() {
        let mut locomotion = Locomotion::default();
        let mut rig = [Quat::IDENTITY; DEFAULT_JOINTS];
        let mut widest = 0.0_f32;
        for _ in 0..120 {
            locomotion.advance(1.0 / 60.0, Vec3::X * 16.0, Vec3::Y, CharacterState::Grounded);
            default_rig(&locomotion, &mut rig);
            widest = widest.max(rig[9].x.abs());
            assert!(rig.iter().all(|joint| (joint.length() - 1.0).abs() < 1e-5));
        }
        assert!(widest > 0.35, "{widest}");
        for _ in 0..120 {
            locomotion.advance(1.0 / 60.0, Vec3::ZERO, Vec3::Y, CharacterState::Grounded);
        }
        locomotion.advance(f32::NAN, Vec3::NAN, Vec3::Y, CharacterState::Seated);
        default_rig(&locomotion, &mut rig);
        assert!(rig.iter().all(|joint| joint.w > 0.9999));
    }
}
