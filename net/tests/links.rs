//! Outages, bursts and narrow links, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::time::Duration;

use tidelock_net::congestion::Algorithm;
use tidelock_net::emulator::LinkConfig;
use tidelock_net::{
    ConnectionId, Ingress, LaneConfig, LaneKind, LaneSet, Overflow, Refusal, ServerConfig, SessionConfig,
};
use world::{KEY, MS, PROTOCOL, World, link, number_of, numbered, take_receipts};

fn numbers(messages: &[Vec<u8>]) -> Vec<u32> {
    messages.iter().map(|message| number_of(message)).collect()
}

fn assert_no_end(world: &World) {
    let ends = |events: &[Ingress]| events.iter().any(|event| matches!(event, Ingress::Disconnected { .. }));
    assert!(!ends(&world.events) && world.peers.iter().all(|peer| !ends(&peer.events)));
}

// B76: a burst of reliable messages on a long, bad path neither closes nor disorders.
#[test]
fn a_burst_on_a_long_path() {
    for seed in 0..20 {
        let mut world = World::standard(seed);
        let path = LinkConfig { duplicate: 0.02, reorder: 0.2, reorder_delay: 30 * MS, ..link(125, 0.1) };
        let (peer, name) = world.connect(path);
        (0..1_000).for_each(|number| world.server_send(name, LaneSet::STATE, &numbered(number, 200), None));
        world.server_flush();
        world.run(Duration::from_secs(8));
        assert_eq!(
            numbers(&world.client_messages(peer, LaneSet::STATE)),
            (0..1_000).collect::<Vec<_>>(),
            "seed {seed}"
        );
        assert_no_end(&world);
    }
}

// B80: after a total outage reliable traffic goes on within a second.
#[test]
fn traffic_resumes_after_an_outage() {
    for seed in 0..20 {
        let mut world = World::standard(100 + seed);
        let (peer, name) = world.connect(link(40, 0.0));
        let mut sent = 0;
        let mut send = |world: &mut World, ticks: u32| {
            for _ in 0..ticks {
                for _ in 0..8 {
                    world.server_send(name, LaneSet::STATE, &numbered(sent, 1_000), None);
                    sent += 1;
                }
                world.server_flush();
                world.run(16 * MS);
            }
            sent
        };
        send(&mut world, 60);
        world.set_links(peer, link(40, 1.0));
        let before = send(&mut world, 180 + seed as u32);
        world.set_links(peer, link(40, 0.0));
        world.run(Duration::from_secs(1));
        let got = numbers(&world.client_messages(peer, LaneSet::STATE));
        assert!(got.len() > 60 * 8 + 50, "resumed: {} of {before}, seed {seed}", got.len());
        world.run(Duration::from_secs(4));
        let all = [got, numbers(&world.client_messages(peer, LaneSet::STATE))].concat();
        assert_eq!(all, (0..before).collect::<Vec<_>>(), "seed {seed}");
        assert_no_end(&world);
    }
}

// N-6, B78: a full lane says so, loses nothing it took, and the connection lives.
#[test]
fn a_full_lane_says_so() {
    let mut world = World::standard(1);
    let (peer, name) = world.connect(link(50, 0.0));
    world.set_links(peer, link(50, 1.0));
    let mut accepted = vec![];
    for number in 0..3_000 {
        world.server_send(name, LaneSet::STATE, &numbered(number, 2_000), Some(u64::from(number)));
        if !world.events.iter().any(|event| matches!(event, Ingress::Blocked { .. })) {
            accepted.push(number);
        }
        world.events.retain(|event| {
            let Ingress::Blocked { refusal, receipt, .. } = event else { return true };
            assert_eq!((*refusal, receipt.unwrap().0), (Refusal::WouldBlock, u64::from(number)));
            false
        });
    }
    assert!((2_000..2_100).contains(&accepted.len()), "{}", accepted.len());
    world.server_flush();
    world.run(Duration::from_secs(5));
    world.set_links(peer, link(50, 0.0));
    world.run(Duration::from_secs(1));
    assert!(!world.client_messages(peer, LaneSet::STATE).is_empty(), "resumes within a second");
    world.run(Duration::from_secs(20));
    let receipts = take_receipts(&mut world.events);
    assert_eq!(receipts.len(), accepted.len());
    assert!(receipts.iter().all(|(_, delivered)| *delivered));
    assert_no_end(&world);
}

