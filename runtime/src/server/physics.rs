use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::Pose;
use tidelock_sim::PartState;
use tidelock_sim::collision::ColliderId;

use super::body::CharacterBody;
use super::place_world::{PartVelocity, PlaceWorld};
use super::pusher::Pusher;
use super::{Server, ownership};

/// How far physics may be from what an owner says before it is put there: a part at rest is not woken by its owner's word.
const AGREES: f32 = 0.01;

/// Moves loose parts: characters push them, anchored parts and movers carry them, and where a player owns one, it goes where
/// that player says. What sleeps costs nothing.
pub(super) fn run(server: &mut Server) {
    let time = server.time();
    if server.place.loose.is_empty() {
        return;
    }
    ownership::take_reports(server);
    let place = &mut server.place;
    let (world, loose) = place.physics_parts();
    for (body, pusher) in world.query::<(&CharacterBody, &mut Pusher)>().iter() {
        let position = pusher.follow(body.position);
        loose.move_character(pusher.body, position);
    }
    let mut moved = std::mem::take(&mut place.loose_motion);
    moved.clear();
    place.loose.step(time, &mut moved);
    for row in 0..moved.len() {
        let state = PartState {
            position: moved.positions[row],
            rotation: moved.rotations[row],
            velocity: moved.velocities[row],
            angular: moved.angulars[row],
        };
        place.owners.record(moved.ids[row], &state, time);
        write(place, moved.ids[row], &state);
    }
    place.loose_motion = moved;
    owned(place, time);
    ownership::elect(server);
}

/// Puts parts where their owners say, moved on to now. Until the next word physics carries them on, so that others get a state
/// for every tick.
fn owned(place: &mut PlaceWorld, now: tidelock_sim::SimTime) {
    let accepted = std::mem::take(&mut place.owners.accepted);
    for one in &accepted {
        let state = one.by(now);
        let held = place.loose.state(one.part);
        if held.is_none_or(|held| !agree(&held, &state)) {
            place.loose.place(one.part, &state);
        }
        write(place, one.part, &state);
    }
    place.owners.accepted = accepted;
}

fn agree(held: &PartState, said: &PartState) -> bool {
    held.position.distance(said.position) <= AGREES
        && held.velocity.distance(said.velocity) <= AGREES
        && held.angular.distance(said.angular) <= AGREES
        && 1.0 - held.rotation.dot(said.rotation).abs() <= 1e-4
}

/// Notes where a part is, for whoever reads the world and for publishing.
pub(super) fn write(place: &mut PlaceWorld, part: ColliderId, state: &PartState) {
    let Some(entity) = place.entity(InstanceId(part.0)) else { return };
    let pose = Pose { position: state.position, rotation: state.rotation };
    let velocity = PartVelocity { linear: state.velocity, angular: state.angular };
    if let Ok((held, velocities)) = place.world_mut().query_one_mut::<(&mut Pose, &mut PartVelocity)>(entity) {
        if (*held, *velocities) == (pose, velocity) && velocity == PartVelocity::default() {
            // It rests, as it did.
            return;
        }
        (*held, *velocities) = (pose, velocity);
        place.moved_parts.push(entity);
    }
}
