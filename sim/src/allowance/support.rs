use glam::Vec3;

use crate::collision::CollisionWorld;
use crate::motor::MotorSettings;
use crate::time::SimTime;

/// What is below a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bearing {
    /// Nothing within reach.
    #[default]
    Nothing,
    /// Something too steep to stand on.
    Steep,
    /// Something to stand on.
    Walkable,
}

/// Answer to a [`SupportQuery`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Support {
    /// What is below.
    pub bearing: Bearing,
    /// Velocity of the ground there, studs/s: it carries whoever stands on it.
    pub velocity: Vec3,
}

impl Support {
    /// Ground at rest.
    pub const GROUND: Self = Self { bearing: Bearing::Walkable, velocity: Vec3::ZERO };
}

/// What the validator asks the world. Every `FnMut(Vec3, f32) -> Support` is one.
pub trait SupportQuery {
    /// What is within `distance` studs below the feet of a character whose capsule's centre is at `position`.
    fn support(&mut self, position: Vec3, distance: f32) -> Support;
}

impl<F: FnMut(Vec3, f32) -> Support> SupportQuery for F {
    fn support(&mut self, position: Vec3, distance: f32) -> Support {
        self(position, distance)
    }
}

/// Answers from a collision index.
#[derive(Debug)]
pub struct CollisionSupport<'w, 'a> {
    /// The world.
    pub world: &'w mut CollisionWorld<'a>,
    /// The character's capsule, slope limit and up direction.
    pub settings: &'a MotorSettings,
    /// Where movers are looked for: the report's mover time, clamped by the caller to what it believes.
    pub time: SimTime,
}

/// Ways in which a character held between steep surfaces is tried, as shares of two directions across.
const WAYS: [(f32, f32); 8] =
    [(1.0, 0.0), (0.7, 0.7), (0.0, 1.0), (-0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (0.0, -1.0), (0.7, -0.7)];
/// How far down it is tried to slide, studs: steeper than any walkable slope with the share across.
const SLIDE: (f32, f32) = (0.25, 0.35);

impl SupportQuery for CollisionSupport<'_, '_> {
    fn support(&mut self, position: Vec3, distance: f32) -> Support {
        let (settings, time) = (self.settings, self.time);
        if let Some(contact) = self.world.support_below(position, settings, distance, time) {
            let feet = position - settings.up * settings.half_height;
            let mover = self.world.mover_nearby(contact.collider);
            let velocity = mover.map_or(Vec3::ZERO, |mover| mover.velocity_at(feet, time));
            return Support { bearing: Bearing::Walkable, velocity };
        }
        if self.world.path_is_clear(position, position - settings.up * distance, settings, time) {
            return Support::default();
        }
        let first = settings.up.any_orthonormal_vector();
        let second = settings.up.cross(first);
        let held = WAYS.iter().all(|(a, b)| {
            let way = (first * *a + second * *b) * SLIDE.0 - settings.up * SLIDE.1;
            !self.world.path_is_clear(position, position + way, settings, time)
        });
        let bearing = if held { Bearing::Walkable } else { Bearing::Steep };
        Support { bearing, velocity: Vec3::ZERO }
    }
}