fn with_lane(kind: LaneKind, overflow: Overflow) -> (World, usize, ConnectionId) {
    let lane = LaneConfig {
        name: "tested",
        kind,
        repeat: None,
        priority: 0,
        weight: 1,
        limit_bytes: 1_000,
        overflow,
        max_message_bytes: 100,
    };
    let lanes = LaneSet::new(vec![lane]).unwrap();
    let mut world = World::new(ServerConfig { lanes: lanes.clone(), ..ServerConfig::new(PROTOCOL, KEY) }, 9);
    let config = tidelock_net::ClientConfig { lanes: Some(lanes), ..Default::default() };
    let peer = world.join(config, link(20, 0.0), link(20, 0.0));
    let name = world.await_connection(peer);
    (world, peer, name)
}

// N-6: the other policies.
#[test]
fn overflow_policies() {
    let lane = tidelock_net::LaneId(0);
    for (overflow, arrive) in [(Overflow::Replace, vec![29]), (Overflow::DropOldest, (23..30).collect())] {
        let (mut world, peer, name) = with_lane(LaneKind::Sequenced, overflow);
        (0..30).for_each(|number| world.server_send(name, lane, &numbered(number, 100), Some(u64::from(number))));
        world.server_flush();
        world.run(500 * MS);
        assert_eq!(numbers(&world.client_messages(peer, lane)), arrive);
        let mut receipts = take_receipts(&mut world.events);
        receipts.sort_unstable();
        let expected: Vec<_> = (0..30).map(|number| (u64::from(number), arrive.contains(&number))).collect();
        assert_eq!(receipts, expected);
        assert_eq!(world.server.counters().overflowed, 30 - arrive.len() as u64);
    }
    let (mut world, _, name) = with_lane(LaneKind::Unreliable, Overflow::WouldBlock);
    world.server_send(name, lane, &[0; 101], None);
    world.server_send(name, tidelock_net::LaneId(1), &[0; 5], None);
    let refusals: Vec<_> = world
        .events
        .iter()
        .filter_map(|event| match event {
            Ingress::Blocked { refusal, .. } => Some(*refusal),
            _ => None,
        })
        .collect();
    assert_eq!(refusals, [Refusal::TooLong, Refusal::NoLane]);
}

// N-3: a sequenced lane never goes back.
#[test]
fn sequenced_lanes_only_go_forward() {
    let (mut world, peer, name) = with_lane(LaneKind::Sequenced, Overflow::DropOldest);
    world.set_links(peer, LinkConfig { jitter: 60 * MS, duplicate: 0.2, ..link(20, 0.1) });
    for number in 0..500 {
        world.server_send(name, tidelock_net::LaneId(0), &numbered(number, 50), None);
        world.server_flush();
        world.run(8 * MS);
    }
    world.run(500 * MS);
    let got = numbers(&world.client_messages(peer, tidelock_net::LaneId(0)));
    assert!(got.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(got.len() > 100);
    assert!(world.peers[peer].shard.counters().stale > 50);
}

// N-3, B81: motion offered at far more than the path takes starves neither state nor itself.
#[test]
fn motion_never_starves_state() {
    let mut world = World::standard(2);
    let path = LinkConfig { rate_bytes_s: 60_000, queue_bytes: 12_000, ..link(50, 0.0) };
    let (peer, name) = world.connect(path);
    let (mut sent_at, mut ages) = (vec![], vec![]);
    for tick in 0..900u32 {
        (0..3).for_each(|_| world.server_send(name, LaneSet::MOTION, &[1; 1_000], None));
        sent_at.push(world.now);
        world.server_send(name, LaneSet::STATE, &numbered(tick, 250), None);
        world.server_flush();
        for _ in 0..17 {
            world.step();
            for message in world.client_messages(peer, LaneSet::STATE) {
                ages.push(world.now - sent_at[number_of(&message) as usize]);
            }
        }
    }
    let motion = world.client_messages(peer, LaneSet::MOTION).len();
    assert!(motion > 150, "{motion}");
    assert!(ages.len() > 880, "{}", ages.len());
    ages.sort_unstable();
    let p99 = ages[ages.len() * 99 / 100];
    assert!(p99 <= 450 * MS, "{p99:?}");
}

/// Fills a path with bulk for ten seconds: which share of it was used in the second half, and its queue's median.
fn fill(algorithm: Algorithm, path: LinkConfig) -> (f64, Duration) {
    let session = SessionConfig { congestion: algorithm, ..SessionConfig::default() };
    let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, 7);
    let (peer, name) = world.connect(path);
    let mut queue = vec![];
    let mut before = 0;
    for tick in 0..625 {
        (0..8).for_each(|_| world.server_send(name, LaneSet::BULK, &[1; 60_000], None));
        world.server_flush();
        for _ in 0..16 {
            world.step();
            if tick > 312 {
                queue.push(world.peers[peer].down.queue_delay(world.now));
            }
        }
        if tick == 312 {
            before = world.client_bytes(peer);
        }
        world.events.clear();
    }
    assert_no_end(&world);
    queue.sort_unstable();
    let used = (world.client_bytes(peer) - before) as f64 / (path.rate_bytes_s as f64 * 312.0 * 0.016);
    (used, queue[queue.len() / 2])
}

