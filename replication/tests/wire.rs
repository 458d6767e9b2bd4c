//! Every message survives its codec, and no bytes do harm.

use glam::{Quat, Vec3};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;
use tidelock_replication::ids::{Generation, InstanceId, PlayerId};
use tidelock_replication::instance::{
    CharacterMask, CharacterPatch, CharacterPose, CharacterProperties, Color, PartMask, PartMover, PartPatch,
    PartProperties, PartShape, Pose, Seat,
};
use tidelock_replication::place::PlaceHash;
use tidelock_replication::wire::{
    CharacterWord, ClientMessage, MAX_OWNED_BYTES, MAX_PLACE_BYTES, MAX_REPORT_BYTES, OwnershipWord, PlaceChunk,
    PlayerJoined, Record, RecordWriter, Records, RecordsHead, ServerMessage, Welcome, WireError, begin_records,
    read_owned_report, read_report, write_character, write_correction_message, write_owned_parts, write_owned_report,
    write_ownership, write_player_joined, write_player_left, write_report, write_snapshot_end, write_welcome,
};
use tidelock_sim::collision::{ColliderId, Slide, Turn};
use tidelock_sim::module::CustomState;
use tidelock_sim::motor::{CharacterState, ControllerBytes, GroundContact, InputFrame, MotorSnapshot};
use tidelock_sim::ownership::{OwnedReport, OwnedSnapshot};
use tidelock_sim::report::{Correction, CorrectionCause, Report};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{PartState, Sequence, SimSpan, SimTime, Tick};

fn vector() -> impl Strategy<Value = Vec3> {
    (-1e5f32..1e5, -1e5f32..1e5, -1e5f32..1e5).prop_map(|(x, y, z)| Vec3::new(x, y, z))
}

fn rotation() -> impl Strategy<Value = Quat> {
    (-1f32..1.0, -1f32..1.0, -1f32..1.0).prop_map(|(x, y, z)| Quat::from_xyzw(x, y, z, 0.5).normalize())
}

fn id() -> impl Strategy<Value = InstanceId> {
    prop_oneof![1u64..300, 1u64..].prop_map(InstanceId)
}

fn name() -> impl Strategy<Value = Arc<str>> {
    "[a-zé ]{0,20}".prop_map(Arc::from)
}

fn span() -> impl Strategy<Value = SimSpan> {
    (512u32..).prop_map(SimSpan)
}

fn shape() -> impl Strategy<Value = PartShape> {
    let mesh = vec(vector(), 4..12).prop_flat_map(|points| {
        let corners = 0..points.len() as u32;
        let triangles = vec([corners.clone(), corners.clone(), corners], 1..8);
        (Just(points), triangles)
            .prop_map(|(points, triangles)| PartShape::TriMesh { vertices: points.into(), triangles: triangles.into() })
    });
    prop_oneof![
        Just(PartShape::Box),
        Just(PartShape::Ball),
        Just(PartShape::Cylinder),
        Just(PartShape::Wedge),
        Just(PartShape::Capsule),
        vec(vector(), 4..12).prop_map(|points| PartShape::Hull(points.into())),
        mesh,
    ]
}

fn mover() -> impl Strategy<Value = Option<PartMover>> {
    let slide = proptest::option::of((vector(), span(), span()))
        .prop_map(|slide| slide.map(|(offset, period, phase)| Slide { offset, period, phase }));
    let turn = proptest::option::of((rotation(), span(), span()))
        .prop_map(|turn| turn.map(|(rotation, period, phase)| Turn { axis: rotation * Vec3::Y, period, phase }));
    proptest::option::of((slide, turn).prop_map(|(slide, turn)| PartMover { slide, turn }))
}

