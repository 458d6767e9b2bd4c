use glam::Vec3;
use rayon::prelude::*;
use tidelock_replication::wire::write_correction_message;
use tidelock_sim::allowance::{
    AllowanceCounters, AllowanceState, AllowanceValidator, AllowanceVerdict, CollisionSupport, ValidationSignal,
};
use tidelock_sim::collision::CollisionWorld;
use tidelock_sim::module::CustomState;
use tidelock_sim::motor::MotorSnapshot;
use tidelock_sim::report::{Correction, CorrectionCause, Report, ReportAck, SampleClock, sanitised};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{SimSpan, SimTime};

use super::Server;
use super::body::CharacterBody;
use super::replay::PlayerSlot;
use super::sessions::Sessions;
use super::truth::{BodyCommand, Obeyed, Rules, Truth};
use super::workers::{CHARACTERS_PER_JOB, Workers};
use crate::control::ControlInput;
use crate::controller::Controller;

/// What the server keeps of a character whose reports it judges and does not run (S-25).
#[derive(Clone, Debug)]
pub(crate) struct AllowanceTruth {
    validator: AllowanceValidator,
    clock: SampleClock,
    /// Mover time at the end of the last report taken, as far as it can be believed.
    end: SimTime,
    /// The client's module state, unread: its owner alone needs it, after commands.
    custom: CustomState,
}

/// What was wrong with a character's reports in this tick (S-26): a component of every character whose reports are judged, for
/// systems that run after replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovementSignals {
    /// In the order of the reports.
    pub signals: Vec<ValidationSignal>,
}

/// What this tick's judgement said of a character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AllowanceResult {
    counters: AllowanceCounters,
    correction: Option<Correction>,
}

/// A character's columns.
struct Row<'a> {
    truth: &'a mut AllowanceTruth,
    result: &'a mut AllowanceResult,
    signals: &'a mut MovementSignals,
    body: &'a mut CharacterBody,
    controls: &'a mut ControlInput,
}

