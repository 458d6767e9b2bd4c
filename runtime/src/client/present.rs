use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::{CharacterProperties, Pose};
use tidelock_sim::SimTime;
use tidelock_sim::ownership::PartView;
use tidelock_sim::tracks::CharacterTrack;

use super::carried::{Carried, Rides};
use super::replica::{Born, Replica, SpawnedAt};
use super::{Client, DrawnCharacter, DrawnPart, PartOwner};

/// Says what to draw: others at playback time, the own character and movers at prediction time.
pub(super) fn run(client: &mut Client) {
    client.projection.parts.clear();
    client.projection.movers.clear();
    client.projection.characters.clear();
    if client.config.draw {
        others(client);
        movers(client);
    }
    own(client);
    let projection = &mut client.projection;
    projection.parts.sort_unstable_by_key(|part| part.id);
    projection.characters.sort_unstable_by_key(|character| character.id);
}

fn others(client: &mut Client) {
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
    characters(client, playback);
}

fn characters(client: &mut Client, playback: f64) {
    let Client { replica, own, projection, scene, dt, .. } = client;
    let Some(scene) = scene else { return };
    let predicted = own.prediction.as_ref().map_or(playback, |prediction| prediction.drawn_seconds());
    let Replica { world, movers, .. } = replica;
    let rides = Rides {
        movers,
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
        let (position, yaw) = rides.carry(carried, position, yaw, state);
        projection.characters.push(DrawnCharacter {
            id: *id,
            player: properties.player,
            name: properties.name.clone(),
            color: properties.color,
            position,
            yaw,
            velocity: sample.map_or(glam::Vec3::ZERO, |pose| pose.velocity),
            state,
            own: false,
        });
    }
}

fn movers(client: &mut Client) {
    let Client { replica, own, projection, .. } = client;
    let Some(prediction) = &own.prediction else { return };
    let time = SimTime::from_seconds(prediction.drawn_seconds());
    for part in &replica.movers {
        let Some(mover) = part.properties.mover_at(part.pose) else { continue };
        let (position, rotation) = mover.pose(time);
        projection.movers.push(DrawnPart { id: part.id, position, rotation, owner: PartOwner::Server });
    }
}

fn own(client: &mut Client) {
    let Client { replica, own, projection, welcome, config, .. } = client;
    let (Some(id), Some(prediction), Some(welcome)) = (own.id(), &own.prediction, welcome) else { return };
    projection.predicted_s = prediction.predicted_seconds();
    let drawn = prediction.drawn();
    let motor = &prediction.sim().motor;
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
