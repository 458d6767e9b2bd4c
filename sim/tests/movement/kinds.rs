//! The collision index with colliders of every kind.

use std::sync::Arc;

use glam::{Quat, Vec3};
use parry3d::math::Pose;
use parry3d::shape::SharedShape;
use parry3d::utils::Array2;
use tidelock_sim::SimTime;
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Nearby, Shape, Voxels};
use tidelock_sim::motor::{MotorSettings, MotorSnapshot, run_frame};

use crate::determinism::Dice;
use crate::place::{SECOND, held};

const KINDS: u64 = 9;

/// Lowest and highest voxel of a fill.
type Region = ([i32; 3], [i32; 3]);

fn region(dice: &mut Dice) -> Region {
    let low = [0, 1, 2].map(|_| (dice.share() * 10.0) as i32);
    (low, low.map(|part| part + (dice.roll() % 6) as i32))
}

fn voxels(dice: &mut Dice) -> Voxels {
    let mut voxels = Voxels::new(0.7).expect("a sound size");
    voxels.fill([-9, -3, -9], [9, 0, 9], true);
    for round in 0..10 {
        let (low, high) = region(dice);
        voxels.fill(low, high, round % 2 == 0);
    }
    voxels.fill([0; 3], [0; 3], true);
    voxels
}

/// A shape of every kind, and parry's of the same.
fn shape(kind: u64, dice: &mut Dice) -> (Shape, SharedShape) {
    let size = dice.vector().abs() * 2.5 + Vec3::splat(0.3);
    let (height, radius) = (size.y, size.x);
    match kind {
        0 => (Shape::Box { half: size }, SharedShape::cuboid(size.x, size.y, size.z)),
        1 => (Shape::Ball { radius }, SharedShape::ball(radius)),
        2 => (Shape::Cylinder { half_height: height, radius }, SharedShape::cylinder(height, radius)),
        3 => (Shape::Capsule { half_height: height + radius, radius }, SharedShape::capsule_y(height, radius)),
        4 => {
            let corners =
                [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(y, z)| [Vec3::new(-1.0, y, z), Vec3::new(1.0, y, z)]);
            let corners: Vec<Vec3> = corners.as_flattened().iter().map(|corner| size * *corner).collect();
            (Shape::Wedge { half: size }, SharedShape::convex_hull(&corners).expect("a wedge"))
        }
        5 => {
            let points: Vec<Vec3> = (0..12).map(|_| dice.vector() * 3.0).collect();
            let hull = SharedShape::convex_hull(&points).expect("a hull");
            (Shape::ConvexHull { points: points.into() }, hull)
        }
        6 => {
            let vertices: Vec<Vec3> = (0..30).map(|_| dice.vector() * 3.0).collect();
            let indices: Vec<[u32; 3]> = (0..10).map(|at| [at * 3, at * 3 + 1, at * 3 + 2]).collect();
            let mesh = SharedShape::trimesh(vertices.clone(), indices.clone()).expect("a mesh");
            (Shape::TriMesh { vertices: vertices.into(), indices: indices.into() }, mesh)
        }
        7 => {
            let heights: Vec<f32> = (0..63).map(|_| dice.share()).collect();
            let field = Array2::from_fn(7, 9, |row, column| heights[row * 9 + column]);
            let field = SharedShape::heightfield(field, Vec3::new(8.0, 1.0, 6.0));
            (Shape::Heightfield { heights: heights.into(), columns: 9, rows: 7, cell: 1.0 }, field)
        }
        _ => {
            let voxels = voxels(dice);
            let mut boxes = Vec::new();
            for at in (0..60_i32.pow(3)).map(|at| [at % 60 - 30, at / 60 % 60 - 30, at / 3600 - 30]) {
                if voxels.contains(at) {
                    let middle = Vec3::from(at.map(|part| (part as f32 + 0.5) * 0.7));
                    boxes.push((Pose::from_translation(middle), SharedShape::cuboid(0.35, 0.35, 0.35)));
                }
            }
            (Shape::Voxels { voxels: Arc::new(voxels) }, SharedShape::compound(boxes))
        }
    }
}

// S-13: parry as the oracle. Without a hull's inside meshes and heightfields are entered where a surface is crossed.
#[test]
fn capsules_overlap_every_kind_where_parry_says() {
    let mut dice = Dice(13);
    for kind in 0..KINDS {
        let (mut near, mut apart) = (0, 0);
        for _ in 0..if kind == 8 { 6 } else { 60 } {
            let (shape, oracle) = shape(kind, &mut dice);
            let (position, rotation) = (dice.vector() * 5.0, dice.rotation());
            let mut index = CollisionIndex::new();
            index.insert(Collider { id: ColliderId(1), shape, position, rotation }).expect("a sound part");
            let (pose, mut nearby) = (Pose::from_parts(position, rotation), Nearby::new());
            for _ in 0..40 {
                let up = dice.vector().normalize_or(Vec3::Y);
                let (radius, straight) = (0.3 + dice.share().abs(), 0.1 + dice.share().abs());
                let settings = MotorSettings { up, radius, half_height: radius + straight, ..MotorSettings::default() };
                let at = position + dice.vector() * 6.0;
                let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
                let found = world.overlaps(at, &settings, SimTime(0));
                // The axis by points 0.02 studs apart or less, each the radius from what it is near.
                let points = (0..=110).map(|step| at + up * (straight * (step as f32 / 55.0 - 1.0)));
                let distances = points.map(|point| oracle.distance_to_point(&pose, point, true));
                let distance = distances.fold(f32::INFINITY, f32::min);
                if distance > radius - 0.005 {
                    apart += 1;
                    assert!(!found, "kind {kind}: {distance} from an axis of radius {radius}");
                } else if distance < radius - 0.03 {
                    near += 1;
                    assert!(found, "kind {kind}: only {distance} from an axis of radius {radius}");
                }
            }
        }
        assert!(near > 20 && apart > 20, "kind {kind}: {near} {apart}");
    }
}

