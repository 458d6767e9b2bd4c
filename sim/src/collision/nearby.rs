use std::sync::Arc;

use glam::Vec3;

use super::ColliderId;
use super::index::{CollisionIndex, Entry, Motion};
use super::kernel::{
    Axis, Separation, Triangle, ball, capsule, cuboid, cuboid_earliest, cuboid_face, cylinder, cylinder_face, triangle,
    triangle_earliest,
};
use super::mover::Mover;
use super::placement::{Bounds, Placement, Rounded};
use super::solid::Solid;
use crate::time::{SimSpan, SimTime};

/// How far beyond what is asked for is gathered, studs.
const GATHERED_BEYOND: f32 = 2.0;
/// How far beyond what is asked for pieces are held close, studs.
const CLOSE_BEYOND: f32 = 0.5;
/// For how long before and after movers are gathered: 0.3 s.
const MOVERS_AROUND: SimSpan = SimSpan(18_432);

/// What is near one character, flattened for the motor's kernels; scratch to keep and reuse.
///
/// It notices by itself when the index, the place or the time it was gathered for no longer fits, and gathers again. What
/// it holds never shows in a result. After warm-up it does not allocate. A thread that simulates many characters in turn
/// needs one; a client keeps one for its character.
#[derive(Debug)]
pub struct Nearby {
    /// Identity and revision of the index gathered from.
    version: Option<(Arc<()>, u64)>,
    /// Where it was gathered.
    region: Bounds,
    /// From when until when the movers gathered are all there are.
    window: (SimTime, SimTime),
    /// When the movers' placements are for.
    posed: Option<SimTime>,
    /// Colliders, by id.
    bodies: Vec<Body>,
    /// Convex pieces, by collider and place in it.
    pieces: Vec<Piece>,
    /// Bounds of each piece in the world.
    bounds: Vec<Bounds>,
    /// Bodies that move.
    moving: Vec<Moving>,
    /// Volumes of water.
    waters: Vec<(Placement, Piece)>,
    /// Pieces near the last place asked for, in order.
    close: Vec<(u32, Bounds)>,
    close_region: Bounds,
    slots: Vec<(ColliderId, u32)>,
    features: Vec<u32>,
}

/// A collider nearby.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) id: ColliderId,
    pub(super) placement: Placement,
    /// Its motion, if it has one.
    pub(super) mover: Option<Mover>,
}

/// A convex piece of a collider.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) body: u32,
    figure: Figure,
}

#[derive(Clone, Copy, Debug)]
enum Figure {
    Cuboid {
        half: Vec3,
    },
    Ball {
        radius: f32,
    },
    Cylinder {
        half_height: f32,
        radius: f32,
    },
    Capsule {
        half_segment: f32,
        radius: f32,
    },
    Triangle(Triangle),
    /// A box beside its collider's position.
    Block {
        center: Vec3,
        half: Vec3,
    },
    /// The slot of the index that holds the hull.
    Hull(u32),
}

impl Figure {
    /// The figure of a solid in `slot` that is one convex piece.
    fn convex(solid: &Solid, slot: u32) -> Option<Self> {
        match solid {
            &Solid::Cuboid { half } => Some(Self::Cuboid { half }),
            &Solid::Ball { radius } => Some(Self::Ball { radius }),
            &Solid::Cylinder { half_height, radius } => Some(Self::Cylinder { half_height, radius }),
            &Solid::Capsule { half_segment, radius } => Some(Self::Capsule { half_segment, radius }),
            Solid::Hull(_) => Some(Self::Hull(slot)),
            Solid::Surface(_) | Solid::Heightfield(_) | Solid::Voxels(_) => None,
        }
    }
}

/// A body that moves, with its pieces.
#[derive(Clone, Copy, Debug)]
struct Moving {
    body: u32,
    first: u32,
    end: u32,
    /// Bounds of the whole body in its own axes.
    inner: Bounds,
}

impl Default for Nearby {
    fn default() -> Self {
        Self {
            version: None,
            region: Bounds::NOTHING,
            window: (SimTime(0), SimTime(0)),
            posed: None,
            bodies: Vec::new(),
            pieces: Vec::new(),
            bounds: Vec::new(),
            moving: Vec::new(),
            waters: Vec::new(),
            close: Vec::new(),
            close_region: Bounds::NOTHING,
            slots: Vec::new(),
            features: Vec::new(),
        }
    }
}

impl Nearby {
    /// Empty scratch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes ready for questions about `region` with movers where they are at `time`.
    pub(super) fn prepare(&mut self, index: &CollisionIndex, region: &Bounds, time: SimTime) {
        let (identity, revision) = index.version();
        let current = self.version.as_ref().is_some_and(|(held, at)| *at == revision && Arc::ptr_eq(held, identity));
        let in_time = !index.has_movers() || (self.window.0 <= time && time <= self.window.1);
        if !(current && in_time && self.region.contains(region)) {
            self.gather(index, &region.grown(GATHERED_BEYOND), time);
            if !current {
                self.version = Some((Arc::clone(identity), revision));
            }
        }
        if self.posed != Some(time) {
            self.pose(time);
        }
        if !self.close_region.contains(region) {
            self.narrow(&region.grown(CLOSE_BEYOND));
        }
    }

