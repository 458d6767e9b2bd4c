use tidelock::{Controller, Protocol};
use tidelock_net::lane::{MAX_LANES, MAX_MESSAGE_BYTES, MAX_WHOLE_MESSAGE_BYTES};
use tidelock_net::netcode::MAX_PAYLOAD_BYTES;
use tidelock_net::{DisconnectCode, LaneSet, SessionConfig};
use tidelock_replication::instance::{MAX_MESH_POINTS, MAX_MESH_TRIANGLES, MAX_NAME_BYTES, MAX_TAGS, PartProperty};
use tidelock_replication::motion::{
    MAX_BATCH_BYTES, MAX_ITEM_BYTES, MAX_ITEMS_BYTES, PackedRotation, REFRESH_BROADCASTS,
};
use tidelock_replication::wire::{
    MAX_CHUNK_BYTES, MAX_INPUTS, MAX_OWNED_BYTES, MAX_PLACE_BYTES, MAX_RECORDS, MAX_RECORDS_BYTES, MAX_REPORT_BYTES,
    WIRE_VERSION,
};
use tidelock_sim::input::{InputBufferConfig, InputGateConfig, InputPacer};
use tidelock_sim::module::CustomState;
use tidelock_sim::motor::{CharacterState, ControllerBytes};
use tidelock_sim::ownership::{OwnedReport, OwnershipLimits};
use tidelock_sim::report::{CorrectionCause, ReplayLimits, Report, ReportRefusal};
use tidelock_sim::{SimTime, Tick};

use crate::document::{Document, number};

/// The first two columns of a table.
fn pairs(document: &Document, heading: &str) -> Vec<(String, String)> {
    document.table(heading).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}

fn numbered<T: std::fmt::Debug>(all: &[T]) -> Vec<(String, String)> {
    all.iter().enumerate().map(|(number, one)| (number.to_string(), format!("{one:?}"))).collect()
}

#[test]
fn numbers_of_codes_causes_and_states() {
    let document = Document::read();
    assert_eq!(pairs(&document, "Disconnect codes"), numbered(&DisconnectCode::ALL));
    assert_eq!(pairs(&document, "Correction causes"), numbered(&CorrectionCause::ALL));
    assert_eq!(pairs(&document, "Part properties"), numbered(&PartProperty::ALL));
    use CharacterState::{Dead, Falling, Flying, Grounded, Jumping, Seated, Swimming};
    let states = [Grounded, Jumping, Falling, Flying, Swimming, Seated, Dead];
    assert!(states.iter().enumerate().all(|(number, state)| *state as usize == number));
    assert_eq!(pairs(&document, "Character states"), numbered(&states));
    assert_eq!(pairs(&document, "Controllers"), numbered(&Controller::ALL));
    let refusals: Vec<String> = document.table("Refused reports").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(refusals, ReportRefusal::ALL.map(|refusal| format!("{refusal:?}")));
}

#[test]
fn lanes_are_those_of_the_table() {
    let document = Document::read();
    let lanes = LaneSet::standard();
    let rows = document.table("The standard lanes");
    assert_eq!(rows.len(), lanes.lanes().len());
    for (index, (row, lane)) in rows.iter().zip(lanes.lanes()).enumerate() {
        let repeat = lane
            .repeat
            .map_or("no".to_owned(), |repeat| format!("{} ms, {} bytes", repeat.window.as_millis(), repeat.byte_cap));
        let wanted = (index as u64, lane.name, format!("{:?}", lane.kind), u64::from(lane.priority));
        assert_eq!((number(&row[0]), &row[1][..], row[2].clone(), number(&row[3])), wanted);
        assert_eq!((number(&row[4]), number(&row[5])), (lane.limit_bytes as u64, lane.max_message_bytes as u64));
        assert_eq!((&row[6], format!("{:?}", lane.overflow), lane.weight), (&repeat, row[7].clone(), 1));
    }
}

