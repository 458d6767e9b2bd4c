//! Motion from arena to client under loss.

use glam::{Quat, Vec3};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tidelock_replication::ids::{Generation, InstanceId, PlayerId, Slot};
use tidelock_replication::instance::Audience;
use tidelock_replication::interest::{InterestGrid, InterestSettings, Viewer, VisibleSet};
use tidelock_replication::motion::{
    CharacterMotion, Delivery, MAX_BATCH_BYTES, MAX_ENVELOPE_BYTES, MotionArena, MotionBatch, MotionEnvelope,
    MotionItem, MotionOutput, MotionSchedule, PartMotion,
};
use tidelock_sim::motor::CharacterState;
use tidelock_sim::report::ReportAck;
use tidelock_sim::{Sequence, SimSpan, SimTime, Tick};

const DIVISOR: u32 = 3;

/// One server and the players it serves, each with an own link.
struct World {
    tick: Tick,
    arena: MotionArena,
    grid: InterestGrid,
    players: Vec<Player>,
}

#[derive(Default)]
struct Player {
    visible: VisibleSet,
    schedule: MotionSchedule,
    got: Vec<(Tick, MotionItem)>,
}

impl World {
    fn new(players: usize) -> Self {
        Self {
            tick: Tick(1_000),
            arena: MotionArena::new(DIVISOR),
            grid: InterestGrid::new(64.0, Vec3::Y, InterestSettings::default()),
            players: (0..players).map(|_| Player::default()).collect(),
        }
    }

    fn put(&mut self, slot: u32, x: f32) {
        let position = Vec3::new(x, 0.0, 0.0);
        let motion = PartMotion {
            position,
            rotation: Quat::IDENTITY,
            linear_velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
        };
        if !self.arena.contains(Slot(slot)) {
            self.grid.insert(Slot(slot), position, Audience::Shared);
        }
        self.grid.move_to(Slot(slot), position);
        self.arena.put_part(Slot(slot), id(slot), &motion);
    }

    /// Runs one tick; `arrives` decides about each batch.
    fn step(&mut self, puts: impl FnOnce(&mut Self), mut arrives: impl FnMut(usize) -> bool) {
        self.tick = self.tick.next();
        self.arena.begin_tick(self.tick);
        puts(self);
        self.arena.seal();
        let mut output = MotionOutput::default();
        for (slot, player) in self.players.iter_mut().enumerate() {
            if !MotionSchedule::is_served(slot, self.tick, DIVISOR) {
                continue;
            }
            let viewer = Viewer { player: PlayerId(slot as u64 + 1), groups: &[], origins: &[], character: None };
            self.grid.update(&viewer, &mut player.visible);
            output.clear();
            let envelope = MotionEnvelope { tick: self.tick, generation: Generation(1), ack: None };
            player.schedule.build(&self.arena, &player.visible, &envelope, &mut output);
            for span in output.batches() {
                let bytes = &output.bytes()[span.range()];
                assert!(bytes.len() <= MAX_BATCH_BYTES);
                let batch = MotionBatch::parse(bytes).expect("our own batch");
                assert_eq!(batch.envelope, envelope);
                assert_eq!(batch.items().count(), span.items as usize);
                let arrived = arrives(slot);
                if arrived {
                    player.got.extend(batch.items().map(|item| (self.tick, item)));
                }
                let delivery = if arrived { Delivery::Delivered } else { Delivery::Lost };
                player.schedule.receipt(&self.arena, span.key, delivery);
            }
        }
    }
}

fn id(slot: u32) -> InstanceId {
    InstanceId(u64::from(slot) + 1)
}

fn x_of(item: &MotionItem) -> f32 {
    match item {
        MotionItem::Part { motion, .. } => motion.position.x,
        MotionItem::Character { motion, .. } => motion.position.x,
    }
}

//
#[test]
fn everything_that_moves_arrives_at_twenty_hertz_in_every_phase() {
    let mut world = World::new(3);
    for tick in 0..60 {
        world.step(|world| (0..200).for_each(|slot| world.put(slot, tick as f32 + slot as f32)), |_| true);
    }
    for player in &world.players {
        let mut counts = BTreeMap::new();
        player.got.iter().for_each(|(_, item)| *counts.entry(item.id()).or_insert(0) += 1);
        assert_eq!(counts.len(), 200);
        assert!(counts.values().all(|&count| count == 20), "{counts:?}");
    }
}

