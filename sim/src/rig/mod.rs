//! The stream of rigs (S-44a): joints travel apart from root motion, changed ones only, four bytes each.

mod codec;
mod locomotion;
mod packed;
mod selection;

pub use codec::{RigFrame, read_rig, write_rig};
pub use locomotion::{DEFAULT_JOINTS, Locomotion, default_rig};
pub use packed::PackedJoint;
pub use selection::{RigSelection, RigStreamConfig};
