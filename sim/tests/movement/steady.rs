//! What runs every tick or frame allocates nothing once it is warm.

use glam::{Quat, Vec3};
use tidelock_sim::SimTime;
use tidelock_sim::client::{Prediction, PredictionConfig, PredictionEnvironment};
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::report::{
    CharacterTruth, Correction, CorrectionCause, ReplayEnvironment, ReplayLimits, ReplayVerdict, Report, replay_report,
};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::stock::StockModule;
use tidelock_sim::timeline::{RemoteTimeline, RemoteTimelineConfig};
use tidelock_sim::tracks::{CharacterPose, CharacterTrack, PartPose, PartTrack};

use crate::determinism::Dice;
use crate::place::Place;

/// Server time at the start.
const BEGIN: SimTime = SimTime(61_440 * 100);

fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

fn blocks() -> CollisionIndex {
    let mut dice = Dice(5);
    let place = (0..300).fold(Place::flat(), |place, _| {
        let half = dice.vector().abs() + Vec3::splat(0.3);
        place.with_box(dice.vector() * Vec3::new(40.0, 0.0, 40.0) + Vec3::Y * half.y, half)
    });
    place.index
}

/// A client that walks, and its reports.
struct Walk {
    client: Prediction,
    nearby: Nearby,
    module: StockModule,
    settings: MotorSettings,
    frame: u32,
}

impl Walk {
    fn new() -> Self {
        let module = StockModule::default();
        let motor = MotorSnapshot { position: Vec3::new(0.0, 6.0, 0.0), ..MotorSnapshot::default() };
        let sim = CharacterSim::new(motor, &module);
        let client = Prediction::new(sim, 0, BEGIN, PredictionConfig::default());
        Self { client, nearby: Nearby::new(), module, settings: MotorSettings::default(), frame: 0 }
    }

    fn report(&mut self, index: &CollisionIndex) -> Report {
        loop {
            self.frame += 1;
            let turn = (self.frame / 30) as f32 * 2.1;
            let home = -self.client.sim().motor.position * 0.02;
            let direction = Vec3::new(libm::cosf(turn), 0.0, libm::sinf(turn)) + home;
            let input = InputFrame { direction, auto_jump: true, ..InputFrame::default() };
            let env = PredictionEnvironment { settings: &self.settings, module: &self.module };
            let mut world = CollisionWorld { index, nearby: &mut self.nearby };
            self.client.advance(1.0 / 60.0, &input, &env, &mut world);
            if let Some(report) = self.client.poll_report() {
                return report;
            }
        }
    }
}

// S-24
#[test]
fn replays_allocate_nothing() {
    let (index, mut walk, limits) = (blocks(), Walk::new(), ReplayLimits::default());
    let first = CharacterTruth::new(*walk.client.sim(), &limits);
    let reports: Vec<Report> = (0..400).map(|_| walk.report(&index)).collect();
    let mut nearby = Nearby::new();
    let mut replay = || {
        let mut truth = first.clone();
        for report in &reports {
            let env =
                ReplayEnvironment { now: report.end, settings: &walk.settings, module: &walk.module, limits: &limits };
            let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
            let outcome = replay_report(&mut truth, report, &env, &mut world);
            assert_eq!(outcome.verdict, ReplayVerdict::Adopted { exact: true });
        }
    };
    replay();
    assert_eq!(allocations(replay), 0);
}

// S-30
#[test]
fn frames_and_resimulation_allocate_nothing() {
    let (index, mut walk) = (blocks(), Walk::new());
    let mut states = Vec::with_capacity(4_000);
    let mut go = |reports: u32| {
        for _ in 0..reports {
            let report = walk.report(&index);
            states.push((report.sequence, *walk.client.sim(), report.end));
            walk.client.recycle(report);
            let Some(&(sequence, mut sim, time)) = states.len().checked_sub(5).and_then(|at| states.get(at)) else {
                continue;
            };
            // Another each time, or it could be what the client has come to by itself.
            sim.motor.position.y += 0.001 + (sequence.0 % 7) as f32 * 0.0004;
            let correction = Correction { sequence, epoch: 0, time, sim, cause: CorrectionCause::Disagreement };
            let env = PredictionEnvironment { settings: &walk.settings, module: &walk.module };
            let mut world = CollisionWorld { index: &index, nearby: &mut walk.nearby };
            let event = walk.client.correct(&correction, &env, &mut world).expect("it changes something");
            assert!((44..=60).contains(&event.replayed_ticks), "{}", event.replayed_ticks);
        }
    };
    // Long enough to have been everywhere.
    go(3_000);
    assert_eq!(allocations(|| go(300)), 0);
}

// S-40, S-42, S-43
#[test]
fn tracks_and_timeline_allocate_nothing() {
    let (mut part, mut character) = (PartTrack::new(), CharacterTrack::new());
    let mut timeline = RemoteTimeline::new(RemoteTimelineConfig::default());
    let counted = allocations(|| {
        for frame in 0..2_000_u32 {
            let now = f64::from(frame) / 60.0;
            if frame % 3 == 0 {
                let position = Vec3::X * now as f32;
                part.push(PartPose { time: now, position, rotation: Quat::IDENTITY, ..PartPose::default() });
                character.push(CharacterPose { time: now, position, ..CharacterPose::default() });
                timeline.sample(now, now + 0.04 + f64::from(frame % 7) * 1e-3);
            }
            if let Some(playback) = timeline.advance(now, 1.0 / 60.0) {
                assert!(part.sample(playback).is_some() && character.sample(playback).is_some());
            }
        }
    });
    assert_eq!(counted, 0);
}
