//! What is told of a connection, against what its links and its owner know, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::time::Duration;

use tidelock_net::emulator::LinkConfig;
use tidelock_net::{ConnectionStats, LaneSet};
use world::{MS, World, numbered};

const SECOND: Duration = Duration::from_secs(1);
const TICKS: u32 = 1_200;

fn near(value: f64, truth: f64, by: f64) -> bool {
    (value - truth).abs() <= by
}

/// Twenty seconds of state down and reports up, over a path that loses other shares each way.
fn talked() -> (World, usize, ConnectionStats, ConnectionStats) {
    let mut world = World::standard(12);
    let path = LinkConfig { latency: 40 * MS, jitter: 10 * MS, ..LinkConfig::default() };
    let (peer, name) = world.connect(path);
    world.peers[peer].up.set_config(LinkConfig { loss: 0.02, ..path });
    world.peers[peer].down.set_config(LinkConfig { loss: 0.2, ..path });
    for tick in 0..TICKS {
        world.server_send(name, LaneSet::STATE, &numbered(tick, 200), None);
        world.server_send(name, LaneSet::MOTION, &numbered(tick, 100), None);
        world.server_flush();
        world.client_send(peer, LaneSet::STATE, &numbered(tick, 50), None);
        world.client_flush(peer);
        world.run(16 * MS);
    }
    let server = world.server.stats(name).unwrap();
    let shard = &world.peers[peer].shard;
    let client = shard.stats(shard.connection()).unwrap();
    (world, peer, server, client)
}

// N-12: round trip, jitter, loss both ways, bytes and packets, by lane too.
#[test]
fn a_connection_tells_what_its_path_does() {
    let (world, peer, server, client) = talked();
    for stats in [&server, &client] {
        assert!(stats.rtt_min >= 80 * MS && stats.rtt_min < 90 * MS, "{:?}", stats.rtt_min);
        assert!(stats.rtt >= stats.rtt_min && stats.rtt < 130 * MS, "{:?}", stats.rtt);
        assert!(stats.jitter > MS && stats.jitter < 30 * MS, "{:?}", stats.jitter);
        assert!(stats.rtt_var > Duration::ZERO && stats.rtt_var < 30 * MS, "{:?}", stats.rtt_var);
        assert!(stats.window_bytes >= 4_600 && stats.rate_bytes_s >= 16_000);
        assert_eq!((stats.faults, stats.lanes.len()), (0, LaneSet::standard().lanes().len()));
    }
    assert!(near(server.loss_out.into(), 0.2, 0.12), "{}", server.loss_out);
    assert!(near(client.loss_in.into(), 0.2, 0.12), "{}", client.loss_in);
    assert!(near(client.loss_out.into(), 0.02, 0.06), "{}", client.loss_out);
    assert!(near(server.loss_in.into(), 0.02, 0.06), "{}", server.loss_in);
    let (down, up) = (world.peers[peer].down.stats(), world.peers[peer].up.stats());
    // Packets on their way when it ended are not known yet, and a probe may have found some late.
    assert!(near(server.lost_out as f64, down.lost as f64, 40.0), "{} of {}", server.lost_out, down.lost);
    assert!(near(client.lost_out as f64, up.lost as f64, 20.0), "{} of {}", client.lost_out, up.lost);
    // The handshake is no part of a connection.
    assert!(near(server.packets_out as f64, down.pushed as f64, 5.0));
    assert!(near(client.packets_in as f64, (down.pushed - down.lost) as f64, 20.0));
    assert!(near(client.bytes_in as f64, down.delivered_bytes as f64, 1_000.0));
    assert!(server.bytes_in > 50 * u64::from(TICKS) && server.bytes_in <= up.delivered_bytes);
    let (state, motion) = (server.lanes[0], server.lanes[usize::from(LaneSet::MOTION.0)]);
    assert_eq!((state.messages_out, motion.messages_out), (TICKS.into(), TICKS.into()));
    assert!(state.resent_bytes > 20 * 200 && state.bytes_out >= state.resent_bytes + 200 * u64::from(TICKS - 20));
    assert_eq!(motion.resent_bytes, 0, "motion is never sent twice");
    let arrived = client.lanes[usize::from(LaneSet::MOTION.0)];
    assert!(near(arrived.messages_in as f64, f64::from(TICKS) * 0.8, 100.0), "{arrived:?}");
    assert_eq!(arrived.bytes_in, arrived.messages_in * 100);
}

// N-12: queues and bytes on their way tell what waits, and that nothing does.
#[test]
fn queues_tell_what_waits() {
    let (mut world, peer, ..) = talked();
    let calm = LinkConfig { latency: 40 * MS, ..LinkConfig::default() };
    world.set_links(peer, calm);
    world.run(5 * SECOND);
    let name = world.events.iter().find_map(|event| match event {
        tidelock_net::Ingress::Connected { connection, .. } => Some(*connection),
        _ => None,
    });
    let name = name.unwrap();
    let stats = world.server.stats(name).unwrap();
    assert_eq!(stats.in_flight_bytes, 0);
    assert!(stats.lanes.iter().all(|lane| lane.queued_bytes == 0));
    world.set_links(peer, LinkConfig { partition: true, ..calm });
    (0..50).for_each(|number| world.server_send(name, LaneSet::STATE, &numbered(number, 1_000), None));
    world.server_flush();
    world.run(100 * MS);
    let stats = world.server.stats(name).unwrap();
    assert_eq!(stats.lanes[0].queued_bytes, 50 * 1_032);
    assert!(stats.in_flight_bytes > 4_000 && stats.in_flight_bytes <= stats.window_bytes + 4_000, "{stats:?}");
}
