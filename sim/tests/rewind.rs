//! Shots at what the shooter saw.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

use glam::{Quat, Vec3};
use tidelock_sim::collision::{ColliderError, ColliderId, Shape};
use tidelock_sim::rewind::{RewindCounters, RewindHistory, RewindLimits, RewindPose, RewindShape, clamp_view};
use tidelock_sim::{SimSpan, SimTime, Tick};

fn pose(id: u64, shape: RewindShape, position: Vec3) -> RewindPose {
    RewindPose { id: ColliderId(id), shape, position, rotation: Quat::IDENTITY, teleported: false }
}

/// A target that runs to and fro at 20 studs/s.
fn target(seconds: f64) -> Vec3 {
    let way = (seconds * 20.0).rem_euclid(160.0) as f32;
    Vec3::new(if way < 80.0 { way } else { 160.0 - way } - 40.0, 2.5, -30.0)
}

fn capsule(history: &mut RewindHistory) -> RewindShape {
    history.register(&Shape::Capsule { half_height: 2.5, radius: 1.0 }).unwrap()
}

// B105
#[test]
fn ten_thousand_shots_on_centre_hit() {
    let (limits, mut counters) = (RewindLimits::default(), RewindCounters::default());
    let mut history = RewindHistory::new();
    let shape = capsule(&mut history);
    let (mut seed, mut hits, mut shots, mut worst) = (9_u64, 0, 0, 0.0_f32);
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 24)
    };
    let start = 1_u64 << 36;
    for tick in start..start + 2_500 {
        let now = Tick(tick).time();
        let poses = [pose(1, shape, target(now.seconds())), pose(2, shape, Vec3::new(0.0, 2.5, 30.0))];
        assert!(history.record(Tick(tick), poses) && !history.record(Tick(tick), poses));
        if tick < start + 40 {
            continue;
        }
        for _ in 0..5 {
            // Half the round trip each way, the interpolation delay, and some jitter.
            let age = 0.02 + random() * 0.23 + 0.1 + random() * 0.04;
            let seen = SimTime::from_seconds(now.seconds() - age);
            let estimate = Some(seen + SimSpan::from_seconds(random() * 0.03));
            let view = history.view(clamp_view(seen, now, estimate, &limits, &mut counters)).unwrap();
            let eye = Vec3::new(0.0, 2.5, 30.0);
            let aim = (target(seen.seconds()) - eye).normalize();
            let hit = view.ray(eye, aim, 500.0, |id| id != ColliderId(2));
            hits += u32::from(hit.is_some_and(|hit| hit.id == ColliderId(1) && hit.point.is_finite()));
            let error = view.pose(ColliderId(1)).unwrap().0.distance(target(seen.seconds()));
            worst = worst.max(error);
            shots += 1;
        }
    }
    assert!(shots > 10_000 && f64::from(hits) >= 0.995 * f64::from(shots), "{hits} of {shots}");
    assert!(worst <= 0.5 * 20.0 / 60.0, "{worst} studs off");
    assert_eq!(counters.clamped, 0);
}

