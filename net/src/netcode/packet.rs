//! Packets of the standard: heads, sizes and bodies.

use crate::counters::Fault;
use crate::netcode::cipher::CHALLENGE_BYTES;
use crate::netcode::private_token::PRIVATE_TOKEN_BYTES;
use crate::netcode::token::{ConnectToken, Cursor};
use crate::netcode::{TAG_BYTES, VERSION};

/// Length of a connection request.
pub(crate) const REQUEST_BYTES: usize = 1 + 13 + 8 + 8 + 24 + PRIVATE_TOKEN_BYTES;
/// Longest payload accepted. The standard ends at 1,200 bytes; some implementations send more.
pub(crate) const MAX_PAYLOAD_IN_BYTES: usize = 1_300;
/// Shortest sealed packet.
const MIN_SEALED_BYTES: usize = 1 + TAG_BYTES;

/// Kind of a packet, the low half of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PacketKind {
    Request = 0,
    Denied = 1,
    Challenge = 2,
    Response = 3,
    KeepAlive = 4,
    Payload = 5,
    Disconnect = 6,
    /// Of the extension only: asks whether the peer is where its packets come from.
    PathChallenge = 8,
    /// Of the extension only.
    PathAnswer = 9,
    /// Of the extension only: asks whether a datagram of its length arrives.
    MtuProbe = 10,
    /// Of the extension only.
    MtuAnswer = 11,
}

impl PacketKind {
    fn from_prefix(prefix: u8) -> Option<Self> {
        Some(match prefix & 15 {
            0 => Self::Request,
            1 => Self::Denied,
            2 => Self::Challenge,
            3 => Self::Response,
            4 => Self::KeepAlive,
            5 => Self::Payload,
            6 => Self::Disconnect,
            _ => return None,
        })
    }

    /// Whether the replay window applies.
    pub(crate) fn is_replay_protected(self) -> bool {
        !matches!(self, Self::Request | Self::Denied | Self::Challenge | Self::Response)
    }

    fn body_fits(self, bytes: usize) -> Result<(), Fault> {
        let (least, most) = match self {
            Self::Request | Self::PathChallenge | Self::PathAnswer | Self::MtuProbe | Self::MtuAnswer => {
                return Err(Fault::Unexpected);
            }
            Self::Denied | Self::Disconnect => (0, 0),
            Self::Challenge | Self::Response => (8 + CHALLENGE_BYTES, 8 + CHALLENGE_BYTES),
            Self::KeepAlive => (8, 8),
            Self::Payload => (1, MAX_PAYLOAD_IN_BYTES),
        };
        match bytes {
            bytes if bytes < least => Err(Fault::Truncated),
            bytes if bytes > most => Err(Fault::Oversized),
            _ => Ok(()),
        }
    }
}

/// What can be read of a sealed packet without its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketHead {
    pub(crate) kind: PacketKind,
    pub(crate) prefix: u8,
    pub(crate) sequence: u64,
    /// Where content and tag begin.
    pub(crate) body: usize,
}

impl PacketHead {
    /// Reads the head of a sealed packet and checks its length. The standard's sequence numbers have one to eight bytes; none
    /// is taken as zero, as renetcode writes it.
    pub(crate) fn read(packet: &[u8]) -> Result<Self, Fault> {
        if packet.len() < MIN_SEALED_BYTES {
            return Err(Fault::Truncated);
        }
        let prefix = packet[0];
        let kind = PacketKind::from_prefix(prefix).ok_or(Fault::UnknownType)?;
        let count = usize::from(prefix >> 4);
        if count > 8 {
            return Err(Fault::UnknownType);
        }
        let body = 1 + count;
        let content = packet.len().checked_sub(body + TAG_BYTES).ok_or(Fault::Truncated)?;
        kind.body_fits(content)?;
        let mut sequence = [0; 8];
        sequence[..count].copy_from_slice(&packet[1..body]);
        Ok(Self { kind, prefix, sequence: u64::from_le_bytes(sequence), body })
    }

