use glam::{Quat, Vec3};
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::{OwnedReport, OwnedSnapshot};
use tidelock_sim::{PartState, Sequence, SimTime};

use super::scalar::{read_id, read_quat, read_time, varint_u32, write_quat};
use super::{WireError, check};
use crate::ids::{Generation, InstanceId, PlayerId};

/// The most bytes of an owned report: 64 parts, each of the longest numbers.
pub const MAX_OWNED_BYTES: usize = 5_000;

/// The most bytes one part of an owned report takes.
pub const MAX_OWNED_PART_BYTES: usize = 10 + 5 + 52;

/// Appends an owned report (motion lane): what a client says of the parts it simulates.
///
/// # Panics
///
/// When it names more than [`OwnedReport::MAX_SNAPSHOTS`] parts.
pub fn write_owned_report(bytes: &mut Vec<u8>, report: &OwnedReport) {
    assert!(report.snapshots.len() <= OwnedReport::MAX_SNAPSHOTS, "a report of {} parts", report.snapshots.len());
    let mut out = Writer::new(bytes);
    out.u32(report.sequence.0);
    out.varint(report.time.0);
    out.u8(report.snapshots.len() as u8);
    for OwnedSnapshot { part, epoch, state } in &report.snapshots {
        out.varint(part.0);
        out.varint(u64::from(*epoch));
        write_state(&mut out, state);
    }
}

/// Reads an owned report into `report`, whose parts' memory is used again. Numbers may be nonfinite and rotations of any
/// length: the checks of S-51 see them.
///
/// # Errors
///
/// Any [`WireError`]; `report` then holds nothing meaningful.
pub fn read_owned_report(bytes: &[u8], report: &mut OwnedReport) -> Result<(), WireError> {
    report.snapshots.clear();
    check(bytes.len() <= MAX_OWNED_BYTES, WireError::TooLong)?;
    let mut reader = Reader::new(bytes);
    report.sequence = Sequence(reader.u32()?);
    report.time = read_time(&mut reader)?;
    let count = usize::from(reader.u8()?);
    check(count <= OwnedReport::MAX_SNAPSHOTS, WireError::TooLong)?;
    for _ in 0..count {
        let part = ColliderId(read_id(&mut reader)?.0);
        let epoch = varint_u32(&mut reader)?;
        let position = reader.vec3()?;
        let Vec3 { x, y, z } = reader.vec3()?;
        let rotation = Quat::from_xyzw(x, y, z, reader.f32()?);
        let state = PartState { position, rotation, velocity: reader.vec3()?, angular: reader.vec3()? };
        report.snapshots.push(OwnedSnapshot { part, epoch, state });
    }
    Ok(reader.finish()?)
}

/// Who simulates a loose part from now on, as the server tells its clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnershipWord {
    /// Generation it belongs to.
    pub generation: Generation,
    /// Which part.
    pub part: InstanceId,
    /// Its epoch, which grows with each change of owner and each write of the game.
    pub epoch: u32,
    /// Its owner, `None` for the server.
    pub owner: Option<PlayerId>,
    /// Whether the game put it where `known` says, so that whoever simulates it has to follow.
    pub written: bool,
    /// Where the server has it, and when: for a new owner, and of a written part for all.
    pub known: Option<(SimTime, PartState)>,
}

const OWNER: u8 = 0x01;
const WRITTEN: u8 = 0x02;
const KNOWN: u8 = 0x04;

pub(super) fn write_word(out: &mut Writer<'_>, word: &OwnershipWord) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    out.varint(u64::from(word.generation.0));
    out.varint(word.part.0);
    out.varint(u64::from(word.epoch));
    out.u8(flag(word.owner.is_some(), OWNER) | flag(word.written, WRITTEN) | flag(word.known.is_some(), KNOWN));
    if let Some(owner) = word.owner {
        out.varint(owner.0);
    }
    if let Some((at, state)) = &word.known {
        out.varint(at.0);
        write_state(out, state);
    }
}

pub(super) fn read_word(reader: &mut Reader<'_>) -> Result<OwnershipWord, WireError> {
    let generation = Generation(varint_u32(reader)?);
    let part = read_id(reader)?;
    let epoch = varint_u32(reader)?;
    let flags = reader.u8()?;
    check(flags & !(OWNER | WRITTEN | KNOWN) == 0, WireError::Flags)?;
    let (written, known) = (flags & WRITTEN != 0, flags & KNOWN != 0);
    // A part cannot be put where nobody says.
    check(known || !written, WireError::Flags)?;
    let owner = if flags & OWNER != 0 { Some(PlayerId(reader.varint()?)) } else { None };
    let known = if known { Some((read_time(reader)?, read_state(reader)?)) } else { None };
    Ok(OwnershipWord { generation, part, epoch, owner, written, known })
}

fn write_state(out: &mut Writer<'_>, state: &PartState) {
    out.vec3(state.position);
    write_quat(out, state.rotation);
    out.vec3(state.velocity);
    out.vec3(state.angular);
}

fn read_state(reader: &mut Reader<'_>) -> Result<PartState, WireError> {
    Ok(PartState {
        position: reader.finite_vec3()?,
        rotation: read_quat(reader)?,
        velocity: reader.finite_vec3()?,
        angular: reader.finite_vec3()?,
    })
}
