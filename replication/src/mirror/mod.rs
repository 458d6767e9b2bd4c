//! Mirrors: a client's copy of what the server publishes.

mod held;
mod instances;
mod replica;
mod waiting;

pub use held::{MAX_HELD_BYTES, MAX_HELD_RECORDS};
pub use instances::{Departure, Mirror, MirrorCounters, MirrorFault, MirrorStore};
pub use replica::{MirrorChange, Replica, ReplicaInstance};
pub use waiting::{MAX_WAITING, MAX_WAITING_BYTES, WAITING_PASSES};
