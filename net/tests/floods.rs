//! Floods: what strangers and bad peers send costs bounded memory and no one else. `TIDELOCK_RUNS` asks for so many thousand
//! hellos and unfinished handshakes; the lessons' million is 1000.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::{ClientState, Fault, Ingress, LaneSet, ServerConfig, ServerShard, Shard};
use world::{KEY, MS, PROTOCOL, UNIX, World, link, number_of, numbered, runs, token};

const SECOND: Duration = Duration::from_secs(1);

/// A connection request made from a token, as a client would send it.
fn request(id: u64, at: Duration, seed: u64) -> Vec<u8> {
    let bytes = token(id, at, seed).to_bytes();
    let mut request = vec![0];
    request.extend_from_slice(&bytes[..13 + 8]);
    request.extend_from_slice(&bytes[13 + 16..13 + 24 + 24 + 1_024]);
    request
}

fn address(number: u32) -> SocketAddr {
    SocketAddr::from((number.to_be_bytes(), 9))
}

/// Bytes held beyond those before, after a flood of datagrams, and the bytes of replies to those of datagrams.
fn flood(server: &mut ServerShard, datagrams: impl Iterator<Item = (SocketAddr, Vec<u8>)>) -> (i64, u64, u64) {
    let now = Duration::from_secs(6);
    let (mut events, mut held, mut replied, mut sent) = (vec![], 0, 0, 0);
    for (count, (from, mut datagram)) in datagrams.enumerate() {
        sent += datagram.len() as u64;
        let now = now + Duration::from_micros(10) * count as u32;
        let info = allocation_counter::measure(|| {
            server.handle(now, from, &mut datagram, &mut events);
            server.advance(now, &mut events);
            server.transmit(now, &mut |_, reply| replied += reply.len() as u64);
        });
        held += info.bytes_current;
    }
    assert!(events.is_empty());
    (held, replied, sent)
}

fn server() -> ServerShard {
    let now = Duration::from_secs(5);
    ServerShard::new(ServerConfig::new(PROTOCOL, KEY), now, UNIX + now, [1; 32])
}

// B98: hellos from spoofed addresses, forged or of one stolen token, leave nothing behind and are not answered.
#[test]
fn forged_hellos_leave_nothing_behind() {
    let mut forged = request(1, 6 * SECOND, 1);
    forged[500] ^= 1;
    let mut server = server();
    let hellos = 1_000 * runs(100) as u32;
    let (held, replied, _) = flood(&mut server, (0..hellos).map(|number| (address(number), forged.clone())));
    assert!(held < 1 << 20, "{held}");
    let faults = server.counters().fault(Fault::TokenForged) + server.counters().fault(Fault::PrefixLimit);
    assert_eq!((replied, faults), (0, hellos.into()));
    // The first address a token comes from has it; its copies are refused.
    let mut server = self::server();
    let stolen = request(1, 6 * SECOND, 1);
    let (held, replied, _) = flood(&mut server, (0..100_000).map(|number| (address(number), stolen.clone())));
    assert!(held < 1 << 20 && replied < 1_000, "{held} {replied}");
    assert_eq!(server.counters().fault(Fault::TokenReused), 99_999);
}

// N-7, B98: valid tokens that never answer their challenge are bounded, and the replies smaller than what asked for them.
#[test]
fn unanswered_challenges_are_bounded() {
    let mut server = server();
    let hellos = (0..12_000).map(|number| (address(number), request(number.into(), 6 * SECOND, number.into())));
    let (held, replied, sent) = flood(&mut server, hellos);
    assert!(held < 6 << 20, "8,192 handshakes and their tokens: {held}");
    assert!(replied * 3 < sent, "{replied} of {sent}");
    assert!(server.counters().fault(Fault::PendingFull) > 3_000);
    let later = Duration::from_secs(60);
    let info = allocation_counter::measure(|| server.advance(later, &mut vec![]));
    assert!(info.bytes_current < -(500 << 10), "the handshakes are forgotten: {}", info.bytes_current);
}

// B98, N-13: junk to the address of an established connection costs no memory and does not disturb it.
#[test]
fn junk_to_an_established_address_costs_nothing() {
    let mut world = World::standard(2);
    let (peer, name) = world.connect(link(10, 0.0));
    world.run(SECOND);
    let home = world.peers[peer].address;
    let mut held = 0;
    for number in 0..100_000u32 {
        let mut junk = vec![number as u8; 40 + number as usize % 1_200];
        junk[0] = [0x85, 0x84, 0x57, 0x13, 0x0F][number as usize % 5];
        let (now, server, events) = (world.now, &mut world.server, &mut world.events);
        held += allocation_counter::measure(|| server.handle(now, home, &mut junk, events)).bytes_current;
    }
    assert!(held < 64 << 10, "{held}");
    world.server_send(name, LaneSet::STATE, b"here", None);
    world.server_flush();
    world.run(100 * MS);
    assert_eq!(world.client_messages(peer, LaneSet::STATE).len(), 1);
}

// B78, N-6: a client that stops for five seconds costs its lanes' limits, delays no one, and goes on where it stopped.
#[test]
fn a_client_that_stalls_costs_its_limits() {
    let mut world = World::standard(3);
    let (stalled, name) = world.connect(link(20, 0.0));
    let (other, other_name) = world.connect(link(5, 0.0));
    let (mut sent, mut refused) = (0, 0);
    let mut got = vec![];
    let mut ages = vec![];
    for tick in 0..600u32 {
        world.peers[stalled].alive = !(60..373).contains(&tick);
        for _ in 0..16 {
            world.server_send(name, LaneSet::STATE, &numbered(sent, 2_000), None);
            let before = world.events.len();
            world.events.retain(|event| !matches!(event, Ingress::Blocked { .. }));
            refused += before - world.events.len();
            sent += u32::from(before == world.events.len());
        }
        let at = world.now;
        world.server_send(other_name, LaneSet::STATE, &numbered(tick, 100), None);
        world.server_flush();
        while world.now < at + 16 * MS {
            world.step();
            ages.extend(world.client_messages(other, LaneSet::STATE).iter().map(|_| world.now - at));
        }
        got.extend(world.client_messages(stalled, LaneSet::STATE).iter().map(|message| number_of(message)));
        assert!(world.server.stats(name).unwrap().lanes[0].queued_bytes <= 4 << 20);
        if tick == 372 {
            assert!(refused > 500, "the lane says it is full: {refused}");
        }
        if tick == 434 {
            assert!(got.len() > 1_200, "it goes on within a second: {}", got.len());
        }
    }
    world.run(5 * SECOND);
    got.extend(world.client_messages(stalled, LaneSet::STATE).iter().map(|message| number_of(message)));
    assert_eq!(got.len() as u32, sent);
    assert!(got.into_iter().eq(0..sent), "in order, once");
    assert_eq!(ages.len(), 600, "the other's messages all come within their tick");
    assert!(matches!(world.peers[stalled].shard.state(), ClientState::Connected(_)));
}
