use glam::{Quat, Vec3};
use tidelock_sim::SimSpan;
use tidelock_sim::collision::Shape;
use tidelock_sim::motor::InputFrame;

use crate::determinism::Dice;
use crate::place::{Place, SECOND};

/// A closed room with walls a tenth of a stud thick, full of parts.
fn room(dice: &mut Dice, parts: u32) -> Place {
    let mut place = Place::flat();
    for (axis, other) in [(Vec3::X, Vec3::Z), (Vec3::Z, Vec3::X)] {
        for side in [-1.0, 1.0] {
            place = place.with_box(axis * 30.0 * side + Vec3::Y * 15.0, axis * 0.05 + other * 31.0 + Vec3::Y * 16.0);
        }
    }
    place = place.with_box(Vec3::Y * 30.0, Vec3::new(31.0, 0.05, 31.0));
    for part in 0..parts {
        let size = dice.vector().abs() * 2.5 + Vec3::splat(0.2);
        let points: Vec<Vec3> = (0..12).map(|_| dice.vector() * 2.0).collect();
        let shape = match part % 7 {
            0 => Shape::Ball { radius: size.x },
            1 => Shape::Wedge { half: size },
            2 => Shape::Cylinder { half_height: size.y, radius: size.x },
            3 => Shape::Capsule { half_height: size.y + size.x, radius: size.x },
            4 => Shape::ConvexHull { points: points.into() },
            _ => Shape::Box { half: size },
        };
        let rotation = if part % 2 == 0 { Quat::IDENTITY } else { dice.rotation() };
        let position = dice.vector() * Vec3::new(28.0, 3.0, 28.0) + Vec3::Y * 2.0;
        place = place.with(shape, position, rotation);
    }
    place
}

// S-12
#[test]
fn wild_walks_never_enter_or_leave_anything() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut place = room(&mut dice, 90);
        place.settings.walk_speed = [16.0, 40.0, 500.0][seed as usize % 3];
        place.settings.ground_acceleration *= place.settings.walk_speed;
        place.settings.air_acceleration *= place.settings.walk_speed;
        place.settings.air_jumps = 5;
        loop {
            place.snapshot.position = dice.vector() * 26.0 * Vec3::new(1.0, 0.0, 1.0) + Vec3::Y * 12.0;
            if !place.overlaps() {
                break;
            }
        }
        for _ in 0..60 {
            let frame = InputFrame {
                duration: SimSpan::MOTOR_TICK,
                direction: dice.vector() * 1.5,
                jump: dice.roll().is_multiple_of(3),
                auto_jump: dice.roll().is_multiple_of(2),
                ..InputFrame::default()
            };
            place.hold(&frame, SECOND / 4, |place| {
                let at = place.snapshot.position;
                let inside = at.x.abs() < 29.0 && at.z.abs() < 29.0 && at.y > 2.48 && at.y < 27.5;
                assert!(inside, "seed {seed}: outside at {at}");
            });
        }
    }
}

// S-12
#[test]
fn wild_walks_come_to_rest() {
    for seed in 0..30 {
        let mut dice = Dice(1_000 + seed);
        let mut place = room(&mut dice, 120);
        place.snapshot.position = dice.vector() * 26.0 * Vec3::new(1.0, 0.0, 1.0) + Vec3::Y * 14.0;
        for _ in 0..10 {
            place.walk(dice.vector(), SECOND / 3);
        }
        place.walk(Vec3::ZERO, 4 * SECOND);
        let rest = place.snapshot;
        place.hold(&crate::place::held(Vec3::ZERO), SECOND, |place| {
            assert_eq!(place.snapshot.position, rest.position, "seed {seed}: {:?} {rest:?}", place.snapshot);
        });
    }
}
