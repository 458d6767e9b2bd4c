//! The extension between endpoints that both announced it, and peers that change their address, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::{ClientConfig, ConnectionId, Egress, Fault, Ingress, LaneSet, ServerConfig, Shard, Span};
use world::{KEY, MS, PROTOCOL, World, link, number_of, numbered};

const SECOND: Duration = Duration::from_secs(1);

fn announcing(seed: u8) -> ClientConfig {
    ClientConfig { seed: Some([seed; 32]), ..ClientConfig::default() }
}

/// A world with one client that announces, connected and gone over.
fn extended(latency_ms: u64, loss: f64) -> (World, usize, ConnectionId) {
    let mut world = World::standard(1);
    world.tap = Some(vec![]);
    let peer = world.join(announcing(9), link(latency_ms, loss), link(latency_ms, loss));
    let name = world.await_connection(peer);
    world.run(2 * SECOND);
    (world, peer, name)
}

fn is_extended(datagram: &[u8]) -> bool {
    datagram[0] & 15 == 7
}

/// Sends numbered messages both ways for some ticks, on reliable lanes.
fn talk(world: &mut World, peer: usize, name: ConnectionId, numbers: std::ops::Range<u32>) {
    for number in numbers {
        world.server_send(name, LaneSet::STATE, &numbered(number, 300), None);
        world.server_flush();
        world.client_send(peer, LaneSet::REPORT, &numbered(number, 100), None);
        world.client_flush(peer);
        world.run(16 * MS);
    }
}

fn assert_in_order(messages: &[Vec<u8>], count: u32) {
    let numbers: Vec<u32> = messages.iter().map(|message| number_of(message)).collect();
    assert_eq!(numbers, (0..count).collect::<Vec<_>>());
}

// N-1a: after the standard handshake both go over, under loss as well; what is sent then is shorter.
#[test]
fn endpoints_that_announce_go_over() {
    for loss in [0.0, 0.3] {
        let (mut world, peer, name) = extended(20, loss);
        assert_eq!(world.server.counters().extended, 1);
        assert_eq!(world.peers[peer].shard.counters().extended, 1);
        world.tap = Some(vec![]);
        talk(&mut world, peer, name, 0..60);
        world.run(3 * SECOND);
        assert_in_order(&world.server_messages(LaneSet::REPORT), 60);
        assert_in_order(&world.client_messages(peer, LaneSet::STATE), 60);
        let tap = world.tap.take().unwrap();
        assert!(tap.iter().all(|(_, datagram)| is_extended(datagram)));
        let up = tap.iter().filter(|(up, _)| *up).map(|(_, datagram)| &datagram[1..7]);
        assert!(up.clone().all(|name| name == up.clone().next().unwrap()));
        assert_eq!(world.server.counters().total_faults(), 0, "{:?}", world.server.counters());
    }
}

// N-1a: a client that does not announce, or a server that does not answer, never sees a byte of it.
#[test]
fn the_standard_stays_the_standard() {
    for (config, client) in [
        (ServerConfig::new(PROTOCOL, KEY), ClientConfig::default()),
        (ServerConfig { extension: false, ..ServerConfig::new(PROTOCOL, KEY) }, announcing(1)),
    ] {
        let announces = client.seed.is_some();
        let mut world = World::new(config, 2);
        world.tap = Some(vec![]);
        let peer = world.join(client, link(20, 0.0), link(20, 0.0));
        let name = world.await_connection(peer);
        talk(&mut world, peer, name, 0..400);
        world.run(SECOND);
        assert_in_order(&world.client_messages(peer, LaneSet::STATE), 400);
        assert!(world.tap.take().unwrap().iter().all(|(_, datagram)| !is_extended(datagram)));
        assert_eq!(world.server.counters().total_faults(), 0);
        // A client gives up announcing.
        let before = world.peers[peer].sent;
        world.run(5 * SECOND);
        assert!(world.peers[peer].sent - before <= 12, "{announces}");
    }
}

// N-1a: fresh randoms: one token used twice never gives one (key, nonce) twice, so no two datagrams are equal.
#[test]
fn a_token_used_twice_gives_other_keys() {
    let mut seen = std::collections::HashSet::new();
    for run in 0..3 {
        let mut world = World::standard(1);
        world.tap = Some(vec![]);
        world.server = {
            let config = ServerConfig::new(PROTOCOL, KEY);
            tidelock_net::ServerShard::new(config, world.now, world::UNIX + world.now, [run; 32])
        };
        let peer = world.join(announcing(run), link(5, 0.0), link(5, 0.0));
        world.await_connection(peer);
        world.run(3 * SECOND);
        for (_, datagram) in world.tap.take().unwrap() {
            if is_extended(&datagram) {
                assert!(seen.insert(datagram[datagram.len() - 16..].to_vec()));
            }
        }
    }
    assert!(seen.len() > 20);
}

