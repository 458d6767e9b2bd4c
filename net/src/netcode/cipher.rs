//! ChaCha20-Poly1305 as the standard applies it to packets and challenge tokens.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::netcode::{KEY_BYTES, TAG_BYTES, USER_DATA_BYTES, VERSION};

/// Length of a sealed challenge token.
pub(crate) const CHALLENGE_BYTES: usize = 300;

/// One direction's key, with the associated data of its protocol.
pub(crate) struct PacketCipher {
    key: LessSafeKey,
    associated: [u8; 22],
}

impl PacketCipher {
    pub(crate) fn new(key: &[u8; KEY_BYTES], protocol_id: u64) -> Self {
        let mut associated = [0; 22];
        associated[..13].copy_from_slice(VERSION);
        associated[13..21].copy_from_slice(&protocol_id.to_le_bytes());
        Self { key: chacha(key), associated }
    }

    /// Seals `packet[body..]` in place and appends the tag. The first byte of `packet` is its prefix.
    pub(crate) fn seal(&self, sequence: u64, packet: &mut Vec<u8>, body: usize) {
        let associated = self.associated(packet[0]);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce(sequence), Aad::from(associated), &mut packet[body..])
            .expect("a packet is far below the cipher's limit");
        packet.extend_from_slice(tag.as_ref());
    }

    /// Opens content and tag in place; `None` if they do not authenticate under `prefix` and `sequence`.
    pub(crate) fn open<'a>(&self, prefix: u8, sequence: u64, sealed: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.key.open_in_place(nonce(sequence), Aad::from(self.associated(prefix)), sealed).ok()
    }

    fn associated(&self, prefix: u8) -> [u8; 22] {
        let mut associated = self.associated;
        associated[21] = prefix;
        associated
    }
}

/// The server's own key for challenge tokens.
pub(crate) struct ChallengeCipher(LessSafeKey);

impl ChallengeCipher {
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(chacha(key))
    }

    pub(crate) fn seal(
        &self,
        sequence: u64,
        client_id: u64,
        user_data: &[u8; USER_DATA_BYTES],
    ) -> [u8; CHALLENGE_BYTES] {
        let mut out = [0; CHALLENGE_BYTES];
        out[..8].copy_from_slice(&client_id.to_le_bytes());
        out[8..8 + USER_DATA_BYTES].copy_from_slice(user_data);
        let (plain, room) = out.split_at_mut(CHALLENGE_BYTES - TAG_BYTES);
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce(sequence), Aad::empty(), plain)
            .expect("a challenge is far below the cipher's limit");
        room.copy_from_slice(tag.as_ref());
        out
    }

    /// The identity and user data of a challenge sealed by [`seal`](Self::seal) under `sequence`.
    pub(crate) fn open(
        &self,
        sequence: u64,
        mut sealed: [u8; CHALLENGE_BYTES],
    ) -> Option<(u64, Box<[u8; USER_DATA_BYTES]>)> {
        let plain = self.0.open_in_place(nonce(sequence), Aad::empty(), &mut sealed).ok()?;
        let (id, rest) = plain.split_first_chunk()?;
        let user_data = rest.first_chunk::<USER_DATA_BYTES>()?;
        Some((u64::from_le_bytes(*id), Box::new(*user_data)))
    }
}

fn chacha(key: &[u8; KEY_BYTES]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).expect("the key has the cipher's length"))
}

fn nonce(sequence: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&sequence.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_open_under_their_own_sequence_only() {
        let cipher = ChallengeCipher::new(&[1; 32]);
        let sealed = cipher.seal(5, 77, &[8; 256]);
        assert_eq!(cipher.open(5, sealed), Some((77, Box::new([8; 256]))));
        assert_eq!(cipher.open(6, sealed), None);
        assert_eq!(ChallengeCipher::new(&[2; 32]).open(5, sealed), None);
    }
}
