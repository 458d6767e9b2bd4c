//! Counts of everything a shard decides silently.

/// Why a datagram, or something inside an authenticated one, was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fault {
    /// Shorter than its kind of packet must be.
    Truncated,
    /// Longer than any packet may be.
    Oversized,
    /// A packet type the standard does not know.
    UnknownType,
    /// From an address without a connection or handshake, and no connection request.
    UnknownAddress,
    /// Did not authenticate under the connection's key.
    Forged,
    /// Seen before, or older than the replay window.
    Replayed,
    /// A packet type that has no place in the receiver's state.
    Unexpected,
    /// A connection request of another netcode version.
    Version,
    /// A connection request for a protocol id not served here.
    Protocol,
    /// A token past its expiry.
    TokenExpired,
    /// A token that may have been used before this server started.
    TokenBeforeStart,
    /// A token not sealed with the server's key.
    TokenForged,
    /// A token whose content is malformed.
    TokenMalformed,
    /// A token that does not name this server's address.
    TokenAddress,
    /// A token already presented from another address.
    TokenReused,
    /// No room to remember another token.
    TokensFull,
    /// Too many handshakes from the source's address range.
    PrefixLimit,
    /// Too many handshakes altogether.
    HandshakeLimit,
    /// Too many handshakes under way.
    PendingFull,
    /// An answer that is not to one of this handshake's challenges.
    Challenge,
    /// An identity already connected under a token that expires no earlier.
    IdentityHeld,
    /// Denied: the server is full.
    ServerFull,
    /// Frames that do not parse.
    Frame,
    /// A frame on a lane that does not exist, or of a shape the lane does not carry.
    Lane,
    /// An acknowledgement of a packet never sent.
    AckUnsent,
    /// A message longer than its lane allows, or whose parts contradict each other.
    MessageBytes,
    /// More buffered messages than the lane's limit allows.
    WindowBytes,
    /// A message id too far ahead.
    WindowIds,
    /// Dropped because the whole shard holds too many bytes in unfinished messages; the peer resends.
    ReassemblyFull,
    /// Names a connection that does not exist.
    UnknownConnection,
    /// An answer to a path challenge that was not asked, or not there.
    Path,
    /// For a connection of another shard, to which too much is already on its way.
    ForwardFull,
}

impl Fault {
    /// Every fault, in order of its number.
    pub const ALL: [Self; 32] = [
        Self::Truncated,
        Self::Oversized,
        Self::UnknownType,
        Self::UnknownAddress,
        Self::Forged,
        Self::Replayed,
        Self::Unexpected,
        Self::Version,
        Self::Protocol,
        Self::TokenExpired,
        Self::TokenBeforeStart,
        Self::TokenForged,
        Self::TokenMalformed,
        Self::TokenAddress,
        Self::TokenReused,
        Self::TokensFull,
        Self::PrefixLimit,
        Self::HandshakeLimit,
        Self::PendingFull,
        Self::Challenge,
        Self::IdentityHeld,
        Self::ServerFull,
        Self::Frame,
        Self::Lane,
        Self::AckUnsent,
        Self::MessageBytes,
        Self::WindowBytes,
        Self::WindowIds,
        Self::ReassemblyFull,
        Self::UnknownConnection,
        Self::Path,
        Self::ForwardFull,
    ];

    /// Whether only the authenticated peer itself can have caused it, so that it counts against the connection.
    #[must_use]
    pub fn is_peers(self) -> bool {
        matches!(
            self,
            Self::Frame | Self::Lane | Self::AckUnsent | Self::MessageBytes | Self::WindowBytes | Self::WindowIds
        )
    }
}

/// What a shard counted since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams received.
    pub datagrams_in: u64,
    /// Bytes of datagrams received.
    pub bytes_in: u64,
    /// Datagrams handed out for sending.
    pub datagrams_out: u64,
    /// Bytes of datagrams handed out for sending.
    pub bytes_out: u64,
    /// Challenges sent.
    pub challenges: u64,
    /// Connections made.
    pub connected: u64,
    /// Connections ended, for whatever reason.
    pub disconnected: u64,
    /// Connections ended because the peer kept sending faults.
    pub expelled: u64,
    /// Connections that ended because their identity connected anew.
    pub taken_over: u64,
    /// Datagrams handed to the shard of the same set that owns their connection.
    pub forwarded: u64,
    /// Connections that speak the extension.
    pub extended: u64,
    /// Connections whose peer was followed to another address.
    pub moved: u64,
    /// Messages received twice and delivered once.
    pub duplicates: u64,
    /// Messages older than one already delivered on their sequenced lane.
    pub stale: u64,
    /// Messages dropped unsent by their lane's overflow policy.
    pub overflowed: u64,
    /// Messages refused with [`Ingress::Blocked`](crate::Ingress::Blocked).
    pub refused: u64,
    faults: [u64; Fault::ALL.len()],
}

impl Counters {
    /// How often `fault` occurred.
    #[must_use]
    pub fn fault(&self, fault: Fault) -> u64 {
        self.faults[fault as usize]
    }

    /// Every fault with its count, in order of [`Fault::ALL`].
    pub fn faults(&self) -> impl Iterator<Item = (Fault, u64)> + '_ {
        Fault::ALL.iter().map(|&fault| (fault, self.fault(fault)))
    }

    /// All faults together.
    #[must_use]
    pub fn total_faults(&self) -> u64 {
        self.faults.iter().sum()
    }

    pub(crate) fn count(&mut self, fault: Fault) {
        self.faults[fault as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_own_count() {
        let mut counters = Counters::default();
        for (number, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault as usize, number);
            counters.count(fault);
        }
        assert!(counters.faults().all(|(_, count)| count == 1));
        assert_eq!(counters.total_faults(), Fault::ALL.len() as u64);
    }
}
