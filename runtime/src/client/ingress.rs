use std::time::Duration;

use tidelock_net::{DisconnectCode, DisconnectReason, Egress, Ingress, LaneId, LaneSet};
use tidelock_replication::place::Place;
use tidelock_replication::wire::{
    CharacterWord, ClientMessage, PlaceChunk, ServerMessage, Welcome, WireError, read_own_snapshot,
};

use super::download::Download;
use super::parts::OwnedParts;
use super::{Client, ClientEvent, ClientState, egress, mirror, parts};
use crate::controller::Controller;

/// Takes what the network has: the session's course, and what the server says.
pub(super) fn run(client: &mut Client, network_now: Duration) {
    let mut ingress = std::mem::take(&mut client.ingress);
    if client.transport.receive(network_now, &mut ingress).is_err() {
        client.stats.faults += 1;
    }
    for event in ingress.drain(..) {
        take(client, event);
    }
    client.ingress = ingress;
    client.mirror.end_pass();
    client.stats.held_patches = client.mirror.waiting();
    if let (Some(connection), Some(shard)) = (client.connection, client.transport.shard())
        && let Some(stats) = shard.stats(connection)
    {
        client.stats.rtt = stats.rtt;
        client.stats.rtt_min = stats.rtt_min;
        client.stats.loss_in = stats.loss_in;
        client.stats.loss_out = stats.loss_out;
        client.stats.bytes_in = stats.bytes_in;
        client.stats.bytes_out = stats.bytes_out;
    }
}

fn take(client: &mut Client, event: Ingress) {
    match event {
        Ingress::Connected { connection, .. } => {
            client.connection = Some(connection);
            client.state = ClientState::Joining;
            let message = ClientMessage::Join {
                protocol_hash: client.protocol.hash(),
                name: client.config.name.as_str().into(),
                place: None,
            };
            egress::send(client, &message);
        }
        Ingress::Message { lane, bytes, .. } => {
            if message(client, lane, &bytes).is_err() {
                client.stats.faults += 1;
            }
        }
        Ingress::Disconnected { reason, .. } => end(client, reason),
        Ingress::Feedback { .. } | Ingress::Receipts { .. } | Ingress::Blocked { .. } | Ingress::Raw { .. } => {}
    }
}

/// The session is over.
fn end(client: &mut Client, reason: DisconnectReason) {
    client.connection = None;
    client.own.end();
    client.state = ClientState::Disconnected { reason: reason.clone() };
    client.event(ClientEvent::Disconnected { reason });
}

/// Ends the session from this side.
fn refuse(client: &mut Client, code: DisconnectCode, text: &str) {
    if let Some(connection) = client.connection {
        client.egress.push(Egress::Disconnect { connection, code, text: text.to_owned() });
    }
}

fn message(client: &mut Client, lane: LaneId, bytes: &[u8]) -> Result<(), WireError> {
    match lane {
        LaneSet::STATE => {
            client.stats.kinds_in.state += bytes.len() as u64;
            state(client, ServerMessage::read(bytes)?);
            Ok(())
        }
        LaneSet::MOTION => {
            client.stats.kinds_in.motion += bytes.len() as u64;
            mirror::motion(client, bytes)
        }
        LaneSet::BULK => {
            client.stats.kinds_in.bulk += bytes.len() as u64;
            piece(client, &PlaceChunk::read(bytes)?);
            Ok(())
        }
        LaneSet::NEWEST => {
            client.stats.kinds_in.state += bytes.len() as u64;
            client.own.receive(read_own_snapshot(bytes)?);
            Ok(())
        }
        _ => Err(WireError::Kind),
    }
}

/// The own character is this one from now on; put under another controller, it is the same.
fn assigned(client: &mut Client, word: &CharacterWord) {
    let known = Controller::from_number(word.controller).filter(|one| client.protocol.controllers().contains(one));
    let Some(controller) = known else {
        refuse(client, DisconnectCode::SchemaMismatch, "the server has controllers this client does not know");
        return;
    };
    let spawned = client.own.id() != Some(word.id);
    client.own.assign(word.id, controller);
    if spawned {
        client.event(ClientEvent::Spawned { character: word.id });
    } else {
        client.event(ClientEvent::Controlled { controller });
    }
}

fn state(client: &mut Client, message: ServerMessage) {
    match message {
        ServerMessage::Welcome(welcome) => welcomed(client, welcome),
        ServerMessage::Records(records) => {
            let outcome = client.mirror.apply(records, &mut client.replica);
            client.stats.faults += u64::from(outcome.is_err());
            if client.replica.refused > 0 {
                refuse(client, DisconnectCode::Faults, "the place holds more than a client does");
            }
        }
        ServerMessage::SnapshotEnd { .. } => client.state = ClientState::Playing,
        ServerMessage::Character(word) => assigned(client, &word),
        ServerMessage::Correction(correction) => client.stats.faults += u64::from(!client.own.correct(correction)),
        ServerMessage::Ownership(word) => parts::notice(client, word),
        ServerMessage::PlayerJoined(_) | ServerMessage::PlayerLeft(_) => {}
    }
}

fn welcomed(client: &mut Client, welcome: Welcome) {
    if welcome.protocol_hash != client.protocol.hash() {
        refuse(client, DisconnectCode::SchemaMismatch, "the server speaks another protocol");
        return;
    }
    client.own.clock.sample(welcome.tick.time(), client.now);
    client.event(ClientEvent::Joined { player: welcome.player });
    let (hash, total) = (welcome.place_hash, welcome.place_bytes);
    client.welcome = Some(welcome);
    if let Some(scene) = client.config.places.get(hash) {
        enter(client, scene);
        return;
    }
    let download = match client.download.take() {
        Some(started) if started.is_of(hash, total) => started,
        _ => Download::new(hash, total),
    };
    let request = ClientMessage::PlaceRequest { hash, offset: download.received() };
    client.state = ClientState::Loading { received: download.received(), total };
    client.download = Some(download);
    egress::send(client, &request);
}

/// Takes a piece of the place; with the last one the client enters it.
fn piece(client: &mut Client, chunk: &PlaceChunk<'_>) {
    let Some(download) = &mut client.download else {
        client.stats.faults += 1;
        return;
    };
    match download.take(chunk) {
        Ok(complete) => {
            client.state = ClientState::Loading { received: download.received(), total: download.total() };
            if complete && let Some(download) = client.download.take() {
                opened(client, download);
            }
        }
        Err(_) => client.stats.faults += 1,
    }
}

fn opened(client: &mut Client, download: Download) {
    let place: Option<Place> = download.open().ok().flatten();
    match place {
        Some(place) => {
            let scene = client.config.places.open(place);
            enter(client, scene);
        }
        None => refuse(client, DisconnectCode::PlaceChanged, "the place is not what its hash says"),
    }
}

fn enter(client: &mut Client, scene: std::sync::Arc<crate::scene::Scene>) {
    let Some(welcome) = &client.welcome else { return };
    let (generation, divisor) = (welcome.generation, welcome.divisor);
    client.replica.enter(scene.clone(), divisor);
    client.scene = Some(scene);
    client.parts = OwnedParts::default();
    let outcome = client.mirror.enter(generation, &mut client.replica);
    client.stats.faults += u64::from(outcome.is_err());
    egress::send(client, &ClientMessage::Entered { generation });
}
