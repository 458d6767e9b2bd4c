use glam::Vec3;
use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::{CharacterProperties, Pose, Seat};
use tidelock_sim::SimTime;
use tidelock_sim::motor::CharacterState;
use tidelock_sim::ownership::PartView;
use tidelock_sim::tracks::CharacterTrack;

use super::carried::{Carried, Rides};
use super::own::OwnStyle;
use super::replica::{Born, Replica, SpawnedAt};
use super::{Client, DrawnCharacter, DrawnPart, PartOwner, Projection};

/// Says what to draw: others at playback time, the own character and movers at prediction time.
pub(super) fn run(client: &mut Client) {
    client.projection.parts.clear();
    client.projection.movers.clear();
    client.projection.characters.clear();
    if client.config.draw {
        parts(client);
        movers(client);
        characters(client);
    }
    own(client);
    let projection = &mut client.projection;
    projection.characters.sort_unstable_by_key(|character| character.id);
}

fn parts(client: &mut Client) {
    let Client { replica, timeline, projection, parts, dt, .. } = client;
    let Some(playback) = timeline.playback() else { return };
    projection.playback_s = playback;
    let present = parts.drawn_seconds().unwrap_or(playback);
    let views = replica.views;
    let mut query = replica.world.query::<(&InstanceId, &Pose, &mut PartView, &Born, &PartOwner)>();
    for (id, pose, view, born, owner) in query.iter() {
        if born.0 > playback {
            continue;
        }
        view.advance(*dt, playback, present, &views);
        let (position, rotation) =
            view.pose().map_or((pose.position, pose.rotation), |drawn| (drawn.position, drawn.rotation));
        projection.parts.push(DrawnPart { id: *id, position, rotation, owner: *owner });
    }
    drop(query);
    projection.parts.sort_unstable_by_key(|part| part.id);
}

fn characters(client: &mut Client) {
    let Client { replica, own, projection, scene, timeline, dt, .. } = client;
    let (Some(scene), Some(playback)) = (scene, timeline.playback()) else { return };
    let predicted = own.style.as_ref().map_or(playback, OwnStyle::drawn_seconds);
    let world = &replica.world;
    let rides = Rides {
        movers: &replica.movers,
        settings: &scene.settings,
        playback: SimTime::from_seconds(playback),
        predicted: SimTime::from_seconds(predicted),
        dt: *dt as f32,
    };
    let mut query =
        world.query::<(&InstanceId, &CharacterProperties, &SpawnedAt, &CharacterTrack, &Born, &mut Carried)>();
    for (id, properties, spawned, track, born, carried) in query.iter() {
        if born.0 > playback || own.id() == Some(*id) {
            continue;
        }
        let sample = track.sample(playback);
        let state = sample.map_or(spawned.0.state, |pose| pose.state);
        let (position, yaw) = sample.map_or((spawned.0.position, spawned.0.yaw), |pose| (pose.position, pose.yaw));
        carried.seat = properties.seat.or(carried.seat).filter(|_| state == CharacterState::Seated);
        let (position, yaw) = match carried.seat.and_then(|seat| seated(projection, replica, &seat, scene.settings.up))
        {
            Some(place) => place,
            None => rides.carry(carried, position, yaw, state),
        };
        projection.characters.push(DrawnCharacter {
            id: *id,
            player: properties.player,
            name: properties.name.clone(),
            color: properties.color,
            position,
            yaw,
            velocity: sample.map_or(Vec3::ZERO, |pose| pose.velocity),
            state,
            own: false,
        });
    }
}

fn movers(client: &mut Client) {
    let Client { replica, own, projection, .. } = client;
    let Some(prediction) = &own.style else { return };
    let time = SimTime::from_seconds(prediction.drawn_seconds());
    for part in &replica.movers {
        let Some(mover) = part.properties.mover_at(part.pose) else { continue };
        let (position, rotation) = mover.pose(time);
        projection.movers.push(DrawnPart { id: part.id, position, rotation, owner: PartOwner::Server });
    }
}

/// Where the drawn part has its seat, so that part and character are seen at one time.
fn seated(projection: &Projection, replica: &Replica, seat: &Seat, up: Vec3) -> Option<(Vec3, f32)> {
    let drawn = |parts: &[DrawnPart]| {
        let found = parts.binary_search_by_key(&seat.part, |part| part.id).ok()?;
        Some(Pose { position: parts[found].position, rotation: parts[found].rotation })
    };
    let told = || replica.part(seat.part).map(|(_, pose)| pose);
    let part = drawn(&projection.parts).or_else(|| drawn(&projection.movers)).or_else(told)?;
    Some(seat.place(part, up))
}

fn own(client: &mut Client) {
    sit(client);
    let Client { replica, own, projection, welcome, config, .. } = client;
    let (Some(id), Some(prediction), Some(welcome)) = (own.id(), &own.style, welcome) else { return };
    projection.predicted_s = prediction.predicted_seconds();
    let drawn = prediction.drawn();
    let motor = prediction.motor();
    let properties = replica.touch(id).and_then(|entity| replica.world.get::<&CharacterProperties>(entity).ok());
    projection.characters.push(DrawnCharacter {
        id,
        player: welcome.player,
        name: properties.as_ref().map_or_else(|| config.name.as_str().into(), |held| held.name.clone()),
        color: properties.map(|held| held.color).unwrap_or_default(),
        position: drawn.position,
        yaw: drawn.yaw,
        velocity: motor.velocity,
        state: motor.state,
        own: true,
    });
}

/// Puts the own character on its seat, if it sits.
fn sit(client: &mut Client) {
    let Client { replica, own, projection, scene, dt, .. } = client;
    let (Some(id), Some(prediction), Some(scene)) = (own.id(), &mut own.style, scene) else { return };
    let motor = prediction.motor();
    let properties = replica.touch(id).and_then(|entity| replica.world.get::<&CharacterProperties>(entity).ok());
    let seat = properties.and_then(|held| held.seat).filter(|_| motor.state == CharacterState::Seated);
    let Some((position, yaw)) = seat.and_then(|seat| seated(projection, replica, &seat, scene.settings.up)) else {
        return;
    };
    let velocity = if *dt > 0.0 { (position - motor.position) / *dt as f32 } else { motor.velocity };
    prediction.carry(position, velocity, yaw);
}
