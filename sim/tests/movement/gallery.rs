use std::sync::Arc;

use glam::{Quat, Vec3};
use tidelock_sim::collision::Shape;
use tidelock_sim::motor::CharacterState;

use crate::place::{Place, SECOND, about, held};

fn grounded(place: &Place) -> bool {
    place.snapshot.state == CharacterState::Grounded
}

// S-12
#[test]
fn walks_flat_ground_at_walk_speed() {
    let mut place = Place::flat().at(Vec3::ZERO);
    place.walk(Vec3::X, SECOND);
    assert!(grounded(&place));
    // A tenth of a second to full speed costs 0.8 studs.
    assert!((place.feet().x - 15.2).abs() < 0.1, "{}", place.feet());
    assert!(place.feet().y.abs() < 0.002);
    place.walk(Vec3::ZERO, SECOND / 2);
    assert_eq!(place.snapshot.velocity, Vec3::ZERO);
    assert!((place.feet().x - 15.84).abs() < 0.1, "{}", place.feet());
}

// S-12
#[test]
fn climbs_and_descends_stairs_at_walk_speed() {
    for (rise, tread) in [(1.0, 2.0), (0.5, 1.0), (1.0, 1.2), (0.25, 0.5), (1.1, 3.0)] {
        let mut place = Place::flat();
        for step in 0..10 {
            let (low, high) = (step as f32 * tread, rise * (step + 1) as f32);
            place = place.with_box(Vec3::new(2.0 + low + 25.0, high * 0.5, 0.0), Vec3::new(25.0, high * 0.5, 5.0));
        }
        let mut place = place.at(Vec3::ZERO);
        let mut airborne = 0;
        place.hold(&held(Vec3::X), 3 * SECOND, |place| airborne += u32::from(!grounded(place)));
        assert_eq!(airborne, 1, "rise {rise} tread {tread}");
        assert!((place.feet().x - 47.2).abs() < 1.0, "rise {rise} tread {tread} at {}", place.feet());
        assert!((place.feet().y - 10.0 * rise).abs() < 0.01, "rise {rise} tread {tread} at {}", place.feet());
        airborne = 0;
        place.hold(&held(-Vec3::X), 3 * SECOND + SECOND / 4, |place| airborne += u32::from(!grounded(place)));
        assert_eq!(airborne, 0, "down: rise {rise} tread {tread}");
        assert!(place.feet().x < 2.0 && place.feet().y.abs() < 0.01, "rise {rise} tread {tread} at {}", place.feet());
    }
}

// S-12
#[test]
fn higher_ledges_stop_it() {
    for (height, passes) in [(1.08, true), (1.15, false), (1.5, false), (1.9, false), (4.0, false)] {
        let place = Place::flat().with_box(Vec3::new(12.0, height * 0.5, 0.0), Vec3::new(10.0, height * 0.5, 10.0));
        let mut place = place.at(Vec3::ZERO);
        place.walk(Vec3::new(0.9, 0.0, 0.1), SECOND);
        assert_eq!(place.feet().y > 0.5, passes, "height {height} at {}", place.feet());
        assert!(passes || place.feet().x < 1.0, "height {height} at {}", place.feet());
    }
}

fn ramp(degrees: f32) -> Place {
    // The ramp's top surface passes through the origin and rises towards +X.
    let angle = degrees.to_radians();
    let normal = Vec3::new(-libm::sinf(angle), libm::cosf(angle), 0.0);
    let slab = Shape::Box { half: Vec3::new(60.0, 1.0, 20.0) };
    Place::flat().with(slab, -normal, about(Vec3::Z, angle))
}

// S-12
#[test]
fn slope_limit_is_inclusive() {
    for (degrees, climbs) in [(30.0, true), (49.0, true), (50.0, true), (51.0, false), (60.0, false), (80.0, false)] {
        let mut place = ramp(degrees).at(Vec3::new(-5.0, 0.0, 0.0));
        place.walk(Vec3::new(1.0, 0.0, 0.0), 2 * SECOND);
        if climbs {
            assert!(grounded(&place), "{degrees}");
            let along = place.snapshot.velocity.length();
            assert!((along - 16.0).abs() < 0.01, "{degrees} {along}");
            assert!(place.feet().y > 10.0, "{degrees} at {}", place.feet());
        } else {
            assert!(place.feet().y < 0.3, "{degrees} at {}", place.feet());
        }
    }
}

