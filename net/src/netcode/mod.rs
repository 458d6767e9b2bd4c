//! The netcode 1.02 standard: tokens, packets, keys and the replay window.

pub mod token;

pub(crate) mod cipher;
pub(crate) mod packet;
pub(crate) mod private_token;
pub(crate) mod replay;
pub(crate) mod tunnel;

/// The standard's version text, with its terminating zero.
pub(crate) const VERSION: &[u8; 13] = b"NETCODE 1.02\0";
/// Length of every key, in bytes.
pub const KEY_BYTES: usize = 32;
/// Length of the user data in a token, in bytes.
pub const USER_DATA_BYTES: usize = 256;
/// Longest payload we send in one netcode packet, in bytes: the standard's limit.
pub const MAX_PAYLOAD_BYTES: usize = 1_200;
/// Most server addresses in a token.
pub const MAX_ADDRESSES: usize = 32;

pub(crate) const TAG_BYTES: usize = 16;
