//! The collision index the motor walks on (S-13): anchored parts, scripted movers, and a view of what is near.

mod index;
mod mover;
mod nearby;
mod shape;
mod world;

pub use index::{Collider, CollisionIndex};
pub use mover::{Mover, Slide, Turn};
pub use nearby::Nearby;
pub use shape::{ColliderError, Shape};
pub use world::CollisionWorld;

/// A collider of an index: issued by whoever fills it, equal on server and client for the same part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(pub u64);
