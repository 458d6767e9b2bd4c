//! The demo place compiles, holds what it promises, and nobody is born inside a wall.

use glam::Vec3;
use tidelock_replication::instance::{PartShape, Pose};
use tidelock_replication::place::{Place, PlacePart};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{InputFrame, MotorSnapshot, run_frame};
use tidelock_sim::{SimSpan, SimTime};

fn demo() -> Place {
    Place::compile(include_str!("../../bins/places/demo.toml")).expect("the demo place compiles")
}

fn index(place: &Place) -> CollisionIndex {
    let mut index = CollisionIndex::new();
    for part in place.parts().filter(|part| part.properties.anchored && part.properties.can_collide) {
        let PlacePart { id, properties, pose } = part;
        let (id, shape) = (ColliderId(id.0), properties.collider_shape());
        let inserted = match properties.mover_at(pose) {
            Some(mover) => index.insert_mover(id, shape, mover),
            None => {
                let Pose { position, rotation } = pose;
                index.insert(Collider { id, shape, position, rotation })
            }
        };
        inserted.unwrap_or_else(|error| panic!("{} at {}: {error:?}", properties.name, pose.position));
    }
    index
}

// T-30
#[test]
fn the_demo_place_has_what_is_worth_walking_in() {
    let place = demo();
    let parts: Vec<PlacePart> = place.parts().collect();
    let count = |name: &str| parts.iter().filter(|part| &*part.properties.name == name).count();
    assert!((300..=600).contains(&parts.len()), "{} parts", parts.len());
    assert!(place.spawns().count() >= 8);
    assert!(parts.iter().filter(|part| !part.properties.anchored).count() >= 30, "loose parts");
    let movers: Vec<_> = parts.iter().filter_map(|part| part.properties.mover).collect();
    let slides: Vec<_> = movers.iter().filter_map(|mover| mover.slide).collect();
    assert!(slides.iter().filter(|slide| slide.offset.y == 0.0).count() >= 2, "ferries");
    assert!(slides.iter().any(|slide| slide.offset.x == 0.0 && slide.offset.z == 0.0), "a lift");
    assert!(movers.iter().filter(|mover| mover.turn.is_some()).count() >= 2, "turning platforms");
    assert!(count("Stair") >= 10 && count("Maze wall") >= 15 && count("Door lintel") >= 4 && count("Pillar") >= 8);
    let steepness = |name: &str| {
        let ramp = parts.iter().find(|part| &*part.properties.name == name).expect("a ramp");
        (ramp.pose.rotation * Vec3::Y).y.acos().to_degrees()
    };
    assert!((steepness("Ramp 30") - 30.0).abs() < 0.01);
    let limit = place.motor_settings().slope_limit.to_degrees();
    assert!((limit - 2.0..limit - 0.5).contains(&steepness("Ramp 49")));
    for shape in [PartShape::Wedge, PartShape::Ball, PartShape::Capsule, PartShape::Cylinder] {
        assert!(parts.iter().any(|part| part.properties.shape == shape), "{shape:?}");
    }
    assert!(parts.iter().all(|part| part.pose.position.abs().max_element() <= 110.0));
}

#[test]
fn every_spawn_is_free_and_over_ground() {
    let place = demo();
    let index = index(&place);
    let settings = place.motor_settings();
    let mut nearby = Nearby::default();
    for spawn in place.spawns() {
        let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
        assert!(!world.overlaps(spawn.position, &settings, SimTime(0)), "inside something at {}", spawn.position);
        assert!(
            world.support_below(spawn.position, &settings, 3.0, SimTime(0)).is_some(),
            "no ground at {}",
            spawn.position
        );
    }
    assert!(index.len() > 300);
}

//
#[test]
fn its_bytes_open_again_and_clients_get_no_server_part() {
    let place = demo();
    let whole = Place::from_bytes(place.bytes().to_vec()).expect("its own bytes");
    assert_eq!(whole.hash(), place.hash());
    let client = Place::from_bytes(place.client_bytes().to_vec()).expect("its client bytes");
    assert_eq!(client.hash(), place.hash());
    assert!(client.parts().eq(place.parts()));
    assert_eq!(client.spawns().count(), 0);
    assert!(client.client_bytes().len() < 128 * 1_024, "{} bytes", client.client_bytes().len());
}

