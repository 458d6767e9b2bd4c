//! Who gets in, who stays, and how connections end, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::emulator::LinkConfig;
use tidelock_net::{
    ClientConfig, ClientState, ConnectToken, ConnectionId, DisconnectCode, DisconnectReason, Egress, Fault, Ingress,
    LaneSet, ServerConfig, ServerShard,
};
use world::{KEY, MS, PROTOCOL, UNIX, World, link, runs, token, token_until};

const SECOND: Duration = Duration::from_secs(1);

fn ends(events: &[Ingress]) -> Vec<(ConnectionId, DisconnectReason)> {
    events
        .iter()
        .filter_map(|event| match event {
            Ingress::Disconnected { connection, reason } => Some((*connection, reason.clone())),
            _ => None,
        })
        .collect()
}

fn join_at(world: &mut World, token: ConnectToken, port: u16) -> usize {
    let links = (link(20, 0.0), link(20, 0.0));
    world.join_with(token, ClientConfig::default(), links, SocketAddr::from(([10, 0, 2, 1], port)))
}

fn is_connected(world: &World, peer: usize) -> bool {
    matches!(world.peers[peer].shard.state(), ClientState::Connected(_))
}

// N-8: every code arrives with its text, both ways, through 30 % loss.
#[test]
fn disconnects_say_why_both_ways() {
    for (index, code) in DisconnectCode::ALL.into_iter().enumerate() {
        let mut world = World::standard(index as u64);
        let (peer, name) = world.connect(link(30, 0.0));
        world.set_links(peer, link(30, 0.3));
        let text = "because".to_owned();
        if index % 2 == 0 {
            let egress = Egress::Disconnect { connection: name, code, text: text.clone() };
            world.server.apply(world.now, egress, &mut world.events);
        } else {
            let peer = &mut world.peers[peer];
            let egress = Egress::Disconnect { connection: peer.shard.connection(), code, text: text.clone() };
            peer.shard.apply(world.now, egress, &mut peer.events);
        }
        world.run(SECOND);
        let (server, client) = (ends(&world.events), ends(&world.peers[peer].events));
        let (local, remote) = if index % 2 == 0 { (server, client) } else { (client, server) };
        assert_eq!(local.len(), 1);
        assert_eq!(local[0].1, DisconnectReason::Local { code });
        assert_eq!(remote.len(), 1, "{code:?}");
        assert_eq!(remote[0].1, DisconnectReason::Remote { code, text });
        assert_eq!((world.server.connected(), world.server.stats(name)), (0, None));
        let (before, sent) = (world.server_sent, world.peers[peer].sent);
        world.run(2 * SECOND);
        assert_eq!((world.server_sent, world.peers[peer].sent), (before, sent), "silence afterwards");
    }
}

use tidelock_net::Shard as _;

// N-3b: receipts of a connection that ends come back as lost.
#[test]
fn receipts_come_back_when_the_connection_ends() {
    let mut world = World::standard(1);
    let (peer, name) = world.connect(link(30, 0.0));
    world.set_links(peer, link(30, 1.0));
    for key in 0..10 {
        world.server_send(name, [LaneSet::STATE, LaneSet::MOTION][key as usize % 2], &[1; 50], Some(key));
        if key == 5 {
            world.server_flush();
            world.run(5 * MS);
        }
    }
    world.run(12 * SECOND);
    let mut receipts = world::take_receipts(&mut world.events);
    receipts.sort_unstable();
    assert_eq!(receipts, (0..10).map(|key| (key, false)).collect::<Vec<_>>());
    assert_eq!(ends(&world.events), [(name, DisconnectReason::TimedOut)]);
    assert_eq!(ends(&world.peers[peer].events)[0].1, DisconnectReason::TimedOut);
}

