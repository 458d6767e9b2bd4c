use std::collections::BTreeMap;

use glam::Vec3;
use tidelock::PlayerCommand;
use tidelock::replication::ids::InstanceId;

use super::*;

// T-20: a game without any ECS of ours: after each update it has ids and values, sorted and each once, and needs nothing else to
// keep its own objects.
#[test]
fn ids_and_values_are_all_a_game_needs() {
    let mut game = game(demo(), link(80, 10, 0.02), 51);
    let mut bots = Wanderers::join(&mut game, 4, 51);
    let key = ClientKey::nth(0);
    let mut objects: BTreeMap<InstanceId, Vec3> = BTreeMap::new();
    for round in 0..600_u32 {
        if round == 400 {
            game.client_mut(ClientKey::nth(3)).leave();
        }
        game.tick(|key, now| bots.input(key, now));
        let projection = game.client(key).projection();
        let ids: Vec<_> = projection.characters.iter().map(|character| character.id).collect();
        assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        let ids: Vec<_> = projection.parts.iter().map(|part| part.id).collect();
        assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        objects.clear();
        objects.extend(projection.characters.iter().map(|character| (character.id, character.position)));
        objects.extend(projection.parts.iter().map(|part| (part.id, part.position)));
        assert!(objects.values().all(|position| position.is_finite()));
    }
    let (server, client) = (game.server(), game.client(key));
    let names: Vec<_> = client.projection().characters.iter().map(|character| character.id).collect();
    let alive: Vec<_> = server.players().filter_map(|player| player.character).collect();
    assert_eq!((names.len(), alive.len()), (3, 3));
    for player in server.players() {
        let drawn = objects[&player.character.expect("it plays")];
        // Drawn a little in the past, or in the future where it is its own.
        assert!(drawn.distance(player.position) < 16.0, "{drawn} and {}", player.position);
    }
    assert_eq!(client.projection().own().map(|own| Some(own.id)), Some(client.character()));
}

// T-22: what a client measures of its link and its play is there to be shown.
#[test]
fn a_client_measures_what_it_lives_through() {
    let mut game = game(demo(), link(100, 10, 0.1), 52);
    let mut bots = Wanderers::join(&mut game, 4, 52);
    run(&mut game, &mut bots, 20.0);
    let key = ClientKey::nth(0);
    let player = game.client(key).player().expect("it plays");
    let away = Vec3::new(0.0, 30.0, 0.0);
    game.server_mut().commands().player(player, PlayerCommand::Teleport { position: away, yaw: 0.0 });
    run(&mut game, &mut bots, 2.0);
    let stats = game.client(key).stats();
    assert!((0.1..0.16).contains(&stats.rtt.as_secs_f64()), "{:?}", stats.rtt);
    assert!(stats.rtt_min <= stats.rtt && stats.rtt_min > Duration::from_millis(90), "{:?}", stats.rtt_min);
    assert!((0.02..0.25).contains(&stats.loss_in) && (0.02..0.25).contains(&stats.loss_out), "{stats:?}");
    assert!((0.05..0.4).contains(&stats.playback_delay.as_secs_f64()), "{:?}", stats.playback_delay);
    let kinds = stats.kinds_in;
    assert!(kinds.motion > kinds.state && kinds.state > 0, "{kinds:?}");
    assert!(stats.bytes_in > kinds.motion + kinds.state + kinds.bulk && stats.bytes_out > 0);
    assert!(stats.reports > 400 && stats.motion_items > 1_000);
    let corrections: u64 = stats.corrections.iter().sum();
    assert_eq!((corrections, stats.mispredictions()), (1, 0), "{:?}", stats.corrections);
    assert_eq!(stats.correction_sizes.iter().sum::<u64>(), corrections);
    assert_eq!((stats.held_patches, stats.faults), (0, 0));
}
