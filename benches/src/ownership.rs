use glam::{Quat, Vec3};
use tidelock_sim::collision::{ColliderId, Shape};
use tidelock_sim::ownership::{
    AcceptedState, Candidate, Election, OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipTable,
    Partition, PlayerId,
};
use tidelock_sim::physics::{LooseMotion, LooseParts, LoosePartsConfig};
use tidelock_sim::{PartState, Sequence, SimTime, Tick};

use crate::table::{Figure, Table};
use crate::watch::{measure, measure_beside};

/// Parts in one report, the most it may name.
const PARTS: u64 = OwnedReport::MAX_SNAPSHOTS as u64;
/// Parts of the place, one in ten of them the player's.
const PLACE: u64 = 640;
/// Reports between two looks at the clock.
const ROUNDS: u64 = 100;
const OWNER: PlayerId = PlayerId(7);

/// What judging an owned report of 64 moving parts costs (S-51), beside making up its states.
pub(crate) fn run(table: &mut Table) {
    let mut tick = Tick(600);
    let mut ownership = OwnershipTable::new(OwnershipLimits::default());
    ownership.insert_player(OWNER);
    for part in 0..PLACE {
        ownership.insert_part(ColliderId(part), state(part, tick), tick.time());
    }
    let mut report = OwnedReport { sequence: Sequence(1), time: tick.time(), snapshots: Vec::new() };
    for part in (0..PLACE).step_by((PLACE / PARTS) as usize) {
        ownership.give(ColliderId(part), Some(OWNER), tick.time());
        let epoch = ownership.epoch(ColliderId(part)).expect("inserted above");
        report.snapshots.push(OwnedSnapshot { part: ColliderId(part), epoch, state: state(part, tick) });
    }
    let (mut accepted, mut taken) = (Vec::with_capacity(report.snapshots.len()), 0);
    let (mut moving, mut claimed) = (tick, report.snapshots.clone());
    let [both, making] = measure_beside([
        &mut || {
            for _ in 0..ROUNDS {
                tick = tick.next();
                (report.sequence, report.time) = (report.sequence.next(), tick.time());
                for snapshot in &mut report.snapshots {
                    snapshot.state.position = state(snapshot.part.0, tick).position;
                }
                accepted.clear();
                let outcome = ownership.judge(OWNER, &report, (tick.time(), tick), &mut accepted);
                assert!(outcome.verdict == OwnedVerdict::Processed && outcome.ignored == 0, "{outcome:?}");
                taken += accepted.iter().map(|AcceptedState { part, .. }| part.0).sum::<u64>();
            }
            ROUNDS
        },
        &mut || {
            for _ in 0..ROUNDS {
                moving = moving.next();
                for snapshot in &mut claimed {
                    snapshot.state.position = state(snapshot.part.0, moving).position;
                }
                std::hint::black_box(&mut claimed);
            }
            ROUNDS
        },
    ]);
    assert!(taken > 0);
    capture(table);
    elect(table);
    simulate(table);
    table.row(
        Figure::new("owned report of 64 parts, made and judged", both / 1_000.0, "µs")
            .beside("making it alone", making / 1_000.0),
    );
}

/// Players and loose parts of a full place.
const PLAYERS: u64 = 300;
const LOOSE: u64 = 2_000;

/// Crates in pairs on a floor, so that every island has two.
fn yard(driven: bool) -> (LooseParts, Vec<(ColliderId, PartState)>) {
    let mut parts = LooseParts::new(LoosePartsConfig::default());
    let floor = Shape::Box { half: Vec3::new(1_000.0, 1.0, 1_000.0) };
    parts.insert_anchored(ColliderId(LOOSE), &floor, Vec3::NEG_Y, Quat::IDENTITY).expect("a sound part");
    let crates = (0..LOOSE).map(|id| {
        let (pair, second) = (id / 2, id % 2);
        let place = Vec3::new((pair % 40) as f32 * 40.0 - 800.0, 1.0, (pair / 40) as f32 * 60.0 - 750.0);
        (ColliderId(id), PartState::resting(place + Vec3::X * second as f32 * 2.0, Quat::IDENTITY))
    });
    let crates: Vec<_> = crates.collect();
    for (id, state) in &crates {
        let shape = Shape::Box { half: Vec3::ONE };
        let added =
            if driven { parts.insert_driven(*id, &shape, state) } else { parts.insert_part(*id, &shape, state) };
        added.expect("a sound part");
    }
    (parts, crates)
}

