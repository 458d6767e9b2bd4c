//! Where others are drawn: short windows of received motion, sampled at the remote timeline (S-41 to S-44).

mod character;
mod part;
mod rig;
mod rotation;
mod track;
mod window;

pub use character::{CharacterPose, CharacterTrack};
pub use part::{PartPose, PartTrack};
pub use rig::{JointPose, MAX_JOINTS, RigTrack};
pub(crate) use rotation::{slerp, turn};
pub use track::{Track, TrackPose};
pub use window::Timed;
