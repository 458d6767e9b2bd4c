use glam::Vec3;

use super::ColliderId;
use super::kernel::{Axis, Separation};
use super::placement::{Bounds, Placement, Rounded};
use super::world::CollisionWorld;
use crate::motor::MotorSettings;

/// Gap the motor leaves between capsule and surfaces, studs.
pub(crate) const SKIN: f32 = 0.02;
/// Gap at which a movement counts as touching, studs. Between it and [`SKIN`] rounding errors change nothing.
pub(crate) const NEAR: f32 = 0.01;
/// How near to its target gap a sweep must come, studs.
const CONVERGED: f32 = 1e-4;
/// Approach, as a share of the movement, below which a movement counts as parallel.
const PARALLEL: f32 = 1e-4;
/// Most steps of one sweep against one piece; only grazing ones need more than three.
const STEPS: u32 = 12;
/// Most pieces a sweep ranks before it looks closer; others are looked at as they come.
const QUEUE: usize = 16;
/// How far a sweep that is expected to end soon looks first, studs.
const SOON: f32 = 0.1;
/// How much a piece's remoteness counts against it when pieces are ranked.
const REMOTENESS: f32 = 0.1;

/// A capsule's form, wherever it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// From its centre to the upper end of its axis.
    half_axis: Vec3,
    radius: f32,
    up: Vec3,
    /// Half the size of its bounds.
    pub(crate) half: Vec3,
}

/// A straight movement of a capsule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    pub(crate) from: Vec3,
    pub(crate) delta: Vec3,
    /// Gap at which it stops.
    pub(crate) gap: f32,
    /// A collider it passes through.
    pub(crate) through: Option<ColliderId>,
}

/// What a movement ran into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// Share of the movement done.
    pub(crate) share: f32,
    /// From the surface to the capsule, unit length.
    pub(crate) normal: Vec3,
    pub(crate) collider: ColliderId,
    pub(super) piece: u32,
}

/// More about the surface of a [`Hit`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    /// Normal of the face at the point touched; at an edge, of the face that looks most upwards.
    pub(crate) face: Vec3,
    /// The point touched.
    pub(crate) point: Vec3,
}

impl Form {
    pub(crate) fn new(settings: &MotorSettings) -> Self {
        Self::scaled(settings, 0.0)
    }

    /// The form with every side moved inward by `by`.
    pub(super) fn scaled(settings: &MotorSettings, by: f32) -> Self {
        let radius = (settings.radius - by).max(0.0);
        let half_axis = settings.up * (settings.half_height - settings.radius).max(0.0);
        Self { half_axis, radius, up: settings.up, half: half_axis.abs() + Vec3::splat(radius) }
    }

    pub(super) fn axis(&self, at: Vec3, placement: &Placement) -> Axis {
        Axis { center: placement.inward(at - placement.position), half: placement.inward(self.half_axis) }
    }
}

