//! Instances: parts and characters, what is told of them, and to whom.

mod audience;
mod character;
mod part;
mod seat;

pub use audience::{Also, Audience, Recipients};
pub use character::{CharacterMask, CharacterPatch, CharacterPose, CharacterProperties, CharacterProperty};
pub use part::{
    Color, MAX_MESH_POINTS, MAX_MESH_TRIANGLES, MAX_NAME_BYTES, MAX_TAGS, PartMask, PartMover, PartPatch,
    PartProperties, PartProperty, PartShape, Pose,
};
pub use seat::Seat;
