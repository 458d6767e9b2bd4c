use glam::Vec3;
use hecs::Entity;
use tidelock_replication::instance::{CharacterProperties, Seat};
use tidelock_sim::bytes::is_bounded;
use tidelock_sim::motor::CharacterState;

use super::body::CharacterBody;
use super::replay::PlayerSlot;
use super::session::CharacterHandle;
use super::truth::BodyCommand;
use super::{Server, players, truth};

/// A seat at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeatPlace {
    pub(super) position: Vec3,
    pub(super) velocity: Vec3,
    pub(super) yaw: f32,
}

/// Moves those who sit with the parts they sit on (S-24), once physics has moved those. Who sits on a part that is no more, or
/// that not everyone may know of any longer, stands up.
pub(super) fn run(server: &mut Server) {
    let now = server.time();
    let mut sitters = std::mem::take(&mut server.place.sitters);
    let world = server.place.world();
    for (entity, slot, seat) in world.query::<(Entity, &PlayerSlot, &Seat)>().iter() {
        sitters.push((entity, slot.0, server.place.seat_place(seat, now)));
    }
    for (entity, slot, place) in sitters.drain(..) {
        match place {
            Some(place) => carry(server, entity, place),
            None => _ = stand(server, slot),
        }
    }
    server.place.sitters = sitters;
}

fn carry(server: &mut Server, entity: Entity, place: SeatPlace) {
    let SeatPlace { position, velocity, yaw } = place;
    let now = server.time();
    let world = server.place.world_mut();
    truth::get(world, entity, |truth| truth.carry(position, velocity, yaw));
    let Ok(body) = world.query_one_mut::<&mut CharacterBody>(entity) else { return };
    let still = (body.position, body.velocity, body.yaw) == (position, velocity, yaw);
    let moved = body.moved || !still;
    *body = CharacterBody { position, velocity, yaw, sample: now, moved, ..*body };
}

/// Seats a living character. False when the part is not there for everyone, or the spot is nowhere.
pub(super) fn sit(server: &mut Server, slot: usize, seat: Seat) -> bool {
    let Some(CharacterHandle { entity, .. }) = server.sessions.character(slot) else {
        return false;
    };
    let now = server.time();
    if !(is_bounded(seat.offset) && seat.yaw.is_finite()) || server.place.touch_part(seat.part).is_none() {
        return false;
    }
    let Some(SeatPlace { position, yaw, .. }) = server.place.seat_place(&seat, now) else { return false };
    let dead = |body: &CharacterBody| body.state == CharacterState::Dead;
    if server.place.world().get::<&CharacterBody>(entity).is_ok_and(|body| dead(&body)) {
        return false;
    }
    if !players::command_body(server, slot, &BodyCommand::Sit { position, yaw }) {
        return false;
    }
    server.place.remove_pusher(entity);
    let inserted = server.place.world_mut().insert_one(entity, seat);
    tell(server, slot, Some(seat));
    inserted.is_ok()
}

/// Puts who sits on its own feet. False when it does not sit.
pub(super) fn stand(server: &mut Server, slot: usize) -> bool {
    let Some(CharacterHandle { entity, .. }) = server.sessions.character(slot) else {
        return false;
    };
    let Ok(body) = server.place.world().get::<&CharacterBody>(entity).map(|body| *body) else { return false };
    if body.state != CharacterState::Seated {
        return false;
    }
    players::command_body(server, slot, &BodyCommand::Teleport { position: body.position, yaw: body.yaw })
}

/// Frees the seat of a character that has been put elsewhere.
pub(super) fn leave(server: &mut Server, slot: usize, entity: Entity) {
    let world = server.place.world_mut();
    if world.remove_one::<Seat>(entity).is_err() {
        return;
    }
    let position = world.get::<&CharacterBody>(entity).map(|body| body.position).unwrap_or_default();
    server.place.add_pusher(entity, position);
    tell(server, slot, None);
}

/// Tells everyone where a character sits.
fn tell(server: &mut Server, slot: usize, seat: Option<Seat>) {
    let Some(character) = server.sessions.character(slot) else { return };
    let world = server.place.world_mut();
    let Ok(properties) = world.query_one_mut::<&mut CharacterProperties>(character.entity) else { return };
    properties.seat = seat;
    let properties = properties.clone();
    server.place.publisher.set_character(character.placed(), &properties);
}
