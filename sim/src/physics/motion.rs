use glam::{Quat, Vec3};

use crate::collision::ColliderId;
use crate::part::PartState;

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
