//! Sealing and opening of the extension's packets.

use crate::counters::Fault;
use crate::extension::keys::{EPOCH_BITS, EpochKey, Secrets};
use crate::extension::mtu::PROBE_BYTES;
use crate::extension::path::PATH_BYTES;
use crate::id::{ConnectionId, WIRE_NAME_BYTES};
use crate::netcode::packet::PacketKind;
use crate::netcode::replay::ReplayWindow;
use crate::netcode::{KEY_BYTES, TAG_BYTES};
use crate::prefetch::prefetch;
use crate::session::widen;

/// Low half of the first byte of every packet of the extension.
const EXTENDED: u8 = 7;
const SEQUENCE_BYTES: usize = 4;
/// Longest content of a packet: what fits an Ethernet frame.
const MAX_CONTENT_BYTES: usize = 1_500;
/// Furthest a packet of the next epoch may be ahead of the newest one.
const MAX_LEAP: u64 = 1 << 16;

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Names the connection in what it sends.
    Client(ConnectionId),
    /// Reads the connection's name in what it gets.
    Server,
}

/// Whether a datagram claims to be of the extension.
pub(crate) fn is_extended(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|prefix| prefix & 15 == EXTENDED)
}

/// The connection a client's datagram of the extension names, as far as the wire tells it.
pub(crate) fn named(datagram: &[u8]) -> Option<ConnectionId> {
    datagram.get(1..=WIRE_NAME_BYTES)?.first_chunk().map(ConnectionId::from_wire)
}

/// A packet opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened<'a> {
    pub(crate) kind: PacketKind,
    pub(crate) body: &'a mut [u8],
    /// Whether no packet of the peer with a higher number came before it.
    pub(crate) is_newest: bool,
}

/// One direction's secret, and its key while it is in use: a key takes half a kilobyte.
struct Direction {
    secret: [u8; KEY_BYTES],
    epoch: u64,
    key: Option<Box<EpochKey>>,
}

impl Direction {
    fn new(secret: [u8; KEY_BYTES], first: u64) -> Self {
        Self { secret, epoch: first >> EPOCH_BITS, key: None }
    }

    /// The key of the current epoch.
    fn key(&mut self) -> &EpochKey {
        self.key.get_or_insert_with(|| Box::new(EpochKey::new(&self.secret, self.epoch)))
    }

    fn prefetch(&self) {
        self.key.iter().for_each(|key| prefetch(&**key));
    }

    /// Goes on to another epoch.
    fn enter(&mut self, epoch: u64) {
        if epoch != self.epoch {
            (self.epoch, self.key) = (epoch, None);
        }
    }
}

/// Both directions of the extension on one connection.
pub(crate) struct ExtendedTunnel {
    way: Way,
    send: Direction,
    next_sequence: u64,
    receive: Direction,
    replay: ReplayWindow,
    /// Number of the peer's first packet.
    first: u64,
}

impl ExtendedTunnel {
    /// A tunnel whose numbers begin with `first` in both directions: 0, but in tests.
    pub(crate) fn new(way: Way, secrets: &Secrets, first: u64) -> Self {
        let (send_secret, receive_secret) = match way {
            Way::Client(_) => (secrets.client_to_server, secrets.server_to_client),
            Way::Server => (secrets.server_to_client, secrets.client_to_server),
        };
        Self {
            way,
            send: Direction::new(send_secret, first),
            next_sequence: first,
            receive: Direction::new(receive_secret, first),
            replay: ReplayWindow::new(),
            first,
        }
    }

    /// Bytes around the content of what is sent.
    pub(crate) fn overhead(&self) -> usize {
        let name = if self.way == Way::Server { 0 } else { WIRE_NAME_BYTES };
        1 + name + SEQUENCE_BYTES + TAG_BYTES
    }