prop_compose! {
    fn properties()(
        name in name(), shape in shape(), size in vector(), color: [u8; 3], transparency in 0f32..=1.0,
        (anchored, can_collide, water) in any::<(bool, bool, bool)>(), mover in mover(), tags in vec(name(), 0..4),
    ) -> PartProperties {
        let size = size.abs() + 0.1;
        PartProperties {
            name, shape, size, color: Color(color), transparency, anchored, can_collide, water, mover, tags: tags.into(),
        }
    }
}

fn pose() -> impl Strategy<Value = Pose> {
    (vector(), rotation()).prop_map(|(position, rotation)| Pose { position, rotation })
}

fn character() -> impl Strategy<Value = CharacterProperties> {
    let seat = (id(), vector(), -3f32..3.0).prop_map(|(part, offset, yaw)| Seat { part, offset, yaw });
    let seat = proptest::option::of(seat);
    (any::<u64>(), name(), any::<[u8; 3]>(), seat).prop_map(|(player, name, color, seat)| CharacterProperties {
        player: PlayerId(player),
        name,
        color: Color(color),
        seat,
    })
}

fn state() -> impl Strategy<Value = CharacterState> {
    prop_oneof![Just(CharacterState::Grounded), Just(CharacterState::Falling), Just(CharacterState::Dead)]
}

/// A patch carries what its mask says, so that is what comes back.
fn masked_part(mask: u16, properties: &PartProperties, pose: Pose) -> PartPatch {
    let mut patch = PartPatch { mask: PartMask(mask), properties: properties.clone(), pose };
    let (mut kept, mut at) = (PartProperties::default(), Pose::default());
    patch.apply(&mut kept, &mut at);
    (patch.properties, patch.pose) = (kept, at);
    patch
}

fn record() -> impl Strategy<Value = Record> {
    let character_pose =
        (vector(), -3f32..3.0, state()).prop_map(|(position, yaw, state)| CharacterPose { position, yaw, state });
    prop_oneof![
        (id(), properties(), pose()).prop_map(|(id, properties, pose)| Record::CreatePart { id, properties, pose }),
        (id(), 0..=PartMask::ALL.0, properties(), pose()).prop_map(|(id, mask, properties, pose)| Record::PatchPart {
            id,
            patch: masked_part(mask, &properties, pose),
        }),
        (id(), character(), character_pose).prop_map(|(id, properties, pose)| Record::CreateCharacter {
            id,
            properties,
            pose
        }),
        (id(), 0..=CharacterMask::ALL.0, character()).prop_map(|(id, mask, properties)| {
            let (player, name, color) = (PlayerId(0), Arc::from(""), Color::default());
            let mut kept = CharacterProperties { player, name, color, seat: None };
            let patch = CharacterPatch { mask: CharacterMask(mask), properties };
            patch.apply(&mut kept);
            Record::PatchCharacter { id, patch: CharacterPatch { properties: kept, ..patch } }
        }),
        (id(), 1u64..1_000)
            .prop_map(|(first, count)| Record::Destroy { first, count: count.min(u64::MAX - first.0 + 1).max(1) }),
        id().prop_map(|id| Record::Hide { id }),
    ]
}

fn write_record(out: &mut RecordWriter<'_>, record: &Record) {
    match record {
        Record::CreatePart { id, properties, pose } => out.create_part(*id, properties, pose),
        Record::PatchPart { id, patch } => out.patch_part(*id, patch.mask, &patch.properties, &patch.pose),
        Record::CreateCharacter { id, properties, pose } => out.create_character(*id, properties, pose),
        Record::PatchCharacter { id, patch } => out.patch_character(*id, patch.mask, &patch.properties),
        Record::Destroy { first, count } => out.destroy(*first, *count),
        Record::Hide { id } => out.hide(*id),
    }
}

fn records() -> impl Strategy<Value = Records> {
    (any::<u32>(), 0u64..1 << 50, vec(record(), 0..20)).prop_map(|(generation, tick, records)| Records {
        head: RecordsHead { generation: Generation(generation), tick: Tick(tick) },
        records,
    })
}

