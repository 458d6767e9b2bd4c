//! Who is told of an owner, and what a new owner begins with.

use glam::{Quat, Vec3};
use tidelock::replication::ids::InstanceId;
use tidelock::replication::instance::{Audience, PartProperties, Pose};
use tidelock::{PartOwner, PartOwnership, PlayerCommand};

use super::ownership::{CRATE, YARD, crate_of, truth, yard};
use super::*;

// S-51a: who comes later, and who comes near later, learns who simulates a part that has not changed hands since.
#[test]
fn whoever_sees_a_part_later_learns_its_owner() {
    let place = format!("{YARD}\n[streaming]\nenabled = true\ntarget_radius = 100.0\nmin_radius = 50.0\n");
    let place = Place::compile(&place).expect("a sound place");
    let mut game = game(place, link(100, 10, 0.05), 11);
    let (owner, far) = (game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default()));
    game.run(Duration::from_secs(2), idle);
    let (simulating, away) = (player(&game, owner), player(&game, far));
    game.server_mut()
        .commands()
        .player(away, PlayerCommand::Teleport { position: Vec3::new(500.0, 3.0, 0.0), yaw: 0.0 });
    game.run(Duration::from_secs(1), idle);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Player(simulating));
    game.run(Duration::from_secs(1), idle);
    assert_ne!(crate_of(&game, far).owner, PartOwner::Other(simulating), "it saw what is 500 studs away");
    let late = game.add_client(ClientOptions::default());
    game.server_mut()
        .commands()
        .player(away, PlayerCommand::Teleport { position: Vec3::new(40.0, 3.0, 0.0), yaw: 0.0 });
    game.run(Duration::from_secs(2), idle);
    for key in [far, late] {
        assert_eq!(crate_of(&game, key).owner, PartOwner::Other(simulating));
    }
    // What came back to the server out of sight is told on the way back too.
    game.server_mut()
        .commands()
        .player(away, PlayerCommand::Teleport { position: Vec3::new(500.0, 3.0, 0.0), yaw: 0.0 });
    game.run(Duration::from_secs(1), idle);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Server);
    game.run(Duration::from_secs(1), idle);
    assert_eq!(crate_of(&game, far).owner, PartOwner::Other(simulating));
    game.server_mut()
        .commands()
        .player(away, PlayerCommand::Teleport { position: Vec3::new(40.0, 3.0, 0.0), yaw: 0.0 });
    game.run(Duration::from_secs(1), idle);
    assert_eq!(crate_of(&game, far).owner, PartOwner::Server);
}

// S-51a: a part that is created beside a player, or made loose again, is simulated by that player as any other.
#[test]
fn parts_that_are_new_or_loose_again_are_owned() {
    let mut game = game(yard(), link(100, 10, 0.0), 12);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let me = player(&game, key);
    let loose = PartProperties { anchored: false, ..PartProperties::default() };
    let beside = game.client(key).predicted().expect("it plays").position + Vec3::Z * 5.0;
    let pose = Pose { position: beside, rotation: Quat::IDENTITY };
    let made = game.server_mut().commands().create_part(loose.clone(), pose, Audience::Shared);
    game.run(Duration::from_millis(500), idle);
    let of =
        |game: &Simulation, id: InstanceId| game.client(key).projection().parts.iter().find(|p| p.id == id).copied();
    for _ in 0..3 {
        game.server_mut().commands().set_ownership(made, PartOwnership::Player(me));
        game.run(Duration::from_secs(1), idle);
        assert_eq!(game.server().owner(made), Some(me));
        assert_eq!(of(&game, made).map(|part| part.owner), Some(PartOwner::Own));
        let anchored = PartProperties { anchored: true, ..loose.clone() };
        game.server_mut().commands().set_part(made, anchored);
        game.run(Duration::from_secs(1), idle);
        assert_eq!(of(&game, made).map(|part| part.owner), Some(PartOwner::Server));
        // Motion of a scripted part is not taken for an echo of what was simulated here.
        let there = Pose { position: beside + Vec3::Y * 3.0, rotation: Quat::IDENTITY };
        game.server_mut().commands().move_part(made, there.position, there.rotation);
        game.run(Duration::from_secs(1), idle);
        assert!(of(&game, made).is_some_and(|part| part.position.distance(there.position) < 0.01));
        game.server_mut().commands().set_part(made, loose.clone());
        game.run(Duration::from_millis(500), idle);
    }
    let accepted = game.server().metrics().owned.accepted;
    game.run(Duration::from_secs(1), idle);
    assert!(game.server().metrics().owned.accepted > accepted, "nobody speaks of it");
}

