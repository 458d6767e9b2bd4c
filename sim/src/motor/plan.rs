use glam::Vec3;

use super::heading::{wanted_direction, yaw_towards};
use super::{InputFrame, MotorSettings};
use crate::collision::{Form, SLOPE_TOLERANCE};
use crate::time::SimSpan;

/// Seconds of a motor tick.
pub(super) const DT: f32 = 1.0 / 240.0;

/// What all motor ticks of one frame share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) settings: MotorSettings,
    pub(super) form: Form,
    pub(super) up: Vec3,
    /// Wanted movement in the world, at most unit length.
    pub(super) wish: Vec3,
    /// Its part across `up`.
    pub(super) heading: Vec3,
    /// Yaw that faces along it.
    pub(super) wish_yaw: Option<f32>,
    pub(super) jump: bool,
    pub(super) auto_jump: bool,
    /// Least cosine between a walkable face's normal and `up`.
    pub(super) steepest: f32,
    /// Farthest that settings alone can move a character in a tick, studs.
    pub(super) reach: f32,
    pub(super) coyote: SimSpan,
    pub(super) buffer: SimSpan,
}

impl Plan {
    pub(super) fn new(frame: &InputFrame, settings: &MotorSettings) -> Self {
        let up = settings.up.normalize_or(Vec3::Y);
        let settings = MotorSettings { up, ..*settings };
        let wish = wanted_direction(frame, up);
        let drive = settings.drive.map_or(0.0, |drive| drive.velocity.length());
        let speed = settings.walk_speed.max(settings.swim_speed).max(settings.flight_speed);
        let fastest = speed + settings.jump_speed + drive;
        Self {
            form: Form::new(&settings),
            up,
            wish,
            heading: across(wish, up),
            wish_yaw: yaw_towards(wish, up),
            jump: frame.jump,
            auto_jump: frame.auto_jump,
            steepest: libm::cosf(settings.slope_limit) - SLOPE_TOLERANCE,
            reach: fastest * DT,
            coyote: SimSpan::from_seconds(f64::from(settings.coyote_time)),
            buffer: SimSpan::from_seconds(f64::from(settings.jump_buffer)),
            settings,
        }
    }

    /// The part of `vector` across up.
    pub(super) fn across(&self, vector: Vec3) -> Vec3 {
        across(vector, self.up)
    }

    /// `vector` on the plane of `normal`, the same as before seen from above.
    pub(super) fn over(&self, vector: Vec3, normal: Vec3) -> Vec3 {
        let heading = self.across(vector);
        heading - self.up * (heading.dot(normal) / normal.dot(self.up).max(0.01))
    }

    /// `vector` on the plane of `normal`, heading where it did seen from above, as long as before.
    pub(super) fn along(&self, vector: Vec3, normal: Vec3) -> Vec3 {
        let on_plane = self.over(vector, normal);
        let square = on_plane.length_squared();
        if square <= f32::MIN_POSITIVE {
            return Vec3::ZERO;
        }
        on_plane * (vector.length_squared() / square).sqrt()
    }
}

fn across(vector: Vec3, up: Vec3) -> Vec3 {
    vector - up * vector.dot(up)
}

/// `from` moved towards `to` by at most `most`.
pub(super) fn approach(from: Vec3, to: Vec3, most: f32) -> Vec3 {
    let way = to - from;
    let square = way.length_squared();
    if square <= most * most { to } else { from + way * (most / square.sqrt()) }
}

/// What is left of `movement` between surfaces with these normals, the last the one just hit: along it, along the crease
/// of two, or nothing.
pub(super) fn clipped(movement: Vec3, normals: &[Vec3]) -> Vec3 {
    let Some(&last) = normals.last() else {
        return movement;
    };
    let slack = -1e-4 * movement.length();
    let fits = |candidate: Vec3| normals.iter().all(|normal| candidate.dot(*normal) >= slack);
    let into = movement.dot(last);
    let slid = if into < 0.0 { movement - last * into } else { movement };
    if fits(slid) {
        return slid;
    }
    for other in normals {
        let crease = last.cross(*other);
        let square = crease.length_squared();
        if square > 1e-6 {
            let slid = crease * (movement.dot(crease) / square);
            if fits(slid) {
                return slid;
            }
        }
    }
    Vec3::ZERO
}
