//! The accepting side.

mod admission;
mod config;
mod gate;
mod registry;
mod shard;
mod timers;
mod tokens;

pub use config::{AdmissionLimits, ServerConfig};
pub use shard::ServerShard;
