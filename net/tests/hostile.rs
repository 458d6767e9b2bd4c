//! Strangers and forgers: whatever they send changes counters only, and costs them more than it costs us.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::net::SocketAddr;
use std::time::Duration;

use proptest::prelude::*;
use tidelock_net::entropy::{Entropy, SeedEntropy};
use tidelock_net::{Fault, Ingress, LaneSet, Shard};
use world::{MS, World, link, server_address, token};

/// What an onlooker sees of the world, counters apart.
fn visible(world: &World, peer: usize) -> (usize, usize, usize, tidelock_net::ClientState) {
    let events = (world.events.len(), world.peers[peer].events.len());
    (world.server.connected(), events.0, events.1, world.peers[peer].shard.state())
}

/// A connected world and every datagram of its beginning.
fn captured() -> (World, usize, Vec<(bool, Vec<u8>)>) {
    let mut world = World::standard(1);
    world.tap = Some(vec![]);
    let (peer, name) = world.connect(link(5, 0.0));
    for round in 0..20u8 {
        world.server_send(name, LaneSet::STATE, &[round; 1_500], None);
        world.client_send(peer, LaneSet::REPORT, &[round; 40], None);
        world.server_flush();
        world.client_flush(peer);
        world.run(10 * MS);
    }
    world.run(Duration::from_secs(1));
    let tap = world.tap.take().unwrap();
    assert!(tap.len() > 60);
    (world, peer, tap)
}

fn attack(world: &mut World, peer: usize, to_server: bool, datagram: &[u8]) {
    let now = world.now;
    let mut datagram = datagram.to_vec();
    if to_server {
        let from = world.peers[peer].address;
        world.server.handle(now, from, &mut datagram, &mut world.events);
    } else {
        let peer = &mut world.peers[peer];
        peer.shard.handle(now, server_address(), &mut datagram, &mut peer.events);
    }
}

/// Datagrams made up; `TIDELOCK_RUNS` asks for 200 times as many as it says.
fn rounds() -> u64 {
    std::env::var("TIDELOCK_RUNS").ok().and_then(|runs| runs.parse::<u64>().ok()).map_or(30_000, |runs| runs * 200)
}

// N-13: random bytes, mutated, truncated and repeated captures at both ends, from the peers' own addresses.
#[test]
fn junk_and_mutated_captures_change_only_counters() {
    let (mut world, peer, tap) = captured();
    let before = visible(&world, peer);
    let mut luck = SeedEntropy::from_number(2);
    let mut draw = |below: usize| {
        let mut bytes = [0; 8];
        luck.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % below as u64) as usize
    };
    for round in 0..rounds() {
        let (to_server, original) = &tap[draw(tap.len())];
        let mut datagram = original.clone();
        match round % 5 {
            0 => (0..1 + draw(4)).for_each(|_| {
                let at = draw(datagram.len());
                datagram[at] ^= 1 << draw(8);
            }),
            1 => datagram.truncate(draw(datagram.len())),
            2 => datagram.extend((0..1 + draw(40)).map(|i| i as u8)),
            3 => datagram = (0..draw(1_400)).map(|_| draw(256) as u8).collect(),
            _ => {}
        }
        attack(&mut world, peer, *to_server, &datagram);
        attack(&mut world, peer, !*to_server, &datagram);
    }
    assert_eq!(visible(&world, peer), before);
    let counters = world.server.counters();
    for fault in [Fault::Truncated, Fault::UnknownType, Fault::Forged, Fault::Replayed, Fault::Oversized] {
        assert!(counters.fault(fault) > 0, "{fault:?} in {counters:?}");
    }
    // The connection works on.
    let name = world.events.iter().find_map(|event| match event {
        Ingress::Connected { connection, .. } => Some(*connection),
        _ => None,
    });
    world.client_messages(peer, LaneSet::STATE);
    world.server_send(name.unwrap(), LaneSet::STATE, b"still here", None);
    world.server_flush();
    world.run(100 * MS);
    assert_eq!(world.client_messages(peer, LaneSet::STATE), [b"still here".to_vec()]);
}

