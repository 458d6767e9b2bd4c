use hecs::Entity;
use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::Pose;

use super::Server;
use super::body::CharacterBody;
use super::place_world::{PartVelocity, Pusher};

/// Moves loose parts: characters push them, anchored parts and movers carry them. What sleeps costs nothing.
pub(super) fn run(server: &mut Server) {
    let time = server.time();
    let place = &mut server.place;
    if place.loose.is_empty() {
        return;
    }
    let (world, loose) = place.physics_parts();
    for (body, pusher) in world.query::<(&CharacterBody, &Pusher)>().iter() {
        loose.move_character(pusher.0, body.position);
    }
    let mut moved = std::mem::take(&mut place.loose_motion);
    moved.clear();
    place.loose.step(time, &mut moved);
    for row in 0..moved.len() {
        let id = InstanceId(moved.ids[row].0);
        let Some(entity) = place.entity(id) else { continue };
        let pose = Pose { position: moved.positions[row], rotation: moved.rotations[row] };
        let velocity = PartVelocity { linear: moved.velocities[row], angular: moved.angulars[row] };
        write(place.world_mut(), entity, pose, velocity);
        place.moved_parts.push(entity);
    }
    place.loose_motion = moved;
}

fn write(world: &mut hecs::World, entity: Entity, pose: Pose, velocity: PartVelocity) {
    if let Ok((held, velocities)) = world.query_one_mut::<(&mut Pose, &mut PartVelocity)>(entity) {
        (*held, *velocities) = (pose, velocity);
    }
}
