use std::sync::Arc;

use glam::{Quat, Vec3};
use tidelock_replication::ids::{Generation, InstanceId, PlayerId};
use tidelock_replication::instance::{
    CharacterMask, CharacterPatch, CharacterPose, CharacterProperties, Color, PartMask, PartMover, PartPatch,
    PartProperties, PartProperty, PartShape, Pose, Seat,
};
use tidelock_replication::place::PlaceHash;
use tidelock_replication::wire::{
    CharacterWord, ClientMessage, NewestKind, OwnSnapshot, OwnershipWord, PlaceChunk, PlayerJoined, Record,
    RecordWriter, Records, RecordsHead, ServerMessage, TickedInputs, Welcome, WireError, begin_records, read_inputs,
    read_newest_report, read_own_snapshot, read_owned_report, read_report, write_character, write_correction_message,
    write_inputs, write_newest_report, write_own_snapshot, write_owned_report, write_ownership, write_player_joined,
    write_player_left, write_report, write_snapshot_end, write_welcome,
};
use tidelock_sim::collision::{ColliderId, Slide, Turn};
use tidelock_sim::input::{HeldControls, StepInput};
use tidelock_sim::module::CustomState;
use tidelock_sim::motor::{CharacterState, ControllerBytes, GroundContact, InputFrame, MotorSnapshot};
use tidelock_sim::ownership::{OwnedReport, OwnedSnapshot};
use tidelock_sim::report::{Correction, CorrectionCause, Report, WireFrame};
use tidelock_sim::session::SnapshotHeader;
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{PartState, Sequence, SimSpan, SimTime, Tick};

use crate::document::Document;

/// A value of every kind that has an example.
#[derive(Debug, PartialEq)]
enum Sample {
    Server(ServerMessage),
    /// A record by itself, as it stands in a message of records.
    Record(Record),
    Client(ClientMessage),
    Report(Box<Report>),
    Owned(OwnedReport),
    Inputs(TickedInputs),
    Snapshot(Box<OwnSnapshot>),
    /// A chunk's content, plain.
    Chunk(Vec<u8>),
}

const HEAD: RecordsHead = RecordsHead { generation: Generation(1), tick: Tick(600) };

pub(crate) fn names() -> Vec<String> {
    samples().into_iter().map(|(name, _)| name.to_owned()).collect()
}

fn samples() -> Vec<(&'static str, Sample)> {
    let mut all = server_samples();
    all.extend(record_samples());
    all.extend(client_samples());
    all
}

fn server_samples() -> Vec<(&'static str, Sample)> {
    let welcome = Welcome {
        protocol_hash: [0x11; 32],
        player: PlayerId(2),
        character: InstanceId(301),
        tick: Tick(600),
        generation: Generation(1),
        place_hash: PlaceHash([0x22; 32]),
        place_name: Arc::from("yard"),
        place_bytes: 40_000,
        divisor: 3,
    };
    let records = vec![
        Record::Destroy { first: InstanceId(17), count: 3 },
        Record::PatchPart { id: InstanceId(12), patch: patch(PartProperty::Transparency) },
        Record::Hide { id: InstanceId(40) },
    ];
    let character = ServerMessage::Character(CharacterWord {
        generation: Generation(1),
        id: InstanceId(301),
        controller: 2,
        position: Vec3::new(4.0, 3.0, -2.0),
        yaw: 0.5,
    });
    let joined = PlayerJoined { player: PlayerId(2), name: Arc::from("Ada"), color: Color([200, 80, 120]) };
    vec![
        ("Welcome", ServerMessage::Welcome(welcome)),
        ("Records", ServerMessage::Records(Records { head: HEAD, records })),
        ("SnapshotEnd", ServerMessage::SnapshotEnd { generation: Generation(1) }),
        ("Correction", ServerMessage::Correction(correction())),
        ("Character", character),
        ("PlayerJoined", ServerMessage::PlayerJoined(joined)),
        ("PlayerLeft", ServerMessage::PlayerLeft(PlayerId(2))),
        ("Ownership", ServerMessage::Ownership(ownership())),
    ]
    .into_iter()
    .map(|(name, message)| (name, Sample::Server(message)))
    .collect()
}

