use glam::Vec3;

/// A vector split along a direction: what lies across it, and how much along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    pub(super) across: Vec3,
    pub(super) along: f32,
    up: Vec3,
}

impl Split {
    /// Splits along `up`, of unit length.
    pub(super) fn new(vector: Vec3, up: Vec3) -> Self {
        let along = vector.dot(up);
        Self { across: vector - up * along, along, up }
    }

    /// Length of the part across.
    pub(super) fn horizontal(&self) -> f32 {
        self.across.length()
    }

    /// Shortens the part across to at most `length`.
    pub(super) fn limit_horizontal(&mut self, length: f32) {
        let now = self.horizontal();
        if now > length {
            self.across *= length.max(0.0) / now;
        }
    }

    /// The vector again.
    pub(super) fn joined(&self) -> Vec3 {
        self.across + self.up * self.along
    }
}
