//! Motion: the poses of what moves, encoded once per tick and copied into each player's batches.

mod arena;
mod batch;
mod gate;
mod item;
mod player;
mod rotation;
mod velocity;

pub use arena::{MotionArena, REFRESH_BROADCASTS};
pub use batch::{
    BatchSpan, MAX_BATCH_BYTES, MAX_ENVELOPE_BYTES, MAX_ITEMS_BYTES, MotionBatch, MotionEnvelope, MotionOutput,
};
pub use gate::MotionGate;
pub use item::{CharacterMotion, MAX_ITEM_BYTES, MotionItem, PartMotion};
pub use player::{Delivery, MAX_PENDING_BATCHES, MotionSchedule};
pub use rotation::PackedRotation;
pub use velocity::{pack_velocity5, pack_velocity6, unpack_velocity5, unpack_velocity6};
