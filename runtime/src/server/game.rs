use std::sync::Arc;
use std::time::Duration;

use tidelock_net::DisconnectCode;
use tidelock_replication::ids::{Generation, PlayerId};
use tidelock_replication::instance::Color;
use tidelock_replication::place::PlaceHash;
use tidelock_replication::wire::{ClientMessage, Welcome, write_player_left, write_welcome};

use super::place_transfer::PlaceTransfer;
use super::session::{CharacterHandle, SessionStage};
use super::{Server, SystemPoint, players};

/// Messages that cannot be read before a session ends.
const MAX_FAULTS: u32 = 16;
/// Times one session may ask for the place: once, and again where it broke off.
const MAX_PLACE_REQUESTS: u32 = 4;
/// Longest time a session may come no closer to the place: from its connection to its join, from the welcome or a piece of the
/// place to the next or to entering.
const ENTRY_TIMEOUT: Duration = Duration::from_secs(30);

/// Joins, leaves, and what sessions ask for, in slot order.
pub(super) fn run(server: &mut Server) {
    leave(server);
    for slot in 0..server.sessions.columns() {
        let Some(session) = server.sessions.get_mut(slot) else { continue };
        if session.stage == SessionStage::Leaving {
            continue;
        }
        let (connection, faults) = (session.connection, session.inbox.faults);
        let entering = matches!(session.stage, SessionStage::Joining | SessionStage::Loading);
        if entering && server.now >= session.advanced + ENTRY_TIMEOUT {
            session.stage = SessionStage::Leaving;
            server.outbox.disconnect(connection, DisconnectCode::Timeout, "did not enter the place in time");
            continue;
        }
        if faults > MAX_FAULTS {
            let (player, character) = (session.player, session.character());
            session.stage = SessionStage::Leaving;
            depart(server, player, character);
            server.metrics.counters.message_faults += u64::from(faults);
            server.outbox.disconnect(connection, DisconnectCode::Faults, "too many messages that cannot be read");
            continue;
        }
        let mut control = std::mem::take(&mut session.inbox.control);
        for message in control.drain(..) {
            answer(server, slot, message);
        }
        let Some(session) = server.sessions.get_mut(slot) else { continue };
        session.inbox.control = control;
        if let Some(transfer) = &mut session.transfer
            && transfer.send(server.place.place(), connection, &mut server.outbox)
        {
            session.transfer = None;
        }
    }
    players::apply_commands(server);
}

/// Runs the game's systems at a point, then what they asked for.
pub(super) fn systems(server: &mut Server, point: SystemPoint) {
    server.systems.run(point, server.place.world(), &mut server.commands);
    players::apply_commands(server);
    if point == SystemPoint::AfterReplay {
        players::catch_fallen(server);
    }
}

/// Frees all that ended sessions held.
fn leave(server: &mut Server) {
    let mut left = std::mem::take(&mut server.left);
    for slot in left.drain(..) {
        let Some(session) = server.sessions.remove(slot) else { continue };
        server.metrics.counters.message_faults += u64::from(session.inbox.faults);
        depart(server, session.player, session.character());
    }
    server.left = left;
}

/// Takes a player's character and parts from it, and tells everyone.
fn depart(server: &mut Server, player: PlayerId, character: Option<CharacterHandle>) {
    let Some(character) = character else { return };
    server.place.destroy(character.id);
    server.place.owners.leave(player, server.tick);
    let bytes = server.outbox.write(|bytes| write_player_left(bytes, player));
    for (_, other) in server.sessions.iter().filter(|(_, other)| other.character().is_some()) {
        server.outbox.send(other.connection, bytes.clone());
    }
}

fn answer(server: &mut Server, slot: usize, message: ClientMessage) {
    let Some(session) = server.sessions.get_mut(slot) else { return };
    match (session.stage, message) {
        (SessionStage::Joining, ClientMessage::Join { protocol_hash, name, .. }) => {
            join(server, slot, protocol_hash, name);
        }
        (SessionStage::Loading, ClientMessage::PlaceRequest { hash, offset }) => {
            place_request(server, slot, hash, offset)
        }
        (SessionStage::Loading, ClientMessage::Entered { generation }) => entered(server, slot, generation),
        _ => session.inbox.faults += 1,
    }
}

fn join(server: &mut Server, slot: usize, protocol_hash: [u8; 32], name: Arc<str>) {
    let Some(session) = server.sessions.get_mut(slot) else { return };
    if protocol_hash != server.protocol.hash() {
        session.stage = SessionStage::Leaving;
        server.metrics.counters.joins_refused += 1;
        let text = format!(
            "this server runs {} {} on wire version {}",
            server.protocol.module().name(),
            server.protocol.module().version(),
            tidelock_replication::wire::WIRE_VERSION
        );
        server.outbox.disconnect(session.connection, DisconnectCode::SchemaMismatch, text);
        return;
    }
    session.stage = SessionStage::Loading;
    session.advanced = server.now;
    session.name = shown_name(&name, session.player.0);
    session.color = player_color(session.player.0);
    let place = server.place.place();
    let welcome = Welcome {
        protocol_hash: server.protocol.hash(),
        player: session.player,
        character: server.commands.new_id(),
        tick: server.tick,
        generation: server.place.generation(),
        place_hash: place.hash(),
        place_name: Arc::from(place.name()),
        place_bytes: place.client_bytes().len() as u64,
        divisor: server.config.broadcast_divisor,
    };
    session.reserved = welcome.character;
    server.outbox.send_state(session.connection, |bytes| write_welcome(bytes, &welcome));
}

/// Names are the players' own words: without control characters, and never empty.
fn shown_name(name: &str, player: u64) -> Arc<str> {
    let clean: String = name.chars().filter(|letter| !letter.is_control()).collect();
    if clean.trim().is_empty() { Arc::from(format!("player {player}")) } else { Arc::from(clean.trim()) }
}

/// Colours far from their neighbours': hues a golden angle apart.
fn player_color(player: u64) -> Color {
    let hue = (player as f32 * 0.618_034).fract() * 6.0;
    let channel = |shift: f32| {
        let distance = ((hue + shift).rem_euclid(6.0) - 3.0).abs() - 1.0;
        (80.0 + 160.0 * distance.clamp(0.0, 1.0)) as u8
    };
    Color([channel(0.0), channel(4.0), channel(2.0)])
}

fn place_request(server: &mut Server, slot: usize, hash: PlaceHash, offset: u64) {
    let Some(session) = server.sessions.get_mut(slot) else { return };
    session.place_requests += 1;
    let known = hash == server.place.place().hash();
    if known && session.transfer.is_none() && session.place_requests <= MAX_PLACE_REQUESTS {
        session.transfer = Some(PlaceTransfer::from(offset));
    } else {
        session.inbox.faults += 1;
    }
}

fn entered(server: &mut Server, slot: usize, generation: Generation) {
    let Some(session) = server.sessions.get_mut(slot) else { return };
    if generation != server.place.generation() {
        session.inbox.faults += 1;
        return;
    }
    session.transfer = None;
    players::spawn(server, slot);
}
