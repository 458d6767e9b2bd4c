use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::ownership::OwnedReport;
use tidelock_sim::{PartState, Sequence, SimTime};

use super::owned_part::{Before, MAX_PART_BYTES, read_part, write_part};
use super::scalar::{read_id, read_quat, read_time, varint_u32, write_quat};
use super::{WireError, check};
use crate::ids::{Generation, InstanceId, PlayerId};

/// The most bytes of an owned report: 64 parts, each of the longest numbers.
pub const MAX_OWNED_BYTES: usize = 3_200;
const _: () = assert!(4 + 10 + 1 + OwnedReport::MAX_SNAPSHOTS * MAX_PART_BYTES <= MAX_OWNED_BYTES);

/// Appends an owned report (motion lane): what a client says of the parts it simulates. Positions are right to 1/2,048 stud,
/// rotations to 0.00016 radians, velocities as in motion batches; whoever simulates goes on from its own exact numbers.
///
/// # Panics
///
/// When it names more than [`OwnedReport::MAX_SNAPSHOTS`] parts.
pub fn write_owned_report(bytes: &mut Vec<u8>, report: &OwnedReport) {
    let written = write_owned_parts(bytes, report, usize::MAX);
    assert!(written == report.snapshots.len(), "a report of {} parts", report.snapshots.len());
}

/// Appends an owned report of as many of its parts, from the first on, as fit in `limit` bytes, at most
/// [`OwnedReport::MAX_SNAPSHOTS`]; says how many.
pub fn write_owned_parts(bytes: &mut Vec<u8>, report: &OwnedReport, limit: usize) -> usize {
    let start = bytes.len();
    let mut out = Writer::new(bytes);
    out.u32(report.sequence.0);
    out.varint(report.time.0);
    let (count, mut written) = (bytes.len(), 0);
    bytes.push(0);
    let mut before = Before::default();
    for snapshot in report.snapshots.iter().take(OwnedReport::MAX_SNAPSHOTS) {
        let end = bytes.len();
        write_part(&mut Writer::new(bytes), snapshot, &mut before);
        if bytes.len() - start > limit {
            bytes.truncate(end);
            break;
        }
        written += 1;
    }
    bytes[count] = written as u8;
    written
}

/// Reads an owned report into `report`, whose parts' memory is used again. The checks of S-51 come after.
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
    let mut before = Before::default();
    for _ in 0..count {
        report.snapshots.push(read_part(&mut reader, &mut before)?);
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
        position: reader.bounded_vec3()?,
        rotation: read_quat(reader)?,
        velocity: reader.bounded_vec3()?,
        angular: reader.bounded_vec3()?,
    })
}
