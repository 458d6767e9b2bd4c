use tidelock_replication::wire::write_own_snapshot;

use super::Server;
use super::inputs::{CharacterInputs, InputTruth};

/// Tells each served player whose character takes inputs of ticks what came of them: its character's whole state, and how its
/// inputs arrive (S-33).
pub(super) fn run(server: &mut Server) {
    let Server { sessions, place, outbox, tick, .. } = server;
    for (_, session) in sessions.iter().filter(|(_, session)| session.served) {
        let Some(character) = session.character() else { continue };
        let mut query = place.world().query_one::<(&InputTruth, &CharacterInputs)>(character.entity);
        let Ok((truth, inputs)) = query.get() else { continue };
        let Some(last) = inputs.steps.last() else { continue };
        let snapshot = truth.snapshot(*tick, last);
        outbox.send_newest(session.connection, |bytes| write_own_snapshot(bytes, &snapshot));
    }
}
