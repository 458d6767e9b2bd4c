use glam::{Quat, Vec3};
use tidelock_sim::collision::{Mover, Shape, Slide, Turn};
use tidelock_sim::motor::{CharacterState, InputFrame};
use tidelock_sim::{SimSpan, SimTime};

use crate::place::{Place, SECOND, held};

const THIRTY_DAYS: SimTime = SimTime(30 * 24 * 3600 * SimTime::UNITS_PER_SECOND + 12_345);

fn slide(offset: Vec3, seconds: f64) -> Mover {
    let slide = Slide { offset, period: SimSpan::from_seconds(seconds), phase: SimSpan(777) };
    Mover::resting(Vec3::new(0.0, 9.5, 0.0), Quat::IDENTITY).with_slide(slide)
}

fn platform() -> Shape {
    Shape::Box { half: Vec3::new(6.0, 0.5, 6.0) }
}

// S-12a
#[test]
fn a_sliding_platform_carries_in_every_direction() {
    for offset in [Vec3::new(30.0, 0.0, 0.0), Vec3::new(0.0, 20.0, 0.0), Vec3::new(10.0, 10.0, -20.0)] {
        for start in [SimTime(0), THIRTY_DAYS] {
            let mover = slide(offset, 6.0);
            let mut place = Place::empty().with_mover(platform(), mover);
            place.time = start;
            let (at, _) = mover.pose(start);
            place = place.at(at + Vec3::new(2.0, 0.5, 1.0));
            place.walk(Vec3::ZERO, 60);
            let relative = place.feet() - mover.pose(place.time).0;
            place.hold(&held(Vec3::ZERO), 12 * SECOND, |place| {
                assert_eq!(place.snapshot.state, CharacterState::Grounded, "{offset}");
                let now = place.feet() - mover.pose(place.time).0;
                assert!((now - relative).length() < 0.01, "{offset}: {now} from {relative}");
            });
        }
    }
}

// S-12a
#[test]
fn a_turning_platform_carries_round_and_turns_the_character() {
    for start in [SimTime(0), THIRTY_DAYS] {
        let turn = Turn { axis: Vec3::Y, period: SimSpan::from_seconds(4.0), phase: SimSpan(5) };
        let mover = Mover::resting(Vec3::new(0.0, -0.5, 0.0), Quat::IDENTITY).with_turn(turn);
        let mut place = Place::empty().with_mover(platform(), mover);
        place.time = start;
        let mut place = place.at(Vec3::new(3.0, 0.0, 0.0));
        place.walk(Vec3::ZERO, 60);
        let (from, yaw) = (place.feet(), place.snapshot.yaw);
        let began = place.time;
        place.walk(Vec3::ZERO, SECOND);
        let expected = mover.carry(from, began, place.time);
        assert!((place.feet() - expected).length() < 0.005, "{} not {expected}", place.feet());
        assert!((place.feet() - Vec3::new(from.z, 0.0, -from.x)).length() < 0.01, "{}", place.feet());
        assert!((place.snapshot.yaw - yaw - std::f32::consts::FRAC_PI_2).abs() < 1e-3);
        place.walk(Vec3::ZERO, 3 * SECOND);
        assert!((place.feet() - from).length() < 0.01, "{} not {from}", place.feet());
        assert_eq!(place.snapshot.velocity, Vec3::ZERO);
    }
}

// S-12a
#[test]
fn velocity_of_a_mover_matches_its_poses() {
    let turn = Turn { axis: Vec3::new(0.0, 0.6, 0.8), period: SimSpan::from_seconds(3.0), phase: SimSpan(0) };
    let mover = slide(Vec3::new(10.0, 4.0, 0.0), 5.0).with_turn(turn);
    for step in 0..500 {
        let time = SimTime(step * 1_111);
        let (position, rotation) = mover.pose(time);
        assert!((rotation.length() - 1.0).abs() < 1e-5);
        let local = Vec3::new(1.0, 2.0, 3.0);
        let point = position + rotation * local;
        let later = time + SimSpan::MOTOR_TICK;
        let (next, next_rotation) = mover.pose(later);
        let moved = next + next_rotation * local;
        assert!((mover.carry(point, time, later) - moved).length() < 1e-4);
        assert!((mover.velocity_at(moved, later) * (1.0 / 240.0) - (moved - point)).length() < 2e-4);
    }
}

// S-12a
#[test]
fn jumping_off_keeps_the_platforms_momentum() {
    let mover = slide(Vec3::new(60.0, 0.0, 0.0), 6.0);
    let mut place = Place::empty().with_mover(platform(), mover);
    place.time = SimTime::from_seconds(1.4);
    let at = mover.pose(place.time).0 + Vec3::Y * 0.5;
    let mut place = place.at(at);
    place.walk(Vec3::ZERO, 60);
    let speed = place.snapshot.ground_velocity.x;
    assert!(speed > 25.0, "{speed}");
    place.frame(&InputFrame { jump: true, ..held(Vec3::ZERO) });
    assert_eq!(place.snapshot.state, CharacterState::Jumping);
    assert!((place.snapshot.velocity.x - speed).abs() < 0.5);
    assert_eq!(place.snapshot.ground_velocity, Vec3::ZERO);
}

// S-12a
#[test]
fn moving_walls_push_and_lifts_catch() {
    let wall = Shape::Box { half: Vec3::new(0.5, 5.0, 5.0) };
    let way = Slide { offset: Vec3::new(10.0, 0.0, 0.0), period: SimSpan::from_seconds(4.0), phase: SimSpan(0) };
    let mover = Mover::resting(Vec3::new(-3.0, 5.0, 0.0), Quat::IDENTITY).with_slide(way);
    let mut place = Place::flat().with_mover(wall, mover).at(Vec3::ZERO);
    place.walk(Vec3::ZERO, 2 * SECOND);
    assert!(place.feet().x > 8.4 && place.feet().y.abs() < 0.03, "{}", place.feet());
    assert_eq!(place.snapshot.state, CharacterState::Grounded);
    // Falling onto a lift on its way up.
    let mover = slide(Vec3::new(0.0, 20.0, 0.0), 6.0);
    let mut place = Place::empty().with_mover(platform(), mover).at(Vec3::new(0.0, 18.0, 0.0));
    place.walk(Vec3::ZERO, 2 * SECOND);
    assert_eq!(place.snapshot.state, CharacterState::Grounded);
    let gap = place.feet().y - mover.pose(place.time).0.y - 0.5;
    assert!(gap.abs() < 0.012, "{gap}");
}

// S-12a
#[test]
fn walking_on_a_moving_platform_is_walking_on_it() {
    let mover = slide(Vec3::new(0.0, 0.0, 40.0), 8.0);
    let mut place = Place::empty().with_mover(platform(), mover);
    place.time = SimTime::from_seconds(1.0);
    let at = mover.pose(place.time).0 + Vec3::new(-4.0, 0.5, 0.0);
    let mut place = place.at(at);
    place.walk(Vec3::ZERO, 60);
    let before = place.feet() - mover.pose(place.time).0;
    place.walk(Vec3::X * 0.5, SECOND / 2);
    let relative = place.feet() - mover.pose(place.time).0;
    assert!((relative - before - Vec3::new(3.8, 0.0, 0.0)).length() < 0.1, "{relative} from {before}");
    while place.snapshot.state == CharacterState::Grounded {
        place.walk(Vec3::X, 1);
    }
    assert!(place.snapshot.velocity.z > 10.0, "{}", place.snapshot.velocity);
}
