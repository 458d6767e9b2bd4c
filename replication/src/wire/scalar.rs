use glam::{Quat, Vec3};
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::motor::CharacterState;
use tidelock_sim::{SimTime, Tick};

use super::{WireError, check};
use crate::ids::InstanceId;

/// An angle in units of 2π/65,536, wrapped; nonfinite counts as 0.
pub(crate) fn angle_to_u16(radians: f32) -> u16 {
    if !radians.is_finite() {
        return 0;
    }
    let turns = f64::from(radians) / std::f64::consts::TAU;
    // A share of a turn below one, so the product is at most 65,536, which wraps to 0.
    ((turns - turns.floor()) * 65_536.0).round() as u32 as u16
}

/// The angle in [-π, π) that `units` of 2π/65,536 stand for.
pub(crate) fn angle_from_u16(units: u16) -> f32 {
    f32::from(units as i16) * (std::f32::consts::TAU / 65_536.0)
}

pub(crate) fn character_state(number: u8) -> Result<CharacterState, WireError> {
    Ok(match number {
        0 => CharacterState::Grounded,
        1 => CharacterState::Jumping,
        2 => CharacterState::Falling,
        3 => CharacterState::Flying,
        4 => CharacterState::Swimming,
        5 => CharacterState::Seated,
        6 => CharacterState::Dead,
        _ => return Err(WireError::Value),
    })
}

pub(crate) fn varint_u32(reader: &mut Reader<'_>) -> Result<u32, WireError> {
    Ok(reader.varint_at_most(u64::from(u32::MAX))? as u32)
}

/// A tick whose time in units still fits 64 bits.
pub(crate) fn read_tick(reader: &mut Reader<'_>) -> Result<Tick, WireError> {
    Ok(Tick(reader.varint_at_most(u64::MAX / SimTime::UNITS_PER_TICK - 1)?))
}

/// An instant at most as late as the latest tick.
pub(crate) fn read_time(reader: &mut Reader<'_>) -> Result<SimTime, WireError> {
    Ok(SimTime(reader.varint_at_most(u64::MAX - SimTime::UNITS_PER_TICK)?))
}

pub(crate) fn read_id(reader: &mut Reader<'_>) -> Result<InstanceId, WireError> {
    let id = InstanceId(reader.varint()?);
    check(id.0 != 0, WireError::Id)?;
    Ok(id)
}

pub(crate) fn write_quat(out: &mut Writer<'_>, rotation: Quat) {
    out.vec3(Vec3::new(rotation.x, rotation.y, rotation.z));
    out.f32(rotation.w);
}

/// A rotation of unit length, bit for bit.
pub(crate) fn read_quat(reader: &mut Reader<'_>) -> Result<Quat, WireError> {
    let Vec3 { x, y, z } = reader.bounded_vec3()?;
    let rotation = Quat::from_xyzw(x, y, z, reader.bounded_f32()?);
    check((rotation.length_squared() - 1.0).abs() < 1e-3, WireError::Value)?;
    Ok(rotation)
}

pub(crate) fn read_array<const N: usize>(reader: &mut Reader<'_>) -> Result<[u8; N], WireError> {
    let mut array = [0; N];
    array.copy_from_slice(reader.take(N)?);
    Ok(array)
}