prop_compose! {
    fn snapshot()(
        position in vector(), velocity in vector(), yaw in -3f32..3.0, state in state(),
        ground in proptest::option::of((any::<u64>(), vector())), ground_velocity in vector(),
        spans: [u32; 3], air_jumps_used: u8, (jump_held, left_by_jump) in any::<(bool, bool)>(),
    ) -> MotorSnapshot {
        let ground = ground.map(|(collider, normal)| GroundContact { collider: ColliderId(collider), normal });
        let [accumulator, air_time, jump_buffer] = spans.map(SimSpan);
        MotorSnapshot {
            position, velocity, yaw, state, ground, ground_velocity, accumulator, air_time, jump_buffer, air_jumps_used,
            jump_held, left_by_jump,
        }
    }
}

fn custom() -> impl Strategy<Value = CustomState> {
    vec(any::<u8>(), 0..=64).prop_map(|bytes| CustomState::new(&bytes).expect("at most 64 bytes"))
}

prop_compose! {
    fn correction()(
        cause in 0u8..9, sequence: u32, epoch: u32, time in 0u64..1 << 60, motor in snapshot(), custom in custom(),
    ) -> Correction {
        Correction {
            sequence: Sequence(sequence), epoch, time: SimTime(time), sim: CharacterSim { motor, custom },
            cause: CorrectionCause::from_number(cause).expect("a cause"),
        }
    }
}

prop_compose! {
    fn welcome()(
        protocol_hash: [u8; 32], player: u64, character in id(), tick in 0u64..1 << 50, generation: u32, place: [u8; 32],
        place_name in name(), place_bytes in 0..=MAX_PLACE_BYTES as u64, divisor in 1u32..=60,
    ) -> Welcome {
        Welcome {
            protocol_hash, player: PlayerId(player), character, tick: Tick(tick), generation: Generation(generation),
            place_hash: PlaceHash(place), place_name, place_bytes, divisor,
        }
    }
}

fn part_state() -> impl Strategy<Value = PartState> {
    (vector(), rotation(), vector(), vector()).prop_map(|(position, rotation, velocity, angular)| PartState {
        position,
        rotation,
        velocity,
        angular,
    })
}

prop_compose! {
    fn ownership_word()(
        generation: u32, part in id(), epoch: u32, owner in proptest::option::of(any::<u64>()), written: bool,
        known in proptest::option::of((0u64..1 << 60, part_state())),
    ) -> OwnershipWord {
        let known = known.map(|(at, state)| (SimTime(at), state));
        let (generation, owner) = (Generation(generation), owner.map(PlayerId));
        OwnershipWord { generation, part, epoch, owner, written: written && known.is_some(), known }
    }
}

prop_compose! {
    fn owned_report()(
        sequence: u32, time in 0u64..1 << 60, parts in vec((id(), any::<u32>(), part_state()), 0..=64),
    ) -> OwnedReport {
        let snapshots = parts.into_iter().map(|(id, epoch, state)| OwnedSnapshot { part: ColliderId(id.0), epoch, state });
        OwnedReport { sequence: Sequence(sequence), time: SimTime(time), snapshots: snapshots.collect() }
    }
}

fn server_message() -> impl Strategy<Value = ServerMessage> {
    prop_oneof![
        welcome().prop_map(ServerMessage::Welcome),
        records().prop_map(ServerMessage::Records),
        any::<u32>().prop_map(|generation| ServerMessage::SnapshotEnd { generation: Generation(generation) }),
        correction().prop_map(ServerMessage::Correction),
        (any::<u32>(), id(), 0_u8..4, vector(), -3f32..3.0).prop_map(|(generation, id, controller, position, yaw)| {
            let generation = Generation(generation);
            ServerMessage::Character(CharacterWord { generation, id, controller, position, yaw })
        }),
        (any::<u64>(), name(), any::<[u8; 3]>()).prop_map(|(player, name, color)| {
            ServerMessage::PlayerJoined(PlayerJoined { player: PlayerId(player), name, color: Color(color) })
        }),
        any::<u64>().prop_map(|player| ServerMessage::PlayerLeft(PlayerId(player))),
        ownership_word().prop_map(ServerMessage::Ownership),
    ]
}