impl CollisionWorld<'_> {
    /// The first thing a movement runs into. Which of several reached within [`CONVERGED`] of each other it is follows
    /// from their geometry, then from their ids.
    pub(crate) fn sweep(&self, form: &Form, sweep: &Sweep) -> Option<Hit> {
        self.first_within(&Course::new(form, sweep)?, 1.0)
    }

    /// The same, faster where the movement is long and likely to end within [`SOON`] of its start.
    pub(crate) fn sweep_expecting(&self, form: &Form, sweep: &Sweep) -> Option<Hit> {
        let course = Course::new(form, sweep)?;
        let soon = (SOON / course.length).min(1.0);
        self.first_within(&course, soon).or_else(|| self.first_within(&course, 1.0))
    }

    /// Whether what was hit is a box that rises straight up to more than `height` along up.
    pub(crate) fn is_wall_above(&self, form: &Form, hit: &Hit, height: f32) -> bool {
        let piece = self.nearby.piece(hit.piece);
        let placement = &self.nearby.body(piece.body).placement;
        piece.top(placement.inward(form.up)).is_some_and(|top| top + placement.position.dot(form.up) > height)
    }

    /// The first thing run into within a share of the movement.
    fn first_within(&self, course: &Course<'_>, limit: f32) -> Option<Hit> {
        let (mut queue, mut queued) = ([Queued::default(); QUEUE], 0);
        let mut first: Option<Hit> = None;
        for (index, piece, body) in self.nearby.touching(course.passed(limit)) {
            if course.sweep.through == Some(body.id) {
                continue;
            }
            let way = course.way(&body.placement);
            let earliest = piece.earliest(&way.axis, way.delta, way.reach, self.index);
            if earliest > limit {
                continue;
            }
            if queued == QUEUE {
                first = self.sooner(course, (index, earliest), first);
                continue;
            }
            let foot = way.axis.end_against(-way.delta);
            let rank = earliest * course.length + REMOTENESS * piece.remoteness(foot);
            queue[queued] = Queued { index, earliest, rank };
            queued += 1;
        }
        // The likeliest first, so that most others need no closer look.
        let mut queue = &mut queue[..queued];
        let mut passed = first.map(|first| course.passed(first.share));
        while let Some(best) = (0..queue.len()).reduce(|a, b| if queue[b].rank < queue[a].rank { b } else { a }) {
            let Queued { index, earliest, .. } = queue[best];
            let touched = passed.as_ref().is_none_or(|passed: &Rounded| passed.touches(self.nearby.bounds(index)));
            if touched && first.is_none_or(|first| earliest < first.share - CONVERGED / course.length) {
                let before = first.map(|first| first.share);
                first = self.sooner(course, (index, earliest), first);
                if let Some(first) = first.filter(|first| before != Some(first.share)) {
                    passed = Some(course.passed(first.share));
                }
            }
            let last = queue.len() - 1;
            queue[best] = queue[last];
            queue = &mut queue[..last];
        }
        first.filter(|first| first.share <= limit)
    }

    /// Calls `take` with everything a movement reaches, as if each were alone, in the order of ids.
    pub(crate) fn each_hit(&self, form: &Form, sweep: &Sweep, mut take: impl FnMut(&Self, Hit)) {
        let Some(course) = Course::new(form, sweep) else { return };
        for (index, piece, body) in self.nearby.touching(course.passed(1.0)) {
            let way = course.way(&body.placement);
            let earliest = piece.earliest(&way.axis, way.delta, way.reach, self.index);
            if earliest <= 1.0
                && let Some(hit) = self.sooner(&course, (index, earliest), None)
            {
                take(self, hit);
            }
        }
    }

    /// Where a movement touches one piece, which it cannot before `earliest`, if it does so sooner than `first`; else
    /// `first`.
    fn sooner(&self, course: &Course<'_>, (index, earliest): (u32, f32), first: Option<Hit>) -> Option<Hit> {
        let piece = self.nearby.piece(index);
        let body = self.nearby.body(piece.body);
        let shares = (earliest, first.map_or(1.0, |first| first.share));
        let separation = |axis: &Axis, limit: f32| piece.separation(axis, limit, self.index);
        match course.way(&body.placement).first_touch(shares, separation) {
            Some((share, normal)) if first.is_none_or(|first| share < first.share) => {
                Some(Hit { share, normal: body.placement.outward(normal), collider: body.id, piece: index })
            }
            _ => first,
        }
    }

    /// The piece whose gap to a capsule at `at` is smallest, if less than `below`: gap, and the way out.
    pub(crate) fn deepest(&self, form: &Form, at: Vec3, below: f32) -> Option<(f32, Vec3)> {
        let passed = Rounded::new(Bounds::around(at, form.half_axis.abs()), form.radius + below);
        let mut least: Option<(f32, Vec3)> = None;
        for (_, piece, body) in self.nearby.touching(passed) {
            let placement = &body.placement;
            let limit = form.radius + least.map_or(below, |(gap, _)| gap);
            if let Some(found) = piece.separation(&form.axis(at, placement), limit, self.index)
                && found.distance < limit
            {
                least = Some((found.distance - form.radius, placement.outward(found.normal)));
            }
        }
        least
    }

    /// What a hit is on.
    pub(crate) fn surface(&self, form: &Form, sweep: &Sweep, hit: &Hit) -> Surface {
        let piece = self.nearby.piece(hit.piece);
        let placement = &self.nearby.body(piece.body).placement;
        let axis = form.axis(sweep.from + sweep.delta * hit.share, placement);
        match piece.separation(&axis, f32::INFINITY, self.index) {
            Some(found) => Surface {
                face: placement.outward(piece.face(&found, placement.inward(form.up), self.index)),
                point: placement.position + placement.outward(found.on_axis - found.normal * found.distance),
            },
            None => Surface { face: hit.normal, point: sweep.from },
        }
    }
}

/// A piece that a movement may reach.
#[derive(Clone, Copy, Default)]
struct Queued {
    index: u32,
    /// No share of the movement before this reaches it.
    earliest: f32,
    /// Lower is looked at sooner.
    rank: f32,
}

/// A movement to be tested.
struct Course<'a> {
    form: &'a Form,
    sweep: &'a Sweep,
    length: f32,
}

impl<'a> Course<'a> {
    /// `None` when it goes nowhere.
    fn new(form: &'a Form, sweep: &'a Sweep) -> Option<Self> {
        let length = sweep.delta.length();
        (length > 0.0).then_some(Self { form, sweep, length })
    }

    /// What it passes through in a share of itself.
    fn passed(&self, share: f32) -> Rounded {
        let Self { form, sweep, .. } = self;
        let axis = Bounds::around(sweep.from, form.half_axis.abs()).swept(sweep.delta * share);
        Rounded::new(axis, form.radius + sweep.gap)
    }

    fn way(&self, placement: &Placement) -> Way {
        Way {
            axis: self.form.axis(self.sweep.from, placement),
            delta: placement.inward(self.sweep.delta),
            length: self.length,
            reach: self.form.radius + self.sweep.gap,
        }
    }
}

/// A movement in the axes of one collider.
struct Way {
    axis: Axis,
    delta: Vec3,
    length: f32,
    /// Distance of the axis at which it touches.
    reach: f32,
}

