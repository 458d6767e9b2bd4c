use glam::{Quat, Vec3};
use tidelock_sim::collision::{
    Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Slide, Turn,
};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot, run_frame};
use tidelock_sim::{SimSpan, SimTime};

use crate::place::about;

/// A seeded source of numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 33)
    }

    /// A number in [-1, 1).
    pub(crate) fn share(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.share(), self.share(), self.share())
    }

    pub(crate) fn rotation(&mut self) -> Quat {
        about(self.vector().normalize_or(Vec3::Y), self.share() * 3.1)
    }
}

/// What to fill an index with: parts of every kind, and movers.
fn crowd(dice: &mut Dice, parts: u64) -> Vec<(Collider, Option<Mover>)> {
    let floor = Shape::Box { half: Vec3::new(60.0, 1.0, 60.0) };
    let floor = Collider { id: ColliderId(0), shape: floor, position: Vec3::NEG_Y, rotation: Quat::IDENTITY };
    let mut all = vec![(floor, None)];
    for id in 1..=parts {
        let size = dice.vector().abs() * 3.0 + Vec3::splat(0.3);
        let points: Vec<Vec3> = (0..12).map(|_| dice.vector() * size).collect();
        let shape = match id % 6 {
            0 => Shape::Ball { radius: size.x },
            1 => Shape::Wedge { half: size },
            2 => Shape::Cylinder { half_height: size.y, radius: size.x },
            3 => Shape::Capsule { half_height: size.y + size.x, radius: size.x },
            4 => Shape::ConvexHull { points: points.into() },
            _ => Shape::Box { half: size },
        };
        let position = dice.vector() * Vec3::new(40.0, 3.0, 40.0);
        let rotation = if id % 3 == 0 { Quat::IDENTITY } else { dice.rotation() };
        let mover = (id % 10 == 0).then(|| {
            let slide =
                Slide { offset: dice.vector() * 10.0, period: SimSpan(300_000), phase: SimSpan(id as u32 * 999) };
            let turn = Turn { axis: Vec3::Y, period: SimSpan(400_000), phase: SimSpan(0) };
            Mover::resting(position, rotation).with_slide(slide).with_turn(turn)
        });
        all.push((Collider { id: ColliderId(id), shape, position, rotation }, mover));
    }
    all
}

fn filled(parts: impl Iterator<Item = (Collider, Option<Mover>)>) -> CollisionIndex {
    let mut index = CollisionIndex::new();
    for (part, mover) in parts {
        match mover {
            Some(mover) => index.insert_mover(part.id, part.shape, mover).expect("a sound mover"),
            None => index.insert(part).expect("a sound part"),
        }
    }
    index
}

/// One second of input for each entry.
fn script(dice: &mut Dice, seconds: u32) -> Vec<InputFrame> {
    (0..seconds * 10)
        .map(|_| InputFrame {
            duration: SimSpan(6_144),
            direction: dice.vector() * 2.0,
            camera_relative: dice.roll().is_multiple_of(2),
            camera_yaw: dice.share() * 9.0,
            jump: dice.roll().is_multiple_of(3),
            auto_jump: dice.roll().is_multiple_of(2),
            ..InputFrame::default()
        })
        .collect()
}

/// Runs a script cut into frames of at most `cut` units; digests after each entry of the script.
fn run(index: &CollisionIndex, script: &[InputFrame], cut: u32, fresh: bool) -> Vec<u64> {
    let (settings, mut nearby) =
        (MotorSettings { coyote_time: 0.1, jump_buffer: 0.1, ..MotorSettings::default() }, Nearby::new());
    let mut snapshot = MotorSnapshot { position: Vec3::new(0.0, 12.0, 0.0), ..MotorSnapshot::default() };
    let mut time = SimTime(1_000_000);
    let mut digests = Vec::new();
    for entry in script {
        let mut left = entry.duration.0;
        while left > 0 {
            let frame = InputFrame { duration: SimSpan(left.min(cut)), ..*entry };
            left -= frame.duration.0;
            if fresh {
                nearby = Nearby::new();
            }
            let mut world = CollisionWorld { index, nearby: &mut nearby };
            let result = run_frame(&mut snapshot, &frame, time, &settings, &mut world);
            time.0 += 256 * u64::from(result.ticks);
        }
        digests.push(snapshot.digest());
        if snapshot.position.abs().max_element() >= 70.0 {
            snapshot.position = Vec3::new(0.0, 12.0, 0.0);
        }
    }
    digests
}

// S-13, B108: the first of them for 10,000 ticks.
#[test]
fn neither_order_nor_scratch_nor_removals_show() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let parts = crowd(&mut dice, 120);
        let script = script(&mut dice, if seed == 0 { 42 } else { 12 });
        let straight = filled(parts.iter().cloned());
        let expected = run(&straight, &script, 6_144, false);
        let reversed = filled(parts.iter().rev().cloned());
        assert_eq!(run(&reversed, &script, 6_144, false), expected, "seed {seed}: order");
        assert_eq!(run(&straight, &script, 6_144, true), expected, "seed {seed}: scratch");
        let mut changed = filled(parts.iter().cloned());
        for part in 1..60 {
            assert!(changed.remove(ColliderId(part)));
        }
        for (part, mover) in parts[1..60].iter().rev().cloned() {
            match mover {
                Some(mover) => changed.insert_mover(part.id, part.shape, mover).expect("a sound mover"),
                None => {
                    let (id, position, rotation) = (part.id, part.position, part.rotation);
                    changed.insert(Collider { position: Vec3::splat(500.0), ..part }).unwrap();
                    assert!(changed.move_to(id, position, rotation));
                }
            }
        }
        assert_eq!(run(&changed, &script, 6_144, false), expected, "seed {seed}: removals");
    }
}

// S-10
#[test]
fn slicing_time_does_not_show() {
    for seed in 100..110 {
        let mut dice = Dice(seed);
        let index = filled(crowd(&mut dice, 120).into_iter());
        let script = script(&mut dice, 12);
        let expected = run(&index, &script, 6_144, false);
        for cut in [2_048, 1_024, 300, 256, 255, 100, 7] {
            assert_eq!(run(&index, &script, cut, false), expected, "seed {seed}, cut into {cut}");
        }
    }
}

// S-13
#[test]
fn order_does_not_show_among_equals() {
    // Tiles and blocks that meet: at their seams several are touched at once.
    let mut parts = Vec::new();
    for x in -12..12 {
        for z in -12..12 {
            let id = ColliderId(parts.len() as u64 * 7_919 % 10_007);
            let high = if (x * 5 + z * 3) % 7 == 0 { 1.0 } else { 0.0 };
            let (shape, position) = (Shape::Box { half: Vec3::ONE }, Vec3::new(x as f32 * 2.0, high, z as f32 * 2.0));
            parts.push((Collider { id, shape, position, rotation: Quat::IDENTITY }, None));
        }
    }
    let straight = filled(parts.iter().cloned());
    let reversed = filled(parts.iter().rev().cloned());
    for seed in 0..10 {
        let script = script(&mut Dice(seed), 12);
        assert_eq!(run(&straight, &script, 1_024, false), run(&reversed, &script, 256, true), "seed {seed}");
    }
}
