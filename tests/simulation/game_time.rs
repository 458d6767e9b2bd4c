use std::sync::atomic::{AtomicU64, Ordering};

use glam::{Quat, Vec3};
use tidelock::replication::instance::{Audience, PartProperties, Pose};
use tidelock::sim::clock::{FixedStepClock, FixedStepClockConfig};
use tidelock::{PlayerCommand, SystemPoint};

use super::*;

/// A game whose own rules run at `scale` of real time: each of their steps raises a platform, and counts.
fn scaled(scale: f64) -> (Simulation, Arc<AtomicU64>) {
    let mut game = game(demo(), link(100, 10, 0.05), 13);
    let properties = PartProperties { size: Vec3::new(6.0, 1.0, 6.0), ..PartProperties::default() };
    let from = Pose { position: Vec3::new(300.0, 60.0, 300.0), rotation: Quat::IDENTITY };
    let platform = game.server_mut().commands().create_part(properties, from, Audience::Shared);
    let (mut clock, steps) = (
        FixedStepClock::new(FixedStepClockConfig::default()).expect("the default is sound"),
        Arc::new(AtomicU64::new(0)),
    );
    let counted = steps.clone();
    game.server_mut().add_system(
        SystemPoint::BeforePublish,
        Box::new(move |_, commands| {
            let due = clock.advance(1.0 / 60.0, scale).steps;
            let all = counted.fetch_add(u64::from(due), Ordering::Relaxed) + u64::from(due);
            if due > 0 {
                let raised = from.position + Vec3::Y * ((all % 600) as f32 * 0.01);
                commands.move_part(platform, raised, Quat::IDENTITY);
            }
        }),
    );
    (game, steps)
}

// B13, S-1: a game's time may stand still, crawl or race; the connection's time is the host's, and knows nothing of it.
#[test]
fn scaling_game_time_leaves_connections_alone() {
    let mut usual = None;
    for scale in [1.0, 0.0, 0.1, 4.0] {
        let (mut game, steps) = scaled(scale);
        let mut bots = Wanderers::join(&mut game, 3, 13);
        run(&mut game, &mut bots, 5.0);
        let (before, begun) = (steps.load(Ordering::Relaxed), game.server().network_counters().disconnected);
        let mut estimates = Vec::new();
        for second in 1..=60 {
            run(&mut game, &mut bots, 1.0);
            assert!(all_playing(&game), "at scale {scale}, second {second}");
            for (_, client) in game.clients() {
                estimates.push(client.stats().rtt.as_secs_f64());
                let least = client.stats().rtt_min.as_secs_f64();
                // The link's, and a server tick and a client frame at most.
                assert!((0.09..=0.1 + 2.0 / 60.0 + 1e-3).contains(&least), "{least} s at scale {scale}");
            }
        }
        let rtt = estimates.iter().sum::<f64>() / estimates.len() as f64;
        let usual = *usual.get_or_insert(rtt);
        assert!((rtt / usual - 1.0).abs() <= 0.1, "{rtt} s at scale {scale}, {usual} s at 1");
        let farthest = estimates.iter().fold(0.0, |most, one| f64::max(most, (one / usual - 1.0).abs()));
        assert!(farthest <= 0.25, "an estimate was off by {farthest} at scale {scale}");
        let ran = (steps.load(Ordering::Relaxed) - before) as f64;
        assert!((ran - 60.0 * 60.0 * scale).abs() <= 3.0, "{ran} steps of the game at scale {scale}");
        let counters = &game.server().metrics().counters;
        assert_eq!((counters.timeouts, counters.leaves, counters.message_faults), (0, 0, 0), "at scale {scale}");
        assert_eq!(game.server().network_counters().disconnected, begun);
        // What is cut into fragments arrives, and what must arrive does.
        let late = game.add_client(ClientOptions { fetch_place: true, ..ClientOptions::default() });
        game.run(Duration::from_secs(5), |_, _| ControlInput::default());
        assert_eq!(*game.client(late).state(), ClientState::Playing);
        assert!(game.client(late).stats().kinds_in.bulk > 1_000);
        let player = game.client(late).player().unwrap();
        let there = Vec3::new(5.0, 40.0, 5.0);
        game.server_mut().commands().player(player, PlayerCommand::Teleport { position: there, yaw: 0.0 });
        game.run(Duration::from_millis(500), |_, _| ControlInput::default());
        assert!(game.client(late).predicted().unwrap().position.with_y(0.0).distance(there.with_y(0.0)) < 0.1);
    }
}
