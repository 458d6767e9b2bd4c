//! Engine-free rules of movement and time for server-authoritative games.
//!
//! Everything here is a pure function of its arguments: no sockets, no threads, no wall clock, no
//! entropy. Space is `f32` in studs, Y up by default; time at the edges is `f64` seconds and inside
//! an integer number of units of 1/61,440 s ([`SimTime`], [`SimSpan`]).
#![forbid(unsafe_code)]

pub mod allowance;
mod angle;
pub mod bytes;
pub mod client;
pub mod clock;
pub mod collision;
pub mod events;
pub mod input;
pub mod interpolation;
pub mod module;
pub mod motor;
pub mod ownership;
mod part;
#[cfg(feature = "physics")]
pub mod physics;
pub mod plain;
pub mod reconcile;
pub mod report;
pub mod rewind;
pub mod rig;
mod sequence;
pub mod session;
pub mod simulation;
pub mod smallest_three;
pub mod stock;
mod tick;
mod time;
pub mod timeline;
pub mod tracks;

pub use angle::wrap_angle;
pub use part::PartState;
pub use sequence::Sequence;
pub use tick::Tick;
pub use time::{SimSpan, SimTime};
