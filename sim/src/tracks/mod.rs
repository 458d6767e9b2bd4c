//! Where others are drawn: short windows of received motion, sampled at the remote timeline (S-41 to S-43).

mod character;
mod part;
mod rotation;
mod window;

pub use character::{CharacterPose, CharacterTrack};
pub use part::{PartPose, PartTrack};
