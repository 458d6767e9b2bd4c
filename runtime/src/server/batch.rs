use rayon::prelude::*;
use tidelock_net::ReceiptKey;
use tidelock_replication::motion::MotionEnvelope;

use super::Server;
use super::body::CharacterBody;
use super::workers::SESSIONS_PER_JOB;

/// Copies what each served player is to know of others' motion into batches, in parallel, then hands them over in slot order
///
pub(super) fn run(server: &mut Server) {
    let Server { sessions, workers, place, tick, outbox, metrics, .. } = server;
    let (world, arena, generation) = (place.world(), place.motion(), place.generation());
    let tick = *tick;
    workers.run(|| {
        sessions.slots_mut().par_chunks_mut(SESSIONS_PER_JOB).for_each(|slots| {
            for session in slots.iter_mut().flatten() {
                for (key, delivery) in session.inbox.receipts.drain(..) {
                    session.schedule.receipt(arena, key, delivery);
                }
                session.motion.clear();
                let Some(character) = session.character().filter(|_| session.served) else { continue };
                let ack = world.get::<&CharacterBody>(character.entity).ok().and_then(|body| body.ack);
                let envelope = MotionEnvelope { tick, generation, ack };
                session.schedule.build(arena, &session.visible, &envelope, &mut session.motion);
            }
        });
    });
    for (_, session) in sessions.iter_mut() {
        if session.motion.batches().is_empty() {
            continue;
        }
        let bytes = session.motion.bytes();
        session.traffic.motion_out += bytes.len() as u64;
        metrics.counters.motion_bytes += bytes.len() as u64;
        let start = outbox.write_motion(bytes);
        for batch in session.motion.batches() {
            metrics.counters.motion_items += u64::from(batch.items);
            let range = batch.range();
            let range = start + range.start as u32..start + range.end as u32;
            outbox.send_motion(session.connection, range, ReceiptKey(batch.key));
        }
    }
}
