//! Physics of loose parts on the server (feature `physics`): they fall, roll and are pushed by characters, and block nobody.
//!
//! The motor's collision index knows nothing of them, so that prediction stays exact.

mod loose;
mod motion;
mod solid;

pub use loose::{LooseParts, LoosePartsConfig, PushingBody};
pub use motion::{LooseMotion, PartState};
