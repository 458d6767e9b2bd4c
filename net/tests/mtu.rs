//! Paths that pass longer datagrams than every path does, and paths that cease to, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::time::Duration;

use tidelock_net::emulator::LinkConfig;
use tidelock_net::{ClientConfig, ConnectionId, LaneSet, ServerConfig, SessionConfig};
use world::{KEY, MS, PROTOCOL, World, link, number_of, numbered, runs};

/// IP and UDP headers, prefix, sequence number and tag of what the server sends.
const HEADERS: usize = 28 + 21;

fn probing(seed: u64, path: LinkConfig) -> (World, usize, ConnectionId) {
    probing_as(Some([seed as u8; 32]), seed, path)
}

fn probing_as(extension: Option<[u8; 32]>, seed: u64, path: LinkConfig) -> (World, usize, ConnectionId) {
    let session = SessionConfig { probe_mtu: true, ..SessionConfig::default() };
    let mut world = World::new(ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) }, seed);
    let peer = world.join(ClientConfig { session, seed: extension, ..ClientConfig::default() }, path, path);
    let name = world.await_connection(peer);
    (world, peer, name)
}

fn longest(world: &World, name: ConnectionId) -> usize {
    world.server.stats(name).unwrap().payload_bytes
}

// B86, N-5: what the path passes is found, is used, and nothing longer but the probes themselves is lost.
#[test]
fn the_length_of_the_path_is_found_and_kept() {
    for mtu in [1_200, 1_280, 1_372, 1_452, 1_492, 1_500] {
        let (mut world, peer, name) = probing(1, LinkConfig { mtu, ..link(25, 0.0) });
        world.run(Duration::from_secs(3));
        let found = if mtu == 1_200 { 1_100 } else { mtu - HEADERS };
        assert_eq!(longest(&world, name), found, "{mtu}");
        world.server_send(name, LaneSet::BULK, &vec![7; 1 << 20], None);
        world.server_flush();
        world.run(Duration::from_secs(5));
        assert_eq!(world.client_messages(peer, LaneSet::BULK).len(), 1, "1 MB over {mtu}");
        let stats = world.peers[peer].down.stats();
        assert!(stats.too_long <= if mtu == 1_500 { 0 } else { 6 }, "{mtu}: {stats:?}");
        assert_eq!(world.server.stats(name).unwrap().lost_out, 0, "probes are no lost packets: {mtu}");
    }
}

// N-1a, N-5: off unless asked for, and where the peer keeps to the standard.
#[test]
fn nobody_probes_unasked() {
    let path = LinkConfig { mtu: 1_200, ..link(25, 0.0) };
    let mut unasked = World::standard(1);
    let (peer, name) = unasked.connect(path);
    for (mut world, peer, name) in [(unasked, peer, name), probing_as(None, 1, path)] {
        world.run(Duration::from_secs(60));
        assert_eq!((longest(&world, name), world.peers[peer].down.stats().too_long), (1_100, 0));
    }
}

// B85: loss at random is no black hole: one fall a minute at most, and up again within a minute.
#[test]
fn random_loss_is_no_black_hole() {
    for seed in 0..runs(2) {
        let (mut world, _, name) = probing(seed, LinkConfig { mtu: 1_452, ..link(25, 0.15) });
        let (mut down, mut falls_before) = (Duration::ZERO, 0);
        for minute in 0..5 {
            for _ in 0..3_750 {
                world.server_send(name, LaneSet::BULK, &[1; 5_000], None);
                world.server_send(name, LaneSet::STATE, &[2; 50], None);
                world.server_flush();
                world.run(16 * MS);
                world.events.clear();
                world.peers.iter_mut().for_each(|peer| peer.events.clear());
                down = if longest(&world, name) == 1_452 - HEADERS { Duration::ZERO } else { down + 16 * MS };
                assert!(down <= Duration::from_secs(60), "seed {seed}");
            }
            let falls = world.server.stats(name).unwrap().mtu_falls;
            assert!(falls <= falls_before + 1, "seed {seed}, minute {minute}: {falls}");
            falls_before = falls;
        }
    }
}

/// Streams numbered messages of 3,000 bytes, with small ones beside them or not, and cuts the path's length after 5 s: how long
/// nothing arrived then, and the world.
fn cut(seed: u64, loss: f64, beside: bool) -> (Duration, World, ConnectionId) {
    let (mut world, peer, name) = probing(seed, LinkConfig { mtu: 1_492, ..link(25, loss) });
    let (mut sent, mut next, mut newest_at, mut gap) = (0, 0, world.now, Duration::ZERO);
    for tick in 0..1_250 {
        if tick == 312 {
            assert_eq!(longest(&world, name), 1_492 - HEADERS, "seed {seed}");
            world.set_links(peer, LinkConfig { mtu: 1_280, ..link(25, loss) });
        }
        world.server_send(name, LaneSet::BULK, &numbered(sent, 3_000), None);
        sent += 1;
        if beside {
            world.server_send(name, LaneSet::STATE, &[2; 50], None);
        }
        world.server_flush();
        world.run(16 * MS);
        for message in world.client_messages(peer, LaneSet::BULK) {
            assert_eq!(number_of(&message), next, "seed {seed}");
            next += 1;
            newest_at = world.now;
        }
        gap = gap.max(world.now - newest_at);
    }
    assert!(next > 1_100, "{next} of {sent} came, seed {seed}");
    (gap, world, name)
}

// B85: a path that really passes less is noticed within three seconds, and what it passes then is found.
#[test]
fn a_path_that_passes_less_is_noticed() {
    for seed in 0..runs(2) {
        for (loss, beside) in [(0.0, true), (0.0, false), (0.05, true), (0.05, false)] {
            let (gap, mut world, name) = cut(seed, loss, beside);
            assert!(gap <= Duration::from_secs(3), "{gap:?}: seed {seed}, loss {loss}, small beside it: {beside}");
            assert_eq!(longest(&world, name), 1_280 - HEADERS, "seed {seed}, loss {loss}, {beside}");
            world.set_links(0, link(25, loss));
            world.run(Duration::from_secs(60));
            assert_eq!(longest(&world, name), 1_500 - HEADERS, "seed {seed}, loss {loss}, {beside}");
        }
    }
}