// N-1, B93: an identity comes back with a later token; the old connection ends once, and an older token cannot evict.
#[test]
fn takeover_goes_to_the_later_expiry() {
    let mut world = World::standard(2);
    let now = world.now;
    let first = join_at(&mut world, token_until(7, now, now + 31 * SECOND, 1), 1);
    let old = world.await_connection(first);
    world.peers[first].alive = false;
    world.run(SECOND);
    let now = world.now;
    let second = join_at(&mut world, token_until(7, now, now + 40 * SECOND, 2), 2);
    let started = world.now;
    let new = world.await_connection(second);
    assert!(world.now - started <= 82 * MS, "within two round trips: {:?}", world.now - started);
    assert_ne!(old, new);
    assert_eq!(ends(&world.events), [(old, DisconnectReason::Local { code: DisconnectCode::TakenOver })]);
    let third = join_at(&mut world, token_until(7, now, now + 35 * SECOND, 3), 3);
    world.run(SECOND);
    assert!(is_connected(&world, second) && !is_connected(&world, third));
    assert!(world.server.counters().fault(Fault::IdentityHeld) > 0);
    assert_eq!((world.server.counters().taken_over, world.server.connected()), (1, 1));
}

// N-1: the same address with a newer token, as after a crash on a fixed port.
#[test]
fn a_crashed_client_returns_on_its_own_port() {
    let mut world = World::standard(3);
    let first = token(7, world.now, 1);
    let first = join_at(&mut world, first, 1);
    let old = world.await_connection(first);
    world.peers[first].alive = false;
    world.run(2 * SECOND);
    let second = token(7, world.now, 2);
    let second = join_at(&mut world, second, 1);
    world.run(200 * MS);
    assert!(is_connected(&world, second));
    assert_eq!(ends(&world.events), [(old, DisconnectReason::Local { code: DisconnectCode::TakenOver })]);
    world.client_send(second, LaneSet::STATE, b"here", None);
    world.client_flush(second);
    world.run(100 * MS);
    assert_eq!(world.server_messages(LaneSet::STATE).len(), 1);
}

// N-7, B95: a token is good for one address: pending, connected and after the end.
#[test]
fn a_stolen_token_is_refused() {
    let mut world = World::standard(4);
    let now = world.now;
    let (token, thief_token) = (token(7, now, 1), token(7, now, 1));
    let honest = join_at(&mut world, token.clone(), 1);
    world.run(25 * MS);
    let thief = join_at(&mut world, thief_token, 2);
    world.run(SECOND);
    assert!(is_connected(&world, honest) && !is_connected(&world, thief));
    let name = world.peers[honest].shard.connection();
    let egress = Egress::Disconnect { connection: name, code: DisconnectCode::Closed, text: String::new() };
    let (peer, now) = (&mut world.peers[honest], world.now);
    peer.shard.apply(now, egress, &mut peer.events);
    world.run(2 * SECOND);
    assert!(!is_connected(&world, thief));
    assert!(world.server.counters().fault(Fault::TokenReused) > 10);
    // The same address may come back with it, and its nonces do not repeat.
    let again = join_at(&mut world, token, 1);
    world.run(SECOND);
    assert!(is_connected(&world, again));
}

// N-1, B95: a restarted server refuses tokens that may have been used before, and takes new ones.
#[test]
fn a_restarted_server_refuses_older_tokens() {
    let mut world = World::standard(5);
    let old = token(7, world.now, 1);
    let peer = join_at(&mut world, old.clone(), 1);
    world.await_connection(peer);
    world.peers[peer].alive = false;
    world.now = Duration::from_secs(world.now.as_secs() + 3);
    world.server = ServerShard::new(ServerConfig::new(PROTOCOL, KEY), world.now, UNIX + world.now, [1; 32]);
    let (stale, fresh) = (join_at(&mut world, old, 1), token(8, world.now, 2));
    let fresh = join_at(&mut world, fresh, 2);
    world.run(SECOND);
    assert!(!is_connected(&world, stale) && is_connected(&world, fresh));
    assert!(world.server.counters().fault(Fault::TokenBeforeStart) > 5);
    // Tokens tell whole seconds: one of the very second of a start may be from before it.
    world.now += 400 * MS;
    let (same, started) = (token(9, world.now, 3), world.now + 200 * MS);
    world.now = started;
    world.server = ServerShard::new(ServerConfig::new(PROTOCOL, KEY), started, UNIX + started, [2; 32]);
    let same = join_at(&mut world, same, 3);
    world.run(SECOND);
    let next = token(10, world.now, 4);
    let next = join_at(&mut world, next, 4);
    world.run(SECOND);
    assert!(!is_connected(&world, same) && is_connected(&world, next));
}

