//! A server-authoritative multiplayer game runtime.
//!
//! A game keeps its world in one place, the [`Server`]. Each player's own character answers the keyboard at once on its
//! [`Client`], everyone else is drawn a little in the past, and the server re-runs what players claim instead of trusting it.
//!
//! ```no_run
//! use std::time::Duration;
//! use tidelock::{ControlInput, Client, ClientConfig, Protocol, Server, ServerConfig, StopFlag};
//! # fn token() -> tidelock::net::ConnectToken { unimplemented!() }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let place = tidelock::Place::compile(&std::fs::read_to_string("place.toml")?)?;
//! let protocol = Protocol::builder().build();
//! let mut server = Server::bind(ServerConfig::new([0; 32]), protocol.clone(), place)?;
//! std::thread::spawn(move || server.run(&StopFlag::new(), |_| {}));
//!
//! let mut client = Client::connect(ClientConfig::default(), protocol, token())?;
//! let forward = ControlInput { direction: -glam::Vec3::Z, ..ControlInput::default() };
//! client.update(Duration::from_millis(16), &forward);
//! for character in &client.projection().characters {
//!     println!("{} at {}", character.name, character.position);
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

/// The README's and the manual's examples compile, or the documentation tests fail.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/manual.md")]
struct Documents;

mod client;
mod clock;
mod control;
mod controller;
mod metrics;
mod protocol;
mod scene;
mod server;
pub mod testing;
mod transport;

pub use client::{
    Client, ClientConfig, ClientError, ClientEvent, ClientState, ClientStats, DrawnCharacter, DrawnPart, KindBytes,
    PartOwner, PlaceCache, PoseMove, PoseStep, Projection,
};
pub use clock::SystemClock;
pub use control::ControlInput;
pub use controller::Controller;
pub use metrics::{Stage, StageTimes, TimeHistogram};
pub use protocol::{Protocol, ProtocolBuilder};
pub use server::{
    CharacterBody, CharacterInputs, CharacterMove, Commands, ConfigError, InputCounters, MovementSignals, Newcomer,
    PartOwnership, PartVelocity, PlayerCommand, PlayerInfo, Server, ServerConfig, ServerCounters, ServerError,
    ServerMetrics, SessionTraffic, StepReport, StopFlag, System, SystemPoint,
};
pub use tidelock_replication::place::Place;

pub use hecs;
pub use tidelock_net as net;
pub use tidelock_replication as replication;
pub use tidelock_sim as sim;
