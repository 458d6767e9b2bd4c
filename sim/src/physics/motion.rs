use glam::{Quat, Vec3};

use crate::collision::ColliderId;

/// Pose and motion of a loose part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartState {
    /// Position of its centre, studs.
    pub position: Vec3,
    /// Rotation, unit length.
    pub rotation: Quat,
    /// Velocity, studs/s.
    pub velocity: Vec3,
    /// Angular velocity about the world's axes, radians/s.
    pub angular: Vec3,
}

impl PartState {
    /// A part at rest.
    #[must_use]
    pub fn resting(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation, velocity: Vec3::ZERO, angular: Vec3::ZERO }
    }

    /// Whether every number is finite and the rotation of unit length.
    pub(super) fn is_sound(&self) -> bool {
        self.position.is_finite()
            && self.velocity.is_finite()
            && self.angular.is_finite()
            && self.rotation.is_finite()
            && (self.rotation.length_squared() - 1.0).abs() < 1e-3
    }
}

/// Columns of the parts that moved in a step; all of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LooseMotion {
    /// Which part.
    pub ids: Vec<ColliderId>,
    /// Positions, studs.
    pub positions: Vec<Vec3>,
    /// Rotations, unit length.
    pub rotations: Vec<Quat>,
    /// Velocities, studs/s.
    pub velocities: Vec<Vec3>,
    /// Angular velocities about the world's axes, radians/s.
    pub angulars: Vec<Vec3>,
}

impl LooseMotion {
    /// Rows held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether nothing moved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Drops all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.positions.clear();
        self.rotations.clear();
        self.velocities.clear();
        self.angulars.clear();
    }

    pub(super) fn push(&mut self, id: ColliderId, state: &PartState) {
        self.ids.push(id);
        self.positions.push(state.position);
        self.rotations.push(state.rotation);
        self.velocities.push(state.velocity);
        self.angulars.push(state.angular);
    }
}