// S-52: whoever runs at a crate as soon as it has come in pushes it for good: what the server let it push before handing the
// crate over is not undone.
#[test]
fn a_crate_pushed_while_it_changes_hands_does_not_go_back() {
    for (seed, apart, round_trip) in [(13, 4.0, 150), (14, 6.0, 150), (15, 3.0, 250), (16, 8.0, 50)] {
        let place = YARD.replace("position = [-12.0, 3.0, 0.0]", &format!("position = [-{apart}, 3.0, 0.0]"));
        let place = Place::compile(&place.replace("[12.0, 3.0, 0.0]", &format!("[-{apart}, 3.0, 0.0]")));
        let mut game = game(place.expect("a sound place"), link(round_trip, 10, 0.0), seed);
        let key = game.add_client(ClientOptions::default());
        let (mut held, mut back, mut fastest) = (truth(&game), 0.0_f32, 0.0_f32);
        let (mut gained, mut seen) = (None, f32::NEG_INFINITY);
        for tick in 0..60 * 4 {
            game.tick(|_, _| towards(Vec3::X));
            let now = truth(&game);
            if game.server().owner(CRATE).is_none() {
                fastest = fastest.max((now.x - held.x) * 60.0);
            }
            back = back.min(now.x - held.x);
            if let Some(drawn) = game.client(key).projection().parts.iter().find(|part| part.id == CRATE) {
                assert!(drawn.position.x > seen - 0.05, "its picture went back from {seen} to {}", drawn.position);
                seen = drawn.position.x;
            }
            held = now;
            gained = gained.or(game.server().owner(CRATE).map(|_| tick));
        }
        assert!(held.x > 20.0, "it was left at {held}");
        assert!(gained.is_some_and(|tick| tick < 90), "it was gained at tick {gained:?}");
        assert!(fastest < 24.0, "a character at 16 studs/s kicked it away at {fastest}");
        assert!(back > -0.05, "{apart} studs apart, the server's crate went back by {back}");
    }
}

// S-51: an island of 60 moving parts is told of twenty times a second, whole, in two messages.
#[test]
fn sixty_moving_parts_are_reported_whole() {
    let mut place =
        YARD.replace("[[spawn]]\nposition = [-12.0", "[movement]\ngravity = 0.001\n\n[[spawn]]\nposition = [-12.0");
    for part in 0..60 {
        let (column, row) = (f64::from(part % 10), f64::from(part / 10));
        place += &format!(
            "\n[[part]]\nname = \"Stone\"\nsize = [2.0, 2.0, 2.0]\nposition = [{:.1}, {:.1}, 20.0]\nanchored = false\n",
            column * 3.0 - 15.0,
            row * 3.0 + 2.0
        );
    }
    let mut game = game(Place::compile(&place).expect("a sound place"), link(80, 0, 0.0), 17);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let me = player(&game, key);
    for part in (3..63).map(InstanceId) {
        game.server_mut().commands().set_ownership(part, PartOwnership::Player(me));
        let at = game.client(key).part(part).expect("a stone").1;
        game.server_mut().commands().launch_part(part, at, Vec3::new(0.0, 0.0, 6.0), Vec3::Y);
    }
    game.run(Duration::from_secs(1), idle);
    let (accepted, sent) = (game.server().metrics().owned.accepted, game.client(key).stats().owned_reports);
    game.run(Duration::from_secs(4), idle);
    let (taken, reports) =
        (game.server().metrics().owned.accepted - accepted, game.client(key).stats().owned_reports - sent);
    assert!(reports <= 2 * 21 * 4, "{reports} messages in 4 s");
    assert!(taken >= 60 * 19 * 4, "{taken} states in 4 s, of 60 parts");
}

