use glam::Vec3;
use tidelock_replication::wire::{
    ClientMessage, PlaceChunk, Record, RecordWriter, Records, ServerMessage, TickedInputs, begin_records, read_inputs,
    read_newest_report, read_own_snapshot, read_owned_report, read_report, write_character, write_correction_message,
    write_inputs, write_newest_report, write_own_snapshot, write_owned_report, write_ownership, write_player_joined,
    write_player_left, write_report, write_snapshot_end, write_welcome,
};
use tidelock_sim::ownership::OwnedReport;
use tidelock_sim::report::Report;

/// The fastest a packed velocity may be written, studs/s.
const MAX_PACKED: f32 = 200_000.0;

/// Reads a message and writes it again; `None` when it is refused.
type Codec = fn(&[u8]) -> Option<Vec<u8>>;

/// Every message of both directions, by the first byte of the input.
const CODECS: [Codec; 8] =
    [client_message, report, newest_report, inputs, owned_report, server_message, snapshot, place_chunk];

/// Messages of both directions: refused, or read so that what is written of them reads the same.
pub fn run(bytes: &[u8]) {
    let Some((first, content)) = bytes.split_first() else { return };
    let codec = CODECS[usize::from(*first) % CODECS.len()];
    let Some(written) = codec(content) else { return };
    let again = codec(&written).expect("what was written is read");
    assert_eq!(again, written);
}

fn client_message(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    ClientMessage::read(bytes).ok()?.write(&mut written);
    Some(written)
}

fn report(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut report, mut written) = (Report::default(), Vec::new());
    read_report(bytes, &mut report).ok()?;
    write_report(&mut written, &report);
    Some(written)
}

fn newest_report(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut report, mut written) = (Report::default(), Vec::new());
    read_newest_report(bytes, &mut report).ok()?;
    write_newest_report(&mut written, &report);
    Some(written)
}

fn inputs(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut inputs, mut written) = (TickedInputs::default(), Vec::new());
    read_inputs(bytes, &mut inputs).ok()?;
    write_inputs(&mut written, inputs.began, &inputs.packet());
    Some(written)
}

/// Rotations and velocities are rounded anew, so that they come back close and not the same.
fn owned_report(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut report, mut again, mut written) = (OwnedReport::default(), OwnedReport::default(), Vec::new());
    read_owned_report(bytes, &mut report).ok()?;
    write_owned_report(&mut written, &report);
    read_owned_report(&written, &mut again).expect("what was written is read");
    assert_eq!(
        (again.sequence, again.time, again.snapshots.len()),
        (report.sequence, report.time, report.snapshots.len())
    );
    for (one, other) in report.snapshots.iter().zip(&again.snapshots) {
        let (state, close) = (one.state, other.state);
        assert_eq!((one.part, one.epoch, state.position), (other.part, other.epoch, close.position));
        assert!(state.rotation.dot(close.rotation).abs() > 1.0 - 1e-5);
        for (kept, said) in [(close.velocity, state.velocity), (close.angular, state.angular)] {
            // Above this a packed velocity is cut.
            let most = Vec3::splat(MAX_PACKED);
            let cut = said.clamp(-most, most);
            assert!(kept.distance(cut) <= 0.01 * cut.length(), "{kept} of {said}");
        }
    }
    None
}

fn snapshot(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    write_own_snapshot(&mut written, &read_own_snapshot(bytes).ok()?);
    Some(written)
}

fn place_chunk(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    PlaceChunk::read(bytes).ok()?.write(&mut written);
    Some(written)
}

fn server_message(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    match ServerMessage::read(bytes).ok()? {
        ServerMessage::Welcome(welcome) => write_welcome(&mut written, &welcome),
        ServerMessage::Records(records) => write_records(&mut written, &records),
        ServerMessage::SnapshotEnd { generation } => write_snapshot_end(&mut written, generation),
        ServerMessage::Correction(correction) => write_correction_message(&mut written, &correction),
        ServerMessage::Character(word) => write_character(&mut written, &word),
        ServerMessage::PlayerJoined(joined) => write_player_joined(&mut written, &joined),
        ServerMessage::PlayerLeft(player) => write_player_left(&mut written, player),
        ServerMessage::Ownership(word) => write_ownership(&mut written, &word),
    }
    Some(written)
}

fn write_records(written: &mut Vec<u8>, records: &Records) {
    begin_records(written, &records.head);
    let mut out = RecordWriter::new(written);
    for record in &records.records {
        match record {
            Record::CreatePart { id, properties, pose } => out.create_part(*id, properties, pose),
            Record::PatchPart { id, patch } => out.patch_part(*id, patch.mask, &patch.properties, &patch.pose),
            Record::CreateCharacter { id, properties, pose } => out.create_character(*id, properties, pose),
            Record::PatchCharacter { id, patch } => out.patch_character(*id, patch.mask, &patch.properties),
            Record::Destroy { first, count } => out.destroy(*first, *count),
            Record::Hide { id } => out.hide(*id),
        }
    }
}
