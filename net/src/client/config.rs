//! Configuration of a client shard.

use crate::lane::LaneSet;
use crate::session::SessionConfig;

/// What a [`ClientShard`](crate::ClientShard) is made from, besides its token.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Lanes to speak, equal to the server's; `None` exchanges raw payloads with another implementation's server. Default
    /// [`LaneSet::standard`].
    pub lanes: Option<LaneSet>,
    /// Behaviour of the session.
    pub session: SessionConfig,
    /// Unpredictable bytes, fresh for each connection (see [`OsEntropy::seed`](crate::io::OsEntropy::seed)). With them the client
    /// offers servers of its kind the extension: cheaper packets, and a connection that survives a change of address. Default
    /// none, which keeps to the standard.
    pub seed: Option<[u8; 32]>,
    /// Number of this shard in its connection's id. Default 0.
    pub shard: u8,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self { lanes: Some(LaneSet::standard()), session: SessionConfig::default(), seed: None, shard: 0 }
    }
}
