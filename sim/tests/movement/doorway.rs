use glam::Vec3;
use tidelock_sim::SimTime;
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{MotorSettings, MotorSnapshot, run_frame};

use crate::place::{Place, SECOND, held};

/// Characters that want through.
const CROWD: usize = 64;

/// A wall with a door 2.4 studs wide and 5.2 high, and a lintel.
fn house() -> CollisionIndex {
    Place::flat()
        .with_box(Vec3::new(-26.2, 10.0, 0.0), Vec3::new(25.0, 10.0, 0.4))
        .with_box(Vec3::new(26.2, 10.0, 0.0), Vec3::new(25.0, 10.0, 0.4))
        .with_box(Vec3::new(0.0, 12.6, 0.0), Vec3::new(1.2, 7.4, 0.4))
        .index
}

/// Walks one character for six seconds: to the door, then through it.
fn walk(index: &CollisionIndex, nearby: &mut Nearby, number: usize) -> MotorSnapshot {
    let settings = MotorSettings::default();
    let (column, row) = ((number % 8) as f32 - 3.5, (number / 8) as f32);
    let position = Vec3::new(column * 3.0, 2.52, -6.0 - row * 2.0);
    let mut snapshot = MotorSnapshot { position, ..MotorSnapshot::default() };
    for tick in 0..u64::from(6 * SECOND) {
        let at = snapshot.position;
        let goal = if at.z < 0.5 { Vec3::new(0.0, at.y, 1.0) } else { Vec3::new(column * 6.0, at.y, 40.0) };
        let frame = held((goal - at).normalize_or_zero());
        let mut world = CollisionWorld { index, nearby };
        run_frame(&mut snapshot, &frame, SimTime(tick * 256), &settings, &mut world);
    }
    snapshot
}

// S-12, S-13
#[test]
fn a_crowd_gets_through_a_doorway_alike_with_one_worker_and_with_many() {
    let index = house();
    let mut nearby = Nearby::new();
    let alone: Vec<_> = (0..CROWD).map(|number| walk(&index, &mut nearby, number)).collect();
    for (number, snapshot) in alone.iter().enumerate() {
        assert!(snapshot.position.z > 10.0, "number {number} is at {}", snapshot.position);
    }
    let alone: Vec<_> = alone.iter().map(MotorSnapshot::digest).collect();
    let all = alone.iter().fold(0_u64, |all, one| all.rotate_left(5) ^ one);
    assert_eq!(all, 0xb80a_0659_eb53_3065, "movement has changed: clients and servers of other builds disagree");
    for workers in [2, 5] {
        let together: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let index = &index;
            let run = |worker: usize| {
                let mut nearby = Nearby::new();
                // Each worker takes every so-manieth, from the last to the first.
                let numbers = (0..CROWD).rev().filter(move |number| number % workers == worker);
                numbers.map(|number| walk(index, &mut nearby, number).digest()).collect()
            };
            let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || run(worker))).collect();
            handles.into_iter().map(|handle| handle.join().expect("a worker ends well")).collect()
        });
        for (number, expected) in alone.iter().enumerate() {
            let own: Vec<_> = (0..CROWD).rev().filter(|other| other % workers == number % workers).collect();
            let place = own.iter().position(|other| *other == number).expect("everyone is someone's");
            assert_eq!(together[number % workers][place], *expected, "{workers} workers, number {number}");
        }
    }
}
