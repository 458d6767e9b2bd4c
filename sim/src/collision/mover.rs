use std::f64::consts::TAU;

use glam::{Quat, Vec3};

use super::placement::{Bounds, Placement};
use super::shape::ColliderError;
use crate::time::{SimSpan, SimTime};

/// Motion to and fro: from the base to `base + offset` in half a period and back in the other half, easing at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slide {
    /// Where it turns back, relative to the base position, studs.
    pub offset: Vec3,
    /// Time there and back, at least one motor tick.
    pub period: SimSpan,
    /// How far into its period it is at time 0.
    pub phase: SimSpan,
}

/// Rotation at a steady rate, counter-clockwise seen against `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Axis through the mover's position, unit length; its opposite turns the other way.
    pub axis: Vec3,
    /// Time of a full turn, at least two motor ticks.
    pub period: SimSpan,
    /// How far into its period it is at time 0.
    pub phase: SimSpan,
}

/// A scripted mover: its pose is a pure function of time, equal to the bit on every machine (S-12a).
///
/// Phases are integers, so a mover is as exact after a month as at the start. With both motions it turns about its own
/// position while that slides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    /// Position when neither motion has begun, studs.
    pub position: Vec3,
    /// Rotation when it has not turned, unit length.
    pub rotation: Quat,
    /// Motion to and fro.
    pub slide: Option<Slide>,
    /// Rotation about an axis.
    pub turn: Option<Turn>,
}

impl Mover {
    /// A mover at rest.
    #[must_use]
    pub fn resting(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation, slide: None, turn: None }
    }

    /// The same mover, sliding.
    #[must_use]
    pub fn with_slide(self, slide: Slide) -> Self {
        Self { slide: Some(slide), ..self }
    }

    /// The same mover, turning.
    #[must_use]
    pub fn with_turn(self, turn: Turn) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// Position and rotation at `time`.
    #[must_use]
    pub fn pose(&self, time: SimTime) -> (Vec3, Quat) {
        let rotation = match self.turn {
            None => self.rotation,
            Some(turn) => {
                multiplied(rotation_about(turn.axis, fraction(time, turn.period, turn.phase) * TAU), self.rotation)
            }
        };
        (self.position_at(time), rotation)
    }

    /// Velocity of the point of the mover that is at `point` at `time`, studs/s: the mean over the motor tick that ends
    /// there, over the first motor tick at the beginning of time.
    #[must_use]
    pub fn velocity_at(&self, point: Vec3, time: SimTime) -> Vec3 {
        let earlier = time - SimSpan::MOTOR_TICK;
        let rate = SimTime::UNITS_PER_SECOND as f32 / SimTime::UNITS_PER_MOTOR_TICK as f32;
        if time.0 < SimTime::UNITS_PER_MOTOR_TICK {
            return (self.carry(point, time, time + SimSpan::MOTOR_TICK) - point) * rate;
        }
        (point - self.carry(point, time, earlier)) * rate
    }

    /// Where the point of the mover that is at `point` at time `from` is at time `to`: `pose(to) * pose(from)⁻¹`.
    #[must_use]
    pub fn carry(&self, point: Vec3, from: SimTime, to: SimTime) -> Vec3 {
        let start = self.position_at(from);
        let end = self.position_at(to);
        let arm = point - start;
        match self.turn {
            None => point + (end - start),
            Some(turn) => end + turned(turn.axis, turned_by(turn, from, to), arm),
        }
    }

    /// Angle the mover turns about `up` from one time to another, radians in (-π, π].
    #[must_use]
    pub fn yaw_between(&self, from: SimTime, to: SimTime, up: Vec3) -> f32 {
        self.turn.map_or(0.0, |turn| turned_by(turn, from, to) as f32 * turn.axis.dot(up))
    }

    fn position_at(&self, time: SimTime) -> Vec3 {
        self.slide.map_or(self.position, |slide| {
            self.position + slide.offset * ease(fraction(time, slide.period, slide.phase))
        })
    }

    /// Bounds of everything it ever reaches, of a solid with `bounds` in its own axes.
    pub(super) fn bounds(&self, bounds: &Bounds) -> Bounds {
        self.bounds_turned(bounds, self.position).swept(self.slide.map_or(Vec3::ZERO, |slide| slide.offset))
    }

    /// Bounds of everything it reaches within `span` around `time`.
    pub(super) fn bounds_during(&self, bounds: &Bounds, time: SimTime, span: SimSpan) -> Bounds {
        let reach = self.slide.map_or(0.0, |slide| {
            // Easing peaks at 1.5 times the mean speed, and the way is gone twice a period.
            3.0 * slide.offset.length() * (span.seconds() / slide.period.seconds()) as f32
        });
        self.bounds_turned(bounds, self.position_at(time)).grown(reach)
    }

    /// Bounds at a position: of one rotation, or of all when it turns.
    fn bounds_turned(&self, bounds: &Bounds, position: Vec3) -> Bounds {
        match self.turn {
            None => Placement::new(position, self.rotation).bounds_outward(bounds),
            Some(_) => Bounds::around(position, Vec3::splat(bounds.reach())),
        }
    }

    /// Refuses nonfinite numbers, axes that are not of unit length and periods too short to have a velocity.
    pub(super) fn check(&self) -> Result<(), ColliderError> {
        let slide = self.slide.is_none_or(|slide| slide.offset.is_finite());
        let turn = self.turn.is_none_or(|turn| turn.axis.is_finite());
        if !(self.position.is_finite() && self.rotation.is_finite() && slide && turn) {
            return Err(ColliderError::NonFinite);
        }
        let unit = (self.rotation.length_squared() - 1.0).abs() < 1e-3
            && self.turn.is_none_or(|turn| (turn.axis.length_squared() - 1.0).abs() < 1e-3);
        let periods = self.slide.is_none_or(|slide| slide.period >= SimSpan::MOTOR_TICK)
            && self.turn.is_none_or(|turn| turn.period.0 >= 2 * SimSpan::MOTOR_TICK.0);
        if unit && periods { Ok(()) } else { Err(ColliderError::Motion) }
    }
}

