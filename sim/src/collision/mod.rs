//! The collision index the motor walks on (S-13).

/// A collider of an index: issued by whoever fills it, equal on server and client for the same part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(pub u64);
