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
    /// Time for which a jump pressed in the air still waits.
    pub jump_buffer: SimSpan,
    /// Air jumps used since ground was left.
    pub air_jumps_used: u8,
    /// Whether jump was held in the last tick; a press is a rising edge.
    pub jump_held: bool,
}
