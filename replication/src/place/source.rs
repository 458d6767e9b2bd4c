use std::sync::Arc;

use glam::Vec3;
use serde::Deserialize;
use tidelock_sim::SimSpan;
use tidelock_sim::collision::{Slide, Turn};
use tidelock_sim::motor::MotorSettings;
use toml::Spanned;

use super::archive::{
    ClientPart, ServerPart, StoredAudience, StoredHidden, StoredMotor, StoredPart, StoredServerTags, StoredSpawn,
    interest_fault, motor_fault, part_fault,
};
use super::repeat::{Repeat, from_degrees};
use super::{Place, PlaceError};
use crate::instance::{Color, MAX_NAME_BYTES, PartMover, PartProperties, PartShape, Pose};
use crate::interest::InterestSettings;

/// The most parts of a place.
pub const MAX_PARTS: usize = 262_144;

/// An authored file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceSource {
    name: Spanned<String>,
    #[serde(default)]
    movement: Option<Spanned<MovementSource>>,
    #[serde(default)]
    streaming: Option<Spanned<StreamingSource>>,
    #[serde(default, rename = "spawn")]
    spawns: Vec<Spanned<SpawnSource>>,
    #[serde(default, rename = "part")]
    parts: Vec<Spanned<PartSource>>,
}

