use std::f32::consts::{FRAC_PI_2, PI};

use glam::{Quat, Vec3};
use tidelock_sim::collision::{Collider, ColliderError, ColliderId, Mover, Shape, Slide, Turn};
use tidelock_sim::motor::{CharacterState, InputFrame, MotorSettings, facing};
use tidelock_sim::{SimSpan, SimTime};

use crate::place::{Place, SECOND, about, held};

fn jump(direction: Vec3) -> InputFrame {
    InputFrame { jump: true, ..held(direction) }
}

fn standing() -> Place {
    let mut place = Place::flat().at(Vec3::ZERO);
    place.walk(Vec3::ZERO, 10);
    place
}

// S-12
#[test]
fn a_jump_rises_as_high_as_its_speed_and_needs_a_press() {
    let mut place = standing();
    let (mut top, mut jumps) = (0.0_f32, 0);
    for _ in 0..2 * SECOND {
        jumps += u32::from(place.frame(&jump(Vec3::ZERO)).jumped);
        top = top.max(place.feet().y);
    }
    // v²/2g is 6.37 studs, less what a step of 1/240 s loses.
    assert!((top - 6.27).abs() < 0.02, "{top}");
    assert_eq!(jumps, 1);
    assert_eq!(place.snapshot.state, CharacterState::Grounded);
    assert!(place.feet().y.abs() < 0.002);
    place.walk(Vec3::ZERO, 1);
    assert!(place.frame(&jump(Vec3::ZERO)).jumped);
}

// S-12
#[test]
fn coyote_time_grants_one_late_jump_and_none_after_a_jump() {
    for (coyote, late, granted) in [(0.0, 5, false), (0.1, 20, true), (0.1, 40, false)] {
        let place = Place::flat().with_box(Vec3::new(-10.0, 10.0, 0.0), Vec3::new(10.0, 10.0, 10.0));
        let mut place = place.at(Vec3::new(-1.0, 20.0, 0.0));
        place.settings.coyote_time = coyote;
        place.walk(Vec3::ZERO, 3);
        while place.snapshot.state == CharacterState::Grounded {
            place.walk(Vec3::X, 1);
        }
        place.walk(Vec3::X, late);
        assert_eq!(place.frame(&jump(Vec3::X)).jumped, granted, "{coyote} {late}");
        place.frame(&held(Vec3::X));
        assert!(!place.frame(&jump(Vec3::X)).jumped);
    }
    let mut place = standing();
    place.settings.coyote_time = 0.1;
    assert!(place.frame(&jump(Vec3::ZERO)).jumped);
    place.frame(&held(Vec3::ZERO));
    assert!(!place.frame(&jump(Vec3::ZERO)).jumped);
}

// S-12
#[test]
fn a_buffered_jump_waits_for_ground() {
    for (buffer, granted) in [(0.0, false), (0.02, false), (0.15, true)] {
        let mut place = Place::flat().at(Vec3::new(0.0, 1.0, 0.0));
        place.settings.jump_buffer = buffer;
        place.frame(&jump(Vec3::ZERO));
        let jumps = (0..60).filter(|_| place.frame(&jump(Vec3::ZERO)).jumped).count();
        assert_eq!(jumps, usize::from(granted), "{buffer}");
    }
}

// S-12
#[test]
fn air_jumps_are_counted_until_ground() {
    let mut place = standing();
    place.settings.air_jumps = 2;
    let mut air = 0;
    for press in 0..5 {
        let result = place.frame(&jump(Vec3::ZERO));
        assert_eq!(result.jumped, press == 0);
        air += u32::from(result.air_jumped);
        place.walk(Vec3::ZERO, 20);
    }
    assert_eq!(air, 2);
    place.walk(Vec3::ZERO, 3 * SECOND);
    assert_eq!(place.snapshot.air_jumps_used, 0);
}

