//! Keys of the extension.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

use crate::extension::upgrade::RANDOM_BYTES;
use crate::netcode::KEY_BYTES;

/// Sequence numbers sealed with one key, as a power of two: AES-GCM keeps its margin for 2^23 packets (RFC 9001, section 6.6).
pub(crate) const EPOCH_BITS: u32 = 23;

const CIPHER_KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;

/// The session keys of a connect token.
#[derive(Clone)]
pub(crate) struct TokenKeys {
    pub(crate) protocol_id: u64,
    pub(crate) client_to_server: [u8; KEY_BYTES],
    pub(crate) server_to_client: [u8; KEY_BYTES],
}

/// What the packet keys of each direction come from.
pub(crate) struct Secrets {
    pub(crate) client_to_server: [u8; KEY_BYTES],
    pub(crate) server_to_client: [u8; KEY_BYTES],
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(prk: &Prk, label: &[u8], number: u64, out: &mut [u8]) {
    let info = [label, &number.to_le_bytes()[..]];
    let okm = prk.expand(&info, Length(out.len()));
    okm.and_then(|okm| okm.fill(out)).expect("lengths are far below what the hash can expand to");
}

impl Secrets {
    /// Mixes the token's keys with the randoms of both sides.
    pub(crate) fn derive(keys: &TokenKeys, client: &[u8; RANDOM_BYTES], server: &[u8; RANDOM_BYTES]) -> Self {
        let salt = [client.as_slice(), server.as_slice()].concat();
        let material = [keys.client_to_server.as_slice(), keys.server_to_client.as_slice()].concat();
        let prk = Salt::new(HKDF_SHA256, &salt).extract(&material);
        let mut secrets = Self { client_to_server: [0; KEY_BYTES], server_to_client: [0; KEY_BYTES] };
        expand(&prk, b"tidelock 1 client", keys.protocol_id, &mut secrets.client_to_server);
        expand(&prk, b"tidelock 1 server", keys.protocol_id, &mut secrets.server_to_client);
        secrets
    }
}

/// The key of one direction for one epoch of its sequence numbers.
pub(crate) struct EpochKey {
    key: LessSafeKey,
    mask: [u8; NONCE_BYTES],
}

impl EpochKey {
    pub(crate) fn new(secret: &[u8; KEY_BYTES], epoch: u64) -> Self {
        let mut material = [0; CIPHER_KEY_BYTES + NONCE_BYTES];
        expand(&Prk::new_less_safe(HKDF_SHA256, secret), b"tidelock 1 epoch", epoch, &mut material);
        let (key, mask) = material.split_at(CIPHER_KEY_BYTES);
        let key = UnboundKey::new(&AES_128_GCM, key).expect("the key has the cipher's length");
        let mask = mask.try_into().expect("the rest has the nonce's length");
        Self { key: LessSafeKey::new(key), mask }
    }

    /// Seals `packet[body..]` in place and appends the tag; what precedes is authenticated.
    pub(crate) fn seal(&self, sequence: u64, packet: &mut Vec<u8>, body: usize) {
        let (head, content) = packet.split_at_mut(body);
        let sealed = self.key.seal_in_place_separate_tag(self.nonce(sequence), Aad::from(&*head), content);
        packet.extend_from_slice(sealed.expect("a packet is far below the cipher's limit").as_ref());
    }

    /// Opens `packet[body..]` in place; `None` if it does not authenticate.
    pub(crate) fn open<'a>(&self, sequence: u64, packet: &'a mut [u8], body: usize) -> Option<&'a mut [u8]> {
        let (head, sealed) = packet.split_at_mut(body);
        self.key.open_in_place(self.nonce(sequence), Aad::from(&*head), sealed).ok()
    }

    fn nonce(&self, sequence: u64) -> Nonce {
        let mut nonce = self.mask;
        nonce[4..].iter_mut().zip(sequence.to_be_bytes()).for_each(|(byte, of)| *byte ^= of);
        Nonce::assume_unique_for_key(nonce)
    }
}
