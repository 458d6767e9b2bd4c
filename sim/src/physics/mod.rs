//! Physics of loose parts on server and client (feature `physics`): they fall, roll and are pushed by characters, and block
//! nobody. On a client, parts that others own are driven along their tracks.
//!
//! The motor's collision index knows nothing of them, so that prediction stays exact.

mod driven;
mod islands;
mod loose;
mod motion;
mod reach;
mod solid;

pub use crate::part::PartState;
pub use loose::{LooseParts, LoosePartsConfig, PushingBody};
pub use motion::LooseMotion;
