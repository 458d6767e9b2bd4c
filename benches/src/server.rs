use std::time::Duration;

use tidelock::testing::{ClientKey, ClientOptions, LinkConfig, Simulation, SimulationOptions, Wanderer};
use tidelock::{ClientState, Protocol, ServerConfig, Stage};

use crate::place::plain;
use crate::table::{Figure, Table};
use crate::watch::median;

/// From part to part, studs: a player to 1,600 square studs, so that each has 100 others in sight.
const SPACING: f32 = 25.0;
/// Ticks measured.
const TICKS: u64 = 180;
/// Ticks in which every player reports once and is broadcast to once: the work of one such window is that of the next.
const WINDOW: u64 = 3;

/// A whole server in virtual time with clients that play, without sockets: everything but the system calls.
fn serves(table: &mut Table, players: usize, parts: usize) -> f64 {
    let link =
        LinkConfig { latency: Duration::from_millis(30), jitter: Duration::from_millis(5), ..LinkConfig::default() };
    let server = ServerConfig { requests_per_prefix_s: 100_000, ..ServerConfig::new([7; 32]) };
    let options = SimulationOptions { seed: 3, link, server, ..SimulationOptions::default() };
    let mut game = Simulation::new(options, Protocol::builder().build(), plain(parts, SPACING));
    let mut bots: Vec<Wanderer> = (0..players as u64).map(Wanderer::new).collect();
    for _ in 0..players {
        game.add_client(ClientOptions::default());
    }
    let mut play = |game: &mut Simulation, ticks: u64| {
        for _ in 0..ticks {
            game.tick(|key: ClientKey, now| bots[key.index()].input(now));
        }
    };
    play(&mut game, 150);
    let playing = game.clients().filter(|(_, client)| *client.state() == ClientState::Playing).count();
    assert_eq!(playing, players, "everyone is in");
    let before = game.server().metrics().counters;
    let (mut whole, mut stages) = (Vec::new(), [const { Vec::new() }; Stage::COUNT]);
    for _ in 0..TICKS / WINDOW {
        let mut times = [Duration::ZERO; Stage::COUNT];
        for _ in 0..WINDOW {
            play(&mut game, 1);
            let last = &game.server().metrics().last;
            Stage::ALL.into_iter().zip(&mut times).for_each(|(stage, time)| *time += last.get(stage));
        }
        let per_player = |time: Duration| time.as_secs_f64() * 1e6 / (WINDOW * players as u64) as f64;
        whole.push(per_player(times.iter().sum()));
        times.into_iter().zip(&mut stages).for_each(|(time, stage)| stage.push(per_player(time)));
    }
    let metrics = game.server().metrics();
    let whole = median(&mut whole);
    let seen = (metrics.counters.motion_items - before.motion_items) as f64 / (TICKS * players as u64) as f64 * 3.0;
    let what = match players {
        100 => "server tick per player, 100 players",
        _ => "server tick per player, 1,000 players",
    };
    table.row(Figure::new(what, whole, "µs").target(1e6 / 120_000.0));
    let bytes = (metrics.counters.motion_bytes - before.motion_bytes) as f64 / (TICKS * players as u64) as f64;
    table.row(Figure::new("others in sight", seen, "others"));
    table.row(Figure::new("motion sent per player and tick", bytes, "B"));
    for (stage, times) in Stage::ALL.into_iter().zip(&mut stages) {
        let what = match stage {
            Stage::Ingress => "of it ingress",
            Stage::Decode => "of it decode",
            Stage::Game => "of it game",
            Stage::Replay => "of it replay",
            Stage::Physics => "of it physics",
            Stage::Publish => "of it publish",
            Stage::Interest => "of it interest",
            Stage::Batch => "of it batch",
            Stage::Egress => "of it egress",
        };
        table.row(Figure::new(what, median(times), "µs"));
    }
    whole
}

pub(crate) fn run(table: &mut Table) {
    let few = serves(table, 100, 256);
    let many = serves(table, 1_000, 2_500);
    table.row(Figure::new("cost per player at 1,000 by that at 100", many / few, "×").target(1.1));
}
