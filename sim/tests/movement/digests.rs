//! The gallery, pinned: these numbers hold in every profile and on every machine.

use std::sync::Arc;

use glam::{Quat, Vec3};
use tidelock_sim::SimSpan;
use tidelock_sim::collision::{Mover, Shape, Slide, Turn};
use tidelock_sim::motor::InputFrame;

use crate::place::{Place, SECOND, about, held};

/// Walks a fixed way through a place and folds the state after every tick.
fn walked(place: Place) -> u64 {
    let mut place = place.at(Vec3::new(0.0, 3.0, 0.0));
    place.settings.air_jumps = 1;
    let ways = [Vec3::X, Vec3::new(0.7, 0.0, 0.7), Vec3::Z, Vec3::new(-0.8, 0.0, 0.6), Vec3::new(0.9, 0.0, -0.4)];
    let mut digest = 0_u64;
    for tick in 0..6 * SECOND {
        let direction = ways[(tick / 288) as usize];
        let frame = InputFrame { jump: tick % 150 < 5, auto_jump: tick > 3 * SECOND, ..held(direction) };
        place.frame(&frame);
        digest = digest.rotate_left(5) ^ place.snapshot.digest();
    }
    digest
}

fn stairs() -> Place {
    (0..10).fold(Place::flat(), |place, step| {
        let high = step as f32 + 1.0;
        place.with_box(Vec3::new(28.0 + step as f32 * 2.0, high * 0.5, 0.0), Vec3::new(25.0, high * 0.5, 8.0))
    })
}

fn ramps() -> Place {
    [49.0_f32, 51.0].into_iter().enumerate().fold(Place::flat(), |place, (at, degrees)| {
        let slab = Shape::Box { half: Vec3::new(30.0, 1.0, 6.0) };
        place.with(slab, Vec3::new(10.0, 0.0, at as f32 * 14.0), about(Vec3::Z, degrees.to_radians()))
    })
}

fn pockets() -> Place {
    let wall = || Shape::Box { half: Vec3::new(0.3, 8.0, 20.0) };
    Place::flat()
        .with(wall(), Vec3::new(6.0, 8.0, 0.0), about(Vec3::Y, 0.4))
        .with(wall(), Vec3::new(6.0, 8.0, 4.0), about(Vec3::Y, -0.9))
        .with(wall(), Vec3::new(-6.0, 8.0, 4.0), about(Vec3::X, 0.3))
}

fn rounds() -> Place {
    (0..30_u32).fold(Place::flat(), |place, at| {
        let position = Vec3::new((at % 6) as f32 * 4.0 - 4.0, 0.6, (at / 6) as f32 * 4.0 - 4.0);
        let shape = match at % 3 {
            0 => Shape::Ball { radius: 1.1 },
            1 => Shape::Cylinder { half_height: 0.6, radius: 1.2 },
            _ => Shape::Capsule { half_height: 1.5, radius: 0.7 },
        };
        place.with(shape, position, about(Vec3::X, at as f32 * 0.3))
    })
}

fn platforms() -> Place {
    let slide = Slide { offset: Vec3::new(20.0, 4.0, 8.0), period: SimSpan::from_seconds(5.0), phase: SimSpan(0) };
    let turn = Turn { axis: Vec3::Y, period: SimSpan::from_seconds(3.0), phase: SimSpan(9) };
    let base = Mover::resting(Vec3::new(0.0, 0.5, 0.0), Quat::IDENTITY);
    let plate = Shape::Box { half: Vec3::new(5.0, 0.5, 5.0) };
    Place::flat()
        .with_mover(plate.clone(), base.with_slide(slide))
        .with_mover(plate, Mover { position: Vec3::new(12.0, 0.5, 6.0), ..base }.with_turn(turn))
}

fn ceiling() -> Place {
    Place::flat().with(
        Shape::Box { half: Vec3::new(40.0, 1.0, 40.0) },
        Vec3::new(20.0, 8.5, 0.0),
        about(Vec3::Z, -0.08),
    )
}

fn ground(mesh: bool) -> Place {
    let height = |column: u32, row: u32| (column * 7 + row * 13) as f32 % 5.0 * 0.3;
    let heights: Vec<f32> = (0..41 * 41).map(|at| height(at % 41, at / 41)).collect();
    let shape = if mesh {
        let corner = |at: usize| Vec3::new((at % 41) as f32 * 2.0 - 40.0, heights[at], (at / 41) as f32 * 2.0 - 40.0);
        let cells = (0..40 * 40).map(|cell| cell / 40 * 41 + cell % 40);
        let indices: Vec<_> = cells.flat_map(|a| [[a, a + 41, a + 1], [a + 1, a + 41, a + 42]]).collect();
        Shape::TriMesh { vertices: (0..41 * 41).map(corner).collect(), indices: Arc::from(indices) }
    } else {
        Shape::Heightfield { heights: heights.into(), columns: 41, rows: 41, cell: 2.0 }
    };
    Place::empty().with(shape, Vec3::ZERO, Quat::IDENTITY)
}

fn fast() -> Place {
    let mut place = Place::flat().with_box(Vec3::new(40.0, 5.0, 0.0), Vec3::new(0.01, 5.0, 60.0));
    place.settings.walk_speed = 500.0;
    place.settings.ground_acceleration = 5_000.0;
    place
}

