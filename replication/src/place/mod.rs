//! Places: what was authored, compiled to an archive both sides read in place (R-2, T-30).

mod archive;
mod error;
mod file;
mod repeat;
mod source;

pub use error::PlaceError;
pub use file::{HiddenPart, Place, PlaceHash, PlacePart, Spawn};
pub use source::MAX_PARTS;
