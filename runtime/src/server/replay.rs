use rayon::prelude::*;
use tidelock_replication::wire::write_correction_message;
use tidelock_sim::collision::CollisionWorld;
use tidelock_sim::report::{
    CharacterTruth, Correction, ReplayEnvironment, ReplayVerdict, Report, ReportCounters, replay_report,
};

use super::Server;
use super::sessions::Sessions;
use super::workers::{CHARACTERS_PER_JOB, Workers};

/// Which player slot a character belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlayerSlot(pub(crate) usize);

/// What this tick's replay said of a character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplayResult {
    pub(crate) counters: ReportCounters,
    /// The server's word for the owner; of several in one tick the last, which holds what the others said.
    pub(crate) correction: Option<Correction>,
    /// Whether it moved since its motion was last encoded.
    pub(crate) moved: bool,
}

/// Runs every character's reports, in parallel over column slices against one read-only collision index (S-20 to S-24a).
/// Each row writes only itself; [`merge`] then walks players in slot order.
pub(super) fn run(server: &mut Server) {
    let now = server.time();
    let Server { place, sessions, workers, protocol, config, .. } = server;
    let (world, index, settings) = place.replay_parts();
    let env = ReplayEnvironment { now, settings, module: protocol.module(), limits: &config.replay_limits };
    let (sessions, workers): (&Sessions, &Workers) = (sessions, workers);
    workers.run(|| {
        for archetype in world.archetypes() {
            let Some(mut truths) = archetype.get::<&mut CharacterTruth>() else { continue };
            let Some(mut results) = archetype.get::<&mut ReplayResult>() else { continue };
            let Some(owners) = archetype.get::<&PlayerSlot>() else { continue };
            let rows = truths
                .par_chunks_mut(CHARACTERS_PER_JOB)
                .zip(results.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(owners.par_chunks(CHARACTERS_PER_JOB));
            rows.for_each(|((truths, results), owners)| {
                let mut nearby = workers.nearby();
                let mut world = CollisionWorld { index, nearby: &mut nearby };
                for ((truth, result), owner) in truths.iter_mut().zip(results).zip(owners) {
                    let reports = sessions.get(owner.0).map_or(&[][..], |session| session.inbox.reports());
                    replay(truth, result, reports, &env, &mut world);
                }
            });
        }
    });
    merge(server);
}

fn replay(
    truth: &mut CharacterTruth,
    result: &mut ReplayResult,
    reports: &[Report],
    env: &ReplayEnvironment<'_>,
    world: &mut CollisionWorld<'_>,
) {
    *result = ReplayResult { moved: result.moved, ..ReplayResult::default() };
    for report in reports {
        let outcome = replay_report(truth, report, env, world);
        result.counters.count(&outcome);
        match outcome.verdict {
            ReplayVerdict::Refused(_) => {}
            ReplayVerdict::Adopted { .. } => result.moved = true,
            ReplayVerdict::Corrected { correction, .. } => {
                result.moved = true;
                result.correction = Some(correction);
            }
        }
    }
}

/// Counts, and sends corrections, in player-slot order.
fn merge(server: &mut Server) {
    let Server { place, sessions, outbox, metrics, .. } = server;
    for (_, session) in sessions.iter() {
        let Some(character) = session.character() else { continue };
        let Ok(result) = place.world().get::<&ReplayResult>(character.entity) else { continue };
        metrics.reports.add(&result.counters);
        if let Some(correction) = &result.correction {
            outbox.send_state(session.connection, |bytes| write_correction_message(bytes, correction));
        }
    }
}