    /// Empties `out` and begins a packet in it; returns where its body begins.
    pub(crate) fn begin(&self, kind: PacketKind, out: &mut Vec<u8>) -> usize {
        out.clear();
        out.push(EXTENDED | (kind as u8) << 4);
        if let Way::Client(connection) = self.way {
            out.extend_from_slice(&connection.to_wire());
        }
        out.extend_from_slice(&self.next_sequence.to_le_bytes()[..SEQUENCE_BYTES]);
        out.len()
    }

    /// Seals the packet begun in `out`.
    pub(crate) fn finish(&mut self, body: usize, out: &mut Vec<u8>) {
        self.send.enter(self.next_sequence >> EPOCH_BITS);
        self.send.key().seal(self.next_sequence, out, body);
        self.next_sequence += 1;
    }

    /// Asks for the key that opening needs.
    pub(crate) fn prefetch_received(&self) {
        self.receive.prefetch();
    }

    /// Asks for the key that sealing needs.
    pub(crate) fn prefetch_sent(&self) {
        self.send.prefetch();
    }

    /// Gives memory back that a quiet connection does not need; the keys are derived again when they are.
    pub(crate) fn rest(&mut self) {
        (self.send.key, self.receive.key) = (None, None);
    }

    /// Opens a packet in place.
    pub(crate) fn open<'a>(&mut self, packet: &'a mut [u8]) -> Result<Opened<'a>, Fault> {
        let name = if self.way == Way::Server { WIRE_NAME_BYTES } else { 0 };
        let body = 1 + name + SEQUENCE_BYTES;
        let content = packet.len().checked_sub(body + TAG_BYTES).ok_or(Fault::Truncated)?;
        let kind = kind(packet[0], content)?;
        let mut low = [0; 8];
        low[..SEQUENCE_BYTES].copy_from_slice(&packet[1 + name..body]);
        let newest = self.replay.newest();
        let expected = newest.map_or(self.first, |newest| newest.saturating_add(1));
        let sequence = widen(u64::from_le_bytes(low), 8 * SEQUENCE_BYTES as u32, expected);
        if self.replay.is_replayed(sequence) {
            return Err(Fault::Replayed);
        }
        let epoch = sequence >> EPOCH_BITS;
        let opened = if epoch == self.receive.epoch {
            self.receive.key().open(sequence, packet, body)
        } else if epoch < self.receive.epoch {
            return Err(Fault::Replayed);
        } else if epoch == self.receive.epoch + 1 && sequence < expected.saturating_add(MAX_LEAP) {
            let next = EpochKey::new(&self.receive.secret, epoch);
            let opened = next.open(sequence, packet, body);
            if opened.is_some() {
                self.receive.enter(epoch);
            }
            opened
        } else {
            None
        };
        let body = opened.ok_or(Fault::Forged)?;
        self.replay.take(sequence);
        Ok(Opened { kind, body, is_newest: newest.is_none_or(|newest| sequence > newest) })
    }
}

