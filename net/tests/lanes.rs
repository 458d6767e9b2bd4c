//! Lanes over bad links, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::time::Duration;

use tidelock_net::emulator::LinkConfig;
use tidelock_net::{ClientConfig, Ingress, LaneSet, ServerConfig, SessionConfig};
use world::{KEY, MS, PROTOCOL, World, link, number_of, numbered, runs, take_receipts};

fn bad(loss: f64) -> LinkConfig {
    LinkConfig {
        latency: 50 * MS,
        jitter: 30 * MS,
        loss,
        duplicate: 0.25,
        reorder: 0.1,
        reorder_delay: 40 * MS,
        corrupt: 0.01,
        ..LinkConfig::default()
    }
}

// N-3: every reliable message once, and in order where the lane says so, at 0 to 30 % loss.
#[test]
fn reliable_messages_arrive_once_and_in_order() {
    for (seed, loss) in [0.0, 0.05, 0.2, 0.3].into_iter().enumerate() {
        let mut world = World::standard(seed as u64);
        let (peer, name) = world.connect(bad(loss));
        let mut sent = 0;
        for tick in 0..300 {
            for _ in 0..3 {
                let len = 4 + (sent as usize * 37) % 900;
                world.server_send(name, LaneSet::STATE, &numbered(sent, len), Some(u64::from(sent)));
                world.server_send(name, LaneSet::EVENT, &numbered(sent, 20), None);
                world.client_send(peer, LaneSet::STATE, &numbered(sent, 30), None);
                world.client_send(peer, LaneSet::REPORT, &numbered(sent, 30), None);
                sent += 1;
            }
            world.server_send(name, LaneSet::MOTION, &numbered(tick, 300), Some(1 << 32 | u64::from(tick)));
            world.server_flush();
            world.client_flush(peer);
            world.run(16 * MS);
        }
        world.run(Duration::from_secs(5));
        let all: Vec<u32> = (0..sent).collect();
        let numbers = |messages: Vec<Vec<u8>>| messages.iter().map(|message| number_of(message)).collect::<Vec<_>>();
        assert_eq!(numbers(world.client_messages(peer, LaneSet::STATE)), all, "loss {loss}");
        assert_eq!(numbers(world.server_messages(LaneSet::STATE)), all, "loss {loss}");
        assert_eq!(numbers(world.server_messages(LaneSet::REPORT)), all, "loss {loss}");
        let mut events = numbers(world.client_messages(peer, LaneSet::EVENT));
        events.sort_unstable();
        assert_eq!(events, all, "loss {loss}");
        let motion = numbers(world.client_messages(peer, LaneSet::MOTION));
        let arrived: std::collections::BTreeSet<_> = motion.iter().copied().collect();
        assert_eq!(arrived.len(), motion.len(), "no motion twice");
        // N-3b: each receipt once, and true.
        let receipts = take_receipts(&mut world.events);
        let mut keys: Vec<_> = receipts.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), receipts.len(), "no receipt twice");
        assert_eq!(receipts.len() as u32, sent + 300);
        for (key, delivered) in receipts {
            match key >> 32 {
                0 => assert!(delivered),
                _ => assert!(!delivered || arrived.contains(&(key as u32)), "delivered but not there"),
            }
        }
    }
}

// N-3a: a report gets through 20 % loss within few ticks, without waiting for a round trip.
#[test]
fn repeated_messages_survive_loss_without_a_round_trip() {
    let mut world = World::standard(3);
    let (peer, _) = world.connect(link(100, 0.2));
    let (mut sent_at, mut ages) = (Vec::new(), Vec::new());
    for tick in 0..1_200u32 {
        if tick < 1_000 {
            sent_at.push(world.now);
            world.client_send(peer, LaneSet::REPORT, &numbered(tick, 24), None);
        }
        world.client_flush(peer);
        for _ in 0..17 {
            world.step();
            for message in world.server_messages(LaneSet::REPORT) {
                ages.push(world.now - sent_at[number_of(&message) as usize]);
            }
        }
    }
    assert_eq!(ages.len(), 1_000);
    ages.sort_unstable();
    assert!(ages[500] <= 102 * MS, "{:?}", ages[500]);
    assert!(ages[990] <= 170 * MS, "{:?}", ages[990]);
    assert!(ages[999] <= 290 * MS, "{:?}", ages[999]);
    // N-1b: one datagram per tick.
    assert!(world.peers[peer].sent <= 1_000 + 120, "{}", world.peers[peer].sent);
}

// N-4 and B91: a long message arrives whole at 10 % loss, is receipted once, and little is sent twice; also over the edges of
// the short forms of packet numbers and message ids.
#[test]
fn a_megabyte_arrives_whole() {
    let message: Vec<u8> = (0..1 << 20).map(|i: u32| (i * 7 + i / 1_000) as u8).collect();
    for seed in 0..runs(4) {
        let first_packet = [0, (1 << 24) - 1, (1 << 16) - 200, (1 << 32) - 500][seed as usize % 4];
        let session = SessionConfig { first_packet, ..SessionConfig::default() };
        let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, seed + 4);
        let path = LinkConfig { rate_bytes_s: 2_000_000, queue_bytes: 200_000, ..link(40, 0.1) };
        let peer = world.join(ClientConfig { session, ..ClientConfig::default() }, path, path);
        let name = world.await_connection(peer);
        world.server_send(name, LaneSet::BULK, &message, Some(9));
        world.server_flush();
        world.run(Duration::from_secs(4));
        let got = world.client_messages(peer, LaneSet::BULK);
        assert!(got.len() == 1 && got[0] == message, "seed {seed}");
        assert_eq!(take_receipts(&mut world.events), [(9, true)], "seed {seed}");
        let stats = world.server.stats(name).unwrap();
        let lost_share = stats.lost_out as f64 / stats.packets_out as f64;
        let resent = stats.lanes[4].resent_bytes as f64 / message.len() as f64;
        let most = 1.3 * (lost_share / (1.0 - lost_share)) + 0.02;
        assert!(resent < most, "resent {resent}, lost {lost_share}: seed {seed}");
    }
}