/// What an election costs, of which there are twenty a second (S-50), all parts being looked at.
fn elect(table: &mut Table) {
    let (mut parts, crates) = yard(false);
    let mut ownership = OwnershipTable::new(OwnershipLimits::default());
    crates.iter().for_each(|(id, state)| assert!(ownership.insert_part(*id, *state, Tick(600).time())));
    (0..PLAYERS).for_each(|player| ownership.insert_player(PlayerId(player)));
    let mut moved = LooseMotion::default();
    (0..10).for_each(|tick| parts.step(Tick(tick).time(), &mut moved));
    let near: Vec<ColliderId> = crates.iter().map(|(id, _)| *id).collect();
    let (mut islands, mut tick) = (Partition::default(), Tick(600));
    let mut candidates = Vec::new();
    let microseconds = measure(&mut || {
        tick = Tick(tick.0 + 3);
        candidates.clear();
        candidates.extend((0..PLAYERS).map(|player| {
            let turn = player as f32 * 2.4 + tick.0 as f32 * 0.01;
            let reach = 40.0 + player as f32 * 2.3;
            let position = Vec3::new(libm::cosf(turn) * reach, 3.0, libm::sinf(turn) * reach);
            Candidate { player: PlayerId(player), position }
        }));
        parts.partition_with(&mut islands, &near);
        Election::default().run(&mut ownership, &islands, &candidates, tick.time());
        1
    }) / 1_000.0;
    assert!(ownership.handovers() > 0);
    table.row(Figure::new("election, 300 players, all of 2,000 parts looked at", microseconds, "µs"));
}

/// What a step of a client's physics costs that simulates 64 parts, pushes them, and has 1,936 others' around it.
fn simulate(table: &mut Table) {
    let (mut parts, crates) = yard(true);
    let own = &crates[..OwnedReport::MAX_SNAPSHOTS];
    own.iter().for_each(|(id, state)| assert!(parts.acquire(*id, state)));
    let pusher = parts.insert_character(Vec3::new(-800.0, 2.5, -752.0), 1.0, 2.5).expect("a sound capsule");
    let (mut moved, mut tick) = (LooseMotion::default(), 0_u64);
    let microseconds = measure(&mut || {
        tick += 1;
        for (id, state) in own {
            let velocity = Vec3::new(if tick.is_multiple_of(120) { 8.0 } else { -8.0 }, 0.0, 0.0);
            if tick.is_multiple_of(60) {
                parts.place(*id, &PartState { velocity, ..*state });
            }
        }
        parts.move_character(pusher, Vec3::new(-800.0 + (tick % 600) as f32 * 0.25, 2.5, -752.0));
        parts.step(Tick(tick).time(), &mut moved);
        1
    }) / 1_000.0;
    table.row(Figure::new("client physics, 64 own parts among 2,000, a step", microseconds, "µs"));
}

/// What taking down the states of 800 awake loose parts costs (B36).
fn capture(table: &mut Table) {
    let mut parts = LooseParts::new(LoosePartsConfig::default());
    for id in 0..800 {
        let resting =
            PartState::resting(Vec3::new((id % 30) as f32 * 4.0, 1e5, (id / 30) as f32 * 4.0), Quat::IDENTITY);
        parts.insert_part(ColliderId(id), &Shape::Box { half: Vec3::ONE }, &resting).expect("a sound part");
    }
    parts.step(SimTime(SimTime::UNITS_PER_TICK), &mut LooseMotion::default());
    let mut states: Vec<(ColliderId, PartState)> = Vec::with_capacity(800);
    let nanoseconds = measure(&mut || {
        for _ in 0..ROUNDS {
            states.clear();
            states.extend(parts.simulated());
            std::hint::black_box(&mut states);
        }
        ROUNDS
    });
    assert_eq!(states.len(), 800);
    table.row(Figure::new("states of 800 loose parts taken down", nanoseconds / 1_000.0, "µs").target(100.0));
}

/// A part on a circle, 10 studs/s, as it is in `tick`.
fn state(part: u64, tick: Tick) -> PartState {
    let turn = (tick.0 % 3_770) as f32 / 600.0;
    let circle = Vec3::new(libm::cosf(turn), 0.0, libm::sinf(turn)) * 6.0;
    PartState {
        velocity: Vec3::new(-circle.z, 0.0, circle.x) / 6.0 * 10.0,
        ..PartState::resting(circle + Vec3::X * part as f32 * 4.0, Quat::IDENTITY)
    }
}