//
#[test]
fn refreshing_stops_when_the_last_state_is_known_to_have_arrived() {
    let mut world = World::new(1);
    world.step(|world| (0..40).for_each(|slot| world.put(slot, 1.0)), |_| true);
    for _ in 0..300 {
        world.step(|_| {}, |_| true);
    }
    assert_eq!(world.players[0].got.len(), 40, "each once");
}

//
#[test]
fn without_receipts_everything_is_refreshed_once_in_twenty_broadcasts_spread_out() {
    let mut world = World::new(1);
    world.step(|world| (0..40).for_each(|slot| world.put(slot, 1.0)), |_| true);
    let mut output = MotionOutput::default();
    let mut sizes = Vec::new();
    let mut schedule = MotionSchedule::new();
    let mut visible = VisibleSet::new();
    let viewer = Viewer { player: PlayerId(1), groups: &[], origins: &[], character: None };
    for _ in 0..61 {
        world.grid.update(&viewer, &mut visible);
        output.clear();
        let envelope = MotionEnvelope { tick: world.tick, generation: Generation(1), ack: None };
        schedule.build(&world.arena, &visible, &envelope, &mut output);
        sizes.push(output.batches().iter().map(|span| span.items).sum::<u32>());
        for _ in 0..DIVISOR {
            world.tick = world.tick.next();
            world.arena.begin_tick(world.tick);
            world.arena.seal();
        }
    }
    assert_eq!(sizes[0], 40);
    assert!(sizes[1..].iter().all(|&items| items == 2), "{sizes:?}");
}

//
#[test]
fn a_lost_last_state_is_sent_again_at_the_next_broadcast() {
    let mut world = World::new(1);
    world.step(|world| world.put(0, 1.0), |_| true);
    let mut lost = 0;
    for _ in 0..12 {
        world.step(|_| {}, |_| true);
    }
    for tick in 0..12 {
        let moved = tick == 0;
        world.step(
            |world| {
                if moved {
                    world.put(0, 5.0);
                }
            },
            |_| {
                lost += 1;
                lost > 2
            },
        );
    }
    let last = world.players[0].got.last().expect("something arrived");
    assert_eq!(x_of(&last.1), 5.0);
    assert_eq!(lost, 3, "two losses, one arrival, and then silence");
}

//
#[test]
fn what_starts_to_move_brings_the_state_it_rested_in() {
    for phase in 0..3 {
        let mut world = World::new(3);
        world.step(|world| world.put(0, 1.0), |_| true);
        for _ in 0..30 + phase {
            world.step(|_| {}, |_| true);
        }
        world.players.iter_mut().for_each(|player| player.got.clear());
        let begun = world.tick.next();
        for tick in 0..9 {
            world.step(|world| world.put(0, 2.0 + tick as f32), |_| true);
        }
        for player in &world.players {
            let (first, second) = (&player.got[0], &player.got[1]);
            assert_eq!(first.0, second.0, "in one broadcast");
            let MotionItem::Part { resting: true, tick, motion, .. } = first.1 else { panic!("{first:?}") };
            assert_eq!(tick.0, begun.0 - 1);
            assert_eq!(motion.position.x, 1.0);
            assert!(player.got[1..].iter().all(|(_, item)| matches!(item, MotionItem::Part { resting: false, .. })));
            assert_eq!(player.got.len(), 1 + 3);
        }
    }
}

#[test]
fn a_destroyed_subjects_slot_serves_the_next_at_once() {
    let mut world = World::new(1);
    world.step(|world| world.put(7, 1.0), |_| true);
    for _ in 0..6 {
        world.step(|_| {}, |_| true);
    }
    let motion = PartMotion {
        position: Vec3::X * 9.0,
        rotation: Quat::IDENTITY,
        linear_velocity: Vec3::Y,
        angular_velocity: Vec3::Z,
    };
    world.step(
        |world| {
            world.arena.remove(Slot(7));
            world.arena.put_part(Slot(7), InstanceId(500), &motion);
        },
        |_| true,
    );
    for _ in 0..6 {
        world.step(|_| {}, |_| true);
    }
    let ids: Vec<u64> = world.players[0].got.iter().map(|(_, item)| item.id().0).collect();
    assert_eq!(ids, [8, 500]);
}