/// Where a character gets to from here and there, and what is under and around it.
fn seen(index: &CollisionIndex, seed: u64) -> Vec<(u64, bool, Option<ColliderId>)> {
    let (mut dice, mut nearby, settings) = (Dice(seed), Nearby::new(), MotorSettings::default());
    let mut look = || {
        let position = dice.vector() * Vec3::new(14.0, 5.0, 14.0);
        let frame = held(dice.vector());
        let mut world = CollisionWorld { index, nearby: &mut nearby };
        let overlaps = world.overlaps(position, &settings, SimTime(7));
        let ground = world.support_below(position, &settings, 3.0, SimTime(7)).map(|ground| ground.collider);
        let mut snapshot = MotorSnapshot { position, ..MotorSnapshot::default() };
        for tick in 0..SECOND / 4 {
            run_frame(&mut snapshot, &frame, SimTime(u64::from(tick) * 256), &settings, &mut world);
        }
        (snapshot.digest(), overlaps, ground)
    };
    (0..12).map(|_| look()).collect()
}

// S-13: an index that was edited against one filled anew with what is left.
#[test]
fn edits_leave_what_a_new_index_would_hold() {
    for seed in 0..25 {
        let mut dice = Dice(900 + seed);
        let mut index = CollisionIndex::new();
        let mut held: Vec<Collider> = Vec::new();
        let mut next = 0;
        for step in 0..120 {
            let pick = (dice.roll() % held.len().max(1) as u64) as usize;
            let (position, rotation) = (dice.vector() * Vec3::new(14.0, 4.0, 14.0), dice.rotation());
            let rotation = if step % 3 == 0 { Quat::IDENTITY } else { rotation };
            match dice.roll() % 5 {
                0 | 1 => {
                    next += 1;
                    let (shape, _) = shape(next % KINDS, &mut dice);
                    let part = Collider { id: ColliderId(next * 7_919 % 10_007), shape, position, rotation };
                    index.insert(part.clone()).expect("a sound part");
                    held.push(part);
                }
                2 if !held.is_empty() => assert!(index.remove(held.swap_remove(pick).id)),
                3 if !held.is_empty() => {
                    (held[pick].position, held[pick].rotation) = (position, rotation);
                    assert!(index.move_to(held[pick].id, position, rotation));
                }
                _ => {
                    let ((low, high), solid) = (region(&mut dice), dice.roll().is_multiple_of(2));
                    for part in &mut held {
                        let changed = index.fill_voxels(part.id, low, high, solid);
                        let Shape::Voxels { voxels } = &mut part.shape else {
                            assert_eq!(changed, None);
                            continue;
                        };
                        assert_eq!(changed, Arc::make_mut(voxels).fill(low, high, solid));
                    }
                }
            }
            if step % 20 == 19 {
                let mut anew = CollisionIndex::new();
                held.iter().rev().cloned().for_each(|part| anew.insert(part).expect("a sound part"));
                assert_eq!(seen(&index, seed), seen(&anew, seed), "seed {seed}, step {step}");
            }
        }
    }
}

// S-13, S-12: ground of voxels is walked like ground of blocks, its seams and chunks unfelt, and a hole dug is fallen into.
#[test]
fn voxel_ground_is_walked_and_dug() {
    let mut ground = Voxels::new(1.0).expect("a sound size");
    ground.fill([-40, -4, -40], [39, -1, 39], true);
    ground.fill([10, 0, -40], [39, 0, 39], true);
    let mut place = crate::place::Place::empty()
        .with(Shape::Voxels { voxels: Arc::new(ground) }, Vec3::ZERO, Quat::IDENTITY)
        .at(Vec3::ZERO);
    place.walk(Vec3::ZERO, SECOND);
    let mut last = place.snapshot.position.x;
    place.hold(&held(Vec3::X), 2 * SECOND, |place| {
        let now = place.snapshot.position.x;
        assert!(place.snapshot.ground.is_some() && now > last, "{:?}", place.snapshot);
        last = now;
    });
    // One voxel up is a step.
    assert!((place.feet().y - 1.0).abs() < 0.05, "{}", place.feet());
    let under = place.snapshot.position.x.floor() as i32;
    let dug = place.index.fill_voxels(ColliderId(1), [under - 3, -3, -3], [under + 3, 0, 3], false);
    assert_eq!(dug, Some(7 * 4 * 7));
    place.walk(Vec3::ZERO, SECOND);
    assert!((place.feet().y + 3.0).abs() < 0.05, "{}", place.feet());
    assert_eq!(place.index.fill_voxels(ColliderId(1), [under - 3, -3, -3], [under + 3, 0, 3], false), Some(0));
    assert_eq!(place.index.fill_voxels(ColliderId(2), [0; 3], [0; 3], true), None);
}
