//! What an owner asks of a shard, and what the shard tells back.

use std::net::SocketAddr;
use std::time::Duration;

use crate::arena::Span;
use crate::disconnect::{DisconnectCode, DisconnectReason};
use crate::id::{ConnectionId, LaneId, ReceiptKey};

/// A wish to a shard.
#[derive(Clone, Debug)]
pub enum Egress {
    /// Queue one message. It leaves with the next flush.
    Send {
        /// To whom.
        connection: ConnectionId,
        /// On which lane.
        lane: LaneId,
        /// The message.
        bytes: Span,
        /// If given, the message's fate comes back as [`Ingress::Receipts`].
        receipt: Option<ReceiptKey>,
    },
    /// Queue one raw netcode payload, at most 1,200 bytes, to a peer without lanes.
    Raw {
        /// To whom.
        connection: ConnectionId,
        /// The payload.
        bytes: Span,
    },
    /// Release what was queued for one connection and pack it into datagrams.
    Flush {
        /// Whose messages.
        connection: ConnectionId,
    },
    /// Release what was queued for every connection. Costs only what was queued.
    FlushAll,
    /// End the connection and tell the peer why, several times. What is still queued is dropped.
    Disconnect {
        /// Which connection.
        connection: ConnectionId,
        /// The reason.
        code: DisconnectCode,
        /// Words for a person; cut at 256 bytes.
        text: String,
    },
}

/// What a shard tells its owner.
#[derive(Clone, Debug)]
pub enum Ingress {
    /// A peer is authenticated and connected.
    Connected {
        /// Its name from now on.
        connection: ConnectionId,
        /// The identity its token names. On the client, 0: only the server can read it.
        client_id: u64,
        /// What the token's issuer told the server. On the client, zeros.
        user_data: Box<[u8; 256]>,
        /// Where it is.
        address: SocketAddr,
        /// Whether it speaks lanes; otherwise it exchanges raw payloads.
        lanes: bool,
    },
    /// A message came whole, under its lane's promise.
    Message {
        /// From whom.
        connection: ConnectionId,
        /// On which lane.
        lane: LaneId,
        /// The message, sharing a buffer with others that came at the same time: copy what is kept for long.
        bytes: Span,
    },
    /// A raw payload came from a peer without lanes.
    Raw {
        /// From whom.
        connection: ConnectionId,
        /// The payload.
        bytes: Span,
    },
    /// The fate of messages sent with a receipt key. Each key comes back exactly once, when the connection ends at the latest.
    Receipts {
        /// Whose messages.
        connection: ConnectionId,
        /// Known to have arrived.
        delivered: Vec<ReceiptKey>,
        /// Believed or known not to have arrived, and not sent again.
        lost: Vec<ReceiptKey>,
    },
    /// The state of the path, at most ten times a second and only while packets flow.
    Feedback {
        /// Whose path.
        connection: ConnectionId,
        /// What is known of it. It is long and rare, and events are many.
        feedback: Box<Feedback>,
    },
    /// A wish was refused; the message is not queued.
    Blocked {
        /// Whose message.
        connection: ConnectionId,
        /// On which lane.
        lane: LaneId,
        /// Why.
        refusal: Refusal,
        /// The key it was sent with; it comes back nowhere else.
        receipt: Option<ReceiptKey>,
    },
    /// The connection is over; its id never returns.
    Disconnected {
        /// Which one.
        connection: ConnectionId,
        /// What ended it.
        reason: DisconnectReason,
    },
}

/// Why a message was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The lane is at its byte limit; try later.
    WouldBlock,
    /// Longer than the lane allows.
    TooLong,
    /// The connection has no such lane, or speaks raw payloads (or lanes, for a raw payload).
    NoLane,
    /// The connection is over or not yet there.
    NotConnected,
}

/// What is known of a connection's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Smoothed round trip, without the peer's acknowledgement delay.
    pub rtt: Duration,
    /// Smallest round trip seen.
    pub rtt_min: Duration,
    /// Mean deviation of the round trip.
    pub rtt_var: Duration,
    /// Share of the peer's packets that did not arrive here lately, 0 to 1.
    pub loss_in: f32,
    /// Share of our packets that did not arrive there lately, 0 to 1.
    pub loss_out: f32,
    /// Bytes the path is believed to take per 1/60 s, headers included.
    pub budget_bytes: u32,
    /// Bytes queued or unacknowledged, per lane id.
    pub queued_bytes: [u32; crate::lane::MAX_LANES],
}
