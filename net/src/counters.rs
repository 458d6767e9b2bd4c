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
    /// Dropped because the whole shard, or the connection beside the others, holds too many bytes in unfinished messages; the peer
    /// resends.
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

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Oversized => "oversized",
            Self::UnknownType => "unknown_type",
            Self::UnknownAddress => "unknown_address",
            Self::Forged => "forged",
            Self::Replayed => "replayed",
            Self::Unexpected => "unexpected",
            Self::Version => "version",
            Self::Protocol => "protocol",
            Self::TokenExpired => "token_expired",
            Self::TokenBeforeStart => "token_before_start",
            Self::TokenForged => "token_forged",
            Self::TokenMalformed => "token_malformed",
            Self::TokenAddress => "token_address",
            Self::TokenReused => "token_reused",
            Self::TokensFull => "tokens_full",
            Self::PrefixLimit => "prefix_limit",
            Self::HandshakeLimit => "handshake_limit",
            Self::PendingFull => "pending_full",
            Self::Challenge => "challenge",
            Self::IdentityHeld => "identity_held",
            Self::ServerFull => "server_full",
            Self::Frame => "frame",
            Self::Lane => "lane",
            Self::AckUnsent => "ack_unsent",
            Self::MessageBytes => "message_bytes",
            Self::WindowBytes => "window_bytes",
            Self::WindowIds => "window_ids",
            Self::ReassemblyFull => "reassembly_full",
            Self::UnknownConnection => "unknown_connection",
            Self::Path => "path",
            Self::ForwardFull => "forward_full",
        }
    }

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

    /// Adds another set, e.g. that of another shard.
    pub fn add(&mut self, other: &Self) {
        self.datagrams_in += other.datagrams_in;
        self.bytes_in += other.bytes_in;
        self.datagrams_out += other.datagrams_out;
        self.bytes_out += other.bytes_out;
        self.challenges += other.challenges;
        self.connected += other.connected;
        self.disconnected += other.disconnected;
        self.expelled += other.expelled;
        self.taken_over += other.taken_over;
        self.forwarded += other.forwarded;
        self.extended += other.extended;
        self.moved += other.moved;
        self.duplicates += other.duplicates;
        self.stale += other.stale;
        self.overflowed += other.overflowed;
        self.refused += other.refused;
        for (sum, count) in self.faults.iter_mut().zip(other.faults) {
            *sum += count;
        }
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
            assert_eq!(Fault::ALL.into_iter().filter(|other| other.name() == fault.name()).count(), 1);
            counters.count(fault);
        }
        assert!(counters.faults().all(|(_, count)| count == 1));
        assert_eq!(counters.total_faults(), Fault::ALL.len() as u64);
        let mut sum = counters.clone();
        sum.add(&counters);
        assert_eq!(sum.total_faults(), 2 * counters.total_faults());
    }
}
