use glam::{Quat, Vec3};
use tidelock::replication::ids::{InstanceId, PlayerId};
use tidelock::replication::instance::{Audience, Color, PartProperties, Pose};
use tidelock::sim::collision::ColliderId;

use super::*;

fn pose(x: f32, y: f32, z: f32) -> Pose {
    Pose { position: Vec3::new(x, y, z), rotation: Quat::IDENTITY }
}

// create, change and destroy reach those here and those who come later alike.
#[test]
fn parts_come_change_and_go_for_everyone_and_for_later_joiners() {
    let mut game = game(demo(), link(60, 10, 0.05), 21);
    let early = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let commands = game.server_mut().commands();
    let kept = commands.create_part(PartProperties::default(), pose(0.0, 20.0, 0.0), Audience::Shared);
    let gone = commands.create_part(PartProperties::default(), pose(9.0, 20.0, 0.0), Audience::Shared);
    game.run(Duration::from_secs(1), idle);
    let red = PartProperties { color: Color([255, 0, 0]), ..PartProperties::default() };
    let commands = game.server_mut().commands();
    commands.set_part(kept, red.clone());
    commands.destroy(gone);
    // An authored part goes too.
    commands.destroy(InstanceId(1));
    game.run(Duration::from_secs(1), idle);
    let late = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    for key in [early, late] {
        let client = game.client(key);
        assert_eq!(client.part(kept).map(|part| part.0), Some(red.clone()));
        assert_eq!(client.part(gone), None);
        assert_eq!(client.part(InstanceId(1)), None);
        assert!(client.part(InstanceId(2)).is_some());
    }
}

// S-13, S-24: what is created under a character holds it up on both sides.
#[test]
fn a_created_floor_is_walked_on_and_moved_without_lasting_disagreement() {
    let mut game = game(demo(), link(60, 0, 0.0), 22);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let properties = PartProperties { size: Vec3::new(30.0, 1.0, 30.0), ..PartProperties::default() };
    let commands = game.server_mut().commands();
    let floor = commands.create_part(properties, pose(0.0, 60.0, 0.0), Audience::Shared);
    let there = tidelock::PlayerCommand::Teleport { position: Vec3::new(0.0, 64.0, 0.0), yaw: 0.0 };
    commands.player(PlayerId(1), there);
    game.run(Duration::from_secs(2), idle);
    let motor = *game.client(key).predicted().unwrap();
    assert!((motor.position.y - 63.0).abs() < 0.1, "{}", motor.position);
    assert_eq!(motor.ground.map(|ground| ground.collider), Some(ColliderId(floor.0)));
    assert_eq!(game.server().players().next().unwrap().position, motor.position);
}

// what is not for a player never reaches it.
#[test]
fn owner_parts_reach_their_owner_alone() {
    let mut game = game(demo(), link(40, 0, 0.0), 23);
    let owner = game.add_client(ClientOptions::default());
    let other = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let owner_player = game.client(owner).player().unwrap();
    let loose = PartProperties { anchored: false, ..PartProperties::default() };
    let commands = game.server_mut().commands();
    let part = commands.create_part(loose, pose(0.0, 10.0, 0.0), Audience::Owner(owner_player));
    game.run(Duration::from_secs(1), idle);
    for step in 0..60 {
        game.server_mut().commands().move_part(part, Vec3::new(step as f32 * 0.2, 10.0, 0.0), Quat::IDENTITY);
        game.tick(idle);
    }
    game.run(Duration::from_secs(1), idle);
    assert!(game.client(owner).part(part).is_some());
    assert_eq!(game.client(other).part(part), None);
    assert_eq!(game.client(other).stats().unknown_items, 0, "not even its motion");
    game.server_mut().commands().set_audience(part, Audience::Shared);
    game.run(Duration::from_secs(1), idle);
    assert!(game.client(other).part(part).is_some());
}

// R-50, S-50: loose parts that characters push are drawn where the server has them, once they rest.
#[test]
fn pushed_parts_come_to_rest_where_the_server_has_them() {
    let mut game = game(demo(), link(150, 30, 0.05), 24);
    let mut bots = Wanderers::join(&mut game, 24, 24);
    run(&mut game, &mut bots, 20.0);
    game.run(Duration::from_secs(30), idle);
    let moved: Vec<_> = game.server().loose_parts().filter(|(_, _, moved)| *moved).collect();
    assert!(!moved.is_empty(), "nobody pushed anything");
    for (_, client) in game.clients() {
        let own = client.predicted().unwrap().position;
        // what is out of sight stays where it was last seen.
        for (id, pose, _) in moved.iter().filter(|part| part.1.position.distance(own) < 160.0) {
            let Some(drawn) = client.projection().parts.iter().find(|part| part.id == *id) else { continue };
            let error = drawn.position.distance(pose.position);
            assert!(error < 0.02, "{id:?} is drawn {error} studs off");
        }
    }
}
