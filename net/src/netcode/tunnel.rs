//! Sealing and opening of one connection's packets.

use crate::counters::Fault;
use crate::netcode::cipher::PacketCipher;
use crate::netcode::packet::{PacketHead, PacketKind};
use crate::netcode::replay::ReplayWindow;

/// Both keys of a connection, its next sequence number and its replay window.
pub(crate) struct Tunnel {
    send: PacketCipher,
    receive: PacketCipher,
    next_sequence: u64,
    replay: ReplayWindow,
}

impl Tunnel {
    /// A tunnel whose first packet has `first_sequence`, which must be above any used with the same key before.
    pub(crate) fn new(send: PacketCipher, receive: PacketCipher, first_sequence: u64) -> Self {
        Self { send, receive, next_sequence: first_sequence, replay: ReplayWindow::new() }
    }

    /// The sequence number of the next packet.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Never again uses a sequence number below `sequence`.
    pub(crate) fn raise_sequence(&mut self, sequence: u64) {
        self.next_sequence = self.next_sequence.max(sequence);
    }

    /// Empties `out` and begins a packet in it: append the body, then [`finish`](Self::finish) with what this returned.
    pub(crate) fn begin(&self, kind: PacketKind, out: &mut Vec<u8>) -> usize {
        out.clear();
        PacketHead::write(kind, self.next_sequence, out)
    }

    /// Seals the packet begun in `out`.
    pub(crate) fn finish(&mut self, body: usize, out: &mut Vec<u8>) {
        self.send.seal(self.next_sequence, out, body);
        self.next_sequence += 1;
    }

    /// Writes a whole packet into `out`.
    pub(crate) fn write(&mut self, kind: PacketKind, content: &[u8], out: &mut Vec<u8>) {
        let body = self.begin(kind, out);
        out.extend_from_slice(content);
        self.finish(body, out);
    }

    /// Opens a packet in place, in the order the standard prescribes.
    pub(crate) fn open<'a>(&mut self, packet: &'a mut [u8]) -> Result<(PacketKind, &'a mut [u8]), Fault> {
        let head = PacketHead::read(packet)?;
        let protected = head.kind.is_replay_protected();
        if protected && self.replay.is_replayed(head.sequence) {
            return Err(Fault::Replayed);
        }
        let body = self.receive.open(head.prefix, head.sequence, &mut packet[head.body..]).ok_or(Fault::Forged)?;
        if protected {
            self.replay.take(head.sequence);
        }
        Ok((head.kind, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(first: u64) -> (Tunnel, Tunnel) {
        let cipher = |key| PacketCipher::new(&[key; 32], 7);
        (Tunnel::new(cipher(1), cipher(2), first), Tunnel::new(cipher(2), cipher(1), first))
    }

    proptest! {
        // N-13: one flipped bit anywhere is refused; so is a second copy.
        #[test]
        fn only_the_packet_itself_opens_and_once(
            content in prop::collection::vec(any::<u8>(), 1..1_200), first in 0..u64::MAX - 2, at: u16, bit in 0u8..8,
        ) {
            let (mut near, mut far) = pair(first);
            let mut packet = Vec::new();
            near.write(PacketKind::Payload, &content, &mut packet);
            let mut forged = packet.clone();
            let at = usize::from(at) % forged.len();
            forged[at] ^= 1 << bit;
            prop_assert!(far.open(&mut forged).is_err());
            let (kind, body) = far.open(&mut packet.clone()).map(|(kind, body)| (kind, body.to_vec())).unwrap();
            prop_assert_eq!((kind, body), (PacketKind::Payload, content));
            prop_assert_eq!(far.open(&mut packet).unwrap_err(), Fault::Replayed);
        }
    }
}