fn write_server(message: &ServerMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    match message {
        ServerMessage::Welcome(welcome) => write_welcome(&mut bytes, welcome),
        ServerMessage::Records(records) => {
            begin_records(&mut bytes, &records.head);
            records.records.iter().for_each(|record| write_record(&mut RecordWriter::new(&mut bytes), record));
        }
        ServerMessage::SnapshotEnd { generation } => write_snapshot_end(&mut bytes, *generation),
        ServerMessage::Correction(correction) => write_correction_message(&mut bytes, correction),
        ServerMessage::Character(word) => write_character(&mut bytes, word),
        ServerMessage::PlayerJoined(joined) => write_player_joined(&mut bytes, joined),
        ServerMessage::PlayerLeft(player) => write_player_left(&mut bytes, *player),
        ServerMessage::Ownership(word) => write_ownership(&mut bytes, word),
    }
    bytes
}

fn client_message() -> impl Strategy<Value = ClientMessage> {
    prop_oneof![
        (any::<[u8; 32]>(), name(), proptest::option::of(any::<[u8; 32]>())).prop_map(
            |(protocol_hash, name, place)| { ClientMessage::Join { protocol_hash, name, place: place.map(PlaceHash) } }
        ),
        (any::<[u8; 32]>(), 0..=MAX_PLACE_BYTES as u64)
            .prop_map(|(hash, offset)| ClientMessage::PlaceRequest { hash: PlaceHash(hash), offset }),
        any::<u32>().prop_map(|generation| ClientMessage::Entered { generation: Generation(generation) }),
    ]
}

prop_compose! {
    fn frame()(
        duration in 256u32..2_048, x in -1f32..1.0, z in -1f32..1.0, yaw in -3f32..3.0, flags in 0u8..8,
        controller in vec(any::<u8>(), 0..=32),
    ) -> InputFrame {
        InputFrame {
            duration: SimSpan(duration),
            direction: Vec3::new(x, 0.0, z),
            camera_relative: flags & 1 != 0,
            camera_yaw: yaw,
            jump: flags & 2 != 0,
            auto_jump: flags & 4 != 0,
            controller: ControllerBytes::new(&controller).expect("at most 32 bytes"),
        }
        .snapped()
    }
}

prop_compose! {
    fn report()(
        sequence: u32, epoch: u32, start in 0u64..1 << 60, span: u32, position in vector(), velocity in vector(),
        yaw in -64f32..64.0, state in state(), custom in custom(), runs in vec((frame(), 1usize..20), 0..8),
        durations in vec(proptest::option::of(256u32..2_048), 96),
    ) -> Report {
        let mut frames: Vec<InputFrame> = runs.into_iter().flat_map(|(frame, run)| std::iter::repeat_n(frame, run)).collect();
        frames.truncate(Report::MAX_FRAMES);
        for (frame, duration) in frames.iter_mut().zip(durations) {
            frame.duration = duration.map_or(frame.duration, SimSpan);
        }
        let start = SimTime(start);
        Report {
            sequence: Sequence(sequence), epoch, start, end: start + SimSpan(span), position, velocity, yaw, state, custom, frames,
        }
    }
}

