use glam::{Quat, Vec3};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::{
    AcceptedState, OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipTable, PlayerId,
};
use tidelock_sim::{PartState, Sequence, Tick};

use crate::table::{Figure, Table};
use crate::watch::measure_beside;

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
    table.row(
        Figure::new("owned report of 64 parts, made and judged", both / 1_000.0, "µs")
            .beside("making it alone", making / 1_000.0),
    );
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
