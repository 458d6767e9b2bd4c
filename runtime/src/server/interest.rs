use rayon::prelude::*;
use tidelock_replication::interest::{Origin, Viewer};
use tidelock_replication::motion::MotionSchedule;
use tidelock_sim::Tick;

use super::body::CharacterBody;
use super::workers::SESSIONS_PER_JOB;
use super::{Server, ownership};

/// Who sees what, for the players this tick broadcasts to, in parallel. Cost follows what is found.
pub(super) fn run(server: &mut Server) {
    let Server { sessions, workers, place, steps, .. } = server;
    let (world, grid, divisor) = (place.world(), place.grid(), place.motion().divisor());
    // Phases follow ticks run, not tick numbers: a late server skips numbers, and no phase may go without.
    let phase = Tick(*steps);
    workers.run(|| {
        sessions.slots_mut().par_chunks_mut(SESSIONS_PER_JOB).enumerate().for_each(|(job, slots)| {
            for (offset, session) in slots.iter_mut().enumerate() {
                let Some(session) = session else { continue };
                let slot = job * SESSIONS_PER_JOB + offset;
                let character = session.character().filter(|_| MotionSchedule::is_served(slot, phase, divisor));
                session.served = character.is_some();
                let Some(character) = character else { continue };
                let Ok(body) = world.get::<&CharacterBody>(character.entity) else { continue };
                let origin = Origin { position: body.position, radius: None };
                let viewer = Viewer {
                    player: session.player,
                    groups: &session.groups,
                    origins: &[origin],
                    character: Some(character.slot),
                };
                grid.update(&viewer, &mut session.visible);
            }
        });
    });
    ownership::tell_sights(server);
}