// R-52, targets.md
#[test]
fn items_are_as_small_as_promised() {
    let mut arena = MotionArena::new(DIVISOR);
    arena.begin_tick(Tick(5_000));
    let mut motion = PartMotion {
        position: Vec3::new(1.5, -2.5, 3.5),
        rotation: Quat::from_xyzw(0.0, 0.6, 0.0, 0.8),
        linear_velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
    };
    let id = InstanceId((1 << 21) - 1);
    let size = |arena: &mut MotionArena| {
        arena.seal();
        let mut grid = InterestGrid::new(64.0, Vec3::Y, InterestSettings::default());
        grid.insert(Slot(0), Vec3::ZERO, Audience::Shared);
        let mut visible = VisibleSet::new();
        let viewer = Viewer { player: PlayerId(1), groups: &[], origins: &[], character: None };
        grid.update(&viewer, &mut visible);
        let envelope = MotionEnvelope { tick: arena.tick(), generation: Generation(1), ack: None };
        let mut head = Vec::new();
        envelope.write(&mut head);
        let mut output = MotionOutput::default();
        MotionSchedule::new().build(arena, &visible, &envelope, &mut output);
        output.bytes().len() - head.len()
    };
    arena.put_part(Slot(0), id, &motion);
    assert!(size(&mut arena) <= 24);
    motion.linear_velocity = Vec3::new(100.0, 2.0, -3.0);
    motion.angular_velocity = Vec3::new(0.1, 2.0, -3.0);
    arena.put_part(Slot(0), id, &motion);
    assert!(size(&mut arena) <= 36);
    arena.remove(Slot(0));
    arena.put_character(Slot(0), id, &character(3.0, Tick(5_000), SimSpan(5_000)));
    assert!(size(&mut arena) <= 24);
}

fn character(x: f32, now: Tick, age: SimSpan) -> CharacterMotion {
    CharacterMotion {
        position: Vec3::new(x, 3.0, 0.0),
        velocity: Vec3::new(16.0, 0.0, -4.0),
        yaw: 1.25,
        state: CharacterState::Jumping,
        sample: now.time() - age,
    }
}

// R-52, S-41
#[test]
fn a_character_says_when_it_was_there_in_whichever_tick_it_is_sent() {
    let mut world = World::new(3);
    for tick in 0..9u32 {
        let sample_age = SimSpan(2_000 + 700 * tick);
        world.step(
            |world| {
                let motion = character(tick as f32, world.tick, sample_age);
                if tick == 0 {
                    world.grid.insert(Slot(0), motion.position, Audience::Shared);
                }
                if tick % 3 == 0 {
                    world.arena.put_character(Slot(0), InstanceId(40), &motion);
                }
            },
            |_| true,
        );
    }
    let first = 1_001;
    for player in &world.players {
        assert!(player.got.len() >= 2);
        for (_, item) in &player.got {
            let MotionItem::Character { motion, id, .. } = item else { panic!("{item:?}") };
            let tick = motion.position.x as u32;
            let wanted = Tick(first + u64::from(tick)).time() - SimSpan(2_000 + 700 * tick);
            assert!(wanted.since(motion.sample).0 < 96, "{:?} for {wanted:?}", motion.sample);
            assert!(motion.sample <= wanted);
            assert_eq!((id.0, motion.state), (40, CharacterState::Jumping));
            assert!((motion.yaw - 1.25).abs() < 1e-4 && (motion.velocity.x - 16.0).abs() < 0.01);
        }
    }
}

//
#[test]
fn a_standing_character_that_reports_is_unchanged_and_rests_until_its_last_report() {
    let mut world = World::new(1);
    for tick in 0..60u32 {
        world.step(
            |world| {
                if tick == 0 {
                    world.grid.insert(Slot(0), Vec3::ZERO, Audience::Shared);
                }
                let x = if tick < 50 { 0.0 } else { tick as f32 };
                let mut motion = character(x, world.tick, SimSpan(3_000));
                motion.velocity *= f32::from(u8::from(tick >= 50));
                let changed = world.arena.put_character(Slot(0), InstanceId(40), &motion);
                assert_eq!(changed, tick == 0 || tick >= 50);
            },
            |_| true,
        );
    }
    let got = &world.players[0].got;
    let MotionItem::Character { resting: true, motion: rest, .. } = got[1].1 else { panic!("{:?}", got[1]) };
    let MotionItem::Character { resting: false, motion: moving, .. } = got[2].1 else { panic!("{:?}", got[2]) };
    assert_eq!(rest.position.x, 0.0);
    assert!(rest.sample < moving.sample && moving.sample.since(rest.sample).0 <= 3_072 + 96 + 2 * 1_024);
}