// N-5, B83: narrow links are used well and their queues stay short.
#[test]
fn narrow_links_are_filled_without_long_queues() {
    for (algorithm, rates, most) in [
        (Algorithm::Model, &[32_000, 500_000, 2_500_000][..], 100 * MS),
        (Algorithm::Cubic, &[500_000, 2_500_000][..], 200 * MS),
    ] {
        for &rate_bytes_s in rates {
            let path = LinkConfig { rate_bytes_s, queue_bytes: rate_bytes_s / 5, ..link(25, 0.0) };
            let (used, median) = fill(algorithm, path);
            println!("{algorithm:?} at {rate_bytes_s}: used {used:.2}, queue {median:?}");
            assert!(used >= 0.8 && median <= most, "{algorithm:?} at {rate_bytes_s}: {used}, {median:?}");
        }
    }
}

// N-5: random loss and jitter do not slow the default.
#[test]
fn lossy_and_unsteady_links_are_used_well() {
    for (loss, jitter, least) in [(0.05, 0, 0.8), (0.2, 0, 0.65), (0.3, 0, 0.45), (0.01, 100, 0.6), (0.1, 30, 0.7)] {
        let path = LinkConfig { rate_bytes_s: 500_000, queue_bytes: 100_000, jitter: MS * jitter, ..link(25, loss) };
        let (used, median) = fill(Algorithm::Model, path);
        println!("loss {loss}, jitter {jitter} ms: used {used:.2}, queue {median:?}");
        assert!(used >= least, "loss {loss}, jitter {jitter} ms: {used}");
    }
}

// Invariant 9, B01: numbers that begin near an edge of their short form behave as any.
#[test]
fn numbers_cross_their_edges() {
    for first_packet in [(1 << 14) - 50, (1 << 16) - 50, (1 << 24) - 50, (1 << 32) - 50, (1 << 62) - 100_000] {
        let session = SessionConfig { first_packet, ..SessionConfig::default() };
        let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, 8);
        let config = tidelock_net::ClientConfig { session, ..Default::default() };
        let peer = world.join(config, link(30, 0.1), link(30, 0.1));
        let name = world.await_connection(peer);
        for number in 0..300 {
            world.server_send(name, LaneSet::STATE, &numbered(number, 50), None);
            world.client_send(peer, LaneSet::REPORT, &numbered(number, 50), None);
            world.server_flush();
            world.client_flush(peer);
            world.run(10 * MS);
        }
        world.run(Duration::from_secs(2));
        let all: Vec<_> = (0..300).collect();
        assert_eq!(numbers(&world.client_messages(peer, LaneSet::STATE)), all, "{first_packet}");
        assert_eq!(numbers(&world.server_messages(LaneSet::REPORT)), all, "{first_packet}");
        assert_eq!(world.server.counters().total_faults(), 0, "{:?}", world.server.counters());
    }
}