// N-5, B86: real paths pass less than a full frame: connecting, both kinds of packets and a megabyte each way fit through the
// narrowest, and no datagram is ever too long for it.
#[test]
fn nothing_is_too_long_for_a_real_path() {
    for mtu in [1_280, 1_372, 1_452, 1_492] {
        for seed in [None, Some([4; 32])] {
            let mut world = World::standard(mtu as u64);
            let path = LinkConfig { mtu, ..link(20, 0.01) };
            let peer = world.join(ClientConfig { seed, ..ClientConfig::default() }, path, path);
            let name = world.await_connection(peer);
            let megabyte = numbered(3, 1 << 20);
            world.server_send(name, LaneSet::BULK, &megabyte, None);
            world.client_send(peer, LaneSet::BULK, &megabyte, None);
            world.server_flush();
            world.client_flush(peer);
            world.run(Duration::from_secs(20));
            assert_eq!(world.client_messages(peer, LaneSet::BULK), [&*megabyte], "{mtu}");
            assert_eq!(world.server_messages(LaneSet::BULK), [&*megabyte], "{mtu}");
            let (up, down) = (world.peers[peer].up.stats(), world.peers[peer].down.stats());
            assert_eq!((up.too_long, down.too_long), (0, 0), "{mtu}");
        }
    }
}

// N-1b: a quiet connection is silent but for keep-alives.
#[test]
fn quiet_connections_are_silent() {
    let mut world = World::standard(5);
    let (peer, name) = world.connect(link(30, 0.0));
    world.server_send(name, LaneSet::STATE, b"once", None);
    world.server_flush();
    world.run(Duration::from_secs(2));
    let (server, client) = (world.server_sent, world.peers[peer].sent);
    world.run(Duration::from_secs(10));
    assert!((19..=21).contains(&(world.server_sent - server)), "{}", world.server_sent - server);
    assert!((19..=21).contains(&(world.peers[peer].sent - client)));
}

// N-3: a lost message delays only its own lane.
#[test]
fn lanes_do_not_wait_for_each_other() {
    let mut world = World::standard(6);
    let (peer, name) = world.connect(link(100, 0.0));
    world.set_links(peer, link(100, 1.0));
    world.server_send(name, LaneSet::STATE, b"lost at first", None);
    world.server_flush();
    world.step();
    world.set_links(peer, link(100, 0.0));
    world.run(5 * MS);
    world.server_send(name, LaneSet::EVENT, b"next", None);
    world.server_flush();
    world.run(103 * MS);
    assert_eq!(world.client_messages(peer, LaneSet::EVENT).len(), 1);
    assert!(world.client_messages(peer, LaneSet::STATE).is_empty());
    world.run(Duration::from_secs(1));
    assert_eq!(world.client_messages(peer, LaneSet::STATE).len(), 1);
    assert!(!world.events.iter().any(|event| matches!(event, Ingress::Disconnected { .. })));
}

// N-10: datagrams that leave together are of one length but for the last, as the system takes them in one call, whichever of
// them brings the acknowledgement; never longer than the path passes, and nobody's padding leaves alone. In the first seconds the
// rate is still being found.
#[test]
fn what_leaves_together_is_of_one_length() {
    for (message, count) in [(1_000, 4), (1_024, 8), (600, 3)] {
        let mut world = World::standard(4);
        let (peer, name) = world.connect(link(5, 0.0));
        let mut together = 0;
        for tick in 0..300 {
            world.client_send(peer, LaneSet::NEWEST, &numbered(tick, 20), None);
            world.client_flush(peer);
            world.run(8 * MS);
            world.tap = Some(vec![]);
            (0..count).for_each(|_| world.server_send(name, LaneSet::MOTION, &vec![1; message], None));
            world.server_flush();
            world.step();
            let tap = world.tap.take().unwrap();
            let lengths: Vec<_> = tap.iter().filter(|(up, _)| !up).map(|(_, datagram)| datagram.len()).collect();
            together += u32::from(tick >= 240 && lengths.len() > 2);
            if let Some((last, rest)) = lengths.split_last() {
                let first = lengths[0];
                assert!(rest.iter().all(|&bytes| bytes == first) && *last <= first, "{lengths:?}");
                assert!((message + 30..message + 90).contains(&first), "{lengths:?}");
            }
            world.run(8 * MS);
        }
        world.run(Duration::from_secs(1));
        assert_eq!(world.client_messages(peer, LaneSet::MOTION).len(), 300 * count);
        assert!(together > 40, "{together} of 60");
    }
}