// N-1: expired, foreign and misaddressed tokens are refused by reason.
#[test]
fn bad_tokens_are_refused_by_reason() {
    let config = ServerConfig { token_lifetime_s: 0, ..ServerConfig::new(PROTOCOL, KEY) };
    let config = ServerConfig { addresses: vec![SocketAddr::from(([10, 0, 0, 9], 1))], ..config };
    let mut world = World::new(config, 6);
    let now = world.now;
    join_at(&mut world, token(1, now, 1), 1);
    world.run(300 * MS);
    assert!(world.server.counters().fault(Fault::TokenAddress) > 0);
    world.server = ServerShard::new(ServerConfig::new(PROTOCOL, [0; 32]), now, UNIX + now, [1; 32]);
    world.run(300 * MS);
    assert!(world.server.counters().fault(Fault::TokenForged) > 0);
    world.server = ServerShard::new(ServerConfig::new(PROTOCOL + 1, KEY), now, UNIX + now, [1; 32]);
    world.run(300 * MS);
    assert!(world.server.counters().fault(Fault::Protocol) > 0);
    let config = ServerConfig { token_lifetime_s: 0, ..ServerConfig::new(PROTOCOL, KEY) };
    world.server = ServerShard::new(config, now, UNIX + now + 40 * SECOND, [1; 32]);
    world.run(300 * MS);
    assert!(world.server.counters().fault(Fault::TokenExpired) > 0);
    assert_eq!(world.server.connected(), 0);
}

// B96: the client's idea of the calendar does not matter, and its reasons name what happened.
#[test]
fn clients_give_up_with_the_right_reason() {
    let mut world = World::standard(7);
    let (now, closed) = (world.now, LinkConfig { partition: true, ..LinkConfig::default() });
    let address = |port| SocketAddr::from(([10, 0, 3, 1], port));
    let unheard = world.join_with(token(1, now, 1), ClientConfig::default(), (closed, closed), address(1));
    let short = token_until(2, now, now + 3 * SECOND, 2);
    let expired = world.join_with(short, ClientConfig::default(), (closed, closed), address(2));
    let unaccepted =
        world.join_with(token(3, now, 3), ClientConfig::default(), (link(20, 0.0), link(20, 0.0)), address(3));
    world.run(30 * MS);
    world.set_links(unaccepted, closed);
    world.peers[unaccepted].down.set_config(link(20, 0.0));
    world.run(11 * SECOND);
    assert_eq!(ends(&world.peers[unheard].events)[0].1, DisconnectReason::RequestTimedOut);
    assert_eq!(ends(&world.peers[expired].events)[0].1, DisconnectReason::TokenExpired);
    assert_eq!(ends(&world.peers[unaccepted].events)[0].1, DisconnectReason::ResponseTimedOut);
    assert_eq!(world.peers[unheard].shard.state(), ClientState::Disconnected);
}

// B96: a client whose calendar is ten minutes wrong either way connects: only the server's judges a token.
#[test]
fn a_wrong_calendar_does_not_matter() {
    for off in [-600i64, -1, 1, 600] {
        let mut world = World::standard(7);
        let calendar = Duration::from_secs((UNIX.as_secs() + world.now.as_secs()).saturating_add_signed(off));
        let peer = world.join(ClientConfig::default(), link(20, 0.0), link(20, 0.0));
        let token = token(1, world.now, 1);
        world.peers[peer].shard = tidelock_net::ClientShard::new(ClientConfig::default(), token, world.now, calendar);
        world.await_connection(peer);
        world.run(SECOND);
        assert!(is_connected(&world, peer), "{off} s off");
    }
}

