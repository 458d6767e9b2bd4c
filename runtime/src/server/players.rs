use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use glam::Vec3;
use tidelock_net::DisconnectCode;
use tidelock_replication::ids::{InstanceId, Placed, PlayerId};
use tidelock_replication::instance::{Audience, CharacterPose, CharacterProperties, Pose};
use tidelock_replication::publish::{PublishOutput, Regrouping};
use tidelock_replication::wire::write_correction_message;
use tidelock_sim::bytes::is_bounded;
use tidelock_sim::motor::CharacterState;

use super::body::CharacterBody;
use super::commands::Command;
use super::place_world::PartVelocity;
use super::replay::PlayerSlot;
use super::session::{CharacterHandle, SessionStage};
use super::truth::{BodyCommand, Obeyed};
use super::{PlayerCommand, Server, SessionTraffic, control, seats, truth};

/// Depth at which whatever falls out of the place is brought back, studs along up.
const FALL_LIMIT: f32 = -500.0;

/// What a server knows of one player.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerInfo {
    /// The player.
    pub player: PlayerId,
    /// The identity its token named.
    pub client_id: u64,
    /// Its name.
    pub name: Arc<str>,
    /// Where it connects from.
    pub address: SocketAddr,
    /// Its character, once in the place.
    pub character: Option<InstanceId>,
    /// Where its character is, studs.
    pub position: Vec3,
    /// Its character's velocity, studs/s.
    pub velocity: Vec3,
    /// Its character's facing, radians.
    pub yaw: f32,
    /// Smoothed round trip; zero before it is known.
    pub rtt: Duration,
    /// Share of packets to it that are lost, 0 to 1.
    pub loss: f32,
    /// Traffic by kind.
    pub traffic: SessionTraffic,
}

impl Server {
    /// Every player, in slot order.
    pub fn players(&self) -> impl Iterator<Item = PlayerInfo> {
        self.sessions.iter().map(|(_, session)| {
            let character = session.character();
            let body = character.and_then(|held| self.place.world().get::<&CharacterBody>(held.entity).ok());
            let body = body.map(|body| *body).unwrap_or_default();
            PlayerInfo {
                player: session.player,
                client_id: session.client_id,
                name: session.name.clone(),
                address: session.address,
                character: character.map(|held| held.id),
                position: body.position,
                velocity: body.velocity,
                yaw: body.yaw,
                rtt: session.feedback.map(|feedback| feedback.rtt).unwrap_or_default(),
                loss: session.feedback.map(|feedback| feedback.loss_out).unwrap_or_default(),
                traffic: session.traffic,
            }
        })
    }
}

/// Gives a session its character; what its client must be told follows when this tick's changes are published.
pub(super) fn spawn(server: &mut Server, slot: usize) {
    let spawn = server.place.next_spawn();
    let Some(session) = server.sessions.get_mut(slot) else { return };
    let id = session.reserved;
    let Some((entity, place_slot)) = server.place.enter(id, spawn.position) else {
        session.stage = SessionStage::Leaving;
        server.outbox.disconnect(session.connection, DisconnectCode::Full, "the place is full");
        return;
    };
    let (player, name, color) = (session.player, session.name.clone(), session.color);
    let properties = CharacterProperties { player, name, color, seat: None };
    let pose = CharacterPose { position: spawn.position, yaw: spawn.yaw, state: CharacterState::Falling };
    let at = Placed { slot: place_slot, id };
    server.place.publisher.create_character(at, properties.clone(), pose, Audience::Shared);
    let world = server.place.world_mut();
    world.insert(entity, (PlayerSlot(slot), properties)).expect("the entity has just been made");
    server.place.add_pusher(entity, spawn.position);
    session.stage = SessionStage::Playing(CharacterHandle { entity, id, slot: place_slot });
    session.entering = true;
    server.place.owners.join(session.player);
    control::begin(server, slot, entity, &spawn);
    server.metrics.counters.joins += 1;
}

/// Applies what the game asked for, in order.
pub(super) fn apply_commands(server: &mut Server) {
    let mut queue = std::mem::take(&mut server.commands.queue);
    for command in queue.drain(..) {
        if !apply(server, command) {
            server.metrics.counters.commands_dropped += 1;
        }
    }
    server.commands.queue = queue;
}

