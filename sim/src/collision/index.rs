use glam::{Quat, Vec3};

use super::ColliderId;
use super::mover::Mover;
use super::shape::{ColliderError, Shape};

/// A resting collider.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its id, unique in an index.
    pub id: ColliderId,
    /// Its geometry.
    pub shape: Shape,
    /// Where its centre is, studs.
    pub position: Vec3,
    /// How it is turned, unit length.
    pub rotation: Quat,
}

/// Anchored parts and scripted movers of a place, found by where they are (S-13).
///
/// Results of queries do not depend on the order in which colliders were inserted.
#[derive(Clone, Debug, Default)]
pub struct CollisionIndex {}

impl CollisionIndex {
    /// An empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a resting collider.
    ///
    /// # Errors
    ///
    /// [`ColliderError`]; the index is then as it was.
    pub fn insert(&mut self, collider: Collider) -> Result<(), ColliderError> {
        let _ = collider;
        Ok(())
    }

    /// Adds a collider that follows `mover`.
    ///
    /// # Errors
    ///
    /// [`ColliderError`]; the index is then as it was.
    pub fn insert_mover(&mut self, id: ColliderId, shape: Shape, mover: Mover) -> Result<(), ColliderError> {
        let _ = (id, shape, mover);
        Ok(())
    }

    /// Removes a collider or mover; false when there is none of that id.
    pub fn remove(&mut self, id: ColliderId) -> bool {
        let _ = id;
        false
    }

    /// Moves a resting collider; false, and nothing changes, when there is none of that id, it is a mover, or a number
    /// is nonfinite or the rotation not of unit length.
    pub fn move_to(&mut self, id: ColliderId, position: Vec3, rotation: Quat) -> bool {
        let _ = (id, position, rotation);
        false
    }

    /// The motion of a mover; `None` for resting and unknown ids.
    #[must_use]
    pub fn mover(&self, id: ColliderId) -> Option<&Mover> {
        let _ = id;
        None
    }

    /// Whether there is a collider or mover of that id.
    #[must_use]
    pub fn contains(&self, id: ColliderId) -> bool {
        let _ = id;
        false
    }

    /// Colliders and movers held.
    #[must_use]
    pub fn len(&self) -> usize {
        0
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
