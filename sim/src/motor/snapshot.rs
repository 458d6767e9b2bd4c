use glam::Vec3;

use crate::collision::ColliderId;
use crate::time::SimSpan;

/// What a character is doing, as far as movement is concerned. On the wire its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CharacterState {
    /// Standing or walking on walkable ground.
    Grounded = 0,
    /// In the air, rising from a jump.
    Jumping = 1,
    /// In the air otherwise, or on ground too steep to stand on.
    #[default]
    Falling = 2,
    /// Flying by the game's grant.
    Flying = 3,
    /// In water.
    Swimming = 4,
    /// Placed by a seat; does not replay.
    Seated = 5,
    /// Dead; does not replay.
    Dead = 6,
}

/// The ground under a character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundContact {
    /// Which collider.
    pub collider: ColliderId,
    /// Its surface normal, unit length.
    pub normal: Vec3,
}

/// All a motor needs to resume bit for bit (S-11).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotorSnapshot {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Velocity in the world, studs/s, without the ground's own.
    pub velocity: Vec3,
    /// Facing about the up direction, radians in (-π, π].
    pub yaw: f32,
    /// What the character is doing.
    pub state: CharacterState,
    /// What it stands on.
    pub ground: Option<GroundContact>,
    /// Velocity of the ground at the feet during the last tick, studs/s; kept as momentum when leaving it.
    pub ground_velocity: Vec3,
    /// Time given and not yet simulated, less than one motor tick.
    pub accumulator: SimSpan,
    /// Time since ground was left, saturating.
    pub air_time: SimSpan,
    /// Whether ground was left by a jump, after which no coyote time is granted.
    pub left_by_jump: bool,
    /// Time for which a jump pressed in the air still waits.
    pub jump_buffer: SimSpan,
    /// Air jumps used since ground was left.
    pub air_jumps_used: u8,
    /// Whether jump was held in the last tick; a press is a rising edge.
    pub jump_held: bool,
}

impl MotorSnapshot {
    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite()
            && self.velocity.is_finite()
            && self.yaw.is_finite()
            && self.ground_velocity.is_finite()
            && self.ground.is_none_or(|ground| ground.normal.is_finite())
    }

    /// 64-bit FNV-1a over every field's bits: equal snapshots have equal digests, on every machine.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        digest.vec3(self.position);
        digest.vec3(self.velocity);
        digest.word(self.yaw.to_bits());
        digest.word(self.state as u32);
        digest.word(u32::from(self.ground.is_some()));
        if let Some(ground) = self.ground {
            digest.word(ground.collider.0 as u32);
            digest.word((ground.collider.0 >> 32) as u32);
            digest.vec3(ground.normal);
        }
        digest.vec3(self.ground_velocity);
        digest.word(self.accumulator.0);
        digest.word(self.air_time.0);
        digest.word(u32::from(self.left_by_jump));
        digest.word(self.jump_buffer.0);
        digest.word(u32::from(self.air_jumps_used));
        digest.word(u32::from(self.jump_held));
        digest.0
    }
}

/// FNV-1a.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn word(&mut self, word: u32) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn vec3(&mut self, value: Vec3) {
        for part in value.to_array() {
            self.word(part.to_bits());
        }
    }
}
