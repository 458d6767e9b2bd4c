use glam::{Quat, Vec3};
use tidelock_replication::ids::{Generation, InstanceId, PlayerId, Slot};
use tidelock_replication::instance::Audience;
use tidelock_replication::interest::{InterestGrid, InterestSettings, Viewer, VisibleSet};
use tidelock_replication::motion::{
    CharacterMotion, MotionArena, MotionBatch, MotionEnvelope, MotionItem, MotionOutput, MotionSchedule,
    PackedRotation, PartMotion, pack_velocity5, pack_velocity6, unpack_velocity5, unpack_velocity6,
};
use tidelock_sim::motor::CharacterState;
use tidelock_sim::report::ReportAck;
use tidelock_sim::{Sequence, SimSpan, SimTime, Tick};

use crate::document::Document;

const BATCH: &str = "motion batch";
const BEGINNINGS: &str = "motion batch of beginnings";
const ALONE: &str = "motion batch without items";
const VELOCITY6: &str = "velocity in 6 bytes";
const VELOCITY5: &str = "velocity in 5 bytes";
const ROTATION: &str = "rotation";

pub(crate) fn names() -> Vec<String> {
    [BATCH, BEGINNINGS, ALONE, VELOCITY6, VELOCITY5, ROTATION].map(str::to_owned).into()
}

const PART: InstanceId = InstanceId(12);
const CHARACTER: InstanceId = InstanceId(301);

fn part(x: f32) -> PartMotion {
    PartMotion {
        position: Vec3::new(x, 0.5, 10.0),
        rotation: Quat::from_xyzw(0.0, std::f32::consts::FRAC_1_SQRT_2, 0.0, std::f32::consts::FRAC_1_SQRT_2),
        linear_velocity: Vec3::new(2.0, 0.0, -0.5),
        angular_velocity: Vec3::ZERO,
    }
}

fn character(x: f32, sample: SimTime) -> CharacterMotion {
    CharacterMotion {
        position: Vec3::new(x, 3.0, -2.0),
        velocity: Vec3::new(0.0, 0.0, -16.0),
        yaw: std::f32::consts::FRAC_PI_2,
        state: CharacterState::Grounded,
        sample,
    }
}

/// A server that tells one player of a part and a character.
struct Teller {
    arena: MotionArena,
    grid: InterestGrid,
    visible: VisibleSet,
    schedule: MotionSchedule,
}

impl Teller {
    fn new() -> Self {
        let mut grid = InterestGrid::new(64.0, Vec3::Y, InterestSettings::default());
        (0..2).for_each(|slot| grid.insert(Slot(slot), Vec3::ZERO, Audience::Shared));
        Self { arena: MotionArena::new(1), grid, visible: VisibleSet::new(), schedule: MotionSchedule::new() }
    }

    /// The one batch of a tick in which both are at `x`.
    fn tell(&mut self, tick: Tick, x: f32, ack: Option<ReportAck>) -> Vec<u8> {
        self.tell_of(tick, x, &character(x, tick.time() - SimSpan(960)), ack)
    }

    fn tell_of(&mut self, tick: Tick, x: f32, walker: &CharacterMotion, ack: Option<ReportAck>) -> Vec<u8> {
        self.arena.begin_tick(tick);
        self.arena.put_part(Slot(0), PART, &part(x));
        self.arena.put_character(Slot(1), CHARACTER, walker);
        self.arena.seal();
        let viewer = Viewer { player: PlayerId(1), groups: &[], origins: &[], character: None };
        self.grid.update(&viewer, &mut self.visible);
        let mut output = MotionOutput::default();
        let envelope = MotionEnvelope { tick, generation: Generation(1), ack };
        self.schedule.build(&self.arena, &self.visible, &envelope, &mut output);
        assert_eq!(output.batches().len(), 1);
        output.bytes().to_vec()
    }
}

const ACK: ReportAck = ReportAck { sequence: Sequence(7), epoch: 1, budget: SimSpan(12_288) };