proptest! {
    #[test]
    fn server_messages_come_back(message in server_message(), cut in any::<prop::sample::Index>()) {
        let bytes = write_server(&message);
        prop_assert_eq!(ServerMessage::read(&bytes), Ok(message.clone()));
        let cut = &bytes[..cut.index(bytes.len())];
        // Records end where their message does, so a cut may fall between two.
        match ServerMessage::read(cut) {
            Ok(ServerMessage::Records(_)) | Err(_) => {}
            Ok(other) => prop_assert!(false, "{other:?} from a cut message"),
        }
    }

    #[test]
    fn client_messages_come_back(message in client_message(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        prop_assert_eq!(ClientMessage::read(&bytes), Ok(message));
        prop_assert!(ClientMessage::read(&bytes[..cut.index(bytes.len())]).is_err());
        bytes.push(0);
        prop_assert!(ClientMessage::read(&bytes).is_err());
    }

    // S-20
    #[test]
    fn reports_come_back_to_the_bit(report in report(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        write_report(&mut bytes, &report);
        prop_assert!(bytes.len() <= MAX_REPORT_BYTES);
        let mut read = Report { frames: vec![InputFrame::default(); 200], ..Report::default() };
        prop_assert_eq!(read_report(&bytes, &mut read), Ok(()));
        prop_assert_eq!(&read, &report);
        prop_assert!(read_report(&bytes[..cut.index(bytes.len())], &mut read).is_err());
    }

    // S-51, R-52: whatever a client can simulate comes back within the steps of the wire, and what came back stays so.
    #[test]
    fn owned_reports_come_back_within_their_steps(report in owned_report(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        write_owned_report(&mut bytes, &report);
        prop_assert!(bytes.len() <= MAX_OWNED_BYTES);
        let mut read = report.clone();
        prop_assert_eq!(read_owned_report(&bytes, &mut read), Ok(()));
        prop_assert_eq!((read.sequence, read.time), (report.sequence, report.time));
        for (read, sent) in read.snapshots.iter().zip(&report.snapshots) {
            prop_assert_eq!((read.part, read.epoch), (sent.part, sent.epoch));
            prop_assert!(read.state.is_finite() && (read.state.rotation.length() - 1.0).abs() < 1e-5);
            if sent.state.position.abs().max_element() <= 8_192.0 {
                prop_assert!((read.state.position - sent.state.position).abs().max_element() <= 1.0 / 2_048.0);
            }
            let speed = sent.state.velocity.abs().max_element();
            if speed <= 200_000.0 {
                let most = (speed / 8_191.0).max(0.5 / 1_024.0);
                prop_assert!((read.state.velocity - sent.state.velocity).abs().max_element() <= most);
            }
        }
        let (mut again, mut twice) = (Vec::new(), read.clone());
        write_owned_report(&mut again, &read);
        prop_assert_eq!(read_owned_report(&again, &mut twice), Ok(()));
        for (twice, once) in twice.snapshots.iter().zip(&read.snapshots) {
            prop_assert_eq!(twice.state.position, once.state.position);
            prop_assert_eq!(twice.state.velocity, once.state.velocity);
            // A rotation and its negative are one.
            prop_assert!(twice.state.rotation.dot(once.state.rotation).abs() > 1.0 - 1e-6);
        }
        prop_assert!(read_owned_report(&bytes[..cut.index(bytes.len())], &mut read).is_err());
        bytes.push(0);
        prop_assert!(read_owned_report(&bytes, &mut read).is_err());
    }

    // A report with more parts than a message holds is cut between two parts.
    #[test]
    fn owned_reports_are_cut_between_parts(report in owned_report(), limit in 20usize..1_200) {
        let (mut left, mut parts) = (report.clone(), Vec::new());
        while !left.snapshots.is_empty() {
            let mut bytes = Vec::new();
            let written = write_owned_parts(&mut bytes, &left, limit.max(80));
            prop_assert!(written > 0 && bytes.len() <= limit.max(80));
            let mut read = OwnedReport::default();
            prop_assert_eq!(read_owned_report(&bytes, &mut read), Ok(()));
            prop_assert_eq!(read.snapshots.len(), written);
            parts.extend(read.snapshots.iter().map(|snapshot| snapshot.part));
            left.snapshots.drain(..written);
        }
        prop_assert_eq!(parts, report.snapshots.iter().map(|snapshot| snapshot.part).collect::<Vec<_>>());
    }

    #[test]
    fn chunks_come_back(hash: [u8; 32], offset in 0u64..1_000, len in 0u32..1_000, content in vec(any::<u8>(), 0..600)) {
        let chunk = PlaceChunk { hash: PlaceHash(hash), offset, total: 2_000, len, bytes: &content };
        let mut bytes = Vec::new();
        chunk.write(&mut bytes);
        prop_assert_eq!(PlaceChunk::read(&bytes), Ok(chunk));
    }

    // Bad input: never a panic, never memory without bound.
    #[test]
    fn garbage_is_refused_or_harmless(bytes in vec(any::<u8>(), 0..400), kind in 1u8..9) {
        let _ = ServerMessage::read(&bytes);
        let _ = ClientMessage::read(&bytes);
        let _ = PlaceChunk::read(&bytes);
        let mut report = Report::default();
        let _ = read_report(&bytes, &mut report);
        prop_assert!(report.frames.len() <= Report::MAX_FRAMES);
        let mut owned = OwnedReport::default();
        let _ = read_owned_report(&bytes, &mut owned);
        prop_assert!(owned.snapshots.len() <= OwnedReport::MAX_SNAPSHOTS);
        let mut bytes = bytes;
        bytes.insert(0, kind);
        let _ = ServerMessage::read(&bytes);
        let _ = ClientMessage::read(&bytes);
    }

    #[test]
    fn a_flipped_byte_is_refused_or_harmless(message in server_message(), at in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut bytes = write_server(&message);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let _ = ServerMessage::read(&bytes);
    }
}

// S-21
#[test]
fn a_report_of_too_many_frames_is_refused() {
    let mut bytes = Vec::new();
    write_report(&mut bytes, &Report { frames: vec![InputFrame::default(); 96], ..Report::default() });
    let mut report = Report::default();
    assert_eq!(read_report(&bytes, &mut report), Ok(()));
    let count = bytes.iter().rposition(|&byte| byte == 96).expect("the count of frames");
    bytes[count] = 97;
    assert_eq!(read_report(&bytes, &mut report), Err(WireError::TooLong));
}

// S-51: what cannot be is not on the wire, and neither is a 65th part.
#[test]
fn owned_reports_carry_no_impossible_numbers_and_no_65th_part() {
    let none = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let state = PartState { position: Vec3::NAN, velocity: Vec3::INFINITY, ..PartState::resting(Vec3::ZERO, none) };
    let twice = OwnedSnapshot { part: ColliderId(9), epoch: 1, state };
    let mut bytes = Vec::new();
    write_owned_report(&mut bytes, &OwnedReport { snapshots: vec![twice; 64], ..OwnedReport::default() });
    let mut report = OwnedReport::default();
    assert_eq!(read_owned_report(&bytes, &mut report), Ok(()));
    let resting = PartState::resting(Vec3::ZERO, Quat::IDENTITY);
    assert!(report.snapshots.len() == 64 && report.snapshots.iter().all(|one| one.state == resting));
    bytes[5] = 65;
    assert_eq!(read_owned_report(&bytes, &mut report), Err(WireError::TooLong));
    (bytes[5], bytes[6]) = (64, 0);
    assert_eq!(read_owned_report(&bytes, &mut report), Err(WireError::Id));
    // Sequence, time, one part 9 in epoch 1, at 2^20 studs and a step along x.
    let far = |x: &[u8]| [&[0, 0, 0, 0, 0, 1, 9, 1, 0], x, &[0, 0, 3, 0, 0, 0, 0, 0]].concat();
    assert_eq!(read_owned_report(&far(&[0x80, 0x80, 0x80, 0x80, 0x08]), &mut report), Ok(()));
    assert_eq!(report.snapshots[0].state.position.x, 1_048_576.0);
    assert_eq!(read_owned_report(&far(&[0x82, 0x80, 0x80, 0x80, 0x08]), &mut report), Err(WireError::Value));
    let mut flagged = far(&[0]);
    flagged[8] = 4;
    assert_eq!(read_owned_report(&flagged, &mut report), Err(WireError::Flags));
}

// 64 parts that lie together fit in two datagrams, moving, and in one at rest.
#[test]
fn an_island_of_64_parts_takes_two_messages() {
    let state = |row: u32, moving: f32| PartState {
        position: Vec3::new(700.0 + row as f32 * 3.1, 1.5 + (row % 8) as f32 * 3.0, -310.0),
        rotation: Quat::from_rotation_y(row as f32 * 0.1),
        velocity: Vec3::new(12.0, -3.0, 0.5) * moving,
        angular: Vec3::new(0.2, 1.0, -2.0) * moving,
    };
    let bytes = |moving: f32| {
        let snapshots = (0..64).map(|row| OwnedSnapshot {
            part: ColliderId(1_000 + u64::from(row)),
            epoch: 3,
            state: state(row, moving),
        });
        let mut bytes = Vec::new();
        let report = OwnedReport { time: SimTime(9_000_000), snapshots: snapshots.collect(), ..OwnedReport::default() };
        write_owned_report(&mut bytes, &report);
        bytes.len()
    };
    println!("{} bytes moving, {} at rest", bytes(1.0), bytes(0.0));
    assert!(bytes(1.0) <= 2 * 1_000 && bytes(0.0) <= 1_024, "{} and {}", bytes(1.0), bytes(0.0));
}

// S-51a
#[test]
fn a_written_part_without_a_place_is_refused() {
    // Generation 1, part 9, epoch 1, written and not known.
    assert_eq!(ServerMessage::read(&[8, 1, 9, 1, 0x02]), Err(WireError::Flags));
    assert_eq!(ServerMessage::read(&[8, 1, 9, 1, 0x08]), Err(WireError::Flags));
    let word = OwnershipWord {
        generation: Generation(1),
        part: InstanceId(9),
        epoch: 1,
        owner: None,
        written: true,
        known: Some((
            SimTime(5),
            PartState { velocity: Vec3::INFINITY, ..PartState::resting(Vec3::ZERO, Quat::IDENTITY) },
        )),
    };
    let mut bytes = Vec::new();
    write_ownership(&mut bytes, &word);
    assert_eq!(ServerMessage::read(&bytes), Err(WireError::Value));
}

// S-20: three frames of walking straight on.
#[test]
fn steady_walking_is_compact() {
    let frame = InputFrame { direction: Vec3::new(0.0, 0.0, -1.0), ..InputFrame::default() }.snapped();
    let mut bytes = Vec::new();
    write_report(&mut bytes, &Report { frames: vec![frame; 3], start: SimTime(1 << 40), ..Report::default() });
    assert!(bytes.len() <= 60, "{} bytes", bytes.len());
}

#[test]
fn lengths_are_checked_before_memory_is_taken() {
    // A mesh of 4,096 points and 8,192 triangles in a message of few bytes.
    let mut bytes = Vec::new();
    begin_records(&mut bytes, &RecordsHead { generation: Generation(1), tick: Tick(1) });
    bytes.extend_from_slice(&[2, 1, 0b10, 6, 0x80, 0x20]);
    assert_eq!(ServerMessage::read(&bytes), Err(WireError::Truncated));
    // A destroyed range that would leave the numbers there are.
    let mut bytes = Vec::new();
    begin_records(&mut bytes, &RecordsHead { generation: Generation(1), tick: Tick(1) });
    RecordWriter::new(&mut bytes).destroy(InstanceId(u64::MAX), 2);
    assert_eq!(ServerMessage::read(&bytes), Err(WireError::Value));
}
