use glam::{Quat, Vec3};
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;
use tidelock_sim::SimSpan;
use tidelock_sim::collision::{Slide, Turn};
use tidelock_sim::motor::MotorSettings;

use crate::instance::{
    Color, MAX_MESH_POINTS, MAX_MESH_TRIANGLES, MAX_NAME_BYTES, MAX_TAGS, PartMover, PartProperties, PartShape, Pose,
};
use crate::interest::InterestSettings;
use crate::wire::mover_is_valid;

/// The part of a place every client has.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct ClientPart {
    pub(super) name: String,
    pub(super) motor: StoredMotor,
    pub(super) streaming: bool,
    pub(super) target_radius: f32,
    pub(super) min_radius: f32,
    pub(super) parts: Vec<StoredPart>,
}

/// The part of a place that never leaves the server.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct ServerPart {
    pub(super) authored: u64,
    pub(super) spawns: Vec<StoredSpawn>,
    pub(super) parts: Vec<StoredHidden>,
    pub(super) tags: Vec<StoredServerTags>,
}

#[derive(Archive, Serialize, Deserialize)]
pub(super) struct StoredSpawn {
    pub(super) position: [f32; 3],
    pub(super) yaw: f32,
}

/// A part that not every client may know of.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct StoredHidden {
    pub(super) part: StoredPart,
    pub(super) audience: StoredAudience,
}

#[derive(Archive, Serialize, Deserialize)]
pub(super) enum StoredAudience {
    Server,
    Owner(u64),
    Group(u32),
}

/// Tags of a part, by its id, that only the server knows.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct StoredServerTags {
    pub(super) id: u64,
    pub(super) tags: Vec<String>,
}

#[derive(Archive, Serialize, Deserialize)]
pub(super) struct StoredPart {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) shape: StoredShape,
    pub(super) size: [f32; 3],
    pub(super) position: [f32; 3],
    pub(super) rotation: [f32; 4],
    pub(super) color: [u8; 3],
    pub(super) transparency: f32,
    pub(super) anchored: bool,
    pub(super) can_collide: bool,
    pub(super) water: bool,
    pub(super) slide: Option<StoredMotion>,
    pub(super) turn: Option<StoredMotion>,
    pub(super) tags: Vec<String>,
}

/// A slide's offset or a turn's axis, with period and phase in units of time.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct StoredMotion {
    pub(super) vector: [f32; 3],
    pub(super) period: u32,
    pub(super) phase: u32,
}

#[derive(Archive, Serialize, Deserialize)]
pub(super) enum StoredShape {
    Box,
    Ball,
    Cylinder,
    Wedge,
    Capsule,
    Hull(Vec<[f32; 3]>),
    TriMesh { vertices: Vec<[f32; 3]>, triangles: Vec<[u32; 3]> },
}

/// Movement settings of characters in the place.
#[derive(Archive, Serialize, Deserialize)]
pub(super) struct StoredMotor {
    pub(super) lengths: [f32; 3],
    pub(super) up: [f32; 3],
    pub(super) walk_speed: f32,
    pub(super) accelerations: [f32; 3],
    pub(super) gravity: f32,
    pub(super) terminal_speed: f32,
    pub(super) jump_speed: f32,
    pub(super) air_jumps: u8,
    pub(super) graces: [f32; 2],
    pub(super) slope_limit: f32,
    pub(super) turn_speed: f32,
    pub(super) swim_speed: f32,
    pub(super) flight_speed: f32,
}

impl StoredMotor {
    pub(super) fn of(settings: &MotorSettings) -> Self {
        Self {
            lengths: [settings.radius, settings.half_height, settings.step_height],
            up: settings.up.to_array(),
            walk_speed: settings.walk_speed,
            accelerations: [settings.ground_acceleration, settings.ground_friction, settings.air_acceleration],
            gravity: settings.gravity,
            terminal_speed: settings.terminal_speed,
            jump_speed: settings.jump_speed,
            air_jumps: settings.air_jumps,
            graces: [settings.coyote_time, settings.jump_buffer],
            slope_limit: settings.slope_limit,
            turn_speed: settings.turn_speed,
            swim_speed: settings.swim_speed,
            flight_speed: settings.flight_speed,
        }
    }
}

impl ArchivedStoredMotor {
    pub(super) fn settings(&self) -> MotorSettings {
        MotorSettings {
            radius: self.lengths[0].to_native(),
            half_height: self.lengths[1].to_native(),
            step_height: self.lengths[2].to_native(),
            up: vector(&self.up),
            walk_speed: self.walk_speed.to_native(),
            ground_acceleration: self.accelerations[0].to_native(),
            ground_friction: self.accelerations[1].to_native(),
            air_acceleration: self.accelerations[2].to_native(),
            gravity: self.gravity.to_native(),
            terminal_speed: self.terminal_speed.to_native(),
            jump_speed: self.jump_speed.to_native(),
            air_jumps: self.air_jumps,
            coyote_time: self.graces[0].to_native(),
            jump_buffer: self.graces[1].to_native(),
            slope_limit: self.slope_limit.to_native(),
            turn_speed: self.turn_speed.to_native(),
            swim_speed: self.swim_speed.to_native(),
            flight_speed: self.flight_speed.to_native(),
            ..MotorSettings::default()
        }
    }
}