// S-12
#[test]
fn steep_slopes_let_it_slide_down() {
    let mut place = ramp(60.0).at(Vec3::new(10.0, 30.0, 0.0));
    place.walk(Vec3::ZERO, 4 * SECOND);
    assert!(grounded(&place));
    assert!(place.feet().y.abs() < 0.01, "{}", place.feet());
}

// S-12
#[test]
fn wedges_are_ramps() {
    let wedge = Shape::Wedge { half: Vec3::new(4.0, 2.0, 6.0) };
    let mut place = Place::flat().with(wedge, Vec3::new(0.0, 2.0, 10.0), Quat::IDENTITY).at(Vec3::ZERO);
    let mut top: f32 = 0.0;
    place.hold(&held(Vec3::Z), SECOND * 3 / 2, |place| top = top.max(place.feet().y));
    assert!(top > 3.9 && top < 4.3, "{top}");
    assert!(place.feet().z > 17.0);
}

// S-12
#[test]
fn slides_along_walls_without_jitter() {
    for degrees in [10.0_f32, 30.0, 45.0, 80.0] {
        let wall = Shape::Box { half: Vec3::new(0.5, 10.0, 100.0) };
        let mut place = Place::flat().with(wall, Vec3::new(3.0, 10.0, 0.0), Quat::IDENTITY).at(Vec3::ZERO);
        let direction = Vec3::new(libm::cosf(degrees.to_radians()), 0.0, libm::sinf(degrees.to_radians()));
        place.walk(direction, SECOND);
        let (mut last, mut least) = (place.feet(), f32::INFINITY);
        let gap = 2.5 - 1.0 - last.x;
        assert!(gap > 0.0 && gap < 0.03, "{degrees} {gap}");
        place.hold(&held(direction), SECOND, |place| {
            assert!((place.feet().x - last.x).abs() < 0.011, "{degrees}");
            least = least.min(place.feet().z - last.z);
            last = place.feet();
        });
        // Never slower than nine tenths of the way along the wall.
        assert!(least >= 0.9 * direction.z * direction.z * 16.0 / 240.0, "{degrees} {least}");
    }
}

// S-12
#[test]
fn corners_hold_it_still() {
    let mut place = Place::flat()
        .with(Shape::Box { half: Vec3::new(0.5, 10.0, 100.0) }, Vec3::new(5.0, 10.0, 0.0), about(Vec3::Y, 0.3))
        .with(Shape::Box { half: Vec3::new(100.0, 10.0, 0.5) }, Vec3::new(0.0, 10.0, 5.0), about(Vec3::Y, -0.2))
        .at(Vec3::ZERO);
    place.walk(Vec3::new(0.7, 0.0, 0.7), 2 * SECOND);
    let before = place.snapshot;
    place.hold(&held(Vec3::new(0.7, 0.0, 0.7)), SECOND, |place| {
        assert_eq!(place.snapshot.position, before.position);
    });
}

// S-12: pockets too narrow to stand at their end: it is held without a quiver and comes out again.
#[test]
fn pockets_hold_it_still_and_let_it_go() {
    for half_angle in [0.15_f32, 0.26, 0.5, 0.75] {
        let wall = || Shape::Box { half: Vec3::new(30.0, 10.0, 0.3) };
        let far = Vec3::new(libm::cosf(half_angle), 0.0, libm::sinf(half_angle)) * 30.0;
        // Two walls that meet at x = 30.
        let at = |side: f32| Vec3::new(30.0 - far.x, 10.0, far.z * side);
        let mut place = Place::flat()
            .with(wall(), at(1.0), about(Vec3::Y, half_angle))
            .with(wall(), at(-1.0), about(Vec3::Y, -half_angle))
            .at(Vec3::new(-25.0, 0.0, 0.3));
        for direction in [Vec3::X, Vec3::new(0.96, 0.0, 0.28), Vec3::new(0.9, 0.0, -0.43)] {
            place.walk(direction, 5 * SECOND);
            let still = place.snapshot.position;
            place.hold(&held(direction), SECOND, |place| {
                assert_eq!(place.snapshot.position, still, "{half_angle} {direction}");
            });
            // The walls' faces are a capsule's radius away: where it stands, the pocket is two radii wide.
            let width = 2.0 * ((30.0 - place.feet().x) * libm::tanf(half_angle) - 0.3 / libm::cosf(half_angle));
            assert!((1.9..3.2).contains(&width), "{half_angle} {direction}: {width} studs wide at {}", place.feet());
        }
        place.walk(-Vec3::X, SECOND);
        assert!(place.feet().x < still_x(half_angle), "{half_angle}: stuck at {}", place.feet());
    }
}

