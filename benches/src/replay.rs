use glam::Vec3;
use tidelock_sim::client::{Prediction, PredictionConfig, PredictionEnvironment};
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::report::{
    CharacterTruth, Correction, CorrectionCause, ReplayEnvironment, ReplayLimits, ReplayVerdict, Report, replay_report,
};
use tidelock_sim::simulation::{CharacterSim, SimulationRun, simulate_frame};
use tidelock_sim::stock::StockModule;
use tidelock_sim::{SimSpan, SimTime};

use crate::course::Course;
use crate::motor::START;
use crate::scene::Scene;
use crate::table::{Figure, Table};
use crate::watch::{measure, measure_beside};

/// Characters that take turns with one scratch, as a worker of the server has them.
const CHARACTERS: usize = 32;
/// Reports of each that are run over and over.
const REPORTS: usize = 100;
/// Server time of the first report.
const BEGIN: SimTime = SimTime(61_440 * 100);

/// One character's honest reports, and the server's state before the first.
struct Recording {
    truth: CharacterTruth,
    reports: Vec<Report>,
}

/// Frames of 1/60 s, and the reports of 50 ms they make.
fn record(index: &CollisionIndex, range: f32, seed: u64) -> Recording {
    let (module, settings, limits) = (StockModule::default(), MotorSettings::default(), ReplayLimits::default());
    let position = START + Vec3::new(seed as f32 * 1.7 % 24.0 - 12.0, 0.0, seed as f32 * 2.9 % 24.0 - 12.0);
    let sim = CharacterSim::new(MotorSnapshot { position, ..MotorSnapshot::default() }, &module);
    let mut client = Prediction::new(sim, 0, BEGIN, PredictionConfig::default());
    let (mut nearby, mut course) = (Nearby::new(), Course::new(seed, range));
    let mut reports = Vec::new();
    while reports.len() < REPORTS {
        let direction = course.next(client.sim().motor.position);
        let input = InputFrame { direction, ..InputFrame::default() };
        let env = PredictionEnvironment { settings: &settings, module: &module };
        client.advance(1.0 / 60.0, &input, &env, &mut CollisionWorld { index, nearby: &mut nearby });
        reports.extend(client.poll_report());
    }
    Recording { truth: CharacterTruth::new(sim, &limits), reports }
}

/// Replay of 12-tick reports (S-24), beside running the same frames without any check.
fn replays(table: &mut Table, what: &'static str, scene: &Scene, target: Option<f64>) {
    let index = scene.index();
    let (module, settings, limits) = (StockModule::default(), MotorSettings::default(), ReplayLimits::default());
    let recordings: Vec<_> = (0..CHARACTERS as u64).map(|seed| record(&index, scene.range, seed)).collect();
    let frames: u64 = recordings.iter().flat_map(|one| &one.reports).map(|report| report.frames.len() as u64).sum();
    let reports = (CHARACTERS * REPORTS) as u64;
    assert!((reports * 29 / 10..=reports * 31 / 10).contains(&frames), "three frames of four ticks a report");
    let (mut served, mut bare) = (Nearby::new(), Nearby::new());
    let [replayed, floor] = measure_beside([
        &mut || {
            let mut truths: Vec<_> = recordings.iter().map(|one| one.truth.clone()).collect();
            for number in 0..REPORTS {
                for (truth, one) in truths.iter_mut().zip(&recordings) {
                    let report = &one.reports[number];
                    let env =
                        ReplayEnvironment { now: report.end, settings: &settings, module: &module, limits: &limits };
                    let mut world = CollisionWorld { index: &index, nearby: &mut served };
                    let outcome = replay_report(truth, report, &env, &mut world);
                    assert_eq!(outcome.verdict, ReplayVerdict::Adopted { exact: true });
                }
            }
            reports
        },
        &mut || {
            let mut sims: Vec<_> = recordings.iter().map(|one| *one.truth.sim()).collect();
            for number in 0..REPORTS {
                for (sim, one) in sims.iter_mut().zip(&recordings) {
                    let report = &one.reports[number];
                    let run =
                        SimulationRun { start: report.start, settings: &settings, module: &module, replaying: false };
                    let mut run = run;
                    for frame in &report.frames {
                        let mut world = CollisionWorld { index: &index, nearby: &mut bare };
                        run.start = simulate_frame(sim, frame, &run, &mut world).end;
                    }
                }
            }
            reports
        },
    ]);
    let figure = Figure::new(what, replayed * 1e-3, "µs").beside("the frames alone", floor * 1e-3);
    table.row(Figure { target, ..figure });
}

/// The server's word about the fifth-last report, which makes the client run four reports again (S-30).
fn resimulates(table: &mut Table, what: &'static str, scene: &Scene, target: Option<f64>) {
    let index = scene.index();
    let (module, settings) = (StockModule::default(), MotorSettings::default());
    let sim = CharacterSim::new(MotorSnapshot { position: START, ..MotorSnapshot::default() }, &module);
    let mut client = Prediction::new(sim, 0, BEGIN, PredictionConfig::default());
    let (mut nearby, mut course) = (Nearby::new(), Course::new(5, scene.range));
    let env = PredictionEnvironment { settings: &settings, module: &module };
    let mut ends = Vec::new();
    let mut side = 1.0;
    let nanoseconds = measure(&mut || {
        let mut corrected = 0;
        // Four reports on, then corrected about the one before those, now to one side, now to the other.
        for _ in 0..4 {
            loop {
                let direction = course.next(client.sim().motor.position);
                let input = InputFrame { direction, ..InputFrame::default() };
                client.advance(1.0 / 60.0, &input, &env, &mut CollisionWorld { index: &index, nearby: &mut nearby });
                if let Some(report) = client.poll_report() {
                    ends.push((report.sequence, *client.sim(), report.end));
                    client.recycle(report);
                    break;
                }
            }
        }
        if let Some(&(sequence, sim, time)) = ends.len().checked_sub(5).and_then(|at| ends.get(at)) {
            for _ in 0..64 {
                side = -side;
                let mut sim = sim;
                sim.motor.position.x += 0.001 * side;
                let correction = Correction { sequence, epoch: 0, time, sim, cause: CorrectionCause::Disagreement };
                let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
                let event = client.correct(&correction, &env, &mut world).expect("a correction that changes something");
                assert!((44..=52).contains(&event.replayed_ticks), "{} ticks", event.replayed_ticks);
                corrected += 1;
            }
            ends.drain(..ends.len() - 5);
        }
        corrected
    });
    table.row(Figure { target, ..Figure::new(what, nanoseconds * 1e-3, "µs") });
}

pub(crate) fn run(table: &mut Table) {
    replays(table, "replay of a report of 12 ticks, flat", &Scene::flat(), None);
    replays(table, "replay of a report of 12 ticks among 1,000 boxes", &Scene::boxes(), Some(7.0));
    replays(table, "replay of a report of 12 ticks on packed boxes", &Scene::packed(), Some(7.0));
    replays(table, "replay of a report of 12 ticks, trimesh of 1 stud", &Scene::mesh(1.0), None);
    resimulates(table, "resimulation of 48 ticks among 1,000 boxes", &Scene::boxes(), Some(28.0));
    resimulates(table, "resimulation of 48 ticks on packed boxes", &Scene::packed(), Some(28.0));
    debug_assert_eq!(SimSpan::MOTOR_TICK.0, 256);
}
