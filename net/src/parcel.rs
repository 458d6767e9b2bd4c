//! What shards of one server pass to each other.

use std::net::SocketAddr;

use crate::arena::Span;
use crate::id::ConnectionId;

/// Something one shard of a set hands to another. See [`Shard::depart`](crate::Shard::depart).
#[derive(Clone, Debug)]
pub enum Parcel {
    /// A datagram that came to one shard's socket and belongs to a connection of the other.
    Datagram {
        /// Where it came from.
        from: SocketAddr,
        /// The datagram.
        bytes: Span,
    },
    /// The identity of a connection connected anew at another shard.
    TakenOver {
        /// The older connection.
        connection: ConnectionId,
    },
}
