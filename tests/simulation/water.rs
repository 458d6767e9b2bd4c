use tidelock::sim::motor::CharacterState;

use super::*;

/// A pond beside a quay, deep enough to swim in; spawns stand above it.
const POND: &str = r#"
name = "Pond"

[movement]
swim_speed = 9.0

[[spawn]]
position = [0.0, 6.0, 0.0]

[[spawn]]
position = [10.0, 6.0, 10.0]

[[part]]
name = "Bottom"
size = [200.0, 2.0, 200.0]
position = [0.0, -21.0, 0.0]

[[part]]
name = "Water"
size = [200.0, 20.0, 200.0]
position = [0.0, -10.0, 0.0]
water = true
transparency = 0.5
"#;

/// Swims in wide circles, and comes up now and then.
fn stroke(key: ClientKey, now: Duration) -> ControlInput {
    let angle = now.as_secs_f32() * 0.5 + key.index() as f32;
    let direction = glam::Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle));
    ControlInput { direction, jump: now.as_secs().is_multiple_of(5), ..ControlInput::default() }
}

// S-12, S-20a
#[test]
fn swimmers_are_never_corrected_at_20_percent_loss_and_300_ms() {
    let mut game = game(Place::compile(POND).expect("a sound place"), link(300, 0, 0.2), 11);
    let swimmers: Vec<_> = (0..4).map(|_| game.add_client(ClientOptions::default())).collect();
    let (mut swam, mut full) = (0, 0);
    for _ in 0..60 * 60 {
        game.tick(stroke);
        for swimmer in &swimmers {
            if let Some(motor) = game.client(*swimmer).predicted()
                && motor.state == CharacterState::Swimming
            {
                swam += 1;
                full +=
                    usize::from((8.5..9.01).contains(&glam::Vec2::new(motor.velocity.x, motor.velocity.z).length()));
            }
        }
    }
    assert!(all_playing(&game));
    assert!(swam > 4 * 60 * 30, "in water for {swam} frames only");
    assert!(full * 2 > swam, "the place says 9 studs/s, kept in {full} of {swam} frames");
    for (_, client) in game.clients() {
        assert_eq!(client.stats().mispredictions(), 0, "{:?}", client.stats());
    }
    let watched = game.client(swimmers[1]).character().expect("it plays");
    let seen = &game.client(swimmers[0]).projection().characters;
    let state = seen.iter().find(|character| character.id == watched).expect("it is in sight").state;
    assert_ne!(state, CharacterState::Falling, "others see that it swims");
}

// S-12: water that a game makes and takes away, seen alike on both sides.
#[test]
fn water_comes_and_goes_for_both_sides() {
    let dry = POND.replace("water = true", "can_collide = false");
    let mut game = game(Place::compile(&dry).expect("a sound place"), link(100, 10, 0.02), 12);
    let swimmer = game.add_client(ClientOptions::default());
    let idle = |_: ClientKey, _: Duration| ControlInput::default();
    game.run(Duration::from_secs(4), idle);
    let state = |game: &Simulation| game.client(swimmer).predicted().expect("it plays").state;
    assert_eq!(state(&game), CharacterState::Grounded);
    let water = game.server().place().parts().find(|part| &*part.properties.name == "Water").expect("authored");
    for (wet, expected) in [(true, CharacterState::Swimming), (false, CharacterState::Grounded)] {
        let properties = tidelock::replication::instance::PartProperties { water: wet, ..water.properties.clone() };
        game.server_mut().commands().set_part(water.id, properties);
        game.run(Duration::from_secs(5), idle);
        assert_eq!(state(&game), expected);
        let (server, client) = (game.server().players().next().expect("it plays").position, game.client(swimmer));
        assert!(server.distance(client.predicted().expect("it plays").position) < 0.1);
    }
}
