use glam::Vec3;
use rayon::prelude::*;
use tidelock_replication::wire::write_correction_message;
use tidelock_sim::collision::CollisionWorld;
use tidelock_sim::report::{
    CharacterTruth, Correction, CorrectionCause, Desync, Difference, ReplayEnvironment, ReplayVerdict, Report,
    ReportCounters, replay_report, sanitised,
};

use super::Server;
use super::body::CharacterBody;
use super::sessions::Sessions;
use super::truth::{BodyCommand, Obeyed, Rules, Truth};
use super::workers::{CHARACTERS_PER_JOB, Workers};
use crate::control::ControlInput;
use crate::controller::Controller;

/// Which player slot a character belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlayerSlot(pub(crate) usize);

/// What this tick's replay said of a character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplayResult {
    pub(crate) counters: ReportCounters,
    /// The server's word for the owner; of several in one tick the last, which holds what the others said.
    pub(crate) correction: Option<Correction>,
    /// Why: the field that differed, with both values (T-11).
    pub(crate) difference: Option<Difference>,
    /// Where the client's simulation parted from the server's.
    pub(crate) desync: Option<Desync>,
}

/// A character's columns.
struct Row<'a> {
    truth: &'a mut CharacterTruth,
    result: &'a mut ReplayResult,
    body: &'a mut CharacterBody,
    controls: &'a mut ControlInput,
}

/// Runs every character's reports, in parallel over column slices against one read-only collision index (S-20 to S-24a).
/// Each row writes only itself; [`merge`] then walks players in slot order.
pub(super) fn run(server: &mut Server) {
    let now = server.time();
    let Server { place, sessions, workers, protocol, config, .. } = server;
    let (world, index, settings) = place.replay_parts();
    let (replay_limits, allowance) = (&config.replay_limits, &config.allowance_limits);
    let rules =
        Rules { now, settings, module: protocol.module_of(Controller::Replay), replay: replay_limits, allowance };
    let (sessions, workers): (&Sessions, &Workers) = (sessions, workers);
    workers.run(|| {
        for archetype in world.archetypes() {
            let Some(mut truths) = archetype.get::<&mut CharacterTruth>() else { continue };
            let Some(mut results) = archetype.get::<&mut ReplayResult>() else { continue };
            let Some(mut bodies) = archetype.get::<&mut CharacterBody>() else { continue };
            let Some(mut controls) = archetype.get::<&mut ControlInput>() else { continue };
            let Some(owners) = archetype.get::<&PlayerSlot>() else { continue };
            let rows = truths
                .par_chunks_mut(CHARACTERS_PER_JOB)
                .zip(results.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(bodies.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(controls.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(owners.par_chunks(CHARACTERS_PER_JOB));
            rows.for_each(|((((truths, results), bodies), controls), owners)| {
                let mut nearby = workers.nearby();
                let mut world = CollisionWorld { index, nearby: &mut nearby };
                let columns = truths.iter_mut().zip(results).zip(bodies).zip(controls).zip(owners);
                for ((((truth, result), body), controls), owner) in columns {
                    let reports = sessions.get(owner.0).map_or(&[][..], |session| session.inbox.reports());
                    replay(Row { truth, result, body, controls }, reports, &rules, &mut world);
                }
            });
        }
    });
    merge(server);
}

/// Runs one character's reports.
fn replay(row: Row<'_>, reports: &[Report], rules: &Rules<'_>, world: &mut CollisionWorld<'_>) {
    let Row { truth, result, body, controls } = row;
    let Rules { now, settings, module, replay: limits, .. } = *rules;
    let env = ReplayEnvironment { now, settings, module, limits };
    *result = ReplayResult::default();
    for report in reports {
        let outcome = replay_report(truth, report, &env, world);
        result.counters.count(&outcome);
        result.desync = outcome.desync.or(result.desync);
        match outcome.verdict {
            ReplayVerdict::Refused(_) => continue,
            ReplayVerdict::Adopted { .. } | ReplayVerdict::Seated => {}
            ReplayVerdict::Corrected { correction, difference } => {
                (result.correction, result.difference) = (Some(correction), Some(difference));
            }
        }
        if let Some(frame) = report.frames.last() {
            *controls = ControlInput::of(&sanitised(frame));
        }
        // Who sits is moved by its seat.
        let moved = body.moved || outcome.verdict != ReplayVerdict::Seated;
        *body = CharacterBody { moved, ..truth.body(rules) };
    }
}

/// Counts, and sends corrections, in player-slot order.
fn merge(server: &mut Server) {
    let Server { place, sessions, outbox, metrics, .. } = server;
    for (_, session) in sessions.iter() {
        let Some(character) = session.character() else { continue };
        let Ok(result) = place.world().get::<&ReplayResult>(character.entity) else { continue };
        metrics.reports.add(&result.counters);
        if let Some(desync) = result.desync {
            metrics.last_desync = Some((session.player, desync));
        }
        if let Some(correction) = &result.correction {
            let why = result.difference.map(|difference| (session.player, correction.cause, difference));
            metrics.last_correction = why.or(metrics.last_correction);
            outbox.send_state(session.connection, |bytes| write_correction_message(bytes, correction));
        }
    }
}

impl Truth for CharacterTruth {
    fn obey(&mut self, command: &BodyCommand, rules: &Rules<'_>) -> Obeyed {
        Obeyed::Moved(match *command {
            BodyCommand::Teleport { position, yaw } => self.teleport(position, yaw),
            BodyCommand::Kill => self.kill(),
            BodyCommand::Respawn { position, yaw } => self.respawn(position, yaw, rules.module.initial()),
            BodyCommand::Sit { position, yaw } => self.seat(position, yaw),
            BodyCommand::Grant(_) => return Obeyed::Unknown,
        })
    }

    fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        CharacterTruth::carry(self, position, velocity, yaw);
    }

    fn word(&self, cause: CorrectionCause) -> Correction {
        self.correction(cause)
    }

    fn body(&self, rules: &Rules<'_>) -> CharacterBody {
        let motor = &self.sim().motor;
        CharacterBody {
            position: motor.position,
            velocity: motor.velocity,
            carried: motor.ground_velocity,
            yaw: motor.yaw,
            state: motor.state,
            sample: rules.now - self.sample_age(rules.now, rules.replay),
            ack: self.acknowledgement(),
            moved: false,
        }
    }
}