// N-7: a full server denies, and lets in when there is room.
#[test]
fn a_full_server_denies() {
    let mut world = World::new(ServerConfig { max_clients: 2, ..ServerConfig::new(PROTOCOL, KEY) }, 8);
    let names: Vec<_> = (0..2).map(|_| world.connect(link(10, 0.0)).1).collect();
    let denied = world.join(ClientConfig::default(), link(10, 0.0), link(10, 0.0));
    world.run(SECOND);
    // B98: who is refused gets no more than three packets.
    assert!(world.peers[denied].down.stats().pushed <= 3, "{:?}", world.peers[denied].down.stats());
    assert_eq!(ends(&world.peers[denied].events)[0].1, DisconnectReason::Denied);
    assert_eq!(world.server.counters().fault(Fault::ServerFull), 1);
    let egress = Egress::Disconnect { connection: names[0], code: DisconnectCode::Kicked, text: String::new() };
    world.server.apply(world.now, egress, &mut world.events);
    world.connect(link(10, 0.0));
}

// N-1: the connection stands though the first keep-alive and any other packet may be lost.
#[test]
fn handshakes_survive_loss() {
    for seed in 0..30 {
        let mut world = World::standard(seed);
        let (peer, name) = world.connect(link(30, 0.3));
        world.server_send(name, LaneSet::STATE, b"welcome", None);
        world.server_flush();
        world.run(2 * SECOND);
        assert_eq!(world.client_messages(peer, LaneSet::STATE).len(), 1, "seed {seed}");
    }
}

// B100: clients that die at any moment leave nothing behind, and ids are not reused.
#[test]
fn clients_that_die_leave_nothing() {
    let mut world = World::standard(9);
    let mut names = std::collections::BTreeSet::new();
    let rounds = runs(40).max(40);
    for round in 0..rounds {
        let peer = world.join(ClientConfig::default(), link(10, 0.05), link(10, 0.05));
        world.run((1 + round * 3 % 120) as u32 * MS);
        world.client_send(peer, LaneSet::STATE, &[1; 5_000], None);
        world.client_flush(peer);
        world.run((round % 7) as u32 * MS);
        world.peers[peer].alive = false;
    }
    world.run(15 * SECOND);
    for event in &world.events {
        if let Ingress::Connected { connection, .. } = event {
            assert!(names.insert(*connection), "an id came twice");
        }
    }
    assert!(names.len() as u64 * 2 > rounds, "{} of {rounds} connected", names.len());
    assert_eq!(world.server.connected(), 0);
    assert_eq!(ends(&world.events).len(), names.len());
    let sent = world.server_sent;
    world.run(5 * SECOND);
    assert_eq!(world.server_sent, sent);
    assert_eq!(world.server.next_timeout(), None);
}

// B101: a server started and stopped again and again in one process, with clients attached, is each time as new.
#[test]
fn every_start_is_as_the_first() {
    let mut first = None;
    let mut ports = std::collections::BTreeSet::new();
    for cycle in 0..runs(50) {
        let mut world = World::standard(9);
        for _ in 0..5 {
            let (peer, name) = world.connect(link(10, 0.02));
            world.server_send(name, LaneSet::STATE, &[cycle as u8; 3_000], Some(1));
            world.client_send(peer, LaneSet::REPORT, &[2; 20], None);
            world.server_flush();
            world.client_flush(peer);
            world.run(200 * MS);
            ports.insert(name);
        }
        let counters = (world.server.counters().clone(), world.peers[4].shard.counters().clone());
        assert_eq!(*first.get_or_insert_with(|| counters.clone()), counters, "cycle {cycle}");
        // It goes away with its clients attached.
    }
    assert_eq!(ports.len(), 5, "and names its connections alike");
}