// N-7: replies are never longer, nor more, than what strangers send.
#[test]
fn strangers_are_not_amplified() {
    let (mut world, peer, tap) = captured();
    world.run(100 * MS);
    let requests: Vec<_> = tap.iter().filter(|(to_server, datagram)| *to_server && datagram[0] == 0).collect();
    assert!(!requests.is_empty());
    let mut server = World::standard(3).server;
    let now = world.now;
    let (mut sent, mut events) = (0, vec![]);
    let (mut replies, mut reply_bytes, mut request_bytes) = (0, 0, 0);
    for id in 0..2_000u64 {
        let from = SocketAddr::from(([10, (id >> 8) as u8, id as u8, 9], 1));
        // Good tokens from spoofed addresses that never answer, and the datagrams of others.
        let mut request = vec![0];
        let bytes = token(id, now, id).to_bytes();
        request.extend_from_slice(&bytes[..13 + 8]);
        request.extend_from_slice(&bytes[13 + 16..13 + 24 + 24 + 1_024]);
        for datagram in [&request, &tap[id as usize % tap.len()].1] {
            request_bytes += datagram.len();
            sent += 1;
            server.handle(now, from, &mut datagram.clone(), &mut events);
            server.advance(now, &mut events);
            server.transmit(now, &mut |to, reply| {
                assert_eq!(to, from);
                assert!(reply.len() <= datagram.len());
                replies += 1;
                reply_bytes += reply.len();
            });
        }
    }
    assert!(replies >= 2_000 && replies <= sent, "{replies} {:?}", server.counters());
    assert!(reply_bytes * 3 < request_bytes, "{reply_bytes} of {request_bytes}");
    assert!(events.is_empty() && server.connected() == 0);
    // Handshakes never answered end by themselves.
    server.handle(now + Duration::from_secs(20), world.peers[peer].address, &mut [0; 1_078], &mut events);
    assert_eq!(server.next_timeout(), None);
}

// B98: a flood of forged requests does not keep an honest client out.
#[test]
fn an_honest_client_connects_during_a_flood() {
    let mut world = World::standard(4);
    let peer = world.join(Default::default(), link(20, 0.0), link(20, 0.0));
    let mut forged = vec![0];
    forged.extend_from_slice(b"NETCODE 1.02\0");
    forged.extend_from_slice(&world::PROTOCOL.to_le_bytes());
    forged.extend_from_slice(&u64::MAX.to_le_bytes());
    forged.resize(1_078, 7);
    let mut flood = 0u32;
    for _ in 0..300 {
        // A million in ten seconds.
        for _ in 0..100 {
            flood += 1;
            let from = SocketAddr::from((flood.to_be_bytes(), 9));
            let now = world.now;
            world.server.handle(now, from, &mut forged.clone(), &mut world.events);
        }
        world.step();
    }
    assert!(matches!(world.peers[peer].shard.state(), tidelock_net::ClientState::Connected(_)));
    assert_eq!(world.server.counters().fault(Fault::TokenForged), u64::from(flood));
}

proptest! {
    // N-13
    #[test]
    fn any_datagram_from_anywhere_is_survived(
        datagrams in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..1_400)), 1..20),
    ) {
        let mut world = World::standard(5);
        let peer = world.join(Default::default(), link(1, 0.0), link(1, 0.0));
        world.step();
        for (prefix, mut datagram) in datagrams {
            if let Some(first) = datagram.first_mut() {
                *first = prefix;
            }
            attack(&mut world, peer, true, &datagram);
            attack(&mut world, peer, false, &datagram);
            world.step();
        }
        let only_connected = world.events.iter().all(|event| matches!(event, Ingress::Connected { .. }));
        prop_assert!(only_connected);
    }
}
