//! Why connections end.

/// The reason an endpoint gives its peer when it ends the connection. Travels as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DisconnectCode {
    /// Ended without a particular reason, as a leaving player does.
    Closed = 0,
    /// Thrown out by the game.
    Kicked = 1,
    /// No room on the server.
    Full = 2,
    /// The peer was not heard, or did not answer in time.
    Timeout = 3,
    /// Client and server are of different versions.
    VersionMismatch = 4,
    /// Client and server disagree about the schema of what they exchange.
    SchemaMismatch = 5,
    /// The place was replaced; the client needs the new one.
    PlaceChanged = 6,
    /// The same identity connected anew.
    TakenOver = 7,
    /// The server cannot serve everyone.
    Overloaded = 8,
    /// The server is going away.
    ShuttingDown = 9,
    /// The peer kept sending what the protocol forbids.
    Faults = 10,
}

impl DisconnectCode {
    /// Every code, in order of its byte.
    pub const ALL: [Self; 11] = [
        Self::Closed,
        Self::Kicked,
        Self::Full,
        Self::Timeout,
        Self::VersionMismatch,
        Self::SchemaMismatch,
        Self::PlaceChanged,
        Self::TakenOver,
        Self::Overloaded,
        Self::ShuttingDown,
        Self::Faults,
    ];

    /// The code of a byte. Unknown bytes mean [`DisconnectCode::Closed`], so that a newer peer's codes end the connection too.
    #[must_use]
    pub fn from_byte(byte: u8) -> Self {
        Self::ALL.get(usize::from(byte)).copied().unwrap_or(Self::Closed)
    }
}

/// What ended a connection, as its owner hears it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// This side ended it: by [`Egress::Disconnect`](crate::Egress::Disconnect), takeover or the peer's faults.
    Local {
        /// The code the peer was told.
        code: DisconnectCode,
    },
    /// The peer ended it and said why.
    Remote {
        /// The peer's code.
        code: DisconnectCode,
        /// The peer's text, at most 256 bytes of UTF-8, not to be trusted.
        text: String,
    },
    /// The peer ended it with a plain netcode disconnect packet, which says no more.
    RemoteClosed,
    /// Nothing valid was heard from the peer for the token's timeout, or it acknowledged nothing of what waits for it.
    TimedOut,
    /// Client only: the server denied the connection, being full.
    Denied,
    /// Client only: the token expired before the connection stood.
    TokenExpired,
    /// Client only: no server of the token answered the connection request.
    RequestTimedOut,
    /// Client only: the server challenged but did not accept the answer in time.
    ResponseTimedOut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_name_their_codes() {
        for code in DisconnectCode::ALL {
            assert_eq!(DisconnectCode::from_byte(code as u8), code);
        }
        assert_eq!(DisconnectCode::from_byte(11), DisconnectCode::Closed);
        assert_eq!(DisconnectCode::from_byte(255), DisconnectCode::Closed);
    }
}