// what told of it was lost on the way to the server; it never stood.
#[test]
fn a_moving_character_that_falls_silent_did_not_rest() {
    let mut world = World::new(1);
    for tick in 0..60u32 {
        world.step(
            |world| {
                if tick == 0 {
                    world.grid.insert(Slot(0), Vec3::ZERO, Audience::Shared);
                }
                let x = if tick < 50 { 0.0 } else { tick as f32 };
                world.arena.put_character(Slot(0), InstanceId(40), &character(x, world.tick, SimSpan(3_000)));
            },
            |_| true,
        );
    }
    let resting = |(_, item): &(Tick, MotionItem)| matches!(item, MotionItem::Character { resting: true, .. });
    assert!(world.players[0].got.len() >= 3);
    assert!(!world.players[0].got.iter().any(resting), "{:?}", world.players[0].got);
}

//
#[test]
fn an_acknowledgement_goes_out_even_alone() {
    let mut world = World::new(1);
    world.arena.seal();
    let ack = ReportAck { sequence: Sequence(u32::MAX), epoch: u32::MAX, budget: SimSpan(u32::MAX) };
    let envelope = MotionEnvelope { tick: Tick(1 << 53), generation: Generation(u32::MAX), ack: Some(ack) };
    let mut output = MotionOutput::default();
    let player = &mut world.players[0];
    player.schedule.build(&world.arena, &player.visible, &envelope, &mut output);
    assert_eq!(output.batches().len(), 1);
    assert!(output.bytes().len() <= MAX_ENVELOPE_BYTES);
    assert_eq!(MotionBatch::parse(output.bytes()).expect("our own batch").envelope, envelope);
}

proptest! {
    // whatever is lost, clients end up with the last state of everything, and then there is silence.
    #[test]
    fn under_any_loss_the_last_state_arrives(
        moves in proptest::collection::vec((0u32..50, 0u8..6), 1..80),
        losses in proptest::collection::vec(any::<bool>(), 1..200),
    ) {
        let mut world = World::new(2);
        let mut last = BTreeMap::new();
        let mut lost = losses.iter().cycle();
        let mut batches = 0;
        for (step, (slot, pause)) in moves.iter().enumerate() {
            let x = step as f32 + 1.0;
            last.insert(*slot, x);
            world.step(|world| world.put(*slot, x), |_| { batches += 1; batches > 400 || !lost.next().unwrap() });
            for _ in 0..*pause {
                world.step(|_| {}, |_| { batches += 1; batches > 400 || !lost.next().unwrap() });
            }
        }
        for _ in 0..2_000 {
            world.step(|_| {}, |_| { batches += 1; batches > 400 || !lost.next().unwrap() });
            if batches > 500 { break; }
        }
        let settled = batches;
        if losses.iter().any(|lost| !lost) || batches > 400 {
            for player in &world.players {
                let mut held = BTreeMap::new();
                player.got.iter().for_each(|(_, item)| { held.insert(item.id().0 as u32 - 1, x_of(item)); });
                prop_assert_eq!(&held, &last);
            }
            for _ in 0..100 {
                world.step(|_| {}, |_| { batches += 1; true });
            }
            prop_assert_eq!(batches, settled);
        }
    }

    // a batch is taken whole or not at all, and no bytes do harm.
    #[test]
    fn garbage_is_refused_whole(mut bytes in proptest::collection::vec(any::<u8>(), 0..1_200), cut in 0usize..1_200) {
        if let Ok(batch) = MotionBatch::parse(&bytes) {
            prop_assert!(batch.items().count() <= bytes.len());
        }
        bytes.truncate(cut);
        let _ = MotionBatch::parse(&bytes);
    }

    #[test]
    fn a_cut_batch_shows_no_other_items(count in 1u32..40, cut in 1usize..900) {
        let mut world = World::new(1);
        world.arena.begin_tick(Tick(9));
        for slot in 0..count {
            world.put(slot, slot as f32);
        }
        world.arena.seal();
        let mut output = MotionOutput::default();
        let player = &mut world.players[0];
        let viewer = Viewer { player: PlayerId(1), groups: &[], origins: &[], character: None };
        world.grid.update(&viewer, &mut player.visible);
        let envelope = MotionEnvelope { tick: Tick(9), generation: Generation(1), ack: None };
        player.schedule.build(&world.arena, &player.visible, &envelope, &mut output);
        let whole: Vec<MotionItem> = MotionBatch::parse(output.bytes()).unwrap().items().collect();
        let cut = cut.min(output.bytes().len() - 1);
        if let Ok(batch) = MotionBatch::parse(&output.bytes()[..cut]) {
            let items: Vec<MotionItem> = batch.items().collect();
            prop_assert_eq!(&items[..], &whole[..items.len()]);
        }
    }
}

