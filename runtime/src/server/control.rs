use std::sync::Arc;

use hecs::Entity;
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::place::Spawn;
use tidelock_replication::wire::{CharacterWord, write_character, write_correction_message};
use tidelock_sim::motor::{CharacterState, MotorSnapshot};
use tidelock_sim::report::CorrectionCause;

use super::body::CharacterBody;
use super::commands::CharacterMove;
use super::inputs::InputTruth;
use super::truth::{Beginning, BodyCommand};
use super::{Server, truth};
use crate::controller::Controller;

/// A player whose character is about to come in.
#[derive(Clone, Debug, PartialEq)]
pub struct Newcomer {
    /// The player.
    pub player: PlayerId,
    /// The identity its token named.
    pub client_id: u64,
    /// Its name.
    pub name: Arc<str>,
}

/// The game's choice of controllers.
pub(crate) type Chooser = Box<dyn FnMut(&Newcomer) -> Controller + Send>;

impl Server {
    /// Lets the game choose which controller moves the character of each player that comes in; without it all have the
    /// protocol's first. A choice the protocol does not have counts as the first.
    pub fn choose_controllers(&mut self, choose: impl FnMut(&Newcomer) -> Controller + Send + 'static) {
        self.chooser = Some(Box::new(choose));
    }
}

/// Puts a new character under the controller the game chooses.
pub(super) fn begin(server: &mut Server, slot: usize, entity: Entity, spawn: &Spawn) {
    let Server { sessions, protocol, chooser, .. } = server;
    let newcomer = sessions.get(slot).map(|session| Newcomer {
        player: session.player,
        client_id: session.client_id,
        name: session.name.clone(),
    });
    let chosen = chooser.as_mut().zip(newcomer).map(|(choose, newcomer)| choose(&newcomer));
    let controller = chosen.filter(|chosen| protocol.controllers().contains(chosen)).unwrap_or(protocol.controller());
    truth::insert(server, entity, Beginning { controller, position: spawn.position, yaw: spawn.yaw, epoch: 0 });
}

/// Puts a character under another controller and tells its owner. False when the protocol has no such controller, the character
/// is there already, or it sits.
pub(super) fn change(server: &mut Server, slot: usize, controller: Controller) -> bool {
    let Some(session) = server.sessions.get(slot) else { return false };
    let (Some(character), entering) = (session.character(), session.entering) else { return false };
    let (entity, world) = (character.entity, server.place.world());
    let Ok(body) = world.get::<&CharacterBody>(entity).map(|body| *body) else { return false };
    let same = world.get::<&Controller>(entity).is_ok_and(|held| *held == controller);
    if same || body.state == CharacterState::Seated || !server.protocol.controllers().contains(&controller) {
        return false;
    }
    let word = truth::get(server.place.world_mut(), entity, |truth| truth.word(CorrectionCause::Teleport));
    let epoch = word.map_or(0, |word| word.epoch) + 1;
    truth::insert(server, entity, Beginning { controller, position: body.position, yaw: body.yaw, epoch });
    if body.state == CharacterState::Dead {
        truth::command(server, entity, &BodyCommand::Kill);
    }
    if !entering {
        tell(server, slot);
    }
    true
}

/// Tells a player which character is its own, how it is moved, and all of its state.
pub(super) fn tell(server: &mut Server, slot: usize) {
    let generation = server.place.generation();
    let Some(session) = server.sessions.get(slot) else { return };
    let Some(character) = session.character() else { return };
    let world = server.place.world_mut();
    let Ok(controller) = world.query_one_mut::<&Controller>(character.entity).copied() else { return };
    let Some(correction) = truth::get(world, character.entity, |truth| truth.word(CorrectionCause::Respawn)) else {
        return;
    };
    let (position, yaw) = (correction.sim.motor.position, correction.sim.motor.yaw);
    let word = CharacterWord { generation, id: character.id, controller: controller as u8, position, yaw };
    server.outbox.send_state(session.connection, |bytes| write_character(bytes, &word));
    server.outbox.send_state(session.connection, |bytes| write_correction_message(bytes, &correction));
}

/// Puts a character where the game has moved it. False when it is not the game's to move so.
pub(super) fn follow_game(server: &mut Server, id: InstanceId, to: &CharacterMove) -> bool {
    let now = server.time();
    let Some(entity) = server.place.entity(id) else { return false };
    let world = server.place.world_mut();
    let Ok((truth, body)) = world.query_one_mut::<(&mut InputTruth, &mut CharacterBody)>(entity) else { return false };
    let CharacterMove { position, velocity, yaw, state } = *to;
    if !truth.put(MotorSnapshot { position, velocity, yaw, state, ..MotorSnapshot::default() }, now) {
        return false;
    }
    let yaw = truth.truth().sim().motor.yaw;
    *body = CharacterBody { position, velocity, yaw, state, sample: now, moved: true, ..*body };
    true
}