impl Way {
    /// Share of the movement, of those from `earliest` to `limit`, at which it first touches one piece while approaching
    /// it.
    ///
    /// Distance between convex bodies is a convex function of the share, so each tangent's crossing comes at or before
    /// the true one, and once the distance stops shrinking it never shrinks again.
    #[inline]
    fn first_touch(
        &self,
        (earliest, limit): (f32, f32),
        separation: impl Fn(&Axis, f32) -> Option<Separation>,
    ) -> Option<(f32, Vec3)> {
        let mut share = earliest;
        let mut normal = Vec3::ZERO;
        for _ in 0..STEPS {
            let axis = Axis { center: self.axis.center + self.delta * share, half: self.axis.half };
            let found = separation(&axis, self.reach + self.length * (1.0 - share))?;
            let approach = -found.normal.dot(self.delta);
            if approach <= PARALLEL * self.length {
                return None;
            }
            normal = found.normal;
            let over = found.distance - self.reach;
            if over <= CONVERGED {
                return Some((share, normal));
            }
            share += over / approach;
            if share > limit {
                return None;
            }
        }
        Some((share, normal))
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use proptest::prelude::*;

    use super::*;
    use crate::collision::{Collider, CollisionIndex, Nearby, Shape};
    use crate::time::SimTime;

    fn vector(reach: f32) -> impl Strategy<Value = Vec3> {
        [-reach..reach, -reach..reach, -reach..reach].prop_map(Vec3::from)
    }

    fn rotation() -> impl Strategy<Value = Quat> {
        prop_oneof![
            Just(Quat::IDENTITY),
            [-1.0_f32..1.0, -1.0_f32..1.0, -1.0_f32..1.0, 0.1_f32..1.0]
                .prop_map(|parts| Quat::from_array(parts).normalize())
        ]
    }

    fn shape() -> impl Strategy<Value = Shape> {
        let size = || 0.2_f32..2.5;
        let half = || [size(), size(), size()].prop_map(Vec3::from);
        prop_oneof![
            half().prop_map(|half| Shape::Box { half }),
            half().prop_map(|half| Shape::Wedge { half }),
            size().prop_map(|radius| Shape::Ball { radius }),
            (size(), size()).prop_map(|(half_height, radius)| Shape::Cylinder { half_height, radius }),
            (size(), size()).prop_map(|(more, radius)| Shape::Capsule { half_height: radius + more, radius }),
            prop::collection::vec(vector(2.5), 8..16).prop_map(|points| Shape::ConvexHull { points: points.into() }),
            prop::collection::vec(vector(3.0), 6..7).prop_map(|vertices| Shape::TriMesh {
                vertices: vertices.into(),
                indices: vec![[0, 1, 2], [2, 3, 4], [1, 4, 5]].into(),
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_500))]

        // S-13
        #[test]
        fn sweeps_stop_at_the_first_touch(
            parts in prop::collection::vec((shape(), vector(6.0), rotation()), 1..6),
            from in vector(8.0),
            delta in vector(10.0),
        ) {
            let mut index = CollisionIndex::new();
            for (id, (shape, position, rotation)) in parts.into_iter().enumerate() {
                let collider = Collider { id: ColliderId(id as u64), shape, position, rotation };
                prop_assume!(index.insert(collider).is_ok());
            }
            let mut nearby = Nearby::new();
            let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
            let form = Form::new(&MotorSettings::default());
            world.prepare(&Bounds::around(from, form.half).swept(delta).grown(1.0), SimTime(0));
            prop_assume!(world.deepest(&form, from, NEAR + 1e-3).is_none());
            let sweep = Sweep { from, delta, gap: NEAR, through: None };
            let hit = world.sweep(&form, &sweep);
            let same = world.sweep_expecting(&form, &sweep);
            let parts = |hit: &Hit| (hit.share.to_bits(), hit.normal, hit.collider, hit.piece);
            prop_assert_eq!(hit.as_ref().map(parts), same.as_ref().map(parts));
            let end = hit.map_or(1.0, |hit| hit.share);
            // Touching all but in parallel is let pass.
            let slack = 2e-3 + PARALLEL * delta.length();
            for step in 0..=50 {
                let at = from + delta * (end * step as f32 / 50.0);
                let inside = world.deepest(&form, at, NEAR - slack);
                prop_assert!(inside.is_none(), "{inside:?} at {step}/50 of {end}");
            }
            if let Some(hit) = hit {
                let touched = world.deepest(&form, from + delta * hit.share, NEAR + 2e-3);
                prop_assert!(touched.is_some(), "{hit:?} touches nothing");
                prop_assert!(hit.normal.dot(delta) < 0.0);
                let mut alone = None;
                world.each_hit(&form, &sweep, |_, other| {
                    if alone.is_none_or(|first: f32| other.share < first) {
                        alone = Some(other.share);
                    }
                });
                let alone = alone.unwrap();
                prop_assert!(hit.share >= alone && (hit.share - alone) * delta.length() <= 2.0 * CONVERGED);
            }
        }
    }
}