/// The first key of movement settings whose value no motor can run with, and what must hold.
pub(super) fn motor_fault(settings: &MotorSettings) -> Option<(&'static str, &'static str)> {
    let bounded = |value: f32, least: f32, most: f32| value >= least && value <= most;
    let rules = [
        ("radius", bounded(settings.radius, 0.05, 100.0), "must be 0.05 to 100 studs"),
        ("half_height", bounded(settings.half_height, settings.radius, 200.0), "must be `radius` to 200 studs"),
        ("up", settings.up.is_finite() && (settings.up.length() - 1.0).abs() < 1e-3, "must have a direction"),
        ("walk_speed", bounded(settings.walk_speed, 0.0, 1e3), "must be 0 to 1,000 studs/s"),
        ("ground_acceleration", bounded(settings.ground_acceleration, 0.0, 1e5), "must be 0 to 100,000 studs/s²"),
        ("ground_friction", bounded(settings.ground_friction, 0.0, 1e5), "must be 0 to 100,000 studs/s²"),
        ("air_acceleration", bounded(settings.air_acceleration, 0.0, 1e5), "must be 0 to 100,000 studs/s²"),
        ("gravity", bounded(settings.gravity, 0.0, 1e4), "must be 0 to 10,000 studs/s²"),
        ("terminal_speed", bounded(settings.terminal_speed, 0.0, 1e3), "must be 0 to 1,000 studs/s"),
        ("jump_speed", bounded(settings.jump_speed, 0.0, 1e3), "must be 0 to 1,000 studs/s"),
        ("coyote_time", bounded(settings.coyote_time, 0.0, 5.0), "must be 0 to 5 s"),
        ("jump_buffer", bounded(settings.jump_buffer, 0.0, 5.0), "must be 0 to 5 s"),
        ("slope_limit", bounded(settings.slope_limit, 0.0, 1.56), "must be 0° to 89°"),
        ("swim_speed", bounded(settings.swim_speed, 0.0, 1e3), "must be 0 to 1,000 studs/s"),
        ("flight_speed", bounded(settings.flight_speed, 0.0, 1e3), "must be 0 to 1,000 studs/s"),
        ("turn_speed", bounded(settings.turn_speed, 0.0, 1e3), "must be 0 to 1,000 radians/s"),
        ("step_height", bounded(settings.step_height, 0.0, 100.0), "must be 0 to 100 studs"),
    ];
    rules.into_iter().find(|rule| !rule.1).map(|(key, _, reason)| (key, reason))
}

/// The first key of interest settings that cannot be, and what must hold.
pub(super) fn interest_fault(settings: &InterestSettings) -> Option<(&'static str, &'static str)> {
    let sound = |radius: f32| (0.0..=1e6).contains(&radius);
    [("target_radius", settings.target_radius), ("min_radius", settings.min_radius)]
        .into_iter()
        .find(|(_, radius)| !sound(*radius))
        .map(|(key, _)| (key, "must be 0 to 1,000,000 studs"))
}

/// Farthest a part may be from the place's origin along any axis, studs (T-5).
pub(super) const EXTENT: f32 = 16_384.0;

/// The first key of a part that cannot be, and what must hold.
pub(super) fn part_fault(properties: &PartProperties, pose: &Pose) -> Option<(&'static str, &'static str)> {
    let PartProperties { name, shape, size, transparency, anchored, water, mover, tags, .. } = properties;
    let holds_water = *anchored && mover.is_none() && !matches!(shape, PartShape::TriMesh { .. });
    let near = |value: Vec3| value.is_finite() && value.abs().max_element() <= EXTENT;
    let rules = [
        ("name", name.len() <= MAX_NAME_BYTES, "must be at most 64 bytes long"),
        ("size", near(*size) && size.min_element() > 0.0, "must be positive and at most 16,384 studs"),
        ("position", near(pose.position), "must be at most 16,384 studs from the origin"),
        (
            "rotation",
            pose.rotation.is_finite() && (pose.rotation.length() - 1.0).abs() < 1e-3,
            "must be three finite angles",
        ),
        ("transparency", (0.0..=1.0).contains(transparency), "must be 0 to 1"),
        ("tags", tags.len() <= MAX_TAGS, "must be at most 32"),
        ("tags", tags.iter().all(|tag| tag.len() <= MAX_NAME_BYTES), "must be at most 64 bytes long each"),
        ("water", !*water || holds_water, "needs an anchored part without mover whose shape has an inside"),
        ("mover", mover.is_none() || *anchored, "needs an anchored part"),
        ("mover", mover.as_ref().is_none_or(mover_is_valid), "needs finite offsets, an axis and periods above 0.01 s"),
        ("points", mesh_is_sound(shape), "must be 4 to 4,096 finite points"),
        ("triangles", triangles_are_sound(shape), "must be 1 to 8,192 triples of indices of points"),
    ];
    rules.into_iter().find(|rule| !rule.1).map(|(key, _, reason)| (key, reason))
}

