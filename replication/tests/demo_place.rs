//! The demo place compiles, holds what it promises, and nobody is born inside a wall.

use tidelock_replication::instance::{PartShape, Pose};
use tidelock_replication::place::{Place, PlacePart};
use tidelock_sim::SimTime;
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Nearby};

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
        (ramp.pose.rotation * glam::Vec3::Y).y.acos().to_degrees()
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
