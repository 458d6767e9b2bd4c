//! The sealed part of a connect token, which only issuer and server can read.

use std::net::SocketAddr;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};

use crate::netcode::token::{Cursor, read_addresses, write_addresses};
use crate::netcode::{KEY_BYTES, TAG_BYTES, USER_DATA_BYTES, VERSION};

/// Length of the sealed part, tag included.
pub(crate) const PRIVATE_TOKEN_BYTES: usize = 1_024;

const PLAIN_BYTES: usize = PRIVATE_TOKEN_BYTES - TAG_BYTES;

/// What the issuer tells the server.
pub(crate) struct PrivateToken {
    pub(crate) client_id: u64,
    pub(crate) timeout_s: i32,
    pub(crate) server_addresses: Vec<SocketAddr>,
    pub(crate) client_to_server_key: [u8; KEY_BYTES],
    pub(crate) server_to_client_key: [u8; KEY_BYTES],
    pub(crate) user_data: Box<[u8; USER_DATA_BYTES]>,
}

/// Why a sealed part is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateTokenError {
    /// Not sealed with this key for this protocol, expiry and nonce.
    Forged,
    /// Sealed by the issuer, yet not of the standard's form.
    Malformed,
}

impl PrivateToken {
    pub(crate) fn seal(
        &self,
        protocol_id: u64,
        expire_s: u64,
        nonce: &[u8; 24],
        key: &[u8; KEY_BYTES],
    ) -> Box<[u8; PRIVATE_TOKEN_BYTES]> {
        let mut out = Vec::with_capacity(PRIVATE_TOKEN_BYTES);
        out.extend_from_slice(&self.client_id.to_le_bytes());
        out.extend_from_slice(&self.timeout_s.to_le_bytes());
        write_addresses(&mut out, &self.server_addresses);
        out.extend_from_slice(&self.client_to_server_key);
        out.extend_from_slice(&self.server_to_client_key);
        out.extend_from_slice(&*self.user_data);
        out.resize(PLAIN_BYTES, 0);
        let tag = XChaCha20Poly1305::new(&(*key).into())
            .encrypt_inout_detached(
                &XNonce::from(*nonce),
                &associated(protocol_id, expire_s),
                out.as_mut_slice().into(),
            )
            .expect("a token is far below the cipher's limit");
        out.extend_from_slice(&tag);
        out.into_boxed_slice().try_into().expect("content and tag fill the sealed part")
    }

    pub(crate) fn open(
        sealed: &[u8; PRIVATE_TOKEN_BYTES],
        protocol_id: u64,
        expire_s: u64,
        nonce: &[u8; 24],
        key: &[u8; KEY_BYTES],
    ) -> Result<Self, PrivateTokenError> {
        let (content, tag) = sealed.split_at(PLAIN_BYTES);
        let mut plain = [0; PLAIN_BYTES];
        plain.copy_from_slice(content);
        let tag: [u8; TAG_BYTES] = tag.try_into().expect("the tag is what follows the content");
        XChaCha20Poly1305::new(&(*key).into())
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                &associated(protocol_id, expire_s),
                plain.as_mut_slice().into(),
                &Tag::from(tag),
            )
            .map_err(|_| PrivateTokenError::Forged)?;
        Self::read(&mut Cursor(&plain)).ok_or(PrivateTokenError::Malformed)
    }

    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            client_id: u64::from_le_bytes(from.array()?),
            timeout_s: i32::from_le_bytes(from.array()?),
            server_addresses: read_addresses(from)?,
            client_to_server_key: from.array()?,
            server_to_client_key: from.array()?,
            user_data: Box::new(from.array()?),
        })
    }
}

fn associated(protocol_id: u64, expire_s: u64) -> [u8; 29] {
    let mut out = [0; 29];
    out[..13].copy_from_slice(VERSION);
    out[13..21].copy_from_slice(&protocol_id.to_le_bytes());
    out[21..].copy_from_slice(&expire_s.to_le_bytes());
    out
}