// S-12
#[test]
fn auto_jump_takes_what_a_jump_clears_and_nothing_higher() {
    for (height, jumps) in [(3.0, true), (5.0, true), (12.0, false)] {
        let place = Place::flat().with_box(Vec3::new(12.0, height * 0.5, 0.0), Vec3::new(6.0, height * 0.5, 10.0));
        let mut place = place.at(Vec3::ZERO);
        place.walk(Vec3::ZERO, 5);
        let frame = InputFrame { auto_jump: true, ..held(Vec3::X) };
        let mut jumped = false;
        for _ in 0..SECOND {
            jumped |= place.frame(&frame).jumped;
        }
        assert_eq!(jumped, jumps, "{height}");
        assert_eq!(place.feet().x > 6.0, jumps, "{height} at {}", place.feet());
    }
}

// S-12
#[test]
fn air_control_is_weaker_than_ground_control() {
    let mut place = standing();
    place.frame(&jump(Vec3::ZERO));
    place.walk(Vec3::X, 24);
    assert!((place.snapshot.velocity.x - 6.0).abs() < 0.01, "{}", place.snapshot.velocity);
    place.walk(Vec3::ZERO, 24);
    assert!((place.snapshot.velocity.x - 6.0).abs() < 0.01, "momentum is kept");
}

// S-12
#[test]
fn falls_reach_terminal_speed() {
    let mut place = Place::flat().at(Vec3::new(0.0, 3000.0, 0.0));
    place.walk(Vec3::ZERO, 4 * SECOND);
    assert_eq!(place.snapshot.velocity.y, -400.0);
}

// S-12
#[test]
fn it_turns_towards_movement_at_a_bounded_rate() {
    let mut place = standing();
    let mut last = place.snapshot.yaw;
    place.hold(&held(Vec3::new(1.0, 0.0, 1.0)), SECOND, |place| {
        let turned = (place.snapshot.yaw - last).abs();
        assert!(turned <= 12.0 / 240.0 + 1e-6 || turned > 6.0);
        last = place.snapshot.yaw;
    });
    let ahead = facing(place.snapshot.yaw, Vec3::Y);
    assert!((ahead - Vec3::new(0.5_f32.sqrt(), 0.0, 0.5_f32.sqrt())).length() < 1e-5, "{ahead}");
    assert!(place.snapshot.yaw > -PI && place.snapshot.yaw <= PI);
    place.walk(Vec3::ZERO, 10);
    assert_eq!(place.snapshot.yaw, last);
}

// S-10
#[test]
fn camera_relative_movement_follows_the_camera() {
    let mut place = standing();
    let frame = InputFrame { camera_relative: true, camera_yaw: FRAC_PI_2, ..held(-Vec3::Z) };
    place.hold(&frame, SECOND / 2, |_| {});
    assert!(place.feet().x < -6.0 && place.feet().z.abs() < 1e-3, "{}", place.feet());
}

// S-12
#[test]
fn any_direction_can_be_up() {
    for up in [Vec3::X, -Vec3::Y, Vec3::new(0.48, 0.6, 0.64)] {
        let settings = MotorSettings { up, ..MotorSettings::default() };
        let axis = Vec3::Y.cross(up).normalize_or(Vec3::X);
        let rotation = about(axis, libm::acosf(up.y));
        let mut place = Place::empty().with(Shape::Box { half: Vec3::new(100.0, 1.0, 100.0) }, -up, rotation);
        place.settings = settings;
        place.snapshot.position = up * 4.0;
        let side = rotation * Vec3::X;
        place.walk(Vec3::ZERO, SECOND / 2);
        place.walk(side, SECOND);
        assert_eq!(place.snapshot.state, CharacterState::Grounded);
        assert!((place.snapshot.position.dot(up) - 2.52).abs() < 0.003, "{up}: {}", place.snapshot.position);
        assert!((place.snapshot.position.dot(side) - 15.2).abs() < 0.1, "{up}: {}", place.snapshot.position);
        assert!(place.frame(&jump(Vec3::ZERO)).jumped);
    }
}