/// The kind of a packet of the extension, if its content may have this length.
fn kind(prefix: u8, content: usize) -> Result<PacketKind, Fault> {
    let (kind, least, most) = match prefix >> 4 {
        4 => (PacketKind::KeepAlive, 8, 8),
        5 => (PacketKind::Payload, 1, MAX_CONTENT_BYTES),
        6 => (PacketKind::Disconnect, 0, 0),
        8 => (PacketKind::PathChallenge, PATH_BYTES, PATH_BYTES),
        9 => (PacketKind::PathAnswer, PATH_BYTES, PATH_BYTES),
        10 => (PacketKind::MtuProbe, PROBE_BYTES, MAX_CONTENT_BYTES),
        11 => (PacketKind::MtuAnswer, PROBE_BYTES, PROBE_BYTES),
        _ => return Err(Fault::UnknownType),
    };
    match content {
        content if content < least => Err(Fault::Truncated),
        content if content > most => Err(Fault::Oversized),
        _ => Ok(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::keys::TokenKeys;
    use proptest::prelude::*;

    fn pair(first: u64) -> (ExtendedTunnel, ExtendedTunnel) {
        let keys = TokenKeys { protocol_id: 7, client_to_server: [1; 32], server_to_client: [2; 32] };
        let secrets = Secrets::derive(&keys, &[3; 32], &[4; 32]);
        let client = ExtendedTunnel::new(Way::Client(ConnectionId::new(9, 300, 1 << 21 | 5)), &secrets, first);
        (client, ExtendedTunnel::new(Way::Server, &secrets, first))
    }

    fn write(tunnel: &mut ExtendedTunnel, kind: PacketKind, content: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        let body = tunnel.begin(kind, &mut out);
        out.extend_from_slice(content);
        tunnel.finish(body, &mut out);
        out
    }

    proptest! {
        // N-13: one flipped bit anywhere is refused; so is a second copy; over the edges of key epochs and of the short form.
        #[test]
        fn only_the_packet_itself_opens_and_once(
            content in prop::collection::vec(any::<u8>(), 1..1_200), edge in prop_oneof![Just(1u64 << 23), Just(1 << 32), Just(9 << 23)],
            back in 0u64..4, up: bool, at: u16, bit in 0u8..8,
        ) {
            let (client, server) = pair(edge - back);
            let (mut near, mut far) = if up { (client, server) } else { (server, client) };
            for _ in 0..4 {
                let mut packet = write(&mut near, PacketKind::Payload, &content);
                prop_assert_eq!(packet.len(), content.len() + if up { 27 } else { 21 });
                let mut forged = packet.clone();
                let at = usize::from(at) % forged.len();
                forged[at] ^= 1 << bit;
                // The name is not secret and only authenticated.
                prop_assert!(far.open(&mut forged).is_err());
                let opened = far.open(&mut packet.clone()).map(|opened| (opened.kind, opened.body.to_vec(), opened.is_newest));
                prop_assert_eq!(opened, Ok((PacketKind::Payload, content.clone(), true)));
                prop_assert_eq!(far.open(&mut packet).unwrap_err(), Fault::Replayed);
            }
        }

        // N-13
        #[test]
        fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..1_500)) {
            let (mut client, mut server) = pair(0);
            let _ = named(&bytes);
            prop_assert!(client.open(&mut bytes.clone()).is_err());
            prop_assert!(server.open(&mut bytes.clone()).is_err());
        }
    }

    #[test]
    fn packets_name_their_connection_and_their_kind() {
        let (mut client, mut server) = pair(0);
        let mut packet = write(&mut client, PacketKind::PathAnswer, &[5; 8]);
        assert!(is_extended(&packet));
        let name = named(&packet).unwrap();
        assert_eq!((name.shard(), name.index(), name.generation()), (9, 300, 5));
        assert!(name.is_wire_name_of(ConnectionId::new(9, 300, 1 << 21 | 5)));
        let late = write(&mut client, PacketKind::KeepAlive, &[0; 8]);
        let mut newer = write(&mut client, PacketKind::Disconnect, &[]);
        assert_eq!(server.open(&mut packet).map(|opened| opened.kind), Ok(PacketKind::PathAnswer));
        assert!(server.open(&mut newer).unwrap().is_newest);
        assert!(!server.open(&mut late.clone()).unwrap().is_newest, "came late");
        assert_eq!(server.open(&mut write(&mut client, PacketKind::KeepAlive, &[0; 9])).unwrap_err(), Fault::Oversized);
    }

    // N-1a: packets of an epoch long gone or far ahead cost no key.
    #[test]
    fn epochs_follow_each_other() {
        let (mut client, mut server) = pair((1 << 23) - 2);
        let old = write(&mut client, PacketKind::Payload, b"old");
        assert!(server.open(&mut write(&mut client, PacketKind::Payload, b"last")).is_ok());
        assert!(server.open(&mut write(&mut client, PacketKind::Payload, b"next")).is_ok());
        assert_eq!(server.open(&mut old.clone()).unwrap_err(), Fault::Replayed);
        client.next_sequence = (2 << 23) + 5;
        assert_eq!(server.open(&mut write(&mut client, PacketKind::Payload, b"far")).unwrap_err(), Fault::Forged);
    }
}
