use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::module::CustomState;
use tidelock_sim::motor::{GroundContact, MotorSnapshot};
use tidelock_sim::report::{Correction, CorrectionCause};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{Sequence, SimSpan};

use super::WireError;
use super::scalar::{character_state, read_time, varint_u32};

/// Appends a correction: the whole simulation state, bit for bit.
pub(super) fn write_correction(out: &mut Writer<'_>, correction: &Correction) {
    let Correction { sequence, epoch, time, sim, cause } = correction;
    out.u8(*cause as u8);
    out.u32(sequence.0);
    out.varint(u64::from(*epoch));
    out.varint(time.0);
    write_motor(out, &sim.motor);
    out.prefixed(sim.custom.as_slice());
}

pub(super) fn read_correction(reader: &mut Reader<'_>) -> Result<Correction, WireError> {
    let cause = CorrectionCause::from_number(reader.u8()?).ok_or(WireError::Kind)?;
    let sequence = Sequence(reader.u32()?);
    let epoch = varint_u32(reader)?;
    let time = read_time(reader)?;
    let motor = read_motor(reader)?;
    let custom = CustomState::new(reader.prefixed(CustomState::MAX)?).ok_or(WireError::Value)?;
    Ok(Correction { sequence, epoch, time, sim: CharacterSim { motor, custom }, cause })
}

pub(super) fn write_motor(out: &mut Writer<'_>, motor: &MotorSnapshot) {
    // Taken apart whole, so that a field added to the snapshot cannot be forgotten here.
    let MotorSnapshot {
        position,
        velocity,
        yaw,
        state,
        ground,
        ground_velocity,
        accumulator,
        air_time,
        left_by_jump,
        jump_buffer,
        air_jumps_used,
        jump_held,
    } = *motor;
    out.vec3(position);
    out.vec3(velocity);
    out.f32(yaw);
    out.u8(state as u8);
    out.bool(ground.is_some());
    if let Some(ground) = ground {
        out.varint(ground.collider.0);
        out.vec3(ground.normal);
    }
    out.vec3(ground_velocity);
    out.varint(u64::from(accumulator.0));
    out.varint(u64::from(air_time.0));
    out.bool(left_by_jump);
    out.varint(u64::from(jump_buffer.0));
    out.u8(air_jumps_used);
    out.bool(jump_held);
}

pub(super) fn read_motor(reader: &mut Reader<'_>) -> Result<MotorSnapshot, WireError> {
    let position = reader.bounded_vec3()?;
    let velocity = reader.bounded_vec3()?;
    let yaw = reader.bounded_f32()?;
    let state = character_state(reader.u8()?)?;
    let ground = if reader.bool()? {
        Some(GroundContact { collider: ColliderId(reader.varint()?), normal: reader.bounded_vec3()? })
    } else {
        None
    };
    Ok(MotorSnapshot {
        position,
        velocity,
        yaw,
        state,
        ground,
        ground_velocity: reader.bounded_vec3()?,
        accumulator: SimSpan(varint_u32(reader)?),
        air_time: SimSpan(varint_u32(reader)?),
        left_by_jump: reader.bool()?,
        jump_buffer: SimSpan(varint_u32(reader)?),
        air_jumps_used: reader.u8()?,
        jump_held: reader.bool()?,
    })
}
