//! The accepting side.

mod config;
mod shard;

pub use config::{AdmissionLimits, ServerConfig};
pub use shard::ServerShard;