    /// Pieces close to the region last prepared for that may touch `rounded`, in the order of their colliders' ids.
    pub(super) fn touching(&self, rounded: Rounded) -> impl Iterator<Item = (u32, &Piece, &Body)> {
        self.close.iter().filter(move |(_, held)| rounded.touches(held)).map(|(index, _)| {
            let piece = &self.pieces[*index as usize];
            (*index, piece, &self.bodies[piece.body as usize])
        })
    }

    pub(super) fn piece(&self, index: u32) -> &Piece {
        &self.pieces[index as usize]
    }

    /// A piece's bounds in the world.
    pub(super) fn bounds(&self, index: u32) -> &Bounds {
        &self.bounds[index as usize]
    }

    pub(super) fn body(&self, index: u32) -> &Body {
        &self.bodies[index as usize]
    }

    /// Whether there is water near the region last prepared for.
    pub(super) fn has_water(&self) -> bool {
        !self.waters.is_empty()
    }

    /// Whether a point of the region last prepared for is in water.
    pub(super) fn in_water(&self, point: Vec3, index: &CollisionIndex) -> bool {
        self.waters.iter().any(|(placement, piece)| {
            let at = Axis { center: placement.inward(point - placement.position), half: Vec3::ZERO };
            piece.separation(&at, 0.0, index).is_some_and(|found| found.distance < 0.0)
        })
    }

    /// The motion of the mover of that id, if it is near.
    pub(super) fn mover(&self, id: ColliderId) -> Option<&Mover> {
        let body = |moving: &Moving| &self.bodies[moving.body as usize];
        self.moving.iter().map(body).find(|body| body.id == id)?.mover.as_ref()
    }

    fn gather(&mut self, index: &CollisionIndex, region: &Bounds, time: SimTime) {
        self.bodies.clear();
        self.pieces.clear();
        self.bounds.clear();
        self.moving.clear();
        self.waters.clear();
        self.close_region = Bounds::NOTHING;
        self.posed = None;
        self.region = *region;
        self.window = (time - MOVERS_AROUND, time + MOVERS_AROUND);
        self.slots.clear();
        self.slots.extend(index.touching(region).map(|(slot, entry)| (entry.id, slot)));
        self.slots.sort_unstable();
        for position in 0..self.slots.len() {
            let slot = self.slots[position].1;
            if let Some(entry) = index.entry(slot) {
                self.gather_entry(entry, slot, region, time);
            }
        }
    }

    fn gather_entry(&mut self, entry: &Entry, slot: u32, region: &Bounds, time: SimTime) {
        let (body, first) = (self.bodies.len() as u32, self.pieces.len() as u32);
        let (placement, mover, inner) = match &entry.motion {
            Motion::Resting(placement) => (*placement, None, placement.bounds_inward(region)),
            Motion::Scripted(mover) => {
                if !mover.bounds_during(&entry.bounds, time, MOVERS_AROUND).overlaps(region) {
                    return;
                }
                let (position, rotation) = mover.pose(time);
                (Placement::new(position, rotation), Some(*mover), Bounds::around(Vec3::ZERO, Vec3::INFINITY))
            }
        };
        if entry.water {
            let figure = Figure::convex(&entry.solid, slot);
            self.waters.extend(figure.map(|figure| (placement, Piece { body, figure })));
            return;
        }
        self.bodies.push(Body { id: entry.id, placement, mover });
        self.flatten(&entry.solid, slot, body, &inner);
        let end = self.pieces.len() as u32;
        for piece in first..end {
            let bounds = placement.bounds_outward(&self.pieces[piece as usize].inner_bounds(&entry.bounds));
            self.bounds.push(bounds);
        }
        if mover.is_some() {
            self.moving.push(Moving { body, first, end, inner: entry.bounds });
        }
    }

    /// Appends a solid's pieces that may touch `inner`, bounds in its own axes.
    fn flatten(&mut self, solid: &Solid, slot: u32, body: u32, inner: &Bounds) {
        let pieces = &mut self.pieces;
        let take = |triangle| pieces.push(Piece { body, figure: Figure::Triangle(triangle) });
        match solid {
            Solid::Surface(surface) => surface.gather(inner, &mut self.features, take),
            Solid::Heightfield(field) => field.gather(inner, take),
            Solid::Voxels(voxels) => voxels.gather(inner, |center, half| {
                pieces.push(Piece { body, figure: Figure::Block { center, half } });
            }),
            _ => pieces.extend(Figure::convex(solid, slot).map(|figure| Piece { body, figure })),
        }
    }

