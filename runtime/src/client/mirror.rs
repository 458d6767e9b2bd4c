use tidelock_replication::ids::{InstanceId, Slot};
use tidelock_replication::motion::{MotionBatch, MotionItem};
use tidelock_replication::wire::WireError;
use tidelock_sim::Tick;
use tidelock_sim::ownership::PartView;
use tidelock_sim::tracks::{CharacterPose, CharacterTrack, PartPose};

use super::Client;

/// Takes a motion batch: time for the clocks, poses for the tracks.
///
/// # Errors
///
/// The [`WireError`] of a batch that cannot be read; nothing of it is used.
pub(super) fn motion(client: &mut Client, bytes: &[u8]) -> Result<(), WireError> {
    let batch = MotionBatch::parse(bytes)?;
    let envelope = batch.envelope;
    if client.welcome.as_ref().is_none_or(|welcome| welcome.generation != envelope.generation) {
        client.stats.stale_items += batch.items().count() as u64;
        return Ok(());
    }
    client.timeline.sample(envelope.tick.seconds(), client.now);
    let transit = client.now - envelope.tick.seconds();
    if let Some(floor) = client.path.sample(transit, client.now, client.timeline.floor()) {
        client.timeline.raise_floor(floor);
    }
    client.own.clock.sample(envelope.tick.time(), client.now);
    if let Some(ack) = envelope.ack {
        client.own.clock.acknowledge(ack.budget.seconds());
        client.stats.budget = std::time::Duration::from_secs_f64(ack.budget.seconds());
    }
    if client.config.draw {
        batch.items().for_each(|item| take(client, &item, envelope.tick));
    }
    Ok(())
}

fn take(client: &mut Client, item: &MotionItem, batch: Tick) {
    client.stats.motion_items += 1;
    let taken = match item {
        MotionItem::Part { id, tick, motion, .. } => {
            let pose = PartPose {
                time: tick.seconds(),
                position: motion.position,
                rotation: motion.rotation,
                velocity: motion.linear_velocity,
                angular: motion.angular_velocity,
            };
            part(client, *id, item.order(batch), pose)
        }
        MotionItem::Character { id, motion, .. } => {
            let pose = CharacterPose {
                time: motion.sample.seconds(),
                position: motion.position,
                velocity: motion.velocity,
                yaw: motion.yaw,
                state: motion.state,
            };
            character(client, *id, item.order(batch), pose)
        }
    };
    match taken {
        Some(true) => {}
        Some(false) => client.stats.stale_items += 1,
        None => client.stats.unknown_items += 1,
    }
}

/// Adds to a part's track; `None` for a part that is not here, false for a pose older than what is known.
fn part(client: &mut Client, id: InstanceId, tick: Tick, pose: PartPose) -> Option<bool> {
    let replica = &mut client.replica;
    let entity = replica.touch(id)?;
    let (slot, view) = replica.world.query_one_mut::<(&Slot, &mut PartView)>(entity).ok()?;
    Some(replica.gate.admit(*slot, tick) && view.receive(pose, &replica.views))
}

/// Adds to a character's track, likewise.
fn character(client: &mut Client, id: InstanceId, tick: Tick, pose: CharacterPose) -> Option<bool> {
    let replica = &mut client.replica;
    let entity = replica.touch(id)?;
    let (slot, track) = replica.world.query_one_mut::<(&Slot, &mut CharacterTrack)>(entity).ok()?;
    if !replica.gate.admit(*slot, tick) {
        return Some(false);
    }
    // The state in which it rested would have come first.
    let moved_on = track.newest().is_some_and(|newest| newest.velocity != glam::Vec3::ZERO);
    Some(if moved_on { track.push_moving(pose) } else { track.push(pose) })
}