#[test]
fn receipts_of_unknown_and_settled_batches_change_nothing() {
    let mut world = World::new(1);
    world.step(|world| world.put(0, 1.0), |_| true);
    let schedule = &mut world.players[0].schedule;
    for key in [0, 1, 5, u64::MAX, 0] {
        schedule.receipt(&world.arena, key, Delivery::Lost);
        schedule.receipt(&world.arena, key, Delivery::Delivered);
    }
    schedule.reset();
    schedule.receipt(&world.arena, 0, Delivery::Delivered);
    for _ in 0..6 {
        world.step(|_| {}, |_| true);
    }
    assert!(SimTime(0) < world.tick.time());
}

/// A turn on a rotation, within a step of the wire.
fn same_rotation(one: Quat, other: Quat) -> bool {
    1.0 - one.dot(other).abs() <= 1e-6
}

// B103: a random walk of 24 hours at 5 % loss, or of TIDELOCK_WALK_HOURS. What arrives is what was sent, however far
// it went and for however long; what rests costs nothing and does not stir.
#[test]
fn a_long_walk_adds_up_no_error() {
    let hours: f64 = std::env::var("TIDELOCK_WALK_HOURS").ok().and_then(|hours| hours.parse().ok()).unwrap_or(24.0);
    let mut world = World::new(1);
    let mut seed = 103_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 24) as f32
    };
    let (mut position, mut turn) = (Vec3::ZERO, 0.0_f32);
    let (mut sent, mut heard, mut farthest) = (None, 0_u64, 0.0_f32);
    for _ in 0..(hours * 216_000.0) as u64 {
        let step = Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5);
        // Outwards for the most part, and back in at the edge of the world.
        let drift = if position.length() > 16_000.0 { -position.normalize() * 40.0 } else { Vec3::X * 0.02 };
        position += step * 0.6 + drift;
        turn = (turn + random() - 0.5) % std::f32::consts::TAU;
        farthest = farthest.max(position.length());
        let motion = PartMotion {
            position,
            rotation: Quat::from_rotation_y(turn),
            linear_velocity: step * 60.0,
            angular_velocity: Vec3::ZERO,
        };
        let lost = random() < 0.05;
        world.step(
            |world| {
                if !world.arena.contains(Slot(0)) {
                    world.grid.insert(Slot(0), motion.position, Audience::Shared);
                }
                world.grid.move_to(Slot(0), motion.position);
                world.arena.put_part(Slot(0), id(0), &motion);
            },
            |_| !lost,
        );
        for (_, item) in world.players[0].got.drain(..) {
            let MotionItem::Part { motion: read, resting: false, .. } = item else { continue };
            assert_eq!(read.position, motion.position, "{} studs out", position.length());
            assert!(same_rotation(read.rotation, motion.rotation));
            let most = (motion.linear_velocity.abs().max_element() / 8_191.0).max(0.5 / 1_024.0);
            assert!((read.linear_velocity - motion.linear_velocity).abs().max_element() <= most);
            heard += 1;
        }
        sent = Some(motion);
    }
    assert!(heard as f64 > hours * 72_000.0 * 0.93 && farthest > 2_000.0, "{heard} heard, {farthest} studs");
    // It stops where it is, and after its last state has arrived it is not spoken of again.
    let resting = PartMotion { linear_velocity: Vec3::ZERO, ..sent.expect("it walked") };
    let put = |world: &mut World| {
        world.arena.put_part(Slot(0), id(0), &resting);
    };
    world.step(put, |_| true);
    for tick in 0..3_600 {
        world.step(|_| {}, |_| tick % 20 != 0);
        for (_, item) in world.players[0].got.drain(..) {
            let MotionItem::Part { motion: read, .. } = item else { panic!("{item:?}") };
            assert!(tick < 120, "it was told {tick} ticks after it stopped");
            assert_eq!((read.position, read.linear_velocity), (resting.position, Vec3::ZERO));
        }
    }
}
