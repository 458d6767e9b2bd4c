//! The extension two of our own endpoints agree on after a standard handshake: cheaper packets with a connection id, and paths that
//! may change.

mod keys;
mod mtu;
mod path;
mod tunnel;
mod upgrade;

pub(crate) use keys::{Secrets, TokenKeys};
pub(crate) use mtu::{MtuProbe, MtuSearch, PROBE_BYTES};
pub(crate) use path::{PATH_BYTES, PathProbe};
pub(crate) use tunnel::{ExtendedTunnel, Way, is_extended, named};
pub(crate) use upgrade::{Announcing, Answered, Notice, Upgrade};
