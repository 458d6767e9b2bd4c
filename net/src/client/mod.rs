//! The connecting side.

mod config;
mod shard;

pub use config::ClientConfig;
pub use shard::{ClientShard, ClientState};