/// Judges every character's reports, in parallel over column slices against one read-only collision index. Each row writes only
/// itself; [`merge`] then walks players in slot order.
pub(super) fn run(server: &mut Server) {
    let now = server.time();
    let Server { place, sessions, workers, protocol, config, .. } = server;
    let (world, index, settings) = place.replay_parts();
    let (replay, allowance) = (&config.replay_limits, &config.allowance_limits);
    let rules = Rules { now, settings, module: protocol.module_of(Controller::Allowances), replay, allowance };
    let (sessions, workers): (&Sessions, &Workers) = (sessions, workers);
    workers.run(|| {
        for archetype in world.archetypes() {
            let Some(mut truths) = archetype.get::<&mut AllowanceTruth>() else { continue };
            let Some(mut results) = archetype.get::<&mut AllowanceResult>() else { continue };
            let Some(mut signals) = archetype.get::<&mut MovementSignals>() else { continue };
            let Some(mut bodies) = archetype.get::<&mut CharacterBody>() else { continue };
            let Some(mut controls) = archetype.get::<&mut ControlInput>() else { continue };
            let Some(owners) = archetype.get::<&PlayerSlot>() else { continue };
            let rows = truths
                .par_chunks_mut(CHARACTERS_PER_JOB)
                .zip(results.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(signals.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(bodies.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(controls.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(owners.par_chunks(CHARACTERS_PER_JOB));
            rows.for_each(|(((((truths, results), signals), bodies), controls), owners)| {
                let mut nearby = workers.nearby();
                let mut world = CollisionWorld { index, nearby: &mut nearby };
                let columns = truths.iter_mut().zip(results).zip(signals).zip(bodies).zip(controls).zip(owners);
                for (((((truth, result), signals), body), controls), owner) in columns {
                    let reports = sessions.get(owner.0).map_or(&[][..], |session| session.inbox.reports());
                    judge(Row { truth, result, signals, body, controls }, reports, &rules, &mut world);
                }
            });
        }
    });
    merge(server);
}

fn judge<'a>(row: Row<'_>, reports: &[Report], rules: &Rules<'a>, world: &mut CollisionWorld<'a>) {
    let Row { truth, result, signals: MovementSignals { signals }, body, controls } = row;
    *result = AllowanceResult::default();
    signals.clear();
    for report in reports {
        let before = signals.len();
        let limits = rules.replay;
        let made = report.end.clamp(rules.now - limits.start_behind, rules.now + limits.start_ahead);
        let mut support = CollisionSupport { world, settings: rules.settings, time: made };
        let outcome = truth.validator.judge(report, &rules.judging(), &mut support, signals);
        result.counters.count(&outcome, &signals[before..]);
        if matches!(outcome.verdict, AllowanceVerdict::Refused(_)) {
            continue;
        }
        if let Some(frame) = report.frames.last() {
            *controls = ControlInput::of(&sanitised(frame));
        }
        truth.clock.observe(made, rules.now);
        (truth.end, truth.custom) = (made, report.custom);
        if outcome.correction {
            result.correction = Some(truth.word(CorrectionCause::Allowance));
        }
        // Who sits is moved by its seat.
        let moved = body.moved || outcome.verdict != AllowanceVerdict::Seated;
        *body = CharacterBody { moved, ..truth.body(rules) };
    }
}

/// Counts, and sends corrections, in player-slot order.
fn merge(server: &mut Server) {
    let Server { place, sessions, outbox, metrics, .. } = server;
    for (_, session) in sessions.iter() {
        let Some(character) = session.character() else { continue };
        let Ok(result) = place.world().get::<&AllowanceResult>(character.entity) else { continue };
        metrics.allowances.add(&result.counters);
        if let Some(correction) = &result.correction {
            outbox.send_state(session.connection, |bytes| write_correction_message(bytes, correction));
        }
    }
}

impl AllowanceTruth {
    /// A character that has just been created, with the module's state at its beginning.
    pub(crate) fn new(validator: AllowanceValidator, custom: CustomState) -> Self {
        Self { validator, clock: SampleClock::default(), end: SimTime(0), custom }
    }
}

impl Truth for AllowanceTruth {
    fn obey(&mut self, command: &BodyCommand, rules: &Rules<'_>) -> Obeyed {
        let (validator, env) = (&mut self.validator, rules.judging());
        let cause = match *command {
            BodyCommand::Teleport { position, yaw } => {
                validator.teleport(position, yaw, &env);
                CorrectionCause::Teleport
            }
            BodyCommand::Kill => {
                validator.kill(&env);
                CorrectionCause::Death
            }
            BodyCommand::Respawn { position, yaw } => {
                validator.respawn(position, yaw, &env);
                self.custom = rules.module.initial();
                CorrectionCause::Respawn
            }
            BodyCommand::Sit { position, yaw } => {
                validator.seat(position, yaw, &env);
                CorrectionCause::Seat
            }
            BodyCommand::Grant(grants) => {
                validator.grants = grants;
                return Obeyed::Quietly;
            }
        };
        Obeyed::Moved(self.word(cause))
    }

    fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        self.validator.carry(position, velocity, yaw);
    }

    fn word(&self, cause: CorrectionCause) -> Correction {
        let AllowanceState { position, velocity, yaw, state } = *self.validator.state();
        let motor = MotorSnapshot { position, velocity, yaw, state, ..MotorSnapshot::default() };
        Correction {
            sequence: self.validator.last_sequence().unwrap_or_default(),
            epoch: self.validator.epoch(),
            time: self.end,
            sim: CharacterSim { motor, custom: self.custom },
            cause,
        }
    }

    fn body(&self, rules: &Rules<'_>) -> CharacterBody {
        let AllowanceState { position, velocity, yaw, state } = *self.validator.state();
        let budget = SimSpan::from_seconds(rules.replay.replay_budget);
        let epoch = self.validator.epoch();
        let ack = self.validator.last_sequence().map(|sequence| ReportAck { sequence, epoch, budget });
        let mut body =
            CharacterBody { position, velocity, yaw, state, sample: rules.now, ack, ..CharacterBody::default() };
        if body.moves_itself() {
            body.sample = rules.now - self.clock.age(rules.now, rules.replay.max_sample_age);
        }
        body
    }
}
