use std::io;
use std::net::SocketAddr;

use super::ConfigError;

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A number of the configuration is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The socket could not be opened.
    #[error("cannot listen on {address}/udp: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The place has nowhere for characters to come in; a client part alone has none.
    #[error("place `{0}` has no spawns")]
    NoSpawns(String),
    /// The worker threads could not be started.
    #[error("cannot start worker threads: {0}")]
    Workers(#[from] rayon::ThreadPoolBuildError),
}
