//! A client and a server running the same character: honest, lagging, cheating, commanded.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod pair;

use glam::Vec3;
use pair::{Pair, add_box, add_platform, floor, restless, walking};
use tidelock_sim::collision::CollisionIndex;
use tidelock_sim::motor::{CharacterState, InputFrame};
use tidelock_sim::report::{CorrectionCause, Difference, ReplayVerdict, ReportRefusal};
use tidelock_sim::{Sequence, SimSpan, SimTime};

const STANDING: Vec3 = Vec3::new(0.0, 2.5, 0.0);

fn rubble() -> CollisionIndex {
    let mut index = floor();
    for step in 0..40_u64 {
        let at = Vec3::new((step * 37 % 50) as f32 - 25.0, 0.4, (step * 23 % 50) as f32 - 25.0);
        add_box(&mut index, 10 + step, at, Vec3::new(1.5, 0.4 + (step % 4) as f32, 1.5));
    }
    index
}

// S-24, S-10: at any frame rate, across the wrap of sequences.
#[test]
fn an_honest_client_is_adopted_to_the_bit() {
    for (seed, fps) in [(1, 60.0), (2, 144.0), (3, 30.0), (4, 59.94), (5, 500.0), (6, 24.0)] {
        let mut pair = Pair::new(rubble, STANDING, Sequence(u32::MAX - 20));
        pair.run(20.0, fps, restless(seed));
        assert_eq!(pair.take_faults(), [], "{fps} fps");
        assert!(pair.counters.adopted >= 395, "{} reports at {fps} fps", pair.counters.adopted);
        assert_eq!(pair.events, []);
        assert!(pair.truth.sim().motor.position.distance(STANDING) > 0.5, "it went nowhere");
    }
}

// S-12a, S-20b
#[test]
fn riding_a_platform_causes_no_correction() {
    for offset in [Vec3::new(40.0, 0.0, 0.0), Vec3::new(0.0, 20.0, 0.0), Vec3::new(15.0, 6.0, -20.0)] {
        let world = || {
            let mut index = CollisionIndex::new();
            add_platform(&mut index, 1, offset);
            index
        };
        let mut pair = Pair::new(world, STANDING, Sequence(1));
        pair.run(0.5, 60.0, |_| InputFrame::default());
        let before = pair.truth.sim().motor.position;
        pair.run(16.0, 60.0, |time| walking(if time % 4.0 < 0.25 { Vec3::X * 0.3 } else { Vec3::ZERO }));
        pair.run(2.0, 60.0, |_| InputFrame::default());
        assert_eq!(pair.take_faults(), [], "{offset}");
        assert!(pair.truth.sim().motor.position.distance(before) > 1.0);
        assert!(pair.truth.sim().motor.ground.is_some(), "it fell off");
    }
}

// S-24, S-30: the client's world lacks a wall for a while.
#[test]
fn a_client_that_walks_through_walls_is_put_back_and_converges() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    add_box(&mut pair.server_index, 2, Vec3::new(8.0, 3.0, 0.0), Vec3::new(1.0, 4.0, 50.0));
    pair.run(2.0, 60.0, |_| walking(Vec3::X));
    assert!(pair.counters.corrected(CorrectionCause::Disagreement) > 0);
    assert!(pair.truth.sim().motor.position.x < 6.1, "{}", pair.truth.sim().motor.position);
    assert!(pair.events.iter().any(|event| event.offset.x < -0.5));
    add_box(&mut pair.client_index, 2, Vec3::new(8.0, 3.0, 0.0), Vec3::new(1.0, 4.0, 50.0));
    pair.run(1.0, 60.0, |_| walking(Vec3::X));
    pair.take_faults();
    pair.run(5.0, 60.0, restless(9));
    assert_eq!(pair.take_faults(), []);
}

// S-24: what a report claims without having moved so changes nothing.
#[test]
fn tampered_reports_are_corrected_and_name_the_field() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.tamper = |report| report.position.x += 5.0;
    pair.run(1.0, 60.0, |_| InputFrame::default());
    let faults = pair.take_faults();
    assert!(faults.len() > 10);
    for fault in faults {
        let ReplayVerdict::Corrected { correction, difference } = fault else { panic!("{fault:?}") };
        assert_eq!(correction.cause, CorrectionCause::Disagreement);
        assert!(matches!(difference, Difference::Position { client, .. } if client.x == 5.0));
    }
    assert_eq!(pair.truth.sim().motor.position.x, 0.0);
    assert_eq!(pair.events, [], "the client held what the server says");
}