// B105
#[test]
fn what_vanished_or_was_put_elsewhere_is_where_it_was_seen() {
    let mut history = RewindHistory::new();
    let shape = capsule(&mut history);
    let at = |tick: u64, share: f64| SimTime::from_seconds((tick as f64 + share) / 60.0);
    assert!(history.view(at(100, 0.0)).is_none());
    for tick in 100..110_u64 {
        let moved =
            RewindPose { teleported: tick == 105, ..pose(1, shape, Vec3::X * if tick < 105 { 0.0 } else { 90.0 }) };
        let brief = (tick < 106).then(|| pose(2, shape, Vec3::Z * 50.0));
        let rubbish = [pose(3, shape, Vec3::NAN), pose(4, RewindShape::clone(&shape), Vec3::Z * -50.0)];
        history.record(Tick(tick), [moved].into_iter().chain(brief).chain(rubbish));
    }
    let seen = |tick, share, id| history.view(at(tick, share)).unwrap().pose(ColliderId(id)).map(|pose| pose.0);
    assert_eq!(seen(104, 0.9, 1), Some(Vec3::ZERO));
    assert_eq!(seen(105, 0.01, 1), Some(Vec3::X * 90.0));
    assert_eq!(seen(105, 0.9, 2), Some(Vec3::Z * 50.0));
    assert_eq!(seen(106, 0.1, 2), None);
    assert_eq!(seen(104, 0.0, 3), None);
    // Beyond both ends of history.
    assert_eq!((seen(3, 0.0, 1), seen(900, 0.0, 1)), (Some(Vec3::ZERO), Some(Vec3::X * 90.0)));
    let view = history.view(at(104, 0.0)).unwrap();
    let mut found = Vec::new();
    view.overlap_ball(Vec3::Z * 50.0, 60.0, &mut found);
    assert_eq!(found, [ColliderId(1), ColliderId(2)]);
    found.clear();
    view.overlap_box(Vec3::Z * -51.5, Vec3::ONE, Quat::IDENTITY, &mut found);
    view.overlap_box(Vec3::NAN, Vec3::ONE, Quat::IDENTITY, &mut found);
    assert_eq!(found, [ColliderId(4)]);
    assert_eq!(view.ray(Vec3::NAN, Vec3::X, 10.0, |_| true), None);
    assert!(view.ray(Vec3::ZERO, Vec3::X, 10.0, |id| id == ColliderId(1)).is_some_and(|hit| hit.distance == 0.0));
}

// S-60: ticks that were left out are bridged, and every shape can be hit.
#[test]
fn shapes_and_gaps() {
    let mut history = RewindHistory::new();
    let points: Vec<Vec3> =
        (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) - 0.5).collect();
    let shapes = [
        Shape::Box { half: Vec3::ONE },
        Shape::Ball { radius: 1.0 },
        Shape::Cylinder { half_height: 1.0, radius: 1.0 },
        Shape::Wedge { half: Vec3::ONE },
        Shape::ConvexHull { points: points.into() },
    ];
    let shapes: Vec<RewindShape> = shapes.iter().map(|shape| history.register(shape).unwrap()).collect();
    let flat = Shape::Heightfield { heights: [0.0; 4].into(), columns: 2, rows: 2, cell: 1.0 };
    assert_eq!(history.register(&flat), Err(ColliderError::Empty));
    assert_eq!(history.register(&Shape::Ball { radius: f32::NAN }), Err(ColliderError::NonFinite));
    for tick in [10_u64, 14] {
        let poses = shapes
            .iter()
            .enumerate()
            .map(|(index, shape)| pose(index as u64, *shape, Vec3::new(index as f32 * 10.0, tick as f32, 0.0)));
        history.record(Tick(tick), poses);
    }
    let view = history.view(Tick(12).time()).unwrap();
    for index in 0..5_u64 {
        let eye = Vec3::new(index as f32 * 10.0, 11.9, 20.0);
        let hit = view.ray(eye, Vec3::NEG_Z, 100.0, |_| true).unwrap();
        assert!(hit.id == ColliderId(index) && hit.distance > 18.0 && hit.distance < 21.0, "{hit:?}");
        assert_eq!(view.ray(eye + Vec3::Y * 2.0, Vec3::NEG_Z, 100.0, |_| true), None);
    }
}

// S-60
#[test]
fn nothing_is_allocated_per_tick_or_shot() {
    let mut history = RewindHistory::new();
    let shape = capsule(&mut history);
    let mut found = Vec::with_capacity(256);
    let mut run = |ticks: std::ops::Range<u64>| {
        for tick in ticks {
            let place = |id: u64| pose(id, shape, Vec3::new(id as f32 * 3.0, 2.5, (tick % 60) as f32));
            history.record(Tick(tick), (0..200).rev().map(place));
            let view = history.view(SimTime(tick * 1_024 - 5_000)).unwrap();
            found.clear();
            view.overlap_ball(Vec3::ZERO, 40.0, &mut found);
            let _ = view.ray(Vec3::Y * 2.5, Vec3::X, 500.0, |id| id.0 > 2);
        }
    };
    run(100..140);
    let counted = allocation_counter::measure(|| run(140..300));
    assert_eq!(counted.count_total, 0);
}