/// Share of the period that has passed, in [0, 1).
fn fraction(time: SimTime, period: SimSpan, phase: SimSpan) -> f64 {
    let period = u64::from(period.0.max(1));
    ((time.0 % period + u64::from(phase.0)) % period) as f64 / period as f64
}

/// Share of the way to the far end: there and back, at rest at both ends.
fn ease(fraction: f64) -> f32 {
    let way = if fraction < 0.5 { 2.0 * fraction } else { 2.0 - 2.0 * fraction };
    (way * way * (3.0 - 2.0 * way)) as f32
}

/// Angle turned between two times, radians in (-π, π].
fn turned_by(turn: Turn, from: SimTime, to: SimTime) -> f64 {
    let period = u64::from(turn.period.0.max(1));
    let ahead = (to.0 % period + period - from.0 % period) % period;
    let share = ahead as f64 / period as f64;
    if share > 0.5 { (share - 1.0) * TAU } else { share * TAU }
}

fn rotation_about(axis: Vec3, angle: f64) -> Quat {
    let (sin, cos) = libm::sincos(angle * 0.5);
    let vector = axis * sin as f32;
    Quat::from_xyzw(vector.x, vector.y, vector.z, cos as f32)
}

/// `arm` turned about `axis`, as a small change to it, so that carrying does not wear off over many ticks.
fn turned(axis: Vec3, angle: f64, arm: Vec3) -> Vec3 {
    let (sin, _) = libm::sincos(angle);
    let (half_sin, _) = libm::sincos(angle * 0.5);
    let across = arm - axis * axis.dot(arm);
    arm + axis.cross(arm) * sin as f32 - across * (2.0 * half_sin * half_sin) as f32
}

/// The product of two rotations, `second` first, by components: equal on every target.
fn multiplied(first: Quat, second: Quat) -> Quat {
    let (a, b) = (first, second);
    Quat::from_xyzw(
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    )
}
