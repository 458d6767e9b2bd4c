use glam::{Quat, Vec3};
use tidelock_sim::collision::{Collider, ColliderError, ColliderId, CollisionIndex, Shape};
use tidelock_sim::motor::{CharacterState, InputFrame};

use crate::place::{Place, SECOND, held};

/// A pool 40 studs wide and 12 deep in a floor whose top is at height 0, a ramp of 30° leading out of it towards +X.
fn pool() -> Place {
    let ramp = Shape::Wedge { half: Vec3::new(10.0, 6.0, 10.4) };
    let towards_x = crate::place::about(Vec3::Y, std::f32::consts::FRAC_PI_2);
    Place::empty()
        .with_box(Vec3::new(0.0, -13.0, 0.0), Vec3::new(20.0, 1.0, 20.0))
        .with_box(Vec3::new(-60.0, -6.0, 0.0), Vec3::new(40.0, 6.0, 20.0))
        .with_box(Vec3::new(60.0, -6.0, 0.0), Vec3::new(40.0, 6.0, 20.0))
        .with(ramp, Vec3::new(9.6, -6.0, 0.0), towards_x)
        .with_water(Vec3::new(0.0, -6.5, 0.0), Vec3::new(20.0, 5.5, 20.0))
}

fn up(direction: Vec3) -> InputFrame {
    InputFrame { jump: true, ..held(direction) }
}

// S-12
#[test]
fn falling_into_water_is_swimming_and_rest_is_rest() {
    let mut place = pool().at(Vec3::new(-10.0, 10.0, 0.0));
    let mut swam = false;
    place.hold(&held(Vec3::ZERO), 4 * SECOND, |place| swam |= place.snapshot.state == CharacterState::Swimming);
    assert!(swam && place.snapshot.state == CharacterState::Swimming, "{:?}", place.snapshot);
    assert_eq!(place.snapshot.velocity, Vec3::ZERO);
    let rest = place.snapshot.position;
    place.hold(&held(Vec3::ZERO), SECOND, |place| assert_eq!(place.snapshot.position, rest));
}

// S-12
#[test]
fn held_jump_rises_to_the_surface_and_a_press_leaps_out() {
    let mut place = pool().at(Vec3::new(-10.0, -9.0, 0.0));
    place.hold(&up(Vec3::ZERO), 3 * SECOND, |place| {
        assert_eq!(place.snapshot.state, CharacterState::Swimming);
        assert!(place.snapshot.position.y <= -1.0, "{}", place.snapshot.position);
    });
    assert!(place.snapshot.position.y > -1.2, "{}", place.snapshot.position);
    place.walk(Vec3::ZERO, 1);
    assert!(place.frame(&up(Vec3::ZERO)).jumped);
    let mut top = place.snapshot.position.y;
    place.hold(&held(Vec3::ZERO), SECOND, |place| top = top.max(place.snapshot.position.y));
    assert!(top > 4.0, "{top}");
    assert_eq!(place.snapshot.state, CharacterState::Swimming, "back in");
}

// S-12
#[test]
fn swims_at_swim_speed_and_walks_out_up_a_ramp() {
    let mut place = pool().at(Vec3::new(-15.0, -6.0, 0.0));
    place.walk(Vec3::X, SECOND);
    assert!((place.snapshot.velocity.length() - 12.0).abs() < 0.01, "{}", place.snapshot.velocity);
    let mut jumped = false;
    for _ in 0..4 * SECOND {
        let frame = if place.snapshot.state == CharacterState::Swimming { up(Vec3::X) } else { held(Vec3::X) };
        jumped |= place.frame(&frame).jumped;
    }
    assert_eq!(place.snapshot.state, CharacterState::Grounded, "{:?}", place.snapshot);
    assert!(!jumped && place.feet().x > 20.0 && place.feet().y.abs() < 0.02, "{}", place.feet());
}

// S-12
#[test]
fn wading_is_walking() {
    let mut place = Place::flat().with_water(Vec3::new(0.0, 1.0, 0.0), Vec3::new(50.0, 1.0, 50.0)).at(Vec3::ZERO);
    place.walk(Vec3::X, SECOND);
    assert_eq!(place.snapshot.state, CharacterState::Grounded);
    assert!((place.snapshot.velocity.length() - 16.0).abs() < 0.01);
}

// S-13
#[test]
fn water_comes_and_goes_and_needs_an_inside() {
    let mut index = CollisionIndex::new();
    let mesh = Shape::TriMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Z].into(),
        indices: std::sync::Arc::new([[0, 1, 2]]),
    };
    let volume = |shape| Collider { id: ColliderId(1), shape, position: Vec3::ZERO, rotation: Quat::IDENTITY };
    assert_eq!(index.insert_water(volume(mesh)), Err(ColliderError::Empty));
    for shape in [
        Shape::Ball { radius: 2.0 },
        Shape::Wedge { half: Vec3::splat(2.0) },
        Shape::Cylinder { half_height: 2.0, radius: 2.0 },
        Shape::Capsule { half_height: 3.0, radius: 2.0 },
    ] {
        index.insert_water(volume(shape)).expect("a sound volume");
        let mut nearby = tidelock_sim::collision::Nearby::new();
        let mut world = tidelock_sim::collision::CollisionWorld { index: &index, nearby: &mut nearby };
        assert!(world.in_water(Vec3::new(0.1, -1.0, 0.1)));
        assert!(!world.in_water(Vec3::new(0.0, 3.1, 0.0)));
        let settings = tidelock_sim::motor::MotorSettings::default();
        assert!(!world.overlaps(Vec3::ZERO, &settings, tidelock_sim::SimTime(0)), "water is no obstacle");
        assert!(index.remove(ColliderId(1)));
    }
    assert!(index.is_empty());
}