// S-24a: 0.7 studs a report would be 14 studs/s.
#[test]
fn small_lies_add_up_to_a_creep_only() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.run(0.5, 60.0, |_| InputFrame::default());
    pair.take_faults();
    pair.creep = Some(Vec3::X * 0.3);
    pair.run(20.0, 60.0, |_| InputFrame::default());
    assert!(pair.counters.adopted_inexact >= 2);
    assert!(pair.counters.corrected(CorrectionCause::AdoptionBudget) > 100);
    let gained = pair.truth.sim().motor.position.x;
    assert!((0.0..=0.75 + 0.05 * 20.0).contains(&gained), "{gained} studs in 20 s");
}

// S-24a: a small lie never leads through a wall.
#[test]
fn adoption_does_not_cross_a_thin_wall() {
    let world = || {
        let mut index = floor();
        add_box(&mut index, 2, Vec3::new(1.2, 3.0, 0.0), Vec3::new(0.05, 4.0, 50.0));
        index
    };
    let mut pair = Pair::new(world, STANDING, Sequence(1));
    pair.run(0.5, 60.0, |_| InputFrame::default());
    pair.tamper = |report| report.position.x += 0.4;
    pair.run(1.0, 60.0, |_| InputFrame::default());
    assert!(pair.counters.corrected(CorrectionCause::AdoptionPath) > 0);
    assert!(pair.truth.sim().motor.position.x < 0.2);
}

// S-22, B20: a clock half as fast again.
#[test]
fn a_fast_clock_gains_nothing() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.limits.reports_per_second = 60;
    pair.rate = 1.5;
    let start = pair.truth.sim().motor.position;
    pair.run(10.0, 60.0, |_| walking(Vec3::X));
    let distance = pair.truth.sim().motor.position.distance(start);
    assert!(pair.counters.corrected(CorrectionCause::Budget) > 10);
    assert!(distance <= 16.0 * 10.25, "{distance} studs in 10 s");
    assert!(distance >= 16.0 * 9.0, "{distance} studs: an honest share of it still counts");
}

// S-21
#[test]
fn a_malformed_report_spends_and_changes_nothing() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.run(1.0, 60.0, |_| InputFrame::default());
    let before = pair.truth.clone();
    pair.tamper = |report| report.velocity.y = f32::NAN;
    pair.run(0.2, 60.0, |_| InputFrame::default());
    assert!(pair.counters.refused(ReportRefusal::Nonfinite) > 0);
    pair.tamper = |report| report.frames[0].duration = SimSpan(100);
    pair.run(0.3, 60.0, |_| InputFrame::default());
    assert!(pair.counters.refused(ReportRefusal::Duration) > 0);
    assert_eq!(pair.truth.sim(), before.sim());
    assert!((pair.truth.budget_left() - before.budget_left()).abs() < 1e-9);
}

// S-21
#[test]
fn old_sequences_and_unknown_epochs_are_refused() {
    let mut pair = Pair::new(floor, STANDING, Sequence(u32::MAX - 2));
    pair.run(1.0, 60.0, |_| InputFrame::default());
    pair.tamper = |report| report.sequence = Sequence(u32::MAX);
    pair.run(0.5, 60.0, |_| InputFrame::default());
    assert!(pair.counters.refused(ReportRefusal::StaleSequence) > 0);
    pair.tamper = |report| report.epoch = 7;
    pair.run(0.5, 60.0, |_| InputFrame::default());
    assert!(pair.counters.refused(ReportRefusal::UnknownEpoch) > 0);
}

// S-21
#[test]
fn more_reports_than_the_rate_are_refused() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.limits.reports_per_second = 10;
    pair.truth = tidelock_sim::report::CharacterTruth::new(*pair.truth.sim(), &pair.limits);
    pair.run(10.0, 60.0, |_| InputFrame::default());
    let refused = pair.counters.refused(ReportRefusal::Rate);
    assert!((80..=95).contains(&refused), "{refused}");
}

// S-12a: a report replays at its own mover time within the window, at the window's edge otherwise.
#[test]
fn mover_time_is_clamped_to_the_window() {
    let world = || {
        let mut index = CollisionIndex::new();
        add_platform(&mut index, 1, Vec3::new(60.0, 0.0, 0.0));
        index
    };
    let mut pair = Pair::new(world, STANDING, Sequence(1));
    pair.run(1.0, 60.0, |_| InputFrame::default());
    assert_eq!(pair.take_faults(), []);
    pair.tamper = |report| report.start = SimTime(0);
    pair.run(2.0, 60.0, |_| InputFrame::default());
    let now = pair.now();
    assert!(now.since(pair.truth.mover_end()) <= SimSpan::from_seconds(0.3));
    assert!(pair.counters.corrected(CorrectionCause::MoverTime) > 0);
    pair.tamper = |report| report.start = SimTime(u64::MAX);
    pair.run(2.0, 60.0, |_| InputFrame::default());
    assert!(pair.truth.mover_end() <= pair.now() + SimSpan::from_seconds(0.2));
    pair.tamper = |_| {};
    pair.run(2.0, 60.0, |_| InputFrame::default());
    pair.take_faults();
    pair.run(2.0, 60.0, |_| InputFrame::default());
    assert_eq!(pair.take_faults(), [], "honest again");
}

