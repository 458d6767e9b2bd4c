//! The collision index the motor walks on (S-13): anchored parts, scripted movers, and a view of what is near.

mod index;
mod kernel;
mod mover;
mod nearby;
mod placement;
mod shape;
mod solid;
mod sweep;
mod voxels;
mod world;

pub use index::{Collider, CollisionIndex};
pub use mover::{Mover, Slide, Turn};
pub use nearby::Nearby;
pub use shape::{ColliderError, Shape};
pub use voxels::Voxels;
pub use world::CollisionWorld;

pub(crate) use placement::Bounds;
pub(crate) use sweep::{Form, Hit, NEAR, SKIN, Sweep};

/// Slack of the slope limit, as a difference of cosines: a ramp built at the limit is walkable however it is rounded.
pub(crate) const SLOPE_TOLERANCE: f32 = 1e-4;

/// A collider of an index: issued by whoever fills it, equal on server and client for the same part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(pub u64);
