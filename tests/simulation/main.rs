//! Whole games in virtual time: a server, its clients and bad links, all from a seed.

mod allowances;
mod client;
mod clocks;
mod controllers;
mod deaths;
mod desync;
mod determinism;
mod edges;
mod game_time;
mod hostile;
mod instances;
mod isolation;
mod join;
mod movers;
mod noise;
mod owners;
mod ownership;
mod poses;
mod remote_motion;
mod seats;
mod sessions;
mod spawns;
mod stalled;
mod starts;
mod static_place;
mod ticked;
mod water;

use std::sync::Arc;
use std::time::Duration;

use glam::Vec3;
use tidelock::replication::ids::PlayerId;
use tidelock::testing::{ClientKey, ClientOptions, LinkConfig, Simulation, SimulationOptions, Wanderer};
use tidelock::{ClientState, ControlInput, Place, Protocol};

/// The place the command serves by default.
fn demo() -> Place {
    Place::compile(include_str!("../../bins/places/demo.toml")).expect("a sound place")
}

/// A game in `place` with its links.
fn game(place: Place, link: LinkConfig, seed: u64) -> Simulation {
    Simulation::new(SimulationOptions { seed, link, ..SimulationOptions::default() }, protocol(), place)
}

fn protocol() -> Arc<Protocol> {
    Protocol::builder().build()
}

/// A link of half the round trip each way.
fn link(round_trip_ms: u64, jitter_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(round_trip_ms / 2),
        jitter: Duration::from_millis(jitter_ms),
        loss,
        ..LinkConfig::default()
    }
}

/// A player who holds nothing.
fn idle(_: ClientKey, _: Duration) -> ControlInput {
    ControlInput::default()
}

/// A player who runs in the world's axes.
fn towards(direction: Vec3) -> ControlInput {
    ControlInput { direction, ..ControlInput::default() }
}

fn player(game: &Simulation, key: ClientKey) -> PlayerId {
    game.client(key).player().expect("it plays")
}

/// Clients that wander, each of its own mind.
struct Wanderers(Vec<Wanderer>);

impl Wanderers {
    fn join(game: &mut Simulation, count: u64, seed: u64) -> Self {
        for _ in 0..count {
            game.add_client(ClientOptions::default());
        }
        Self((0..count).map(|bot| Wanderer::new(seed * 1_000 + bot)).collect())
    }

    fn input(&mut self, key: ClientKey, now: Duration) -> ControlInput {
        self.0[key.index()].input(now)
    }
}

fn run(game: &mut Simulation, bots: &mut Wanderers, seconds: f64) {
    game.run(Duration::from_secs_f64(seconds), |key, now| bots.input(key, now));
}

fn all_playing(game: &Simulation) -> bool {
    game.clients().all(|(_, client)| *client.state() == ClientState::Playing)
}
