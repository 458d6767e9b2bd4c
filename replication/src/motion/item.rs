use glam::{Quat, Vec3};
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::motor::CharacterState;
use tidelock_sim::{SimSpan, SimTime, Tick};

use super::rotation::PackedRotation;
use super::velocity::{pack_velocity5, pack_velocity6, unpack_velocity5, unpack_velocity6};
use crate::ids::InstanceId;
use crate::wire::{WireError, angle_from_u16, angle_to_u16, character_state, check};

/// Motion of an unanchored part, or of an anchored one while a script moves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartMotion {
    /// Centre, studs.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// Linear velocity, studs/s; zero is left out on the wire.
    pub linear_velocity: Vec3,
    /// Angular velocity about the world's axes, radians/s; zero is left out on the wire.
    pub angular_velocity: Vec3,
}

/// Root motion of a character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CharacterMotion {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Velocity, studs/s; on the wire right to 1/2,047 of its largest component.
    pub velocity: Vec3,
    /// Facing, radians; on the wire right to 2π/65,536.
    pub yaw: f32,
    /// What it is doing.
    pub state: CharacterState,
    /// When it was there, in server time: the report's sample time. On the wire right to 1/640 s and between 0.15 s before
    /// the tick that encodes it and that tick (S-41).
    pub sample: SimTime,
}

/// One subject's motion in a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotionItem {
    /// Of a part.
    Part {
        /// Whose.
        id: InstanceId,
        /// When it was so: the batch's tick, or earlier for a resting state.
        tick: Tick,
        /// Whether it is the state in which the subject had rested until it began to move.
        resting: bool,
        /// Pose and velocities.
        motion: PartMotion,
    },
    /// Of a character.
    Character {
        /// Whose.
        id: InstanceId,
        /// Whether it is the state in which the subject had rested until it began to move.
        resting: bool,
        /// Pose, velocity, and when.
        motion: CharacterMotion,
    },
}

impl MotionItem {
    /// Whose motion it is.
    #[must_use]
    pub fn id(&self) -> InstanceId {
        match self {
            Self::Part { id, .. } | Self::Character { id, .. } => *id,
        }
    }

    /// The tick by which a [`super::MotionGate`] orders the item of a batch of tick `batch`: a resting state comes before the
    /// moving one beside it.
    #[must_use]
    pub fn order(&self, batch: Tick) -> Tick {
        match self {
            Self::Part { tick, .. } => *tick,
            Self::Character { resting: true, .. } => Tick(batch.0.saturating_sub(1)),
            Self::Character { .. } => batch,
        }
    }
}

/// The most bytes an item takes.
pub const MAX_ITEM_BYTES: usize = 48;

/// Units of [`SimTime`] in one unit of a character item's sample byte.
const SAMPLE_UNITS: u64 = 96;
/// One unit of a character item's sample byte.
pub(super) const SAMPLE_STEP: SimSpan = SimSpan(SAMPLE_UNITS as u32);
/// The oldest a sample may be when it is encoded.
const MAX_AGE: SimSpan = SimSpan(9_216);

const CHARACTER: u8 = 0x80;
pub(super) const RESTING: u8 = 0x40;
const LINEAR: u8 = 0x01;
const ANGULAR: u8 = 0x02;
const STATE_MASK: u8 = 0x07;
pub(super) const MOVING: u8 = 0x08;

/// Appends a part's item.
pub(super) fn write_part(bytes: &mut Vec<u8>, id: InstanceId, motion: &PartMotion) {
    let linear = pack_velocity6(motion.linear_velocity);
    let angular = pack_velocity6(motion.angular_velocity);
    let mut flags = 0;
    if linear != [0; 6] {
        flags |= LINEAR;
    }
    if angular != [0; 6] {
        flags |= ANGULAR;
    }
    let mut out = Writer::new(bytes);
    out.varint(id.0);
    out.u8(flags);
    out.vec3(motion.position);
    write_rotation(&mut out, motion.rotation);
    if flags & LINEAR != 0 {
        out.raw(&linear);
    }
    if flags & ANGULAR != 0 {
        out.raw(&angular);
    }
}