// S-12
#[test]
fn it_is_pushed_out_of_what_it_is_put_into() {
    for depth in [0.05, 0.5, 1.5, 3.0] {
        let mut place = Place::flat().at(Vec3::new(0.0, -depth, 0.0));
        for _ in 0..10 {
            place.frame(&held(Vec3::ZERO));
        }
        assert!(!place.overlaps(), "{depth}: {}", place.feet());
        assert!(place.feet().y.abs() < 0.02, "{depth}: {}", place.feet());
    }
    let mut place =
        Place::flat().with_box(Vec3::new(5.0, 5.0, 0.0), Vec3::new(2.0, 5.0, 5.0)).at(Vec3::new(3.3, 0.0, 0.0));
    place.frame(&held(Vec3::ZERO));
    assert!(!place.overlaps());
    assert!((place.feet().x - 2.0).abs() < 0.03 && place.feet().y.abs() < 0.03, "{}", place.feet());
}

// S-12
#[test]
fn flying_has_no_gravity_and_seats_hold() {
    let mut place = Place::flat().at(Vec3::new(0.0, 10.0, 0.0));
    place.settings.flight_speed = 16.0;
    place.walk(Vec3::new(0.6, 0.8, 0.0), SECOND);
    assert!(place.feet().y > 18.0 && place.feet().x > 6.0, "{}", place.feet());
    assert_eq!(place.snapshot.state, CharacterState::Flying);
    place.walk(-Vec3::Y, 3 * SECOND);
    assert!(place.feet().y.abs() < 0.03);
    place.settings.flight_speed = 0.0;
    place.walk(Vec3::ZERO, 20);
    assert_eq!(place.snapshot.state, CharacterState::Grounded, "the grant is over");
    place.snapshot.state = CharacterState::Seated;
    let before = place.snapshot;
    assert_eq!(place.frame(&jump(Vec3::X)).ticks, 1);
    assert_eq!(place.snapshot.position, before.position);
}

// S-24a
#[test]
fn paths_are_clear_or_not() {
    let mut place = Place::flat().with_box(Vec3::new(3.0, 5.0, 0.0), Vec3::new(0.01, 5.0, 5.0)).at(Vec3::ZERO);
    let (settings, from) = (place.settings, place.snapshot.position);
    let mut clear = |to: Vec3| place.world().path_is_clear(from, to, &settings, SimTime(0));
    assert!(clear(from));
    assert!(clear(from + Vec3::new(-0.7, 0.0, 0.2)));
    assert!(clear(from + Vec3::new(1.9, 0.0, 0.0)));
    assert!(!clear(from + Vec3::new(2.1, 0.0, 0.0)));
    assert!(!clear(from + Vec3::new(6.0, 0.0, 0.0)));
    assert!(!clear(from + Vec3::new(0.0, -0.5, 0.0)));
    assert!(clear(from + Vec3::new(-150.0, 0.0, 0.0)));
    assert!(!clear(from + Vec3::new(f32::NAN, 0.0, 0.0)));
}

// S-25
#[test]
fn support_is_walkable_ground_within_reach() {
    let slab = Shape::Box { half: Vec3::new(5.0, 1.0, 5.0) };
    let mut place =
        Place::flat().with(slab, Vec3::new(50.0, 0.0, 0.0), about(Vec3::Z, 1.2)).at(Vec3::new(0.0, 0.5, 0.0));
    let (settings, from) = (place.settings, place.snapshot.position);
    let found = place.world().support_below(from, &settings, 0.6, SimTime(0)).unwrap();
    assert_eq!((found.collider, found.normal), (ColliderId(1), Vec3::Y));
    assert!(place.world().support_below(from, &settings, 0.4, SimTime(0)).is_none());
    let steep = Vec3::new(50.0, 6.0, 0.0);
    assert!(place.world().support_below(steep, &settings, 2.0, SimTime(0)).is_none());
    assert!(place.world().support_below(steep, &settings, 20.0, SimTime(0)).is_some());
}