    /// Appends the head of a packet and returns where its body begins.
    pub(crate) fn write(kind: PacketKind, sequence: u64, out: &mut Vec<u8>) -> usize {
        let count = (8 - sequence.leading_zeros() as usize / 8).max(1);
        out.push(kind as u8 | (count as u8) << 4);
        out.extend_from_slice(&sequence.to_le_bytes()[..count]);
        1 + count
    }
}

/// A connection request.
pub(crate) struct Request<'a> {
    pub(crate) protocol_id: u64,
    pub(crate) expire_s: u64,
    pub(crate) nonce: [u8; 24],
    pub(crate) private: &'a [u8; PRIVATE_TOKEN_BYTES],
}

impl<'a> Request<'a> {
    /// Whether a datagram claims to be a connection request.
    pub(crate) fn is_request(packet: &[u8]) -> bool {
        packet.first() == Some(&0)
    }

    pub(crate) fn read(packet: &'a [u8]) -> Result<Self, Fault> {
        match packet.len() {
            bytes if bytes < REQUEST_BYTES => return Err(Fault::Truncated),
            bytes if bytes > REQUEST_BYTES => return Err(Fault::Oversized),
            _ => {}
        }
        if packet[1..14] != VERSION[..] {
            return Err(Fault::Version);
        }
        let (head, private) = packet.split_at(REQUEST_BYTES - PRIVATE_TOKEN_BYTES);
        let mut from = Cursor(&head[14..]);
        let mut field = || from.array().map(u64::from_le_bytes).ok_or(Fault::Truncated);
        let (protocol_id, expire_s) = (field()?, field()?);
        let nonce = from.array().ok_or(Fault::Truncated)?;
        let private = private.first_chunk().ok_or(Fault::Truncated)?;
        Ok(Self { protocol_id, expire_s, nonce, private })
    }

    pub(crate) fn write(token: &ConnectToken, out: &mut Vec<u8>) {
        out.push(PacketKind::Request as u8);
        out.extend_from_slice(VERSION);
        out.extend_from_slice(&token.protocol_id.to_le_bytes());
        out.extend_from_slice(&token.expire_s.to_le_bytes());
        out.extend_from_slice(&token.nonce);
        out.extend_from_slice(&*token.private);
    }
}

/// A sealed challenge token with its sequence number: body of challenge and response.
#[derive(Clone, Copy)]
pub(crate) struct ChallengeBody {
    pub(crate) sequence: u64,
    pub(crate) sealed: [u8; CHALLENGE_BYTES],
}

impl ChallengeBody {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut from = Cursor(body);
        Some(Self { sequence: u64::from_le_bytes(from.array()?), sealed: from.array()? })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&self.sealed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // N-1
        #[test]
        fn heads_come_back(kind in 1u8..7, sequence: u64, small in 0u64..70_000, pick: bool) {
            let sequence = if pick { small } else { sequence };
            let kind = PacketKind::from_prefix(kind).unwrap();
            let mut packet = Vec::new();
            let body = PacketHead::write(kind, sequence, &mut packet);
            prop_assert_eq!(body, packet.len());
            let content = match kind {
                PacketKind::Challenge | PacketKind::Response => 308,
                PacketKind::KeepAlive => 8,
                PacketKind::Payload => 1,
                _ => 0,
            };
            packet.resize(body + content + 16, 0);
            let head = PacketHead::read(&packet).unwrap();
            prop_assert_eq!((head.kind, head.sequence, head.body), (kind, sequence, body));
            packet.pop();
            prop_assert!(PacketHead::read(&packet).is_err());
        }

        // N-13
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..1_500)) {
            let _ = PacketHead::read(&bytes);
            let _ = Request::read(&bytes);
            let _ = ChallengeBody::read(&bytes);
        }
    }

    #[test]
    fn a_thousand_takes_two_sequence_bytes() {
        let mut packet = Vec::new();
        PacketHead::write(PacketKind::Payload, 1_000, &mut packet);
        assert_eq!(packet, [0x25, 0xE8, 0x03]);
        packet.clear();
        PacketHead::write(PacketKind::KeepAlive, 0, &mut packet);
        assert_eq!(packet, [0x14, 0]);
    }
}
