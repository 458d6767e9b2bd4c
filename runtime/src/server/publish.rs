use tidelock_replication::ids::{InstanceId, Slot};
use tidelock_replication::instance::Pose;
use tidelock_replication::motion::{CharacterMotion, PartMotion};
use tidelock_replication::publish::PublishOutput;
use tidelock_replication::wire::{PlayerJoined, write_player_joined, write_snapshot_end};

use super::body::CharacterBody;
use super::place_world::PartVelocity;
use super::{Server, control, ownership};

/// Turns what changed into bytes: motion once per subject, records once per audience, and everything for those who come in.
pub(super) fn run(server: &mut Server) {
    motion(server);
    let mut output = std::mem::take(&mut server.published);
    output.clear();
    records(server, &mut output);
    newcomers(server, &mut output);
    server.published = output;
    ownership::tell(server);
}

/// Encodes the motion of every subject that moved, and moves it in the interest grid.
fn motion(server: &mut Server) {
    let tick = server.tick;
    let place = &mut server.place;
    place.motion.begin_tick(tick);
    let mut moved = std::mem::take(&mut place.moved_parts);
    moved.sort_unstable();
    moved.dedup();
    let (world, motion, grid) = place.motion_parts();
    for (id, slot, body) in world.query::<(&InstanceId, &Slot, &mut CharacterBody)>().iter() {
        if !body.moved && motion.contains(*slot) {
            continue;
        }
        body.moved = false;
        let CharacterBody { position, velocity, carried, yaw, state, sample, .. } = *body;
        motion.put_character(
            *slot,
            *id,
            &CharacterMotion { position, velocity: velocity + carried, yaw, state, sample },
        );
        grid.move_to(*slot, position);
    }
    for entity in &moved {
        let mut query = world.query_one::<(&InstanceId, &Slot, &Pose, &PartVelocity)>(*entity);
        let Ok((id, slot, pose, velocity)) = query.get() else { continue };
        motion.put_part(
            *slot,
            *id,
            &PartMotion {
                position: pose.position,
                rotation: pose.rotation,
                linear_velocity: velocity.linear,
                angular_velocity: velocity.angular,
            },
        );
        grid.move_to(*slot, pose.position);
    }
    motion.seal();
    moved.clear();
    place.moved_parts = moved;
}

/// Publishes changes of instances and sends each message to those it is for.
fn records(server: &mut Server, output: &mut PublishOutput) {
    let tick = server.tick;
    let (poses, publisher) = server.place.publish_parts();
    publisher.publish(tick, &poses, output);
    server.metrics.counters.record_bytes += output.bytes().len() as u64;
    for message in output.messages() {
        let bytes = server.outbox.write(|bytes| bytes.extend_from_slice(output.message(message)));
        for (_, session) in server.sessions.iter() {
            let hears = session.character().is_some() && !session.entering;
            if hears && message.recipients.include(session.player, &session.groups) {
                server.outbox.send(session.connection, bytes.clone());
            }
        }
    }
}

/// Tells those who have just entered all that differs from the authored place, and everyone else of them.
fn newcomers(server: &mut Server, output: &mut PublishOutput) {
    for slot in 0..server.sessions.columns() {
        let Some(session) = server.sessions.get_mut(slot).filter(|session| session.entering) else { continue };
        session.entering = false;
        welcome_into_place(server, slot, output);
        introduce(server, slot);
    }
}

fn welcome_into_place(server: &mut Server, slot: usize, output: &mut PublishOutput) {
    let (tick, generation) = (server.tick, server.place.generation());
    let Some(session) = server.sessions.get(slot) else { return };
    output.clear();
    let (poses, publisher) = server.place.publish_parts();
    publisher.join_snapshot(tick, (session.player, &session.groups), &poses, output);
    let (connection, outbox) = (session.connection, &mut server.outbox);
    for message in output.messages() {
        outbox.send_state(connection, |bytes| bytes.extend_from_slice(output.message(message)));
    }
    outbox.send_state(connection, |bytes| write_snapshot_end(bytes, generation));
    control::tell(server, slot);
}

/// Tells everyone of a newcomer, and it of everyone, itself included.
fn introduce(server: &mut Server, slot: usize) {
    let Some(newcomer) = server.sessions.get(slot) else { return };
    let joined = |session: &super::session::Session| PlayerJoined {
        player: session.player,
        name: session.name.clone(),
        color: session.color,
    };
    let hers = server.outbox.write(|bytes| write_player_joined(bytes, &joined(newcomer)));
    for (_, session) in server.sessions.iter().filter(|(_, session)| session.character().is_some()) {
        server.outbox.send(session.connection, hers.clone());
        if session.player != newcomer.player {
            server.outbox.send_state(newcomer.connection, |bytes| write_player_joined(bytes, &joined(session)));
        }
    }
}
