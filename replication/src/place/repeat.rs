use glam::{Quat, Vec3};
use serde::Deserialize;

use crate::instance::Pose;

/// Copies of what it stands in: rows, stairs, rings, and grids of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeat {
    /// How many there are in all, at least 1.
    pub(super) count: u32,
    /// From each to the next, studs.
    #[serde(default)]
    step: [f32; 3],
    /// From each to the next about +Y, degrees.
    #[serde(default)]
    turn: f64,
    /// The point they turn about; without one each turns about its own centre.
    around: Option<[f32; 3]>,
    /// Copies of the copies.
    pub(super) repeat: Option<Box<Repeat>>,
}

impl Repeat {
    /// Poses in all, saturating.
    pub(super) fn total(&self) -> usize {
        let inner = self.repeat.as_ref().map_or(1, |repeat| repeat.total());
        (self.count as usize).saturating_mul(inner)
    }

    /// Calls `place` with each pose, the outermost repeat slowest.
    pub(super) fn for_each(&self, base: Pose, place: &mut dyn FnMut(Pose)) {
        for copy in 0..self.count {
            let turn = turn_about_y(self.turn * f64::from(copy));
            let step = Vec3::from_array(self.step) * copy as f32;
            let position = match self.around.map(Vec3::from_array) {
                Some(centre) => centre + turn * (base.position - centre) + step,
                None => base.position + step,
            };
            let pose = Pose { position, rotation: (turn * base.rotation).normalize() };
            match &self.repeat {
                Some(inner) => inner.for_each(pose, place),
                None => place(pose),
            }
        }
    }
}

/// The rotation by three angles in degrees: first about Z, then X, then Y.
pub(super) fn from_degrees([x, y, z]: [f64; 3]) -> Quat {
    (turn_about_y(y) * turn(Vec3::X, x) * turn(Vec3::Z, z)).normalize()
}

fn turn_about_y(degrees: f64) -> Quat {
    turn(Vec3::Y, degrees)
}

/// Computed in f64 and rounded once, so that a file compiles to the same bytes everywhere.
fn turn(axis: Vec3, degrees: f64) -> Quat {
    let (sin, cos) = libm::sincos(degrees.to_radians() * 0.5);
    let vector = axis * sin as f32;
    Quat::from_xyzw(vector.x, vector.y, vector.z, cos as f32)
}
