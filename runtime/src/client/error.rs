use std::io;
use std::net::SocketAddr;

use super::ClientConfig;

/// Why a client could not start.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The name is empty or too long.
    #[error("name has {bytes} bytes; it must have 1 to {limit}", limit = ClientConfig::MAX_NAME_BYTES)]
    Name {
        /// Bytes of the name.
        bytes: usize,
    },
    /// The socket could not be opened.
    #[error("cannot send from {address}/udp: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}