/// Appends a rotation in its 8 bytes.
fn write_rotation(out: &mut Writer<'_>, rotation: Quat) {
    let packed = PackedRotation::pack(rotation);
    for component in packed.axis {
        out.i16(component);
    }
    out.u16(packed.angle);
}

/// Reads a rotation from its 8 bytes.
fn read_rotation(reader: &mut Reader<'_>) -> Result<Quat, WireError> {
    Ok(PackedRotation { axis: [reader.i16()?, reader.i16()?, reader.i16()?], angle: reader.u16()? }.unpack())
}

/// Appends a character's item, its sample time cut to what `now` allows.
pub(super) fn write_character(bytes: &mut Vec<u8>, id: InstanceId, motion: &CharacterMotion, now: Tick) {
    let velocity = pack_velocity5(motion.velocity);
    let mut flags = CHARACTER | motion.state as u8;
    if velocity != [0; 5] {
        flags |= MOVING;
    }
    let mut out = Writer::new(bytes);
    out.varint(id.0);
    out.u8(flags);
    out.vec3(motion.position);
    if flags & MOVING != 0 {
        out.raw(&velocity);
    }
    out.u16(angle_to_u16(motion.yaw));
    out.u8(sample_byte(clamp_sample(motion.sample, now)));
}

/// A sample time no older and no newer than `now` allows.
pub(super) fn clamp_sample(sample: SimTime, now: Tick) -> SimTime {
    sample.clamp(now.time() - MAX_AGE, now.time())
}

/// Low byte of a sample time in wire units, rounded down so that no sample reads as later than its tick.
pub(super) fn sample_byte(sample: SimTime) -> u8 {
    (sample.0 / SAMPLE_UNITS) as u8
}

fn sample_from_byte(byte: u8, tick: Tick) -> SimTime {
    let now = tick.time().0 / SAMPLE_UNITS;
    let age = (now as u8).wrapping_sub(byte);
    SimTime(now.saturating_sub(u64::from(age)) * SAMPLE_UNITS)
}

/// Reads one item of a batch of `tick`.
///
/// # Errors
///
/// Any [`WireError`] of a malformed item: an id of 0, unknown flags or state, a nonfinite position, too few bytes.
pub(super) fn read_item(reader: &mut Reader<'_>, tick: Tick) -> Result<MotionItem, WireError> {
    let id = InstanceId(reader.varint()?);
    check(id.0 != 0, WireError::Id)?;
    let flags = reader.u8()?;
    let resting = flags & RESTING != 0;
    let position = reader.bounded_vec3()?;
    if flags & CHARACTER != 0 {
        check(flags & !(CHARACTER | RESTING | MOVING | STATE_MASK) == 0, WireError::Flags)?;
        let state = character_state(flags & STATE_MASK)?;
        let velocity = if flags & MOVING != 0 { unpack_velocity5(array(reader.take(5)?)) } else { Vec3::ZERO };
        let yaw = angle_from_u16(reader.u16()?);
        let sample = sample_from_byte(reader.u8()?, tick);
        return Ok(MotionItem::Character {
            id,
            resting,
            motion: CharacterMotion { position, velocity, yaw, state, sample },
        });
    }
    check(flags & !(RESTING | LINEAR | ANGULAR) == 0, WireError::Flags)?;
    let rotation = read_rotation(reader)?;
    let mut velocity = |bit| -> Result<Vec3, WireError> {
        Ok(if flags & bit != 0 { unpack_velocity6(array(reader.take(6)?)) } else { Vec3::ZERO })
    };
    let linear_velocity = velocity(LINEAR)?;
    let angular_velocity = velocity(ANGULAR)?;
    let tick = if resting {
        let age = (tick.0 as u8).wrapping_sub(reader.u8()?);
        Tick(tick.0.saturating_sub(u64::from(age)))
    } else {
        tick
    };
    Ok(MotionItem::Part {
        id,
        tick,
        resting,
        motion: PartMotion { position, rotation, linear_velocity, angular_velocity },
    })
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut copied = [0; N];
    copied.copy_from_slice(bytes);
    copied
}
