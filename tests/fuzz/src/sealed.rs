use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

use super::shards::{KEY, PROTOCOL};

/// Bytes of a private part before it is sealed.
pub const PRIVATE_BYTES: usize = 1_008;
/// Where a token of one IPv4 address has the key of what the client sends; the other follows.
const KEYS_AT: usize = 1_100;

/// The session keys in a token's bytes.
pub struct Keys {
    /// Of what the client sends.
    pub to_server: [u8; 32],
    /// Of what the server sends.
    pub to_client: [u8; 32],
}

impl Keys {
    /// Those of a token that names one IPv4 address.
    pub fn of(token: &[u8]) -> Self {
        let key = |at: usize| token[at..at + 32].try_into().expect("a key's length");
        Self { to_server: key(KEYS_AT), to_client: key(KEYS_AT + 32) }
    }
}

/// Seals a private part as its issuer does.
pub fn seal_private(plain: &[u8; PRIVATE_BYTES], expire_s: u64, nonce: [u8; 24]) -> Vec<u8> {
    let mut sealed = plain.to_vec();
    let associated = [&version()[..], &PROTOCOL.to_le_bytes(), &expire_s.to_le_bytes()].concat();
    let cipher = XChaCha20Poly1305::new(&KEY.into());
    let tag = cipher.encrypt_inout_detached(&XNonce::from(nonce), &associated, sealed.as_mut_slice().into());
    sealed.extend_from_slice(&tag.expect("far below the cipher's limit"));
    sealed
}

/// The standard's version text.
pub fn version() -> [u8; 13] {
    *b"NETCODE 1.02\0"
}

/// Packets of the standard in one direction.
pub struct Standard {
    key: LessSafeKey,
}

impl Standard {
    /// Those under a key.
    pub fn new(key: &[u8; 32]) -> Self {
        Self { key: LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).expect("the key's length")) }
    }

    /// A packet that opens. The prefix has kind and number of sequence bytes, which may be none or too many.
    pub fn seal(&self, prefix: u8, sequence: u64, body: &[u8]) -> Vec<u8> {
        let count = usize::from(prefix >> 4).min(8);
        let mut packet = vec![prefix];
        packet.extend_from_slice(&sequence.to_le_bytes()[..count]);
        // A receiver knows no more of the sequence than the packet has.
        let sequence = if count == 8 { sequence } else { sequence & ((1 << (8 * count)) - 1) };
        let mut sealed = body.to_vec();
        let key = self.key.seal_in_place_separate_tag(nonce([0; 12], sequence.to_le_bytes()), aad(prefix), &mut sealed);
        let tag = key.expect("far below the cipher's limit");
        packet.extend_from_slice(&sealed);
        packet.extend_from_slice(tag.as_ref());
        packet
    }

    /// Kind and content of a packet.
    pub fn open(&self, packet: &[u8]) -> Option<(u8, Vec<u8>)> {
        let prefix = *packet.first()?;
        let count = usize::from(prefix >> 4);
        let mut sequence = [0; 8];
        sequence.get_mut(..count)?.copy_from_slice(packet.get(1..=count)?);
        let mut sealed = packet.get(1 + count..)?.to_vec();
        let open = self.key.open_in_place(nonce([0; 12], sequence), aad(prefix), &mut sealed).ok()?;
        Some((prefix & 15, open.to_vec()))
    }
}

fn aad(prefix: u8) -> Aad<[u8; 22]> {
    let mut associated = [0; 22];
    associated[..13].copy_from_slice(&version());
    associated[13..21].copy_from_slice(&PROTOCOL.to_le_bytes());
    associated[21] = prefix;
    Aad::from(associated)
}

fn nonce(mut mask: [u8; 12], sequence: [u8; 8]) -> Nonce {
    mask[4..].iter_mut().zip(sequence).for_each(|(byte, of)| *byte ^= of);
    Nonce::assume_unique_for_key(mask)
}

/// Packets of the extension in one direction.
pub struct Extended {
    secret: [u8; 32],
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(prk: &Prk, label: &[u8], number: u64, out: &mut [u8]) {
    let info = [label, &number.to_le_bytes()[..]];
    let filled = prk.expand(&info, Length(out.len())).and_then(|okm| okm.fill(out));
    filled.expect("far below what the hash can expand to");
}

impl Extended {
    /// Both directions, to the server first, from the randoms of client and server.
    pub fn derive(keys: &Keys, client: &[u8], server: &[u8]) -> (Self, Self) {
        let salt = Salt::new(HKDF_SHA256, &[client, server].concat());
        let prk = salt.extract(&[keys.to_server, keys.to_client].concat());
        let [mut to_server, mut to_client] = [[0; 32]; 2];
        expand(&prk, b"tidelock 1 client", PROTOCOL, &mut to_server);
        expand(&prk, b"tidelock 1 server", PROTOCOL, &mut to_client);
        (Self { secret: to_server }, Self { secret: to_client })
    }

    /// A packet that opens, led by its head: the prefix, and from a client the connection's name.
    pub fn seal(&self, head: &[u8], sequence: u64, body: &[u8]) -> Vec<u8> {
        let mut material = [0; 28];
        let prk = Prk::new_less_safe(HKDF_SHA256, &self.secret);
        expand(&prk, b"tidelock 1 epoch", sequence >> 23, &mut material);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &material[..16]).expect("the key's length"));
        let mask = material[16..].try_into().expect("the mask's length");
        let mut packet = head.to_vec();
        packet.extend_from_slice(&sequence.to_le_bytes()[..4]);
        let mut sealed = body.to_vec();
        let nonce = nonce(mask, sequence.to_be_bytes());
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(&packet[..]), &mut sealed);
        packet.extend_from_slice(&sealed);
        packet.extend_from_slice(tag.expect("far below the cipher's limit").as_ref());
        packet
    }
}
