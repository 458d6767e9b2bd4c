//! The desync alarm: silent while both sides agree, and naming the field as soon as they part.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod pair;

use glam::Vec3;
use pair::{Pair, add_box, add_platform, floor, restless, walking};
use tidelock_sim::collision::CollisionIndex;
use tidelock_sim::module::CustomState;
use tidelock_sim::report::{Correction, CorrectionCause, DesyncField};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{Sequence, SimTime};

const STANDING: Vec3 = Vec3::new(0.0, 2.5, 0.0);

fn yard() -> CollisionIndex {
    let mut index = floor();
    for step in 0..40_u64 {
        let at = Vec3::new((step * 37 % 50) as f32 - 25.0, 0.4, (step * 23 % 50) as f32 - 25.0);
        add_box(&mut index, 10 + step, at, Vec3::new(1.5, 0.4 + (step % 4) as f32, 1.5));
    }
    add_platform(&mut index, 2, Vec3::new(20.0, 4.0, 0.0));
    index
}

/// Minutes of random input, 10 unless `TIDELOCK_DESYNC_MINUTES` says otherwise.
fn minutes() -> f64 {
    std::env::var("TIDELOCK_DESYNC_MINUTES").ok().and_then(|minutes| minutes.parse().ok()).unwrap_or(10.0)
}

// B26: 10 minutes at 150 ms with random inputs.
#[test]
fn random_inputs_never_ring() {
    let mut pair = Pair::new(yard, STANDING, Sequence(u32::MAX - 300));
    pair.run(minutes() * 60.0, 60.0, restless(26));
    assert!(pair.counters.adopted as f64 > minutes() * 60.0 * 19.0, "{} reports", pair.counters.adopted);
    assert_eq!((pair.counters.desyncs, pair.counters.adopted_inexact), (0, 0));
}

// B26: what follows from corrections, commands and refusals is no desync.
#[test]
fn known_differences_never_ring() {
    let mut pair = Pair::new(yard, STANDING, Sequence(1));
    for round in 0..20_u64 {
        pair.run(2.0, 60.0, restless(round));
        // Reports that come too late to be run whole, or at their time, and a command on top.
        pair.delay = tidelock_sim::SimSpan::from_seconds(if round % 2 == 0 { 0.6 } else { 0.075 });
        if round % 3 == 0 {
            let correction = pair.truth.teleport(STANDING + Vec3::X * round as f32, 0.0);
            pair.send(correction);
        }
        pair.rate = if round % 4 == 0 { 1.3 } else { 1.0 };
    }
    assert!(pair.counters.all_corrected() > 10 && pair.counters.all_refused() > 10, "{:?}", pair.counters);
    assert_eq!(pair.counters.desyncs, 0, "{:?}", pair.outcomes.iter().filter_map(|outcome| outcome.desync).next());
}

/// Not the last bit, which the rounding of the next step may take back: then there is nothing to tell.
fn flip(value: &mut f32) {
    *value = f32::from_bits(value.to_bits() ^ 0x20);
}

// B26: one flipped bit of the client's state is told within 60 ticks, by name.
#[test]
fn a_flipped_bit_is_named_within_a_second() {
    type Case = (fn(&mut CharacterSim), fn(DesyncField) -> bool);
    let cases: [Case; 5] = [
        (|sim| flip(&mut sim.motor.position.x), |field| field == DesyncField::Position(0)),
        (|sim| flip(&mut sim.motor.position.z), |field| field == DesyncField::Position(2)),
        (
            |sim| flip(&mut sim.motor.velocity.y),
            |field| matches!(field, DesyncField::Position(1) | DesyncField::Velocity(1)),
        ),
        (
            |sim| sim.motor.yaw = f32::from_bits(sim.motor.yaw.to_bits() ^ 0x3000_0000),
            |field| field == DesyncField::Yaw,
        ),
        (
            |sim| {
                let mut bytes = sim.custom.as_slice().to_vec();
                bytes[7] ^= 1;
                sim.custom = CustomState::new(&bytes).unwrap();
            },
            |field| field == DesyncField::Custom(7),
        ),
    ];
    for (number, (change, expected)) in cases.into_iter().enumerate() {
        // Turning takes up what yaw is off; who stands still does not turn.
        let direction = if number == 3 { Vec3::ZERO } else { Vec3::new(0.6, 0.0, 0.8) };
        let mut pair = Pair::new(yard, STANDING + Vec3::Y * 600.0, Sequence(1));
        pair.run(0.9, 60.0, |_| walking(direction));
        assert_eq!(pair.counters.desyncs, 0);
        let mut sim = *pair.client.sim();
        change(&mut sim);
        // To put it there: a correction that no server sent.
        let time = SimTime::from_seconds(pair.client.predicted_seconds());
        let (sequence, epoch) = (pair.sent, pair.truth.epoch());
        pair.send(Correction { sequence, epoch, time, sim, cause: CorrectionCause::Disagreement });
        let before = pair.outcomes.len();
        pair.run(1.0 + 0.15, 60.0, |_| walking(direction));
        let rung: Vec<_> = pair.outcomes[before..].iter().filter_map(|outcome| outcome.desync).collect();
        assert!(rung.len() == 1 && expected(rung[0].field), "case {number}: {rung:?}");
    }
}
