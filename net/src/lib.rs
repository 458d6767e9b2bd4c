//! UDP transport for games: netcode 1.02 connections, message lanes, congestion control and shards.
//!
//! Everything outside [`io`] is sans-IO: datagrams come in as bytes, go out as bytes, and time and entropy are arguments. A
//! [`Shard`] owns its connections whole. Its owner feeds it datagrams ([`Shard::handle`]) and wishes ([`Shard::apply`]), lets time
//! pass ([`Shard::advance`]) and takes what is to be sent ([`Shard::transmit`]). [`ServerShard`] is the accepting side,
//! [`ClientShard`] the connecting side; [`io::Driver`] joins either to a UDP socket.
//!
//! Time is a [`Duration`](std::time::Duration) since an epoch of the caller's choosing; where the netcode standard needs the
//! calendar (token expiry, nonces), unix time is an argument of its own.

pub mod arena;
pub mod client;
pub mod congestion;
pub mod counters;
pub mod disconnect;
pub mod emulator;
pub mod entropy;
pub mod event;
pub mod id;
pub mod io;
pub mod lane;
pub mod netcode;
pub mod parcel;
pub mod server;
pub mod shard;
pub mod stats;

mod connection;
mod extension;
mod prefetch;
mod raw;
mod sealer;
mod session;

pub use arena::{Arena, ArenaWriter, Chunk, Span};
pub use client::{ClientConfig, ClientShard, ClientState};
pub use counters::{Counters, Fault};
pub use disconnect::{DisconnectCode, DisconnectReason};
pub use event::{Egress, Feedback, Ingress, Refusal};
pub use id::{ConnectionId, LaneId, ReceiptKey};
pub use lane::{LaneConfig, LaneKind, LaneSet, LaneSetError, Overflow, Repeat};
pub use netcode::token::{ConnectToken, TokenError, TokenRequest};
pub use parcel::Parcel;
pub use server::{ServerConfig, ServerShard};
pub use session::SessionConfig;
pub use shard::Shard;
pub use stats::{ConnectionStats, LaneStats};
