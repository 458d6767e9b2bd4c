use std::sync::Arc;

use glam::Vec3;
use tidelock_sim::SimSpan;
use tidelock_sim::bytes::{Reader, Writer, is_bounded};
use tidelock_sim::collision::{Slide, Turn};

use super::scalar::{read_array, read_quat, varint_u32, write_quat};
use super::{WireError, check};
use crate::instance::{
    Color, MAX_MESH_POINTS, MAX_MESH_TRIANGLES, MAX_NAME_BYTES, MAX_TAGS, PartMask, PartMover, PartPatch,
    PartProperties, PartProperty, PartShape, Pose,
};

/// Appends a mask and the properties in it.
pub(super) fn write_patch(out: &mut Writer<'_>, mask: PartMask, properties: &PartProperties, pose: &Pose) {
    out.varint(u64::from(mask.0));
    for property in mask.iter() {
        match property {
            PartProperty::Name => out.text(&properties.name),
            PartProperty::Shape => write_shape(out, &properties.shape),
            PartProperty::Size => out.vec3(properties.size),
            PartProperty::Color => out.raw(&properties.color.0),
            PartProperty::Transparency => out.f32(properties.transparency),
            PartProperty::Anchored => out.bool(properties.anchored),
            PartProperty::CanCollide => out.bool(properties.can_collide),
            PartProperty::Mover => write_mover(out, properties.mover.as_ref()),
            PartProperty::Tags => write_tags(out, &properties.tags),
            PartProperty::Pose => {
                out.vec3(pose.position);
                write_quat(out, pose.rotation);
            }
            PartProperty::Water => out.bool(properties.water),
        }
    }
}

/// Reads a mask and the properties in it; the others have their defaults.
pub(super) fn read_patch(reader: &mut Reader<'_>) -> Result<PartPatch, WireError> {
    let mask = PartMask(reader.varint_at_most(u64::from(PartMask::ALL.0)).map_err(|error| match error {
        tidelock_sim::bytes::ReadError::Value => WireError::Flags,
        other => other.into(),
    })? as u16);
    let mut properties = PartProperties::default();
    let mut pose = Pose::default();
    for property in mask.iter() {
        match property {
            PartProperty::Name => properties.name = Arc::from(reader.text(MAX_NAME_BYTES)?),
            PartProperty::Shape => properties.shape = read_shape(reader)?,
            PartProperty::Size => properties.size = positive(reader.bounded_vec3()?)?,
            PartProperty::Color => properties.color = Color(read_array(reader)?),
            PartProperty::Transparency => {
                properties.transparency = reader.f32()?;
                check((0.0..=1.0).contains(&properties.transparency), WireError::Value)?;
            }
            PartProperty::Anchored => properties.anchored = reader.bool()?,
            PartProperty::CanCollide => properties.can_collide = reader.bool()?,
            PartProperty::Mover => properties.mover = read_mover(reader)?,
            PartProperty::Tags => properties.tags = read_tags(reader)?,
            PartProperty::Pose => pose = Pose { position: reader.bounded_vec3()?, rotation: read_quat(reader)? },
            PartProperty::Water => properties.water = reader.bool()?,
        }
    }
    Ok(PartPatch { mask, properties, pose })
}

fn positive(size: Vec3) -> Result<Vec3, WireError> {
    check(size.cmpgt(Vec3::ZERO).all(), WireError::Value)?;
    Ok(size)
}

fn write_shape(out: &mut Writer<'_>, shape: &PartShape) {
    match shape {
        PartShape::Box => out.u8(0),
        PartShape::Ball => out.u8(1),
        PartShape::Cylinder => out.u8(2),
        PartShape::Wedge => out.u8(3),
        PartShape::Capsule => out.u8(4),
        PartShape::Hull(points) => {
            out.u8(5);
            write_points(out, points);
        }
        PartShape::TriMesh { vertices, triangles } => {
            out.u8(6);
            write_points(out, vertices);
            out.varint(triangles.len() as u64);
            triangles.iter().flatten().for_each(|&corner| out.varint(u64::from(corner)));
        }
    }
}

