use glam::Vec3;

use crate::scene::Dice;

/// What a walker wants, frame by frame: a new way every half second, back towards the middle when it is far from there.
pub(crate) struct Course {
    dice: Dice,
    range: f32,
    left: u32,
    wanted: Vec3,
}

impl Course {
    pub(crate) fn new(seed: u64, range: f32) -> Self {
        Self { dice: Dice::new(seed), range, left: 0, wanted: Vec3::X }
    }

    /// The direction of the next frame of 1/60 s, for a walker at `position`.
    pub(crate) fn next(&mut self, position: Vec3) -> Vec3 {
        if self.left == 0 {
            self.left = 30;
            let angle = self.dice.share() * std::f32::consts::TAU;
            self.wanted = Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle));
            let across = Vec3::new(position.x, 0.0, position.z);
            if across.length() > self.range * 0.7 {
                self.wanted = -across.normalize();
            }
        }
        self.left -= 1;
        self.wanted
    }
}