/// Where a pocket of this half angle is wide enough for a character to have come out of it.
fn still_x(half_angle: f32) -> f32 {
    30.0 - 1.3 / libm::tanf(half_angle) - 8.0
}

// S-12
#[test]
fn nothing_tunnels_at_500_studs_a_second() {
    let wall = vec![Vec3::new(30.0, -5.0, -50.0), Vec3::new(30.0, 50.0, 0.0), Vec3::new(30.0, -5.0, 50.0)];
    let mesh = Shape::TriMesh { vertices: wall.into(), indices: Arc::new([[0, 1, 2]]) };
    let plate = Shape::Box { half: Vec3::new(0.001, 20.0, 20.0) };
    for shape in [mesh, plate] {
        let at = if matches!(shape, Shape::Box { .. }) { Vec3::new(30.0, 0.0, 0.0) } else { Vec3::ZERO };
        for offset in 0..20 {
            let mut place = Place::flat().with(shape.clone(), at, Quat::IDENTITY);
            place = place.at(Vec3::new(offset as f32 * 0.11, 2.0, 0.0));
            place.settings.walk_speed = 500.0;
            place.settings.ground_acceleration = 1e6;
            place.settings.air_acceleration = 1e6;
            place.snapshot.velocity = Vec3::X * 500.0;
            place.walk(Vec3::new(1.0, 0.0, 0.05), SECOND / 4);
            assert!(place.feet().x < 29.0, "offset {offset} at {}", place.feet());
        }
    }
    for height in 0..10 {
        let mut place = Place::flat().at(Vec3::new(0.0, 100.0 + height as f32 * 0.3, 0.0));
        place.settings.terminal_speed = 500.0;
        place.snapshot.velocity = Vec3::NEG_Y * 500.0;
        place.walk(Vec3::ZERO, SECOND / 2);
        assert!(grounded(&place) && place.feet().y.abs() < 0.01, "{}", place.feet());
    }
}

// S-12
#[test]
fn low_ceilings_stop_jumps_and_walks() {
    let ceiling = Place::flat().with_box(Vec3::new(0.0, 7.0, 0.0), Vec3::new(50.0, 1.0, 50.0));
    let mut place = ceiling.at(Vec3::ZERO);
    place.walk(Vec3::ZERO, 10);
    let mut top: f32 = 0.0;
    let jump = tidelock_sim::motor::InputFrame { jump: true, ..held(Vec3::X) };
    place.hold(&jump, SECOND, |place| top = top.max(place.feet().y));
    assert!(top > 0.9 && top < 1.0, "{top}");
    assert!(grounded(&place));
    // A wedge-shaped gap: the ceiling comes down to 3 studs, the capsule is 5 high.
    let slanted = Shape::Box { half: Vec3::new(30.0, 1.0, 30.0) };
    let mut place =
        Place::flat().with(slanted, Vec3::new(20.0, 6.0, 0.0), about(Vec3::Z, -0.2)).at(Vec3::new(-15.0, 0.0, 0.0));
    place.walk(Vec3::X, 4 * SECOND);
    assert!(place.feet().y.abs() < 0.01 && place.feet().x < 20.0, "{}", place.feet());
    let still = place.snapshot.position;
    place.hold(&held(Vec3::X), SECOND, |place| assert_eq!(place.snapshot.position, still));
}

