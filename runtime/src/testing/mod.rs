//! Whole games in virtual time: servers, clients and the links between them in one thread, driven by a seed.
//!
//! A game's own `cargo test` can run its rules under bad links with it; this project's tests use nothing else.

mod digest;
mod network;
mod simulation;
mod wanderer;

pub use digest::Digest;
pub use network::{VirtualNetwork, VirtualPort};
pub use simulation::{ClientKey, ClientOptions, Simulation, SimulationOptions};
pub use wanderer::Wanderer;

pub use tidelock_net::emulator::LinkConfig;
