//! Outages, bursts and narrow links, in virtual time. `TIDELOCK_RUNS` asks for more seeds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::time::Duration;

use tidelock_net::congestion::Algorithm;
use tidelock_net::emulator::LinkConfig;
use tidelock_net::{
    ConnectionId, Ingress, LaneConfig, LaneKind, LaneSet, Overflow, Refusal, ServerConfig, SessionConfig,
};
use world::{KEY, MS, PROTOCOL, World, link, number_of, numbered, runs, take_receipts};

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
    for seed in 0..runs(20) {
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

// B80: after a total outage of three seconds reliable traffic goes on within a second; the window is full when it begins, with
// every second seed to its very end.
#[test]
fn traffic_resumes_after_an_outage() {
    for seed in 0..runs(20) {
        let mut world = World::standard(100 + seed);
        let (peer, name) = world.connect(link(40, 0.0));
        let mut sent = 0;
        let mut send = |world: &mut World, ticks: u64, messages: u32| {
            for _ in 0..ticks {
                for _ in 0..messages {
                    world.server_send(name, LaneSet::STATE, &numbered(sent, 1_000), None);
                    sent += 1;
                }
                world.server_flush();
                world.run(16 * MS);
            }
            sent
        };
        let before = send(&mut world, 60 + seed % 7, 8);
        if seed % 2 == 1 {
            send(&mut world, 1, 500);
            let stats = world.server.stats(name).unwrap();
            assert!(stats.in_flight_bytes * 4 > stats.window_bytes * 3, "the window is full: {stats:?}");
        }
        world.set_links(peer, link(40, 1.0));
        let all = send(&mut world, 188 + seed % 16, 8);
        let came = world.client_messages(peer, LaneSet::STATE);
        world.set_links(peer, link(40, 0.0));
        world.run(Duration::from_secs(1));
        let got = numbers(&world.client_messages(peer, LaneSet::STATE));
        assert!(got.len() > 50, "resumed: {} after {} of {before} and {all}, seed {seed}", got.len(), came.len());
        world.run(Duration::from_secs(4));
        let got = [numbers(&came), got, numbers(&world.client_messages(peer, LaneSet::STATE))].concat();
        assert_eq!(got, (0..all).collect::<Vec<_>>(), "seed {seed}");
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

// N-3, B81: motion offered at twice and at three times what the path takes starves neither state, which comes within three round
// trips, nor itself.
#[test]
fn motion_never_starves_state() {
    let latency = 50;
    for (seed, offered) in (0..runs(4)).flat_map(|seed| [(seed, 2), (seed, 3)]) {
        let mut world = World::standard(2 + seed);
        let path = LinkConfig { rate_bytes_s: 60_000, queue_bytes: 12_000, ..link(latency, 0.0) };
        let (peer, name) = world.connect(path);
        let (mut sent_at, mut ages) = (vec![], vec![]);
        for tick in 0..900u32 {
            (0..offered).for_each(|_| world.server_send(name, LaneSet::MOTION, &[1; 1_000], None));
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
        assert!(motion > 150, "{motion} of {offered} a tick, seed {seed}");
        assert!(ages.len() > 880, "{} of {offered} a tick, seed {seed}", ages.len());
        ages.sort_unstable();
        let p99 = ages[ages.len() * 99 / 100];
        assert!(p99 <= 3 * 2 * MS * latency as u32, "{p99:?}, {offered} a tick, seed {seed}");
    }
}

// N-3, B81: lanes of one priority share what there is by their weights.
#[test]
fn lanes_share_by_weight() {
    let lane = |weight| LaneConfig {
        name: "tested",
        kind: LaneKind::ReliableOrdered,
        repeat: None,
        priority: 0,
        weight,
        limit_bytes: 64_000,
        overflow: Overflow::WouldBlock,
        max_message_bytes: 10_000,
    };
    let weights = [1, 2, 5];
    let lanes = LaneSet::new(weights.map(lane).to_vec()).unwrap();
    let mut world = World::new(ServerConfig { lanes: lanes.clone(), ..ServerConfig::new(PROTOCOL, KEY) }, 3);
    let config = tidelock_net::ClientConfig { lanes: Some(lanes), ..Default::default() };
    let path = LinkConfig { rate_bytes_s: 250_000, queue_bytes: 50_000, ..link(25, 0.0) };
    let peer = world.join(config, path, path);
    let name = world.await_connection(peer);
    let mut bytes = [0usize; 3];
    for tick in 0..1_250 {
        for lane in 0..3 {
            // Whole messages and fragments.
            let message = if tick % 2 == 0 { 300 } else { 5_000 };
            (0..10).for_each(|_| world.server_send(name, tidelock_net::LaneId(lane), &vec![1; message], None));
        }
        world.server_flush();
        world.events.clear();
        world.run(16 * MS);
        for (lane, bytes) in (0..).zip(&mut bytes) {
            let got = world.client_messages(peer, tidelock_net::LaneId(lane));
            *bytes += got.iter().map(Vec::len).sum::<usize>();
        }
    }
    let all: usize = bytes.iter().sum();
    assert!(all > 250_000 * 20 * 8 / 10, "{bytes:?}");
    for (bytes, weight) in bytes.into_iter().zip(weights) {
        let share = bytes as f64 / all as f64 * 8.0 / f64::from(weight);
        assert!((0.9..=1.1).contains(&share), "{share} of its weight {weight}");
    }
}

/// What bulk made of a path in the second half of ten seconds.
#[derive(Debug)]
struct Filled {
    /// Share of the path used, and that of it which was messages.
    used: f64,
    good: f64,
    /// Its queue's median.
    queue: Duration,
}

fn fill(algorithm: Algorithm, path: LinkConfig) -> Filled {
    let session = SessionConfig { congestion: algorithm, ..SessionConfig::default() };
    let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, 7);
    let (peer, name) = world.connect(path);
    let mut queue = vec![];
    let (mut before, mut good) = (0, 0);
    for tick in 0..625 {
        (0..100).for_each(|_| world.server_send(name, LaneSet::BULK, &[1; 5_000], None));
        world.server_flush();
        for _ in 0..16 {
            world.step();
            if tick > 312 {
                queue.push(world.peers[peer].down.queue_delay(world.now));
            }
        }
        let messages = world.client_messages(peer, LaneSet::BULK).len();
        good += messages * 5_000;
        if tick == 312 {
            (before, good) = (world.client_bytes(peer), 0);
        }
        world.events.clear();
    }
    assert_no_end(&world);
    queue.sort_unstable();
    let whole = path.rate_bytes_s as f64 * 312.0 * 0.016;
    let used = (world.client_bytes(peer) - before) as f64 / whole;
    Filled { used, good: good as f64 / whole, queue: queue[queue.len() / 2] }
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
            let filled = fill(algorithm, path);
            println!("{algorithm:?} at {rate_bytes_s}: {filled:?}");
            assert!(filled.good >= 0.8 && filled.queue <= most, "{algorithm:?} at {rate_bytes_s}: {filled:?}");
        }
    }
}

// B83: when a path's capacity halves, so does what is sent, within a second, and the queue that made is soon gone.
#[test]
fn the_rate_follows_a_path_that_slows() {
    for latency in [5, 25, 60] {
        let path = |rate_bytes_s| LinkConfig { rate_bytes_s, queue_bytes: 100_000, ..link(latency, 0.0) };
        let mut world = World::standard(6);
        let (peer, name) = world.connect(path(1_000_000));
        let fill = |world: &mut World, ms: u32| {
            for _ in 0..ms / 10 {
                (0..10).for_each(|_| world.server_send(name, LaneSet::BULK, &[1; 5_000], None));
                world.server_flush();
                world.run(10 * MS);
                world.events.clear();
            }
            world.server.stats(name).unwrap().rate_bytes_s
        };
        let before = fill(&mut world, 8_000);
        assert!((850_000..1_150_000).contains(&before), "{before} at {latency} ms");
        world.set_links(peer, path(500_000));
        let after = fill(&mut world, 1_000);
        assert!(after <= 550_000, "{after} at {latency} ms");
        fill(&mut world, 2_000);
        let queue = world.peers[peer].down.queue_delay(world.now);
        assert!(queue <= 20 * MS, "{queue:?} at {latency} ms");
    }
}

// N-5: random loss and jitter do not slow the default.
#[test]
fn lossy_and_unsteady_links_are_used_well() {
    for (loss, jitter, least) in [(0.05, 0, 0.8), (0.2, 0, 0.65), (0.3, 0, 0.45), (0.01, 100, 0.6), (0.1, 30, 0.7)] {
        let path = LinkConfig { rate_bytes_s: 500_000, queue_bytes: 100_000, jitter: MS * jitter, ..link(25, loss) };
        let filled = fill(Algorithm::Model, path);
        println!("loss {loss}, jitter {jitter} ms: {filled:?}");
        assert!(filled.used >= least, "loss {loss}, jitter {jitter} ms: {filled:?}");
    }
}

// B01: a lane that rests for most of the numbers' short form's range and then speaks is heard, at 64 ticks a second and 5 % loss.
// A run is two minutes; sixty are two hours.
#[test]
fn long_sessions_stay_fresh() {
    let session = SessionConfig { first_packet: (1 << 24) - 300, ..SessionConfig::default() };
    let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, 11);
    let config = tidelock_net::ClientConfig { session, ..Default::default() };
    let peer = world.join(config, link(30, 0.05), link(30, 0.05));
    let name = world.await_connection(peer);
    let (mut rare, mut newest) = (0, 0);
    for tick in 0..7_680 * runs(1) as u32 {
        world.server_send(name, LaneSet::MOTION, &numbered(tick, 40), None);
        world.client_send(peer, LaneSet::REPORT, &numbered(tick, 20), None);
        // State speaks every two minutes, with 7,680 packets of motion between.
        let speaks = tick % 7_680 == 7_500;
        if speaks {
            world.server_send(name, LaneSet::STATE, &numbered(rare, 20), None);
        }
        world.server_flush();
        world.client_flush(peer);
        for _ in 0..if tick % 8 < 5 { 16 } else { 15 } {
            world.step();
        }
        newest = world
            .client_messages(peer, LaneSet::MOTION)
            .iter()
            .map(|message| number_of(message))
            .fold(newest, u32::max);
        assert!(tick - newest < 20, "{newest} at {tick}");
        if speaks {
            world.run(250 * MS);
            assert_eq!(numbers(&world.client_messages(peer, LaneSet::STATE)), [rare]);
            rare += 1;
        }
        world.events.clear();
    }
    let stale = world.server.counters().stale + world.peers[peer].shard.counters().stale;
    assert_eq!((rare, stale), (runs(1) as u32, 0));
    assert_eq!(world.server.counters().total_faults(), 0, "{:?}", world.server.counters());
    assert_no_end(&world);
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