// S-12
#[test]
fn fits_through_a_doorway_barely_wider_than_itself() {
    for aim in [-0.02_f32, 0.0, 0.015, 0.2] {
        let mut place = Place::flat()
            .with_box(Vec3::new(5.0, 5.0, 6.03), Vec3::new(0.5, 5.0, 5.0))
            .with_box(Vec3::new(5.0, 5.0, -6.03), Vec3::new(0.5, 5.0, 5.0))
            .at(Vec3::new(0.0, 0.0, aim));
        place.walk(Vec3::new(1.0, 0.0, if aim > 0.1 { -0.05 } else { 0.0 }), SECOND);
        assert!(place.feet().x > 10.0, "{aim} {}", place.feet());
    }
    let mut place = Place::flat()
        .with_box(Vec3::new(5.0, 5.0, 5.99), Vec3::new(0.5, 5.0, 5.0))
        .with_box(Vec3::new(5.0, 5.0, -5.99), Vec3::new(0.5, 5.0, 5.0))
        .at(Vec3::ZERO);
    place.walk(Vec3::X, SECOND);
    assert!(place.feet().x < 5.0, "{}", place.feet());
}

// S-12
#[test]
fn seams_of_a_mesh_are_not_felt() {
    let grid = 33_u32;
    let vertices: Vec<Vec3> =
        (0..grid * grid).map(|i| Vec3::new((i % grid) as f32 - 16.0, 0.0, (i / grid) as f32 - 16.0)).collect();
    let mut indices = Vec::new();
    for row in 0..grid - 1 {
        for column in 0..grid - 1 {
            let a = row * grid + column;
            indices.push([a, a + grid, a + 1]);
            indices.push([a + 1, a + grid, a + grid + 1]);
        }
    }
    let mesh = Shape::TriMesh { vertices: vertices.into(), indices: indices.into() };
    let field = Shape::Heightfield { heights: vec![0.0; 33 * 33].into(), columns: 33, rows: 33, cell: 1.0 };
    for shape in [mesh, field] {
        for direction in [Vec3::X, Vec3::new(0.8, 0.0, 0.6), Vec3::new(-0.7, 0.0, 0.714)] {
            let mut place = Place::empty().with(shape.clone(), Vec3::ZERO, Quat::IDENTITY).at(Vec3::ZERO);
            place.walk(Vec3::ZERO, 10);
            place.walk(direction, 30);
            let mut last = place.feet();
            place.hold(&held(direction), SECOND / 2, |place| {
                let step = (place.feet() - last).length();
                assert!((step - 16.0 / 240.0).abs() < 1e-3 * 16.0 / 240.0 + 1e-5, "{step} at {}", place.feet());
                assert!(place.feet().y.abs() < 0.002, "{}", place.feet());
                assert!(grounded(place));
                last = place.feet();
            });
        }
    }
}

// S-12
#[test]
fn steps_off_ledges_and_falls_off_cliffs() {
    let place = Place::flat().with_box(Vec3::new(-10.0, 0.5, 0.0), Vec3::new(10.0, 0.5, 10.0));
    let mut place = place.at(Vec3::new(-5.0, 1.0, 0.0));
    let mut airborne = 0;
    place.walk(Vec3::ZERO, 2);
    place.hold(&held(Vec3::X), SECOND, |place| airborne += u32::from(!grounded(place)));
    assert_eq!(airborne, 0);
    assert!(place.feet().y.abs() < 0.002);
    let place = Place::flat().with_box(Vec3::new(-10.0, 5.0, 0.0), Vec3::new(10.0, 5.0, 10.0));
    let mut place = place.at(Vec3::new(-5.0, 10.0, 0.0));
    place.walk(Vec3::ZERO, 2);
    place.hold(&held(Vec3::X), 2 * SECOND, |place| airborne += u32::from(!grounded(place)));
    // About 0.3 s for ten studs.
    assert!(airborne > 60 && airborne < 85, "{airborne}");
    assert!(place.feet().y.abs() < 0.002 && place.feet().x > 20.0, "{}", place.feet());
}

// S-12
#[test]
fn stairs_beside_a_wall_are_climbed_while_pushing_into_the_wall() {
    let mut place = Place::flat().with_box(Vec3::new(10.0, 10.0, 2.0), Vec3::new(30.0, 10.0, 0.5));
    for step in 0..8 {
        let high = (step + 1) as f32;
        place = place.with_box(Vec3::new(22.0 + 1.5 * step as f32, high * 0.5, 0.0), Vec3::new(20.0, high * 0.5, 5.0));
    }
    let mut place = place.at(Vec3::ZERO);
    place.walk(Vec3::new(0.6, 0.0, 0.8), 4 * SECOND);
    assert!((place.feet().y - 8.0).abs() < 0.01, "{}", place.feet());
}