// S-25, S-30: commands win over whatever was on its way.
#[test]
fn commands_raise_the_epoch_and_the_client_follows() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.run(1.0, 60.0, |_| walking(Vec3::X));
    let elsewhere = Vec3::new(-100.0, 2.5, 30.0);
    let correction = pair.truth.teleport(elsewhere, 1.0);
    assert_eq!((correction.epoch, pair.truth.epoch()), (1, 1));
    pair.send(correction);
    pair.take_faults();
    pair.run(1.0, 60.0, |_| InputFrame::default());
    let faults = pair.take_faults();
    assert!(!faults.is_empty() && faults.len() <= 5, "{faults:?}");
    assert!(faults.iter().all(|fault| *fault == ReplayVerdict::Refused(ReportRefusal::StaleEpoch)));
    assert!(pair.truth.sim().motor.position.distance(elsewhere) < 0.1);
    assert_eq!(pair.events.last().unwrap().reason, CorrectionCause::Teleport);
    assert_eq!(pair.client.offset().position, Vec3::ZERO, "a teleport is not smoothed");

    let correction = pair.truth.kill();
    pair.send(correction);
    pair.run(1.0, 60.0, |_| walking(Vec3::X));
    assert_eq!(pair.client.sim().motor.state, CharacterState::Dead);
    assert_eq!(pair.client.sim(), pair.truth.sim());
    let budget = pair.truth.budget_left();
    let correction = pair.truth.respawn(STANDING, 0.0, pair.truth.sim().custom);
    assert_eq!(pair.truth.budget_left(), budget, "a respawn refills nothing");
    pair.send(correction);
    pair.run(0.5, 60.0, |_| InputFrame::default());
    pair.take_faults();
    pair.run(2.0, 60.0, restless(5));
    assert_eq!(pair.take_faults(), []);
}

// S-24: seated characters follow the seat; what their owners hold is still told.
#[test]
fn a_seated_character_is_carried_and_does_not_replay() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.run(1.0, 60.0, |_| walking(Vec3::X));
    let correction = pair.truth.seat(Vec3::new(3.0, 2.0, 3.0), 0.5);
    assert!(!pair.truth.replays());
    pair.send(correction);
    pair.take_faults();
    pair.run(1.0, 60.0, |_| walking(Vec3::X));
    let faults = pair.take_faults();
    assert!(faults.len() > 10 && faults.ends_with(&[ReplayVerdict::Seated; 10]), "{faults:?}");
    assert_eq!(pair.client.sim().motor.position, Vec3::new(3.0, 2.0, 3.0));
    pair.client.carry(Vec3::new(4.0, 2.0, 3.0), Vec3::X, 0.5);
    assert_eq!(pair.client.sim().motor.position.x, 4.0);
    pair.truth.carry(Vec3::new(4.0, 2.0, 3.0), Vec3::X, 0.5);
    assert_eq!(pair.truth.sim().motor.position.x, 4.0);
    assert_eq!(pair.client.sim().motor.state, CharacterState::Seated);
    let correction = pair.truth.teleport(STANDING, 0.0);
    pair.send(correction);
    pair.run(0.5, 60.0, |_| InputFrame::default());
    pair.take_faults();
    pair.run(1.0, 60.0, restless(6));
    assert_eq!(pair.take_faults(), []);
    pair.truth.carry(Vec3::ZERO, Vec3::X, 0.5);
    assert!(pair.truth.sim().motor.position.y > 1.0, "only seats carry");
}

// S-41
#[test]
fn broadcast_age_is_small_and_bounded() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    for _ in 0..300 {
        pair.frame(1.0 / 60.0, &InputFrame::default());
        let age = pair.truth.sample_age(pair.now(), &pair.limits);
        assert!(age.seconds() <= 0.075, "{} s", age.seconds());
    }
    let later = pair.now() + SimSpan::from_seconds(5.0);
    assert_eq!(pair.truth.sample_age(later, &pair.limits), pair.limits.max_sample_age);
}