fn apply(server: &mut Server, command: Command) -> bool {
    let tick = server.tick;
    match command {
        Command::Player { player, command } => apply_player(server, player, command),
        Command::CreatePart { id, properties, pose, audience } => {
            server.place.create_part(id, *properties, pose, audience)
        }
        Command::SetPart { id, properties } => server.place.set_part(id, *properties),
        Command::MovePart { id, pose, linear_velocity, angular_velocity } => {
            let velocity = PartVelocity { linear: linear_velocity, angular: angular_velocity };
            server.place.move_part(id, pose, velocity, tick)
        }
        Command::SetAudience { id, audience } => server.place.set_audience(id, audience, tick),
        Command::SetOwnership { id, policy } => server.place.owners.set_policy(id, policy, tick),
        Command::Destroy { id } => server.place.destroy(id),
        Command::MoveCharacter { id, to } => control::follow_game(server, id, &to),
    }
}

fn apply_player(server: &mut Server, player: PlayerId, command: PlayerCommand) -> bool {
    let Some(slot) = server.sessions.slot_of_player(player) else { return false };
    match command {
        PlayerCommand::Teleport { position, yaw } if !(is_bounded(position) && yaw.is_finite()) => false,
        PlayerCommand::Teleport { .. } | PlayerCommand::Kill | PlayerCommand::Grant(_) => {
            BodyCommand::of(&command).is_some_and(|command| command_body(server, slot, &command))
        }
        PlayerCommand::Respawn => respawn(server, slot),
        PlayerCommand::Sit(seat) => seats::sit(server, slot, seat),
        PlayerCommand::Stand => seats::stand(server, slot),
        PlayerCommand::Control(controller) => control::change(server, slot, controller),
        PlayerCommand::SetGroups(groups) => {
            regroup(server, slot, groups);
            true
        }
        PlayerCommand::Kick { text } => {
            let Some(session) = server.sessions.get(slot) else { return false };
            server.outbox.disconnect(session.connection, DisconnectCode::Kicked, text);
            true
        }
    }
}

fn respawn(server: &mut Server, slot: usize) -> bool {
    let spawn = server.place.next_spawn();
    command_body(server, slot, &BodyCommand::Respawn { position: spawn.position, yaw: spawn.yaw })
}

/// Commands a character and tells its owner.
pub(super) fn command_body(server: &mut Server, slot: usize, command: &BodyCommand) -> bool {
    let Some(session) = server.sessions.get(slot) else { return false };
    let Some(character) = session.character() else { return false };
    let (connection, entering) = (session.connection, session.entering);
    match truth::command(server, character.entity, command) {
        Obeyed::Unknown => return false,
        Obeyed::Quietly => {}
        // Whoever is just coming in is told of its character, whole, at the end of the tick.
        Obeyed::Moved(_) if entering => {}
        Obeyed::Moved(correction) => {
            server.outbox.send_state(connection, |bytes| write_correction_message(bytes, &correction));
        }
    }
    if matches!(command, BodyCommand::Teleport { .. } | BodyCommand::Kill | BodyCommand::Respawn { .. }) {
        seats::leave(server, slot, character.entity);
    }
    true
}

/// Puts a player into other audience groups and tells it what it now may know of, and what no longer.
fn regroup(server: &mut Server, slot: usize, groups: Vec<u32>) {
    let tick = server.tick;
    let Some(session) = server.sessions.get_mut(slot) else { return };
    let before = std::mem::replace(&mut session.groups, groups);
    if session.character().is_none() || session.entering {
        return;
    }
    let mut output = PublishOutput::new();
    let (poses, publisher) = server.place.publish_parts();
    let regrouping = Regrouping { player: session.player, before: &before, after: &session.groups };
    publisher.regroup(tick, regrouping, &poses, &mut output);
    for message in output.messages() {
        server.outbox.send_state(session.connection, |bytes| bytes.extend_from_slice(output.message(message)));
    }
}

/// Brings back characters and loose parts that fell out of the place.
pub(super) fn catch_fallen(server: &mut Server) {
    let up = server.place.settings().up;
    let mut fallen = Vec::new();
    for (slot, session) in server.sessions.iter() {
        let Some(character) = session.character() else { continue };
        let Ok(body) = server.place.world().get::<&CharacterBody>(character.entity) else { continue };
        if body.position.dot(up) < FALL_LIMIT && body.moves_itself() {
            fallen.push(slot);
        }
    }
    for slot in fallen {
        respawn(server, slot);
    }
    let place = &mut server.place;
    let mut lost: Vec<(InstanceId, Pose)> = Vec::new();
    for id in &place.loose_motion.ids {
        let id = InstanceId(id.0);
        let Some(entity) = place.entity(id) else { continue };
        let Ok(pose) = place.world().get::<&Pose>(entity) else { continue };
        if pose.position.dot(up) < FALL_LIMIT
            && let Some(authored) = place.place().part(id)
        {
            lost.push((id, authored.pose));
        }
    }
    for (id, pose) in lost {
        place.move_part(id, pose, PartVelocity::default(), server.tick);
    }
}