fn moving() -> PartState {
    PartState {
        position: Vec3::new(4.0, 3.0, -2.0),
        rotation: Quat::IDENTITY,
        velocity: Vec3::new(0.0, 0.0, -16.0),
        angular: Vec3::new(0.5, 0.0, 0.0),
    }
}

fn ownership() -> OwnershipWord {
    OwnershipWord {
        generation: Generation(1),
        part: InstanceId(12),
        epoch: 3,
        owner: Some(PlayerId(2)),
        written: false,
        known: Some((SimTime(614_400), moving())),
    }
}

fn owned() -> OwnedReport {
    let snapshots = vec![OwnedSnapshot { part: ColliderId(12), epoch: 3, state: moving() }];
    OwnedReport { sequence: Sequence(7), time: SimTime(614_400), snapshots }
}

fn correction() -> Correction {
    let motor = MotorSnapshot {
        position: Vec3::new(4.0, 3.0, -2.0),
        velocity: Vec3::new(0.0, 0.0, -16.0),
        yaw: 0.5,
        state: CharacterState::Grounded,
        ground: Some(GroundContact { collider: ColliderId(12), normal: Vec3::Y }),
        ground_velocity: Vec3::new(1.0, 0.0, 0.0),
        accumulator: SimSpan(100),
        air_time: SimSpan(0),
        left_by_jump: false,
        jump_buffer: SimSpan(0),
        air_jumps_used: 0,
        jump_held: true,
    };
    let custom = CustomState::new(&[1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    Correction {
        sequence: Sequence(7),
        epoch: 1,
        time: SimTime(614_400),
        sim: CharacterSim { motor, custom },
        cause: CorrectionCause::Disagreement,
    }
}

fn patch(property: PartProperty) -> PartPatch {
    let properties = PartProperties { transparency: 0.5, ..PartProperties::default() };
    let properties = if property == PartProperty::Transparency { properties } else { PartProperties::default() };
    PartPatch { mask: PartMask::NONE.with(property), properties, pose: Pose::default() }
}

fn record_samples() -> Vec<(&'static str, Sample)> {
    let id = InstanceId(302);
    let slide = Slide { offset: Vec3::new(0.0, 8.0, 0.0), period: SimSpan(245_760), phase: SimSpan(0) };
    let turn = Turn { axis: Vec3::Y, period: SimSpan(491_520), phase: SimSpan(61_440) };
    let lift = PartProperties {
        name: Arc::from("Lift"),
        shape: PartShape::Box,
        size: Vec3::new(6.0, 1.0, 6.0),
        color: Color([90, 90, 100]),
        transparency: 0.0,
        anchored: true,
        can_collide: true,
        water: false,
        mover: Some(PartMover { slide: Some(slide), turn: Some(turn) }),
        tags: Arc::new([Arc::from("lift")]),
    };
    let pose = Pose { position: Vec3::new(0.0, 0.5, 10.0), rotation: Quat::IDENTITY };
    let ada =
        CharacterProperties { player: PlayerId(2), name: Arc::from("Ada"), color: Color([200, 80, 120]), seat: None };
    let stands = CharacterPose { position: Vec3::new(4.0, 3.0, -2.0), yaw: 0.5, state: CharacterState::Falling };
    let seat = Some(Seat { part: InstanceId(300), offset: Vec3::new(0.0, 1.0, -2.0), yaw: 0.5 });
    let (player, name, color) = (PlayerId(0), Arc::from("Eve"), Color::default());
    let renamed = CharacterProperties { player, name, color, seat };
    let named = CharacterPatch { mask: CharacterMask(10), properties: renamed };
    let shape = |shape: PartShape| {
        let properties = PartProperties { shape, ..PartProperties::default() };
        let mask = PartMask::NONE.with(PartProperty::Shape);
        Record::PatchPart { id, patch: PartPatch { mask, properties, pose: Pose::default() } }
    };
    let corners: Arc<[Vec3]> = Arc::new([Vec3::ZERO, Vec3::X, Vec3::Z]);
    let mesh = PartShape::TriMesh { vertices: corners.clone(), triangles: Arc::new([[0, 2, 1]]) };
    vec![
        ("record CreatePart", Record::CreatePart { id, properties: lift, pose }),
        ("record PatchPart", Record::PatchPart { id, patch: patch(PartProperty::Transparency) }),
        ("record PatchPart with a hull", shape(PartShape::Hull(corners))),
        ("record PatchPart with a mesh", shape(mesh)),
        ("record CreateCharacter", Record::CreateCharacter { id: InstanceId(301), properties: ada, pose: stands }),
        ("record PatchCharacter", Record::PatchCharacter { id: InstanceId(301), patch: named }),
        ("record Destroy", Record::Destroy { first: InstanceId(17), count: 3 }),
        ("record Hide", Record::Hide { id: InstanceId(40) }),
    ]
    .into_iter()
    .map(|(name, record)| (name, Sample::Record(record)))
    .collect()
}

fn client_samples() -> Vec<(&'static str, Sample)> {
    let join = |place| ClientMessage::Join { protocol_hash: [0x11; 32], name: Arc::from("Ada"), place };
    let request = ClientMessage::PlaceRequest { hash: PlaceHash([0x22; 32]), offset: 32_768 };
    vec![
        ("Join", Sample::Client(join(None))),
        ("Join with a place", Sample::Client(join(Some(PlaceHash([0x22; 32]))))),
        ("PlaceRequest", Sample::Client(request)),
        ("Entered", Sample::Client(ClientMessage::Entered { generation: Generation(1) })),
        ("PlaceChunk", Sample::Chunk(b"tidetidetidetidetidetidelocks".to_vec())),
        ("Report", Sample::Report(Box::new(report()))),
        ("OwnedReport", Sample::Owned(owned())),
        ("Inputs", Sample::Inputs(inputs())),
        ("OwnSnapshot", Sample::Snapshot(Box::new(own_snapshot()))),
    ]
}

fn inputs() -> TickedInputs {
    let held = HeldControls {
        direction: [0, 0, -127],
        yaw: 0x4000,
        flags: WireFrame::CAMERA_RELATIVE,
        controller: ControllerBytes::new(&[1]).unwrap(),
    };
    let inputs = [8, 8, 0].map(|buttons| StepInput { buttons, held });
    TickedInputs { began: 1, last: Sequence(40), inputs: inputs.into() }
}

fn own_snapshot() -> OwnSnapshot {
    let header = SnapshotHeader { tick: Tick(1_000), acknowledged: Sequence(40), depth: 2, target: Some(3) };
    OwnSnapshot { header, guessed: 1, epoch: 1, sim: correction().sim }
}

fn report() -> Report {
    let walk =
        WireFrame { duration_units: 1_024, direction: [0, 0, -127], yaw: 0x4000, flags: WireFrame::CAMERA_RELATIVE };
    let sprint = ControllerBytes::new(&[1]).unwrap();
    let shorter = WireFrame { duration_units: 1_000, ..walk };
    let jump = WireFrame { flags: WireFrame::CAMERA_RELATIVE | WireFrame::JUMP, ..shorter };
    let frames = [(walk, sprint), (walk, sprint), (shorter, sprint), (jump, ControllerBytes::default())];
    Report {
        sequence: Sequence(7),
        start: SimTime(610_304),
        end: SimTime(614_144),
        position: Vec3::new(4.0, 3.0, -2.0),
        velocity: Vec3::new(0.0, 12.0, -16.0),
        yaw: 0.5,
        state: CharacterState::Jumping,
        custom: CustomState::new(&[1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap(),
        epoch: 1,
        frames: frames.into_iter().map(|(wire, controller)| InputFrame::from_wire(wire, controller)).collect(),
    }
}

fn encode(sample: &Sample) -> Vec<u8> {
    let mut bytes = Vec::new();
    match sample {
        Sample::Server(message) => encode_server(message, &mut bytes),
        Sample::Record(record) => write_record(&mut RecordWriter::new(&mut bytes), record),
        Sample::Client(message) => message.write(&mut bytes),
        Sample::Report(report) => write_report(&mut bytes, report),
        Sample::Owned(report) => write_owned_report(&mut bytes, report),
        Sample::Inputs(inputs) => write_inputs(&mut bytes, inputs.began, &inputs.packet()),
        Sample::Snapshot(snapshot) => write_own_snapshot(&mut bytes, snapshot),
        Sample::Chunk(plain) => {
            // A sequence of four literals and a match of twenty, then the closing literals.
            let mut packed = vec![0x4f, b't', b'i', b'd', b'e', 4, 0, 1, 0x50];
            packed.extend_from_slice(b"locks");
            let (hash, len) = (PlaceHash([0x22; 32]), plain.len() as u32);
            PlaceChunk { hash, offset: 32_768, total: 40_000, len, bytes: &packed }.write(&mut bytes);
        }
    }
    bytes
}

fn encode_server(message: &ServerMessage, bytes: &mut Vec<u8>) {
    match message {
        ServerMessage::Welcome(welcome) => write_welcome(bytes, welcome),
        ServerMessage::Records(records) => {
            begin_records(bytes, &records.head);
            let mut writer = RecordWriter::new(bytes);
            records.records.iter().for_each(|record| write_record(&mut writer, record));
        }
        ServerMessage::SnapshotEnd { generation } => write_snapshot_end(bytes, *generation),
        ServerMessage::Correction(correction) => write_correction_message(bytes, correction),
        ServerMessage::Character(word) => write_character(bytes, word),
        ServerMessage::PlayerJoined(joined) => write_player_joined(bytes, joined),
        ServerMessage::PlayerLeft(player) => write_player_left(bytes, *player),
        ServerMessage::Ownership(word) => write_ownership(bytes, word),
    }
}

fn write_record(writer: &mut RecordWriter<'_>, record: &Record) {
    match record {
        Record::CreatePart { id, properties, pose } => writer.create_part(*id, properties, pose),
        Record::PatchPart { id, patch } => writer.patch_part(*id, patch.mask, &patch.properties, &patch.pose),
        Record::CreateCharacter { id, properties, pose } => writer.create_character(*id, properties, pose),
        Record::PatchCharacter { id, patch } => writer.patch_character(*id, patch.mask, &patch.properties),
        Record::Destroy { first, count } => writer.destroy(*first, *count),
        Record::Hide { id } => writer.hide(*id),
    }
}

/// What the bytes of an example say, read as the sample's kind.
fn decode(bytes: &[u8], kind: &Sample) -> Result<Sample, WireError> {
    Ok(match kind {
        Sample::Server(_) => Sample::Server(ServerMessage::read(bytes)?),
        Sample::Record(_) => {
            let mut message = Vec::new();
            begin_records(&mut message, &HEAD);
            message.extend_from_slice(bytes);
            match ServerMessage::read(&message)? {
                ServerMessage::Records(records) if records.records.len() == 1 => {
                    Sample::Record(records.records[0].clone())
                }
                other => panic!("one record, not {other:?}"),
            }
        }
        Sample::Client(_) => Sample::Client(ClientMessage::read(bytes)?),
        Sample::Report(_) => {
            let mut report = Report::default();
            read_report(bytes, &mut report)?;
            Sample::Report(Box::new(report))
        }
        Sample::Owned(_) => {
            let mut report = OwnedReport::default();
            read_owned_report(bytes, &mut report)?;
            Sample::Owned(report)
        }
        Sample::Inputs(_) => {
            let mut inputs = TickedInputs::default();
            read_inputs(bytes, &mut inputs)?;
            Sample::Inputs(inputs)
        }
        Sample::Snapshot(_) => Sample::Snapshot(Box::new(read_own_snapshot(bytes)?)),
        Sample::Chunk(_) => {
            let chunk = PlaceChunk::read(bytes)?;
            assert_eq!((chunk.hash.0, chunk.offset, chunk.total), ([0x22; 32], 32_768, 40_000));
            Sample::Chunk(unpack(chunk.bytes, chunk.len as usize))
        }
    })
}

/// Unpacks an LZ4 block as PROTOCOL.md describes it.
fn unpack(mut packed: &[u8], len: usize) -> Vec<u8> {
    fn take(from: &mut &[u8]) -> usize {
        let (first, rest) = from.split_first().unwrap();
        *from = rest;
        usize::from(*first)
    }
    fn length(mut nibble: usize, from: &mut &[u8]) -> usize {
        if nibble == 15 {
            loop {
                let more = take(from);
                nibble += more;
                if more != 255 {
                    break;
                }
            }
        }
        nibble
    }
    let mut plain = Vec::new();
    while !packed.is_empty() {
        let token = take(&mut packed);
        let literals = length(token >> 4, &mut packed);
        plain.extend_from_slice(&packed[..literals]);
        packed = &packed[literals..];
        if packed.is_empty() {
            break;
        }
        let back = take(&mut packed) | take(&mut packed) << 8;
        let copied = length(token & 15, &mut packed) + 4;
        (0..copied).for_each(|_| plain.push(plain[plain.len() - back]));
    }
    assert_eq!(plain.len(), len);
    plain
}

#[test]
fn examples_say_what_the_library_says() {
    let document = Document::read();
    let mut faults = Vec::new();
    for (name, sample) in samples() {
        match document.compare(name, &encode(&sample)) {
            Some(fault) => faults.push(fault),
            None => assert_eq!(decode(document.example(name), &sample).as_ref(), Ok(&sample), "{name}"),
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Every first byte the library knows has an example, so that a message added to it needs one here.
#[test]
fn every_kind_of_message_and_record_has_an_example() {
    let document = Document::read();
    let first = |sample: fn(&Sample) -> bool| -> Vec<u8> {
        let all = samples().into_iter().filter(|(_, one)| sample(one));
        all.map(|(name, _)| document.example(name)[0]).collect()
    };
    let server = first(|sample| matches!(sample, Sample::Server(_)));
    let client = first(|sample| matches!(sample, Sample::Client(_)));
    let records = first(|sample| matches!(sample, Sample::Record(_)));
    for kind in 0..=255 {
        let known = ServerMessage::read(&[kind]) != Err(WireError::Kind);
        assert_eq!(known, server.contains(&kind), "message {kind} from the server");
        let known = ClientMessage::read(&[kind]) != Err(WireError::Kind);
        assert_eq!(known, client.contains(&kind), "message {kind} from the client");
        // An id, so that only the kind decides.
        let record = [2, 1, 1, kind, 9];
        let known = ServerMessage::read(&record) != Err(WireError::Kind);
        assert_eq!(known, records.contains(&kind), "record {kind}");
    }
}

/// The report of the report lane, behind its kind.
#[test]
fn newest_reports_are_reports_behind_a_one() {
    let mut held = report();
    held.frames.drain(..3);
    let (mut plain, mut newest, mut read) = (Vec::new(), Vec::new(), Report::default());
    write_report(&mut plain, &held);
    write_newest_report(&mut newest, &held);
    assert_eq!((newest[0], &newest[1..]), (1, &plain[..]));
    assert_eq!(read_newest_report(&newest, &mut read), Ok(()));
    assert_eq!(read, held);
    let mut many = vec![1];
    write_report(&mut many, &report());
    assert_eq!(read_newest_report(&many, &mut read), Err(WireError::TooLong));
    assert_eq!(NewestKind::of(&newest).map(|kind| kind as u8), Ok(1));
    assert_eq!(NewestKind::of(Document::read().example("Inputs")).map(|kind| kind as u8), Ok(2));
}

/// Every prefix of every example is refused, and so is a byte too many.
#[test]
fn messages_are_refused_unless_whole() {
    let document = Document::read();
    for (name, sample) in samples() {
        // A chunk ends where its message ends, and records go on as long as there are any.
        if matches!(sample, Sample::Chunk(_)) || name == "Records" {
            continue;
        }
        let mut bytes = document.example(name).to_vec();
        for len in 0..bytes.len() {
            // The head of a message of records alone is a message without records.
            let alone = matches!(sample, Sample::Record(_)) && len == 0;
            assert!(alone || decode(&bytes[..len], &sample).is_err(), "{name} of {len} bytes");
        }
        bytes.push(0);
        assert!(decode(&bytes, &sample).is_err(), "{name} and a byte");
    }
}

#[test]
fn shapes_are_those_of_the_table() {
    let document = Document::read();
    let shapes: Vec<u8> = document.table("Shapes").iter().map(|row| row[0].parse().unwrap()).collect();
    for kind in 0..=255 {
        let message = [2, 1, 1, 2, 9, 2, kind];
        let known = ServerMessage::read(&message) != Err(WireError::Kind);
        assert_eq!(known, shapes.contains(&kind), "shape {kind}");
    }
}