/// Movement settings; what is left out has the motor's default. `slope_limit` is in degrees.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MovementSource {
    radius: Option<f32>,
    half_height: Option<f32>,
    up: Option<[f32; 3]>,
    walk_speed: Option<f32>,
    ground_acceleration: Option<f32>,
    ground_friction: Option<f32>,
    air_acceleration: Option<f32>,
    gravity: Option<f32>,
    terminal_speed: Option<f32>,
    jump_speed: Option<f32>,
    air_jumps: Option<u8>,
    coyote_time: Option<f32>,
    jump_buffer: Option<f32>,
    slope_limit: Option<f32>,
    step_height: Option<f32>,
    turn_speed: Option<f32>,
    swim_speed: Option<f32>,
    flight_speed: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamingSource {
    enabled: Option<bool>,
    target_radius: Option<f32>,
    min_radius: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpawnSource {
    position: [f32; 3],
    /// Degrees about +Y.
    #[serde(default)]
    yaw: f32,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartSource {
    #[serde(default = "default_name")]
    name: String,
    #[serde(default)]
    shape: ShapeSource,
    size: Option<[f32; 3]>,
    position: [f32; 3],
    #[serde(default)]
    rotation: [f64; 3],
    color: Option<String>,
    #[serde(default)]
    transparency: f32,
    #[serde(default = "yes")]
    anchored: bool,
    #[serde(default = "yes")]
    can_collide: bool,
    #[serde(default)]
    water: bool,
    mover: Option<MoverSource>,
    audience: Option<AudienceSource>,
    #[serde(default)]
    server_only: bool,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    server_tags: Vec<String>,
    points: Option<Vec<[f32; 3]>>,
    triangles: Option<Vec<[u32; 3]>>,
    repeat: Option<Repeat>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ShapeSource {
    #[default]
    Box,
    Ball,
    Cylinder,
    Wedge,
    Capsule,
    Hull,
    Trimesh,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct MoverSource {
    slide: Option<SlideSource>,
    turn: Option<TurnSource>,
}

/// To `offset` and back in `period` seconds.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlideSource {
    offset: [f32; 3],
    period: f64,
    #[serde(default)]
    phase: f64,
}

/// Once about `axis` in `period` seconds.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnSource {
    #[serde(default = "up")]
    axis: [f32; 3],
    period: f64,
    #[serde(default)]
    phase: f64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AudienceSource {
    Shared,
    Owner(u64),
    Group(u32),
}

fn default_name() -> String {
    "Part".into()
}

fn yes() -> bool {
    true
}

fn up() -> [f32; 3] {
    [0.0, 1.0, 0.0]
}

/// Compiles the text of an authored file.
pub(super) fn compile(text: &str) -> Result<Place, PlaceError> {
    let source: PlaceSource = toml::from_str(text).map_err(|error| syntax(text, &error))?;
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let name_line = line(source.name.span().start);
    if source.name.get_ref().len() > MAX_NAME_BYTES {
        return Err(PlaceError::Value { line: name_line, key: "name", reason: "must be at most 64 bytes long" });
    }
    let motor_line = source.movement.as_ref().map_or(1, |table| line(table.span().start));
    let motor = source.movement.map(|table| table.into_inner().settings()).unwrap_or_default();
    reject(motor_line, motor_fault(&motor))?;
    let interest_line = source.streaming.as_ref().map_or(1, |table| line(table.span().start));
    let interest = source.streaming.map(|table| table.into_inner().settings()).unwrap_or_default();
    reject(interest_line, interest_fault(&interest))?;
    let mut client = ClientPart {
        name: source.name.into_inner(),
        motor: StoredMotor::of(&motor),
        streaming: interest.streaming,
        target_radius: interest.target_radius,
        min_radius: interest.min_radius,
        parts: Vec::new(),
    };
    let mut server = ServerPart { authored: 0, spawns: Vec::new(), parts: Vec::new(), tags: Vec::new() };
    for spawn in source.spawns {
        let spawn_line = line(spawn.span().start);
        server.spawns.push(spawn.into_inner().stored().ok_or(PlaceError::Value {
            line: spawn_line,
            key: "position",
            reason: "and yaw must be finite",
        })?);
    }
    for part in source.parts {
        let part_line = line(part.span().start);
        part.into_inner().add(part_line, &mut client, &mut server)?;
    }
    Place::build(&client, &server)
}

fn syntax(text: &str, error: &toml::de::Error) -> PlaceError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text.as_bytes()[..at];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
    // A missing or mistyped value says what was wanted; the line says which key it stands behind.
    let key = text.lines().nth(line - 1).and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
    let message = match key {
        Some(key) if !error.message().contains(key) => format!("`{key}`: {}", error.message()),
        _ => error.message().to_owned(),
    };
    PlaceError::Syntax { line, column, message }
}

fn reject(line: usize, fault: Option<(&'static str, &'static str)>) -> Result<(), PlaceError> {
    fault.map_or(Ok(()), |(key, reason)| Err(PlaceError::Value { line, key, reason }))
}

impl MovementSource {
    fn settings(self) -> MotorSettings {
        let defaults = MotorSettings::default();
        let or = |value: Option<f32>, default: f32| value.unwrap_or(default);
        MotorSettings {
            radius: or(self.radius, defaults.radius),
            half_height: or(self.half_height, defaults.half_height),
            up: self.up.map_or(defaults.up, |up| Vec3::from_array(up).normalize_or_zero()),
            walk_speed: or(self.walk_speed, defaults.walk_speed),
            ground_acceleration: or(self.ground_acceleration, defaults.ground_acceleration),
            ground_friction: or(self.ground_friction, defaults.ground_friction),
            air_acceleration: or(self.air_acceleration, defaults.air_acceleration),
            gravity: or(self.gravity, defaults.gravity),
            terminal_speed: or(self.terminal_speed, defaults.terminal_speed),
            jump_speed: or(self.jump_speed, defaults.jump_speed),
            air_jumps: self.air_jumps.unwrap_or(defaults.air_jumps),
            coyote_time: or(self.coyote_time, defaults.coyote_time),
            jump_buffer: or(self.jump_buffer, defaults.jump_buffer),
            slope_limit: self.slope_limit.map_or(defaults.slope_limit, f32::to_radians),
            step_height: or(self.step_height, defaults.step_height),
            turn_speed: or(self.turn_speed, defaults.turn_speed),
            swim_speed: or(self.swim_speed, defaults.swim_speed),
            flight_speed: or(self.flight_speed, defaults.flight_speed),
            ..defaults
        }
    }
}

impl StreamingSource {
    fn settings(self) -> InterestSettings {
        let defaults = InterestSettings::default();
        InterestSettings {
            streaming: self.enabled.unwrap_or(defaults.streaming),
            target_radius: self.target_radius.unwrap_or(defaults.target_radius),
            min_radius: self.min_radius.unwrap_or(defaults.min_radius),
        }
    }
}

impl SpawnSource {
    fn stored(self) -> Option<StoredSpawn> {
        let finite = self.yaw.is_finite() && self.position.iter().all(|value| value.is_finite());
        finite.then(|| StoredSpawn { position: self.position, yaw: self.yaw.to_radians() })
    }
}

impl PartSource {
    /// Adds the part and its repeats under the next ids.
    fn add(mut self, line: usize, client: &mut ClientPart, server: &mut ServerPart) -> Result<(), PlaceError> {
        let repeat = self.repeat.take();
        let total = repeat.as_ref().map_or(1, Repeat::total);
        if total == 0 {
            return Err(PlaceError::Value { line, key: "count", reason: "must be at least 1" });
        }
        if total > MAX_PARTS || server.authored as usize + total > MAX_PARTS {
            return Err(PlaceError::TooManyParts { line, limit: MAX_PARTS });
        }
        let audience = self.audience(line)?;
        self.server_tags.sort();
        let server_tags = std::mem::take(&mut self.server_tags);
        let base = Pose { position: Vec3::from_array(self.position), rotation: from_degrees(self.rotation) };
        let properties = self.properties(line)?;
        let mut fault = None;
        let mut place = |pose: Pose| {
            server.authored += 1;
            let id = server.authored;
            fault = fault.or(part_fault(&properties, &pose));
            let part = StoredPart::of(id, &properties, &pose);
            match &audience {
                None => client.parts.push(part),
                Some(stored) => server.parts.push(StoredHidden { part, audience: stored() }),
            }
            if !server_tags.is_empty() {
                server.tags.push(StoredServerTags { id, tags: server_tags.clone() });
            }
        };
        match repeat {
            Some(repeat) => repeat.for_each(base, &mut place),
            None => place(base),
        }
        reject(line, fault)
    }

    /// How to store that the part is hidden from some, or `None` when everyone may know of it.
    fn audience(&self, line: usize) -> Result<Option<Box<dyn Fn() -> StoredAudience>>, PlaceError> {
        let audience = match self.audience {
            _ if self.server_only && self.audience.is_some() => {
                let reason = "of a part that is server_only cannot be given";
                return Err(PlaceError::Value { line, key: "audience", reason });
            }
            _ if self.server_only => return Ok(Some(Box::new(|| StoredAudience::Server))),
            None | Some(AudienceSource::Shared) => return Ok(None),
            Some(audience) => audience,
        };
        Ok(Some(Box::new(move || match audience {
            AudienceSource::Owner(player) => StoredAudience::Owner(player),
            AudienceSource::Group(group) => StoredAudience::Group(group),
            AudienceSource::Shared => StoredAudience::Server,
        })))
    }

    fn properties(mut self, line: usize) -> Result<PartProperties, PlaceError> {
        self.tags.sort();
        self.tags.dedup();
        let color = match &self.color {
            None => Color::default(),
            Some(text) => {
                color(text).ok_or(PlaceError::Value { line, key: "color", reason: "must be like \"#a0b1c2\"" })?
            }
        };
        let (shape, extents) = self.shape(line)?;
        let size = match (extents, self.size) {
            (Some(extents), None) => extents,
            (Some(_), Some(_)) => {
                return Err(PlaceError::Value { line, key: "size", reason: "of a mesh follows from its points" });
            }
            (None, Some(size)) => Vec3::from_array(size),
            (None, None) => return Err(PlaceError::Value { line, key: "size", reason: "is missing" }),
        };
        Ok(PartProperties {
            name: Arc::from(self.name),
            shape,
            size,
            color,
            transparency: self.transparency,
            anchored: self.anchored,
            can_collide: self.can_collide,
            water: self.water,
            mover: self.mover.map(|mover| mover.mover(line)).transpose()?,
            tags: self.tags.into_iter().map(Arc::from).collect(),
        })
    }

    /// The shape, and of a mesh its extents.
    fn shape(&mut self, line: usize) -> Result<(PartShape, Option<Vec3>), PlaceError> {
        let is_mesh = matches!(self.shape, ShapeSource::Hull | ShapeSource::Trimesh);
        if self.points.is_some() != is_mesh {
            let reason = if is_mesh { "are missing" } else { "belong to a hull or trimesh" };
            return Err(PlaceError::Value { line, key: "points", reason });
        }
        if self.triangles.is_some() != (self.shape == ShapeSource::Trimesh) {
            return Err(PlaceError::Value { line, key: "triangles", reason: "belong to a trimesh, which needs them" });
        }
        let points: Arc<[Vec3]> = self.points.take().into_iter().flatten().map(Vec3::from_array).collect();
        let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
        // A flat mesh has an extent all the same.
        let extents = is_mesh.then(|| (high - low).max(Vec3::splat(1e-3)));
        let shape = match self.shape {
            ShapeSource::Box => PartShape::Box,
            ShapeSource::Ball => PartShape::Ball,
            ShapeSource::Cylinder => PartShape::Cylinder,
            ShapeSource::Wedge => PartShape::Wedge,
            ShapeSource::Capsule => PartShape::Capsule,
            ShapeSource::Hull => PartShape::Hull(points),
            ShapeSource::Trimesh => {
                PartShape::TriMesh { vertices: points, triangles: self.triangles.take().unwrap_or_default().into() }
            }
        };
        Ok((shape, extents))
    }
}

impl MoverSource {
    fn mover(self, line: usize) -> Result<PartMover, PlaceError> {
        if self.slide.is_none() && self.turn.is_none() {
            return Err(PlaceError::Value { line, key: "mover", reason: "needs `slide` or `turn`" });
        }
        Ok(PartMover {
            slide: self.slide.map(|SlideSource { offset, period, phase }| Slide {
                offset: Vec3::from_array(offset),
                period: SimSpan::from_seconds(period),
                phase: SimSpan::from_seconds(phase),
            }),
            turn: self.turn.map(|TurnSource { axis, period, phase }| Turn {
                axis: Vec3::from_array(axis).normalize_or_zero(),
                period: SimSpan::from_seconds(period),
                phase: SimSpan::from_seconds(phase),
            }),
        })
    }
}

/// A colour written as `#rrggbb`.
fn color(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some(Color([red, green, blue]))
}
