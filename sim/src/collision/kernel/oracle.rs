//! Kernels against parry3d's distances of points, whose least along an axis is the axis's.

use glam::Vec3;
use parry3d::shape::{self, Shape};
use proptest::prelude::*;

use super::*;

fn vector(reach: f32) -> impl Strategy<Value = Vec3> {
    [-reach..reach, -reach..reach, -reach..reach].prop_map(Vec3::from)
}

/// Axes of every tilt, upright ones more often, and some of no length.
fn axis() -> impl Strategy<Value = Axis> {
    let half = prop_oneof![
        4 => vector(2.0),
        3 => (0.1_f32..2.0).prop_map(|y| Vec3::new(0.0, y, 0.0)),
        1 => Just(Vec3::new(0.0, -1.5, 0.0)),
        1 => Just(Vec3::ZERO),
    ];
    (vector(6.0), half).prop_map(|(center, half)| Axis { center, half })
}

fn size() -> impl Strategy<Value = Vec3> {
    [0.05_f32..3.0, 0.05_f32..3.0, 0.05_f32..3.0].prop_map(Vec3::from)
}

/// The least distance of a point of the axis, by narrowing: along a straight line it is convex.
fn least(axis: &Axis, shape: &dyn Shape) -> f32 {
    let at = |s: f32| shape.distance_to_local_point(axis.at(s), true);
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(a) < at(b) {
            high = b;
        } else {
            low = a;
        }
    }
    at(low).min(at(high)).min(at(0.5 * (low + high)))
}

/// Checks a separation against parry's distance.
fn check(axis: &Axis, found: &Separation, shape: &dyn Shape) -> Result<(), TestCaseError> {
    let expected = least(axis, shape);
    let slack = 2e-3 * (1.0 + expected);
    prop_assert!((found.distance.max(0.0) - expected).abs() < slack, "{found:?} but parry says {expected}");
    prop_assert!((found.normal.length() - 1.0).abs() < 1e-4, "{found:?}");
    // The closest point is on the axis.
    let off = found.on_axis - axis.closest_to(found.on_axis);
    prop_assert!(off.length() < 1e-3, "{found:?}");
    // And the surface is where normal and distance say.
    let touched = found.on_axis - found.normal * found.distance;
    if found.distance > 1e-2 {
        let apart = shape.distance_to_local_point(touched, true);
        prop_assert!(apart < slack, "{found:?} touches nothing: {apart}");
    }
    // Out along the normal there is room.
    if found.distance < 0.0 {
        let out = Axis { center: axis.center + found.normal * (0.02 - found.distance), half: axis.half };
        prop_assert!(least(&out, shape) > 0.0, "{found:?} is no way out");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    // S-13
    #[test]
    fn boxes(axis in axis(), half in size()) {
        check(&axis, &cuboid(&axis, half), &shape::Cuboid::new(half))?;
    }

    // S-13
    #[test]
    fn balls(axis in axis(), radius in 0.05_f32..3.0) {
        check(&axis, &ball(&axis, radius), &shape::Ball::new(radius))?;
    }

    // S-13
    #[test]
    fn cylinders(axis in axis(), half_height in 0.05_f32..3.0, radius in 0.05_f32..3.0) {
        check(&axis, &cylinder(&axis, half_height, radius), &shape::Cylinder::new(half_height, radius))?;
    }

    // S-13
    #[test]
    fn capsules(axis in axis(), half_segment in 0.0_f32..3.0, radius in 0.05_f32..3.0) {
        check(&axis, &capsule(&axis, half_segment, radius), &shape::Capsule::new_y(half_segment, radius))?;
    }

    // S-13
    #[test]
    fn triangles(axis in axis(), a in vector(4.0), b in vector(4.0), c in vector(4.0)) {
        let held = Triangle::new([a, b, c]);
        prop_assume!(held.is_some_and(|_| (b - a).cross(c - a).length() > 0.05));
        let held = held.unwrap();
        let found = triangle(&axis, &held, f32::INFINITY).unwrap();
        check(&axis, &found, &shape::Triangle::new(a, b, c))?;
        // A limit only ever drops what is beyond it.
        let near = triangle(&axis, &held, 1.0);
        prop_assert!(near.is_some() || found.distance > 1.0);
    }

    // S-13
    #[test]
    fn hulls(axis in axis(), points in prop::collection::vec(vector(3.0), 6..20)) {
        let held = shape::ConvexPolyhedron::from_convex_hull(&points);
        prop_assume!(held.is_some());
        let held = held.unwrap();
        let (vertices, indices) = parry3d::transformation::try_convex_hull(&points).unwrap();
        let hull = Hull::from_triangles(indices.iter().map(|corners| corners.map(|corner| vertices[corner as usize])));
        let found = hull.separation(&axis, f32::INFINITY).unwrap();
        check(&axis, &found, &held)?;
        prop_assert!(hull.separation(&axis, 1.0).is_some() || found.distance > 1.0);
    }

    // S-13
    #[test]
    fn no_piece_is_reached_before_its_planes_allow(
        axis in axis(),
        delta in vector(6.0),
        half in size(),
        corners in [vector(4.0), vector(4.0), vector(4.0)],
        reach in 0.0_f32..1.5,
    ) {
        let at = |share: f32| Axis { center: axis.center + delta * share, half: axis.half };
        let from_box = cuboid_earliest(&axis, delta, half, reach);
        let held = Triangle::new(corners);
        prop_assume!(held.is_some());
        let held = held.unwrap();
        let from_triangle = triangle_earliest(&axis, delta, &held, reach);
        for step in 0..=40 {
            let share = step as f32 / 40.0;
            if share < from_box {
                prop_assert!(cuboid(&at(share), half).distance > reach - 1e-3);
            }
            if share < from_triangle {
                let found = triangle(&at(share), &held, f32::INFINITY).unwrap();
                prop_assert!(found.distance > reach - 1e-3);
            }
        }
    }
}