// S-52, S-12a: a crate that rides a platform stays on its spot when it changes hands, for its owner and on the server.
#[test]
fn a_riding_crate_changes_hands_on_its_spot() {
    let place = format!(
        "{}\n[[part]]\nname = \"Ferry\"\nsize = [12.0, 1.0, 12.0]\nposition = [0.0, 0.5, 30.0]\nmover.slide = {{ offset = [24.0, 0.0, 0.0], period = 8.0 }}\n",
        YARD.replace("position = [0.0, 1.5, 0.0]", "position = [0.0, 2.55, 30.0]")
    );
    let mut game = game(Place::compile(&place).expect("a sound place"), link(150, 10, 0.0), 18);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), idle);
    let me = player(&game, key);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Server);
    game.run(Duration::from_secs(3), idle);
    let ferry = InstanceId(3);
    let (_, at) = game.client(key).part(ferry).expect("the ferry");
    let mover = game.client(key).part(ferry).expect("the ferry").0.mover_at(at).expect("it slides");
    let spot = |game: &Simulation| truth(game).x - mover.pose(game.server().tick().time()).0.x;
    let start = spot(&game);
    for round in 0..8_u32 {
        let policy = if round % 2 == 0 { PartOwnership::Player(me) } else { PartOwnership::Server };
        game.server_mut().commands().set_ownership(CRATE, policy);
        let mut seen: Option<(f64, f32)> = None;
        for _ in 0..90 {
            game.tick(idle);
            let off = (spot(&game) - start).abs();
            assert!(off < 0.25, "round {round}: it slid {off} studs on the server");
            let (time, x) = (game.client(key).frame_time(), crate_of(&game, key).position.x);
            if let Some((before, from)) = seen.filter(|(before, _)| *before < time) {
                let speed = (x - from) / (time - before) as f32;
                assert!(speed.abs() < 12.0, "round {round}: drawn at {speed} studs/s");
            }
            seen = Some((time, x));
        }
    }
}

// of a part that is hidden while a player simulates it, no word of ownership reaches that player or any other.
#[test]
fn a_hidden_part_is_not_spoken_of() {
    let mut game = game(yard(), link(100, 10, 0.0), 19);
    let keys: Vec<_> = (0..3).map(|_| game.add_client(ClientOptions::default())).collect();
    game.run(Duration::from_secs(2), idle);
    let (owner, other) = (player(&game, keys[0]), player(&game, keys[1]));
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Player(owner));
    game.run(Duration::from_secs(1), idle);
    assert_eq!(game.client(keys[0]).stats().owned_parts, 1);
    let unknown: Vec<_> = keys.iter().map(|key| game.client(*key).stats().unknown_items).collect();
    game.server_mut().commands().set_audience(CRATE, Audience::Owner(other));
    game.run(Duration::from_secs(1), idle);
    assert_eq!(game.server().owner(CRATE), None);
    for (key, unknown) in keys.iter().zip(unknown) {
        assert_eq!(game.client(*key).stats().unknown_items, unknown, "{key:?} heard of what it may not know of");
        assert_eq!(game.client(*key).part(CRATE).is_some(), *key == keys[1]);
    }
    assert_eq!(game.client(keys[0]).stats().owned_parts, 0);
    // Shared again, it is simulated by whoever is near, as any.
    game.server_mut().commands().set_audience(CRATE, Audience::Shared);
    game.run(Duration::from_secs(1), idle);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Player(owner));
    game.run(Duration::from_secs(1), idle);
    assert_eq!(crate_of(&game, keys[0]).owner, PartOwner::Own);
    assert_eq!(crate_of(&game, keys[2]).owner, PartOwner::Other(owner));
}