// S-13
#[test]
fn the_index_refuses_what_it_cannot_hold() {
    let mut place = Place::flat();
    let mut insert = |id: u64, shape: Shape, position: Vec3, rotation: Quat| {
        place.index.insert(Collider { id: ColliderId(id), shape, position, rotation })
    };
    let (ball, one) = (Shape::Ball { radius: 1.0 }, Quat::IDENTITY);
    assert_eq!(insert(1, ball.clone(), Vec3::ZERO, one), Err(ColliderError::Duplicate));
    assert_eq!(insert(2, ball.clone(), Vec3::splat(f32::NAN), one), Err(ColliderError::NonFinite));
    assert_eq!(insert(2, ball.clone(), Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)), Err(ColliderError::Motion));
    let empties = [
        Shape::Ball { radius: 0.0 },
        Shape::Box { half: Vec3::new(1.0, -1.0, 1.0) },
        Shape::Capsule { half_height: 0.5, radius: 1.0 },
        Shape::ConvexHull { points: vec![Vec3::ZERO, Vec3::X, Vec3::Y].into() },
        Shape::ConvexHull { points: vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)].into() },
        Shape::TriMesh { vertices: vec![Vec3::ZERO; 3].into(), indices: vec![[0, 1, 2]].into() },
        Shape::Heightfield { heights: vec![0.0; 5].into(), columns: 2, rows: 3, cell: 1.0 },
    ];
    for shape in empties {
        assert_eq!(insert(2, shape.clone(), Vec3::ZERO, one), Err(ColliderError::Empty), "{shape:?}");
    }
    let lost = Shape::TriMesh { vertices: vec![Vec3::ZERO; 3].into(), indices: vec![[0, 1, 3]].into() };
    assert_eq!(insert(2, lost, Vec3::ZERO, one), Err(ColliderError::Index));
    let still = Mover::resting(Vec3::ZERO, one);
    let hasty = still.with_slide(Slide { offset: Vec3::X, period: SimSpan(0), phase: SimSpan(0) });
    assert_eq!(place.index.insert_mover(ColliderId(2), ball.clone(), hasty), Err(ColliderError::Motion));
    let bent = still.with_turn(Turn { axis: Vec3::ZERO, period: SimSpan::TICK, phase: SimSpan(0) });
    assert_eq!(place.index.insert_mover(ColliderId(2), ball.clone(), bent), Err(ColliderError::Motion));
    assert_eq!(place.index.len(), 1);
    assert_eq!(place.index.insert_mover(ColliderId(2), ball, still), Ok(()));
    assert!(!place.index.move_to(ColliderId(2), Vec3::ZERO, one));
    assert!(!place.index.move_to(ColliderId(1), Vec3::INFINITY, one));
    assert_eq!(place.index.mover(ColliderId(2)), Some(&still));
    assert!(place.index.remove(ColliderId(2)) && !place.index.remove(ColliderId(2)));
}

// S-13
#[test]
fn changes_of_the_index_are_noticed() {
    let mut place = standing();
    assert!(place.index.move_to(ColliderId(1), Vec3::new(0.0, -3.0, 0.0), Quat::IDENTITY));
    place.walk(Vec3::ZERO, SECOND);
    assert!((place.feet().y + 2.0).abs() < 0.01, "{}", place.feet());
    assert!(place.index.remove(ColliderId(1)));
    place.walk(Vec3::ZERO, 10);
    assert_eq!(place.snapshot.state, CharacterState::Falling);
}

// S-12
#[test]
fn far_from_the_origin_it_still_walks_and_rests() {
    for far in [1_000.0, 10_000.0, 60_000.0] {
        let center = Vec3::new(far, far * 0.1, -far);
        let mut place = Place::empty()
            .with_box(center - Vec3::Y, Vec3::new(100.0, 1.0, 100.0))
            .with_box(center + Vec3::X * 12.0, Vec3::new(1.0, 10.0, 50.0))
            .at(center);
        place.walk(Vec3::ZERO, 10);
        place.walk(Vec3::new(0.8, 0.0, 0.6), 2 * SECOND);
        assert_eq!(place.snapshot.state, CharacterState::Grounded, "{far}");
        let walked = place.feet() - center;
        assert!((walked.x - 10.0).abs() < 0.05 && walked.y.abs() < 0.02, "{far}: {walked}");
        place.walk(Vec3::ZERO, SECOND);
        let rest = place.snapshot.position;
        place.hold(&held(Vec3::ZERO), SECOND, |place| assert_eq!(place.snapshot.position, rest));
    }
}