fn read_shape(reader: &mut Reader<'_>) -> Result<PartShape, WireError> {
    Ok(match reader.u8()? {
        0 => PartShape::Box,
        1 => PartShape::Ball,
        2 => PartShape::Cylinder,
        3 => PartShape::Wedge,
        4 => PartShape::Capsule,
        5 => PartShape::Hull(read_points(reader)?),
        6 => {
            let vertices = read_points(reader)?;
            let count = reader.varint_at_most(MAX_MESH_TRIANGLES as u64)? as usize;
            // Each corner takes at least a byte, so the count is checked before memory is taken for it.
            check(reader.remaining() >= 3 * count, WireError::Truncated)?;
            let last = (vertices.len() as u64).checked_sub(1).ok_or(WireError::Value)?;
            let mut triangles = Vec::with_capacity(count);
            for _ in 0..count {
                let mut corner = || Ok::<_, WireError>(reader.varint_at_most(last)? as u32);
                triangles.push([corner()?, corner()?, corner()?]);
            }
            PartShape::TriMesh { vertices, triangles: triangles.into() }
        }
        _ => return Err(WireError::Kind),
    })
}

fn write_points(out: &mut Writer<'_>, points: &[Vec3]) {
    out.varint(points.len() as u64);
    points.iter().for_each(|&point| out.vec3(point));
}

fn read_points(reader: &mut Reader<'_>) -> Result<Arc<[Vec3]>, WireError> {
    let count = reader.varint_at_most(MAX_MESH_POINTS as u64)? as usize;
    check(reader.remaining() >= 12 * count, WireError::Truncated)?;
    (0..count).map(|_| Ok(reader.bounded_vec3()?)).collect()
}

const SLIDE: u8 = 1;
const TURN: u8 = 2;
const MOVES: u8 = 4;

fn write_mover(out: &mut Writer<'_>, mover: Option<&PartMover>) {
    let Some(mover) = mover else { return out.u8(0) };
    let slide = if mover.slide.is_some() { SLIDE } else { 0 };
    out.u8(MOVES | slide | if mover.turn.is_some() { TURN } else { 0 });
    if let Some(slide) = mover.slide {
        out.vec3(slide.offset);
        out.varint(u64::from(slide.period.0));
        out.varint(u64::from(slide.phase.0));
    }
    if let Some(turn) = mover.turn {
        out.vec3(turn.axis);
        out.varint(u64::from(turn.period.0));
        out.varint(u64::from(turn.phase.0));
    }
}

fn read_mover(reader: &mut Reader<'_>) -> Result<Option<PartMover>, WireError> {
    let flags = reader.u8()?;
    if flags == 0 {
        return Ok(None);
    }
    check(flags & MOVES != 0 && flags <= MOVES | SLIDE | TURN, WireError::Flags)?;
    let mut mover = PartMover::default();
    if flags & SLIDE != 0 {
        let offset = reader.bounded_vec3()?;
        mover.slide = Some(Slide { offset, period: SimSpan(varint_u32(reader)?), phase: SimSpan(varint_u32(reader)?) });
    }
    if flags & TURN != 0 {
        let axis = reader.bounded_vec3()?;
        mover.turn = Some(Turn { axis, period: SimSpan(varint_u32(reader)?), phase: SimSpan(varint_u32(reader)?) });
    }
    check(mover_is_valid(&mover), WireError::Value)?;
    Ok(Some(mover))
}

/// Whether a collision index accepts the mover: unit axis, periods long enough to have a velocity.
pub(crate) fn mover_is_valid(mover: &PartMover) -> bool {
    let slide = mover.slide.is_none_or(|slide| is_bounded(slide.offset) && slide.period >= SimSpan::MOTOR_TICK);
    let turn = mover.turn.is_none_or(|turn| {
        turn.axis.is_finite()
            && (turn.axis.length_squared() - 1.0).abs() < 1e-3
            && turn.period.0 >= 2 * SimSpan::MOTOR_TICK.0
    });
    slide && turn
}

fn write_tags(out: &mut Writer<'_>, tags: &[Arc<str>]) {
    out.varint(tags.len() as u64);
    tags.iter().for_each(|tag| out.text(tag));
}

fn read_tags(reader: &mut Reader<'_>) -> Result<Arc<[Arc<str>]>, WireError> {
    let count = reader.varint_at_most(MAX_TAGS as u64)?;
    (0..count).map(|_| Ok(Arc::from(reader.text(MAX_NAME_BYTES)?))).collect()
}