// N-9: a client whose address changes is followed without a handshake; its lanes lose nothing; the new path gets no more than it
// gave before it is validated.
#[test]
fn a_client_that_moves_keeps_its_lanes() {
    for (loss, moves) in [(0.0, 1), (0.0, 5), (0.2, 3)] {
        let (mut world, peer, name) = extended(30, loss);
        world.tap = None;
        let mut sent = 0;
        for step in 0..moves {
            talk(&mut world, peer, name, sent..sent + 40);
            sent += 40;
            // Another network altogether, then another port of it.
            world.peers[peer].address = SocketAddr::from(([10, 9, 1 + step as u8 / 2, 9], 5_000 + step));
            talk(&mut world, peer, name, sent..sent + 40);
            sent += 40;
            assert_eq!(world.server.address(name), Some(world.peers[peer].address));
        }
        world.run(3 * SECOND);
        assert_in_order(&world.server_messages(LaneSet::REPORT), sent);
        assert_in_order(&world.client_messages(peer, LaneSet::STATE), sent);
        assert_eq!(world.server.counters().moved, u64::from(moves));
        assert_eq!(world.server.counters().connected, 1);
        let ended = |events: &[Ingress]| events.iter().any(|event| matches!(event, Ingress::Disconnected { .. }));
        assert!(!ended(&world.events) && !ended(&world.peers[peer].events));
    }
}

// N-9: an onlooker who repeats a client's datagrams from elsewhere moves nothing and gains nothing.
#[test]
fn copies_from_elsewhere_move_nothing() {
    let (mut world, peer, name) = extended(10, 0.0);
    let home = world.peers[peer].address;
    let elsewhere = SocketAddr::from(([66, 6, 6, 6], 66));
    let (mut gave, mut got) = (0, 0);
    for round in 0..200u32 {
        let now = world.now;
        // The client's newest datagram reaches the server from elsewhere first.
        let shard = &mut world.peers[peer].shard;
        let connection = shard.connection();
        let egress =
            Egress::Send { connection, lane: LaneSet::REPORT, bytes: Span::from(numbered(round, 50)), receipt: None };
        shard.apply(now, egress, &mut vec![]);
        shard.apply(now, Egress::FlushAll, &mut vec![]);
        let mut stolen = vec![];
        shard.transmit(now, &mut |_, datagram| stolen.push(datagram.to_vec()));
        for datagram in stolen {
            gave += datagram.len();
            world.server.handle(now, elsewhere, &mut datagram.clone(), &mut world.events);
            world.server.transmit(now, &mut |to, reply| {
                if to == elsewhere {
                    got += reply.len();
                }
            });
            world.server.handle(now, home, &mut datagram.clone(), &mut world.events);
        }
        world.run(16 * MS);
    }
    assert_eq!((world.server.address(name), world.server.counters().moved), (Some(home), 0));
    assert!(got <= gave && got > 0, "{got} of {gave}");
    assert!(world.server.counters().fault(Fault::Replayed) > 100);
    assert_in_order(&world.server_messages(LaneSet::REPORT), 200);
}

// N-13: whatever names a connection is dropped and counted.
#[test]
fn names_of_nobody_are_counted() {
    let (mut world, _, name) = extended(10, 0.0);
    let tap = world.tap.take().unwrap();
    let (_, datagram) = tap.iter().find(|(up, datagram)| *up && is_extended(datagram)).unwrap();
    let stranger = SocketAddr::from(([66, 6, 6, 6], 66));
    let mut try_with = |at: usize, flip: u8| {
        let mut datagram = datagram.clone();
        datagram[at] ^= flip;
        world.server.handle(world.now, stranger, &mut datagram, &mut world.events);
    };
    // Another slot, another shard, another generation; then the number.
    [(1, 1), (3, 0x20), (5, 1), (7, 0x80)].into_iter().for_each(|(at, flip)| try_with(at, flip));
    world.server.handle(world.now, stranger, &mut [7; 5], &mut world.events);
    world.server.handle(world.now, stranger, &mut [0x57, 0, 0, 0, 0, 0, 0, 1, 2, 3], &mut world.events);
    let counters = world.server.counters();
    assert_eq!(counters.fault(Fault::UnknownConnection), 4, "{counters:?}");
    assert_eq!((counters.fault(Fault::Forged), counters.fault(Fault::Truncated)), (1, 1));
    assert!(world.server.stats(name).is_some());
    let mut replies = 0;
    world.server.transmit(world.now, &mut |to, _| replies += u32::from(to == stranger));
    assert_eq!(replies, 0);
}
