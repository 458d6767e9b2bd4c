//! The client's own character: drawing, stalls, corrections under way.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod pair;

use glam::Vec3;
use pair::{Pair, START, floor, restless, walking};
use tidelock_sim::client::{Prediction, PredictionConfig, PredictionEnvironment};
use tidelock_sim::collision::{CollisionWorld, Nearby};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::report::{Correction, CorrectionCause};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::stock::StockModule;
use tidelock_sim::{Sequence, SimTime};

const STANDING: Vec3 = Vec3::new(0.0, 2.5, 0.0);

// B11
#[test]
fn drawing_moves_evenly_at_any_frame_rate_and_phase() {
    for fps in [59.94, 60.0, 75.0, 120.0, 144.0, 165.0, 239.76, 240.0, 360.0, 500.0] {
        for phase in 0..20 {
            let mut pair = Pair::new(floor, STANDING, Sequence(1));
            pair.frame(0.004 + f64::from(phase) * 0.0007, &InputFrame::default());
            pair.run(1.0, fps, |_| walking(Vec3::X));
            let mut before = pair.client.drawn().position.x;
            let expected = 16.0 / fps as f32;
            pair.run(1.0, fps, |_| walking(Vec3::X));
            for frame in 0..fps as u32 {
                if frame > 0 {
                    pair.frame(1.0 / fps, &walking(Vec3::X));
                    let now = pair.client.drawn().position.x;
                    let moved = now - before;
                    assert!((moved / expected - 1.0).abs() < 0.05, "{fps} fps, frame {frame}: {moved} for {expected}");
                }
                before = pair.client.drawn().position.x;
            }
        }
    }
}

// S-10, B08
#[test]
fn long_frames_are_cut_and_counted() {
    let mut pair = Pair::new(floor, STANDING, Sequence(1));
    pair.run(1.0, 60.0, |_| InputFrame::default());
    let start = pair.client.sim().motor.position;
    pair.frame(30.0, &walking(Vec3::X));
    assert!((pair.client.counters().dropped_seconds - 29.75).abs() < 1e-6);
    assert!(pair.client.sim().motor.position.distance(start) <= 16.0 * 0.25 + 0.1);
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let module = StockModule::default();
        let env = PredictionEnvironment { settings: &MotorSettings::default(), module: &module };
        let (index, mut nearby) = (floor(), Nearby::new());
        let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
        assert_eq!(pair.client.advance(bad, &InputFrame::default(), &env, &mut world).frames, 0);
    }
}

fn alone() -> (Prediction, StockModule) {
    let module = StockModule::default();
    let sim = CharacterSim::new(MotorSnapshot { position: STANDING, ..MotorSnapshot::default() }, &module);
    (Prediction::new(sim, 0, START, PredictionConfig::default()), module)
}

// S-30: correcting equals having run from the corrected state.
#[test]
fn a_correction_replays_everything_after_it() {
    let (mut client, module) = alone();
    let settings = MotorSettings::default();
    let env = PredictionEnvironment { settings: &settings, module: &module };
    let (index, mut nearby) = (floor(), Nearby::new());
    let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
    let mut play = restless(3);
    let mut reports = Vec::new();
    let mut after_third = None;
    for frame in 0..200 {
        client.advance(1.0 / 144.0, &play(f64::from(frame) / 144.0), &env, &mut world);
        if let Some(report) = client.poll_report() {
            if report.sequence == Sequence(3) {
                after_third = Some((*client.sim(), report.end));
            }
            reports.push(report);
        }
    }
    let (mut moved, end) = after_third.unwrap();
    moved.motor.position += Vec3::new(0.0, 1.0, 20.0);
    let correction =
        |sim| Correction { sequence: Sequence(3), epoch: 0, time: end, sim, cause: CorrectionCause::Disagreement };
    let held = *client.sim();
    let event = client.correct(&correction(moved), &env, &mut world).unwrap();
    assert!(event.replayed_ticks > 100);
    assert!((event.offset.z - 20.0).abs() < 5.0, "{}", event.offset);
    let drawn = client.drawn().position;
    assert!(drawn.distance(held.motor.position) < 1.0, "the picture stays where it was: {drawn}");
    // The same again is no news; the state of old brings everything back to the bit.
    assert_eq!(client.correct(&correction(moved), &env, &mut world), None);
    client.correct(&correction(after_third.unwrap().0), &env, &mut world).unwrap();
    assert_eq!(*client.sim(), held);
    assert_eq!(client.counters().empty_corrections, 1);
    // B23: the picture never enters simulation.
    for _ in 0..100 {
        client.advance(1.0 / 60.0, &InputFrame::default(), &env, &mut world);
        client.poll_report();
    }
    assert!(client.offset().position.length() < 1e-3);
}

// S-30, B28: nothing but the newest 128 reports is kept, and nonsense is ignored.
#[test]
fn unknown_nonfinite_and_old_corrections_are_ignored() {
    let (mut client, module) = alone();
    let settings = MotorSettings::default();
    let env = PredictionEnvironment { settings: &settings, module: &module };
    let (index, mut nearby) = (floor(), Nearby::new());
    let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
    for _ in 0..600 {
        client.advance(1.0 / 60.0, &InputFrame::default(), &env, &mut world);
        client.poll_report();
    }
    let held = *client.sim();
    let mut other = held;
    other.motor.position.x += 1.0;
    let correction =
        Correction { sequence: Sequence(1), epoch: 0, time: SimTime(0), sim: other, cause: CorrectionCause::Budget };
    for sequence in [1, 72, 0, 201, u32::MAX] {
        let unknown = Correction { sequence: Sequence(sequence), ..correction };
        assert_eq!(client.correct(&unknown, &env, &mut world), None, "{sequence}");
    }
    assert_eq!(client.counters().unknown_corrections, 5);
    let mut nonfinite = Correction { sequence: Sequence(190), ..correction };
    nonfinite.sim.motor.velocity.y = f32::NAN;
    assert_eq!(client.correct(&nonfinite, &env, &mut world), None);
    assert_eq!(*client.sim(), held);
    for sequence in [73, 200] {
        let mut known = Correction { sequence: Sequence(sequence), ..correction };
        known.sim.motor.position.z += sequence as f32;
        assert!(client.correct(&known, &env, &mut world).is_some(), "{sequence}");
    }
}

// S-20b: a jump of mover time ends a report, so that each is one stretch.
#[test]
fn a_jump_ends_the_report() {
    let (mut client, module) = alone();
    let settings = MotorSettings::default();
    let env = PredictionEnvironment { settings: &settings, module: &module };
    let (index, mut nearby) = (floor(), Nearby::new());
    let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
    client.advance(1.0 / 60.0, &InputFrame::default(), &env, &mut world);
    assert_eq!(client.poll_report(), None);
    let later = SimTime(START.0 + 100_000);
    client.jump(later);
    client.advance(1.0 / 60.0, &InputFrame::default(), &env, &mut world);
    let first = client.poll_report().unwrap();
    assert_eq!((first.start, first.end, first.frames.len()), (START, SimTime(START.0 + 1_024), 1));
    assert_eq!(client.poll_report(), None);
    client.advance(1.0 / 30.0, &InputFrame::default(), &env, &mut world);
    let second = client.poll_report().unwrap();
    assert_eq!((second.start.0, second.end.0), (later.0 - 1_024, later.0 + 2_048));
    assert_eq!(client.predicted_seconds(), second.end.seconds());
}