fn mesh_is_sound(shape: &PartShape) -> bool {
    match shape {
        PartShape::Hull(points) | PartShape::TriMesh { vertices: points, .. } => {
            let least = if matches!(shape, PartShape::Hull(_)) { 4 } else { 3 };
            (least..=MAX_MESH_POINTS).contains(&points.len()) && points.iter().all(|point| point.is_finite())
        }
        _ => true,
    }
}

fn triangles_are_sound(shape: &PartShape) -> bool {
    let PartShape::TriMesh { vertices, triangles } = shape else { return true };
    (1..=MAX_MESH_TRIANGLES).contains(&triangles.len())
        && triangles.iter().flatten().all(|&corner| (corner as usize) < vertices.len())
}

impl StoredPart {
    pub(super) fn of(id: u64, properties: &PartProperties, pose: &Pose) -> Self {
        let points = |points: &[Vec3]| points.iter().map(Vec3::to_array).collect();
        let PartMover { slide, turn } = properties.mover.unwrap_or_default();
        Self {
            id,
            name: properties.name.to_string(),
            shape: match &properties.shape {
                PartShape::Box => StoredShape::Box,
                PartShape::Ball => StoredShape::Ball,
                PartShape::Cylinder => StoredShape::Cylinder,
                PartShape::Wedge => StoredShape::Wedge,
                PartShape::Capsule => StoredShape::Capsule,
                PartShape::Hull(corners) => StoredShape::Hull(points(corners)),
                PartShape::TriMesh { vertices, triangles } => {
                    StoredShape::TriMesh { vertices: points(vertices), triangles: triangles.to_vec() }
                }
            },
            size: properties.size.to_array(),
            position: pose.position.to_array(),
            rotation: pose.rotation.to_array(),
            color: properties.color.0,
            transparency: properties.transparency,
            anchored: properties.anchored,
            can_collide: properties.can_collide,
            water: properties.water,
            slide: slide.map(|Slide { offset, period, phase }| StoredMotion::of(offset, period, phase)),
            turn: turn.map(|Turn { axis, period, phase }| StoredMotion::of(axis, period, phase)),
            tags: properties.tags.iter().map(ToString::to_string).collect(),
        }
    }
}

impl StoredMotion {
    fn of(vector: Vec3, period: SimSpan, phase: SimSpan) -> Self {
        Self { vector: vector.to_array(), period: period.0, phase: phase.0 }
    }
}

impl ArchivedStoredMotion {
    fn parts(&self) -> (Vec3, SimSpan, SimSpan) {
        (vector(&self.vector), SimSpan(self.period.to_native()), SimSpan(self.phase.to_native()))
    }
}

impl ArchivedStoredPart {
    pub(super) fn pose(&self) -> Pose {
        Pose {
            position: vector(&self.position),
            rotation: Quat::from_array(self.rotation.map(|value| value.to_native())),
        }
    }

    pub(super) fn properties(&self) -> PartProperties {
        let slide = self.slide.as_ref().map(|slide| {
            let (offset, period, phase) = slide.parts();
            Slide { offset, period, phase }
        });
        let turn = self.turn.as_ref().map(|turn| {
            let (axis, period, phase) = turn.parts();
            Turn { axis, period, phase }
        });
        PartProperties {
            name: Arc::from(self.name.as_str()),
            shape: self.shape.shape(),
            size: vector(&self.size),
            color: Color(self.color),
            transparency: self.transparency.to_native(),
            anchored: self.anchored,
            can_collide: self.can_collide,
            water: self.water,
            mover: (slide.is_some() || turn.is_some()).then_some(PartMover { slide, turn }),
            tags: self.tags.iter().map(|tag| Arc::from(tag.as_str())).collect(),
        }
    }
}

impl ArchivedStoredShape {
    fn shape(&self) -> PartShape {
        match self {
            Self::Box => PartShape::Box,
            Self::Ball => PartShape::Ball,
            Self::Cylinder => PartShape::Cylinder,
            Self::Wedge => PartShape::Wedge,
            Self::Capsule => PartShape::Capsule,
            Self::Hull(points) => PartShape::Hull(points.iter().map(vector).collect()),
            Self::TriMesh { vertices, triangles } => PartShape::TriMesh {
                vertices: vertices.iter().map(vector).collect(),
                triangles: triangles.iter().map(|corners| corners.map(|corner| corner.to_native())).collect(),
            },
        }
    }
}

pub(super) fn vector(stored: &[rkyv::rend::unaligned::f32_ule; 3]) -> Vec3 {
    Vec3::new(stored[0].to_native(), stored[1].to_native(), stored[2].to_native())
}