/// Walks straight from point to point on the ground plan, at 60 frames a second from `time` on, and returns where the feet end;
/// each leg has 12 seconds.
fn walk(place: &Place, from: Vec3, legs: &[[f32; 2]], time: SimTime) -> Vec3 {
    let (index, settings) = (index(place), place.motor_settings());
    let mut nearby = Nearby::default();
    let mut snapshot = MotorSnapshot { position: from + Vec3::Y * settings.half_height, ..MotorSnapshot::default() };
    let mut now = time;
    for leg in legs {
        for _ in 0..12 * 60 {
            let way = Vec3::new(leg[0] - snapshot.position.x, 0.0, leg[1] - snapshot.position.z);
            if way.length() < 0.3 {
                break;
            }
            let frame = InputFrame { direction: way.clamp_length_max(1.0), ..InputFrame::default() };
            let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
            run_frame(&mut snapshot, &frame, now, &settings, &mut world);
            now += SimSpan::TICK;
        }
    }
    snapshot.position - Vec3::Y * settings.half_height
}

/// The feet end within half a stud of `to`.
fn arrives(place: &Place, from: [f32; 3], legs: &[[f32; 2]], to: [f32; 3]) {
    let end = walk(place, Vec3::from_array(from), legs, SimTime(0));
    assert!(end.distance(Vec3::from_array(to)) < 0.5, "from {from:?} by {legs:?} to {end}, not {to:?}");
}

#[test]
fn every_way_in_the_demo_place_leads_where_it_seems_to() {
    let place = demo();
    // The stairs, the ramps and the lookout.
    arrives(&place, [20.0, 0.0, 70.0], &[[55.0, 70.0]], [55.0, 12.0, 70.0]);
    arrives(&place, [60.0, 0.0, 24.0], &[[60.0, 54.0]], [60.0, 12.0, 54.0]);
    arrives(&place, [80.0, 0.0, 34.0], &[[80.0, 54.0]], [80.0, 12.0, 54.0]);
    arrives(&place, [78.0, 12.0, 62.0], &[[78.0, 80.0]], [78.0, 16.0, 80.0]);
    // Through the house by all four doors and out at the back.
    let rooms = [[-60.0, -60.0], [-80.0, -60.0], [-80.0, -80.0], [-95.0, -80.0]];
    arrives(&place, [-60.0, 0.0, -45.0], &rooms, [-95.0, 0.0, -80.0]);
    // Under the tunnel, between two pillars, up the landing, out of the basin.
    arrives(&place, [-80.0, 0.0, -36.0], &[[-80.0, 14.0]], [-80.0, 0.0, 14.0]);
    arrives(&place, [20.0, 0.0, 5.0], &[[38.0, 6.0]], [38.0, 0.0, 6.0]);
    arrives(&place, [62.0, 0.0, -44.0], &[[94.0, -44.0]], [94.0, 12.0, -44.0]);
    arrives(&place, [60.0, -6.0, -70.0], &[[60.0, -48.0]], [60.0, 0.0, -48.0]);
    // Winding up the tower.
    let turns: Vec<[f32; 2]> = (0..24)
        .map(|step| (step as f32 * 18.0).to_radians())
        .map(|angle| [7.5 * angle.cos(), 74.0 - 7.5 * angle.sin()])
        .chain([[0.0, 74.0]])
        .collect();
    let end = walk(&place, Vec3::new(10.0, 0.0, 71.0), &turns, SimTime(0));
    assert!((end.y - 19.6).abs() < 0.5, "{end}");
    // The lift stands at the ground at time 0 and reaches the plateau half a period later.
    let end = walk(&place, Vec3::new(46.9, 1.0, 84.0), &[[46.9, 84.3]], SimTime::from_seconds(10.0));
    assert!(end.y < 1.5, "{end}");
    let end = walk(&place, Vec3::new(46.9, 12.0, 84.0), &[[54.0, 84.0]], SimTime::from_seconds(5.0));
    assert!((end.y - 12.0).abs() < 0.2, "{end}");
}