    fn pose(&mut self, time: SimTime) {
        self.posed = Some(time);
        if !self.moving.is_empty() {
            self.close_region = Bounds::NOTHING;
        }
        for position in 0..self.moving.len() {
            let Moving { body, first, end, inner } = self.moving[position];
            let held = &mut self.bodies[body as usize];
            let Some(mover) = &held.mover else { continue };
            let (at, rotation) = mover.pose(time);
            held.placement = Placement::new(at, rotation);
            let placement = held.placement;
            for piece in first..end {
                self.bounds[piece as usize] =
                    placement.bounds_outward(&self.pieces[piece as usize].inner_bounds(&inner));
            }
        }
    }

    /// Keeps the pieces that touch `region`.
    fn narrow(&mut self, region: &Bounds) {
        self.close_region = *region;
        self.close.clear();
        for (piece, bounds) in self.bounds.iter().enumerate() {
            if bounds.overlaps(region) {
                self.close.push((piece as u32, *bounds));
            }
        }
    }
}

impl Piece {
    /// Its bounds in its collider's axes; those of the whole collider unless it is a part of it.
    fn inner_bounds(&self, whole: &Bounds) -> Bounds {
        match &self.figure {
            Figure::Triangle(triangle) => Bounds::of(&triangle.corners),
            &Figure::Block { center, half } => Bounds::around(center, half),
            _ => *whole,
        }
    }

    /// Separation of an axis in the collider's own axes, or `None` when it is certainly more than `limit`.
    #[inline]
    pub(super) fn separation(&self, axis: &Axis, limit: f32, index: &CollisionIndex) -> Option<Separation> {
        match &self.figure {
            Figure::Cuboid { half } => Some(cuboid(axis, *half)),
            Figure::Triangle(figure) => triangle(axis, figure, limit),
            &Figure::Block { center, half } => {
                let found = cuboid(&Axis { center: axis.center - center, half: axis.half }, half);
                Some(Separation { on_axis: found.on_axis + center, ..found })
            }
            Figure::Hull(slot) => index.hull(*slot)?.separation(axis, limit),
            Figure::Ball { radius } => Some(ball(axis, *radius)),
            Figure::Cylinder { half_height, radius } => Some(cylinder(axis, *half_height, *radius)),
            Figure::Capsule { half_segment, radius } => Some(capsule(axis, *half_segment, *radius)),
        }
    }

    /// The earliest share of a movement by `delta` at which an axis can come within `reach`; infinite if never.
    #[inline]
    pub(super) fn earliest(&self, axis: &Axis, delta: Vec3, reach: f32, index: &CollisionIndex) -> f32 {
        match &self.figure {
            Figure::Cuboid { half } => cuboid_earliest(axis, delta, *half, reach),
            Figure::Triangle(figure) => triangle_earliest(axis, delta, figure, reach),
            &Figure::Block { center, half } => {
                cuboid_earliest(&Axis { center: axis.center - center, half: axis.half }, delta, half, reach)
            }
            Figure::Hull(slot) => index.hull(*slot).map_or(f32::INFINITY, |hull| hull.earliest(axis, delta, reach)),
            Figure::Ball { .. } | Figure::Cylinder { .. } | Figure::Capsule { .. } => 0.0,
        }
    }

    /// Height over its collider's position of the top of a box one of whose axes is `up`, in the collider's own axes.
    pub(super) fn top(&self, up: Vec3) -> Option<f32> {
        let (center, half) = match self.figure {
            Figure::Cuboid { half } => (Vec3::ZERO, half),
            Figure::Block { center, half } => (center, half),
            _ => return None,
        };
        (up.abs().max_element() > 1.0 - 1e-6).then(|| center.dot(up) + half.dot(up.abs()))
    }

    /// Roughly how far the middle of the piece is from `point`, in the collider's own axes.
    pub(super) fn remoteness(&self, point: Vec3) -> f32 {
        match &self.figure {
            Figure::Triangle(figure) => (figure.middle() - point).length(),
            &Figure::Block { center, half } => ((point - center).abs() - half).max(Vec3::ZERO).length(),
            _ => 0.0,
        }
    }

    /// Of the faces that meet at the closest point, the normal of the one that looks most along `up`, outward where the
    /// axis is.
    pub(super) fn face(&self, found: &Separation, up: Vec3, index: &CollisionIndex) -> Vec3 {
        match &self.figure {
            Figure::Cuboid { half } => cuboid_face(found.on_axis, *half, found.normal, up),
            &Figure::Block { center, half } => cuboid_face(found.on_axis - center, half, found.normal, up),
            Figure::Triangle(figure) if figure.normal.dot(found.normal) < 0.0 => -figure.normal,
            Figure::Triangle(figure) => figure.normal,
            Figure::Hull(slot) => {
                let point = found.on_axis - found.normal * found.distance;
                index.hull(*slot).map_or(found.normal, |hull| hull.face(point, found.normal, up))
            }
            Figure::Cylinder { half_height, .. } => cylinder_face(found.on_axis, *half_height, found.normal, up),
            Figure::Ball { .. } | Figure::Capsule { .. } => found.normal,
        }
    }
}