//
#[test]
fn batches_say_what_the_library_says() {
    let document = Document::read();
    let mut teller = Teller::new();
    let mut faults = vec![];
    faults.extend(document.compare(BATCH, &teller.tell(Tick(1_000), 4.0, Some(ACK))));
    // A character rests from when it was last seen to stand.
    let mut teller = Teller::new();
    let stands = CharacterMotion { velocity: Vec3::ZERO, ..character(4.0, Tick(1_000).time() - SimSpan(960)) };
    teller.tell_of(Tick(1_000), 4.0, &stands, None);
    faults.extend(document.compare(BEGINNINGS, &teller.tell(Tick(1_020), 4.25, None)));
    let mut alone = Vec::new();
    MotionEnvelope { tick: Tick(1_000), generation: Generation(1), ack: Some(ACK) }.write(&mut alone);
    faults.extend(document.compare(ALONE, &alone));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn batches_mean_what_the_document_says() {
    let document = Document::read();
    let items = |name| -> Vec<MotionItem> { MotionBatch::parse(document.example(name)).unwrap().items().collect() };
    let [MotionItem::Part { id, tick, resting, motion }, MotionItem::Character { motion: walker, .. }] =
        items(BATCH)[..]
    else {
        panic!("a part and a character");
    };
    assert_eq!((id, tick, resting), (PART, Tick(1_000), false));
    assert!(motion.rotation.angle_between(part(4.0).rotation) < 1e-4);
    assert_eq!(PartMotion { rotation: part(4.0).rotation, ..motion }, part(4.0));
    assert_eq!(walker, character(4.0, SimTime(1_022_976)));
    let [MotionItem::Part { tick, resting, .. }, _, MotionItem::Character { resting: rested, motion, .. }, _] =
        items(BEGINNINGS)[..]
    else {
        panic!("two states each");
    };
    assert_eq!((tick, resting, rested), (Tick(1_019), true, true));
    // 1/20 s before the first moving sample, in steps of 96 units.
    assert_eq!(motion.sample, SimTime((1_020 * 1_024 - 960 - 3_072) / 96 * 96));
    let batch = MotionBatch::parse(document.example(ALONE)).unwrap();
    assert_eq!((batch.envelope.ack, batch.items().count()), (Some(ACK), 0));
}

//
#[test]
fn packed_numbers_mean_what_the_document_says() {
    let document = Document::read();
    let velocity = Vec3::new(2.0, 0.0, -0.5);
    assert_eq!(document.compare(VELOCITY6, &pack_velocity6(velocity)), None);
    assert_eq!(unpack_velocity6(document.example(VELOCITY6).try_into().unwrap()), velocity);
    let fast = Vec3::new(0.0, 0.0, -16.0);
    assert_eq!(document.compare(VELOCITY5, &pack_velocity5(fast)), None);
    assert_eq!(unpack_velocity5(document.example(VELOCITY5).try_into().unwrap()), fast);
    let packed = PackedRotation::pack(part(0.0).rotation);
    let mut bytes: Vec<u8> = packed.axis.iter().flat_map(|component| component.to_le_bytes()).collect();
    bytes.extend_from_slice(&packed.angle.to_le_bytes());
    assert_eq!(document.compare(ROTATION, &bytes), None);
}

/// Every bit of an item's flags is known or refused as the document's table says.
#[test]
fn flags_are_those_of_the_table() {
    let document = Document::read();
    let rows = document.table("Item flags");
    let bits = |column: usize| -> u8 {
        let rows = rows.iter().filter(|row| row[column] != "refused");
        rows.map(|row| u8::from_str_radix(row[0].trim_start_matches("0x"), 16).unwrap()).fold(0, |all, bit| all | bit)
    };
    let (of_part, of_character) = (bits(1), bits(2));
    for flags in 0..=255u8 {
        // Envelope, id, flags, then zeros enough for any item; what is over is no part of the item.
        let mut bytes = vec![0, 0, 1, 9, flags];
        bytes.resize(5 + 48, 0);
        let refused = matches!(MotionBatch::parse(&bytes), Err(tidelock_replication::wire::WireError::Flags));
        let known = if flags & 0x80 != 0 { of_character } else { of_part };
        assert_eq!(refused, flags & !known != 0, "flags {flags:#x}");
    }
}
