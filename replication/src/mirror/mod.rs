//! Mirrors: a client's copy of what the server publishes.

mod instances;
mod replica;

pub use instances::{Departure, MAX_HELD_RECORDS, MAX_WAITING, Mirror, MirrorCounters, MirrorStore, WAITING_PASSES};
pub use replica::{MirrorChange, Replica, ReplicaInstance};
