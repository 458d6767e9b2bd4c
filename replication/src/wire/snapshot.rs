use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::module::CustomState;
use tidelock_sim::session::SnapshotHeader;
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{Sequence, Tick};

use super::correction::{read_motor, write_motor};
use super::scalar::{read_tick, varint_u32};
use super::{WireError, check};

/// The server's state of a character whose owner sends inputs (S-32, S-33).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnSnapshot {
    /// Tick, acknowledgement, and depth of the owner's inputs; the target is always there.
    pub header: SnapshotHeader,
    /// How many sequences up to the acknowledged one are guesses nobody confirmed yet.
    pub guessed: u32,
    /// The character's epoch.
    pub epoch: u32,
    /// Its whole state after the tick.
    pub sim: CharacterSim,
}

const SNAPSHOT: u8 = 1;

/// Appends an own snapshot (newest lane).
pub fn write_own_snapshot(bytes: &mut Vec<u8>, snapshot: &OwnSnapshot) {
    let OwnSnapshot { header, guessed, epoch, sim } = snapshot;
    let mut out = Writer::new(bytes);
    out.u8(SNAPSHOT);
    out.varint(header.tick.0);
    out.u32(header.acknowledged.0);
    out.varint(u64::from(header.depth));
    out.varint(u64::from(header.target.unwrap_or_default()));
    out.varint(u64::from(*guessed));
    out.varint(u64::from(*epoch));
    write_motor(&mut out, &sim.motor);
    out.prefixed(sim.custom.as_slice());
}

/// Reads an own snapshot whole.
///
/// # Errors
///
/// Any [`WireError`]; nothing of such a message may be applied.
pub fn read_own_snapshot(bytes: &[u8]) -> Result<OwnSnapshot, WireError> {
    let mut reader = Reader::new(bytes);
    check(reader.u8()? == SNAPSHOT, WireError::Kind)?;
    let tick: Tick = read_tick(&mut reader)?;
    let acknowledged = Sequence(reader.u32()?);
    let depth = varint_u32(&mut reader)?;
    let target = Some(varint_u32(&mut reader)?);
    let (guessed, epoch) = (varint_u32(&mut reader)?, varint_u32(&mut reader)?);
    let motor = read_motor(&mut reader)?;
    let custom = CustomState::new(reader.prefixed(CustomState::MAX)?).ok_or(WireError::Value)?;
    reader.finish()?;
    let header = SnapshotHeader { tick, acknowledged, depth, target };
    Ok(OwnSnapshot { header, guessed, epoch, sim: CharacterSim { motor, custom } })
}