#[test]
fn limits_are_those_of_the_table() {
    let document = Document::read();
    let limits = ReplayLimits::default();
    let units = |seconds: f64| (seconds * SimTime::UNITS_PER_SECOND as f64).round() as u64;
    let session = SessionConfig::default();
    let owned = OwnershipLimits::default();
    let (gate, buffer) = (InputGateConfig::for_rate(Tick::HZ), InputBufferConfig::default());
    let known = [
        ("payload sent without lanes, bytes", MAX_PAYLOAD_BYTES as u64),
        ("lanes of a connection", MAX_LANES as u64),
        ("message in one frame as sent, bytes", MAX_WHOLE_MESSAGE_BYTES as u64),
        ("message of any lane, bytes", MAX_MESSAGE_BYTES as u64),
        ("silence before a keep-alive, ms", session.keep_alive.as_millis() as u64),
        ("faults before a disconnect", u64::from(session.max_faults)),
        ("name or tag, bytes", MAX_NAME_BYTES as u64),
        ("tags of a part", MAX_TAGS as u64),
        ("points of a mesh", MAX_MESH_POINTS as u64),
        ("triangles of a mesh", MAX_MESH_TRIANGLES as u64),
        ("records of a message", MAX_RECORDS as u64),
        ("bytes behind the kind of a message of records", MAX_RECORDS_BYTES as u64),
        ("client part of a place, bytes", MAX_PLACE_BYTES as u64),
        ("piece of a place, plain or packed, bytes", MAX_CHUNK_BYTES as u64),
        ("module state, bytes", CustomState::MAX as u64),
        ("controller bytes of a frame", ControllerBytes::MAX as u64),
        ("frames of a report", Report::MAX_FRAMES as u64),
        ("report, bytes", MAX_REPORT_BYTES as u64),
        ("motion batch as read, bytes", MAX_BATCH_BYTES as u64),
        ("items of a batch as sent, bytes", MAX_ITEMS_BYTES as u64),
        ("motion item, bytes", MAX_ITEM_BYTES as u64),
        ("broadcasts between two refreshes", REFRESH_BROADCASTS),
        ("reports per second", u64::from(limits.reports_per_second)),
        ("reports at once", u64::from(limits.report_burst)),
        ("movement saved up, units", units(limits.replay_budget)),
        ("start behind server time, units", u64::from(limits.start_behind.0)),
        ("start ahead of server time, units", u64::from(limits.start_ahead.0)),
        ("start before the last end, units", u64::from(limits.start_overlap.0)),
        ("between two earlier starts, units", u64::from(limits.rewind_interval.0)),
        ("age of a broadcast sample, units", u64::from(limits.max_sample_age.0)),
        ("inputs of a message", MAX_INPUTS as u64),
        ("inputs per second", u64::from(gate.inputs_per_second)),
        ("inputs at once", u64::from(gate.burst)),
        ("inputs ahead of the last", u64::from(gate.max_ahead)),
        ("inputs queued", u64::from(buffer.max_queued)),
        ("inputs the client is asked to have queued", u64::from(InputPacer::MAX_DEPTH)),
        ("ticks guessed before nothing is held", u64::from(buffer.neutral_after.unwrap())),
        ("guesses that count as inputs at once", u64::from(buffer.max_speculation)),
        ("parts of an owned report", OwnedReport::MAX_SNAPSHOTS as u64),
        ("owned report, bytes", MAX_OWNED_BYTES as u64),
        ("owned reports per second", u64::from(owned.reports_per_second)),
        ("owned reports at once", u64::from(owned.report_burst)),
        ("speed of an owned part, studs/s", owned.max_speed as u64),
        ("spin of an owned part, radians/s", owned.max_spin as u64),
        ("step of an owned part, studs", owned.max_step as u64),
        ("between two owners of a part, units", u64::from(owned.cooldown.0)),
        ("silence before a part is taken back, units", u64::from(owned.silence.0)),
    ];
    let written: Vec<(String, u64)> =
        document.table("Limits").into_iter().map(|row| (row[0].clone(), number(&row[1]))).collect();
    let known: Vec<(String, u64)> = known.map(|(name, value)| (name.to_owned(), value)).into();
    assert_eq!(written, known);
}

#[test]
fn versions_and_units_are_those_of_the_document() {
    let document = Document::read();
    let version = document.table("What versions mean");
    let row = |name: &str| version.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no row {name}"));
    assert_eq!(number(&row("wire version")[1]), u64::from(WIRE_VERSION));
    let hash: String = Protocol::builder().build().hash().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(row("protocol hash of the stock module")[1], hash);
    assert_eq!((Tick::HZ, SimTime::UNITS_PER_SECOND, SimTime::UNITS_PER_TICK), (60, 61_440, 1_024));
    assert_eq!((SimTime::UNITS_PER_MOTOR_TICK, PackedRotation::BYTES), (256, 8));
}
