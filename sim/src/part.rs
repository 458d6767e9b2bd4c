use glam::{Quat, Vec3};

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

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.is_finite() && self.angular.is_finite() && self.rotation.is_finite()
    }

    /// Whether every number is finite and the rotation of unit length.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.is_finite() && (self.rotation.length_squared() - 1.0).abs() < 1e-3
    }
}
