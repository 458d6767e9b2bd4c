use glam::{Quat, Vec3};
use tidelock_sim::collision::Shape;
use tidelock_sim::motor::CharacterState;

use crate::place::{Place, SECOND, about, held};

/// Runs a million ticks in long frames and checks that not a bit of the position changes.
fn stays(place: &mut Place, direction: Vec3) {
    let before = place.snapshot;
    let frame = tidelock_sim::motor::InputFrame { duration: tidelock_sim::SimSpan(256 * 100), ..held(direction) };
    for _ in 0..10_000 {
        assert_eq!(place.frame(&frame).ticks, 100);
        assert_eq!(place.snapshot.position, before.position);
    }
    assert_eq!(place.snapshot.state, CharacterState::Grounded);
    assert_eq!(place.snapshot.ground, before.ground);
}

// S-12
#[test]
fn rest_on_flat_ground() {
    let mut place = Place::flat().at(Vec3::new(3.3, 0.7, -17.1));
    place.walk(Vec3::new(0.3, 0.0, 0.1), SECOND);
    place.walk(Vec3::ZERO, SECOND);
    stays(&mut place, Vec3::ZERO);
    assert_eq!(place.snapshot.velocity, Vec3::ZERO);
}

// S-12
#[test]
fn rest_on_a_slope() {
    let slab = Shape::Box { half: Vec3::new(60.0, 1.0, 20.0) };
    let turned = about(Vec3::new(0.6, 0.0, 0.8), 0.8);
    let mut place = Place::empty().with(slab, Vec3::ZERO, turned).at(Vec3::new(1.0, 4.0, 2.0));
    place.walk(Vec3::ZERO, SECOND);
    place.walk(Vec3::new(-0.5, 0.0, 0.2), SECOND / 3);
    place.walk(Vec3::ZERO, SECOND);
    stays(&mut place, Vec3::ZERO);
}

// S-12
#[test]
fn rest_in_a_corner_while_pushing_into_it() {
    let mut place = Place::flat()
        .with(Shape::Box { half: Vec3::new(0.5, 10.0, 100.0) }, Vec3::new(5.0, 10.0, 0.0), about(Vec3::Y, 0.3))
        .with(Shape::Cylinder { half_height: 10.0, radius: 7.0 }, Vec3::new(0.0, 10.0, 12.0), Quat::IDENTITY)
        .at(Vec3::ZERO);
    let into = Vec3::new(0.5, 0.0, 0.8);
    place.walk(into, 4 * SECOND);
    stays(&mut place, into);
    place.walk(Vec3::ZERO, SECOND);
    stays(&mut place, Vec3::ZERO);
}

// S-12
#[test]
fn rest_between_slopes_too_steep_to_stand_on() {
    let slab = Shape::Box { half: Vec3::new(20.0, 1.0, 20.0) };
    let pocket = |turns: &[f32]| {
        let mut place = Place::empty();
        for turn in turns {
            let rotation = about(Vec3::Y, *turn) * about(Vec3::Z, 1.05);
            place = place.with(slab.clone(), rotation * Vec3::new(10.0, -1.0, 0.0), rotation);
        }
        place.at(Vec3::new(0.4, 8.0, 0.3))
    };
    let third = std::f32::consts::TAU / 3.0;
    for turns in [[0.0, std::f32::consts::PI].as_slice(), &[0.1, 0.1 + third, 0.1 + 2.0 * third]] {
        let mut place = pocket(turns);
        place.walk(Vec3::ZERO, 4 * SECOND);
        assert_eq!(place.snapshot.state, CharacterState::Grounded, "{:?}", place.snapshot);
        stays(&mut place, Vec3::ZERO);
        // Out of which one can still jump.
        let jump = tidelock_sim::motor::InputFrame { jump: true, ..held(Vec3::ZERO) };
        assert!(place.frame(&jump).jumped);
    }
}

// S-12
#[test]
fn rest_at_the_edge_of_a_ledge() {
    for out in [0.05, 0.3, 0.7, 0.95] {
        let place = Place::flat().with_box(Vec3::new(-10.0, 0.5, 0.0), Vec3::new(10.0, 0.5, 10.0));
        let mut place = place.at(Vec3::new(-0.5, 1.0, 0.0));
        place.settings.walk_speed = 1.0;
        place.walk(Vec3::ZERO, 2);
        while place.feet().x < out {
            place.walk(Vec3::X, 1);
        }
        place.walk(Vec3::ZERO, SECOND);
        stays(&mut place, Vec3::ZERO);
    }
}