fn lake() -> Place {
    ramps().with_water(Vec3::new(0.0, 3.0, 0.0), Vec3::new(30.0, 3.0, 30.0))
}

/// Two walls that meet at 30 degrees, and a third behind.
fn wedge_of_walls() -> Place {
    let wall = || Shape::Box { half: Vec3::new(20.0, 8.0, 0.3) };
    Place::flat()
        .with(wall(), Vec3::new(4.0, 8.0, 4.0), about(Vec3::Y, 0.26))
        .with(wall(), Vec3::new(4.0, 8.0, -4.0), about(Vec3::Y, -0.26))
        .with_box(Vec3::new(-12.0, 8.0, 0.0), Vec3::new(0.3, 8.0, 20.0))
}

fn door() -> Place {
    Place::flat()
        .with_box(Vec3::new(4.0, 10.0, 26.1), Vec3::new(0.4, 10.0, 25.0))
        .with_box(Vec3::new(4.0, 10.0, -26.1), Vec3::new(0.4, 10.0, 25.0))
        .with_box(Vec3::new(4.0, 12.6, 0.0), Vec3::new(0.4, 7.4, 1.1))
}

/// Every case with its name.
fn gallery() -> Vec<(&'static str, Place)> {
    vec![
        ("stairs", stairs()),
        ("ramps", ramps()),
        ("pockets", pockets()),
        ("rounds", rounds()),
        ("platforms", platforms()),
        ("ceiling", ceiling()),
        ("heightfield", ground(false)),
        ("mesh", ground(true)),
        ("fast", fast()),
        ("lake", lake()),
        ("wedge", wedge_of_walls()),
        ("door", door()),
    ]
}

// S-12, S-11, B108
#[test]
fn the_gallery_is_the_same_everywhere() {
    let found: Vec<(&str, u64)> = gallery().into_iter().map(|(name, place)| (name, walked(place))).collect();
    let expected = [
        ("stairs", 0x0a8f_e0c2_7097_70e4),
        ("ramps", 0x1224_2189_9455_3b84),
        ("pockets", 0xd030_41a9_03cc_03d8),
        ("rounds", 0x3fc4_2342_7bd1_3ffc),
        ("platforms", 0x9bcd_abc3_73c6_5d92),
        ("ceiling", 0x26db_34a6_4740_99e6),
        ("heightfield", 0x982e_0ab9_47b5_3b7b),
        ("mesh", 0x982e_0ab9_47b5_3b7b),
        ("fast", 0x3e0b_1ef6_0a6a_3aa5),
        ("lake", 0xae45_81d0_4ef4_112e),
        ("wedge", 0x6bbd_7d96_0b1e_a026),
        ("door", 0xae2d_3368_5cff_e73e),
    ];
    assert_eq!(found, expected, "movement has changed: clients and servers of other builds disagree");
}

// S-11, B108: the same with as many workers as there may be, each with cases of its own in turn.
#[test]
fn the_gallery_is_the_same_with_any_number_of_workers() {
    let alone: Vec<u64> = gallery().into_iter().map(|(_, place)| walked(place)).collect();
    for workers in [2, 3, 8] {
        let together: Vec<Vec<(usize, u64)>> = std::thread::scope(|scope| {
            let run = |worker: usize| {
                let own = gallery().into_iter().enumerate().rev().filter(|(case, _)| case % workers == worker);
                own.map(|(case, (_, place))| (case, walked(place))).collect()
            };
            let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || run(worker))).collect();
            handles.into_iter().map(|handle| handle.join().expect("a worker ends well")).collect()
        });
        for (case, digest) in together.into_iter().flatten() {
            assert_eq!(digest, alone[case], "{workers} workers, case {case}");
        }
    }
}

/// Walks a fixed way of entries of a tenth of a second each, cut into frames of at most `cut` units; the state after each.
fn walked_in_frames(mut place: Place, cut: u32) -> Vec<u64> {
    place = place.at(Vec3::new(0.0, 3.0, 0.0));
    place.settings.air_jumps = 1;
    let ways = [Vec3::X, Vec3::new(0.7, 0.0, 0.7), Vec3::Z, Vec3::new(-0.8, 0.0, 0.6), Vec3::new(0.9, 0.0, -0.4)];
    let entries = 0..60_u32;
    entries
        .map(|entry| {
            let direction = ways[entry as usize / 12];
            let entry = InputFrame { jump: entry % 7 == 3, auto_jump: entry > 30, ..held(direction) };
            let mut left = 6_144;
            while left > 0 {
                let duration = SimSpan(left.min(cut));
                left -= duration.0;
                place.frame(&InputFrame { duration, ..entry });
            }
            place.snapshot.digest()
        })
        .collect()
}

// S-10: frames that are joined or split run the same motor ticks to the bit.
#[test]
fn the_gallery_is_the_same_however_time_is_cut() {
    let joined: Vec<_> = gallery().into_iter().map(|(_, place)| walked_in_frames(place, 6_144)).collect();
    for cut in [2_048, 1_024, 700, 256, 255, 100, 17] {
        for ((name, place), joined) in gallery().into_iter().zip(&joined) {
            assert_eq!(walked_in_frames(place, cut), *joined, "{name}, cut into {cut}");
        }
    }
}
