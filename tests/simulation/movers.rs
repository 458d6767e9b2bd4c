use glam::Vec3;

use super::*;

/// A ferry that slides, a carousel that turns, a lift; each with a spawn above it.
const RIDES: &str = r#"
name = "Rides"

[[spawn]]
position = [12.0, 4.0, 0.0]

[[spawn]]
position = [66.0, 4.0, 0.0]

[[spawn]]
position = [0.0, 4.0, 60.0]

[[part]]
name = "Floor"
size = [400.0, 2.0, 400.0]
position = [0.0, -1.0, 0.0]

[[part]]
name = "Ferry"
size = [48.0, 1.0, 16.0]
position = [0.0, 0.6, 0.0]
[part.mover.slide]
offset = [24.0, 0.0, 0.0]
period = 5.0

[[part]]
name = "Carousel"
size = [24.0, 1.0, 24.0]
position = [60.0, 0.6, 0.0]
[part.mover.turn]
axis = [0.0, 1.0, 0.0]
period = 9.0

[[part]]
name = "Lift"
size = [16.0, 1.0, 16.0]
position = [0.0, 0.6, 60.0]
[part.mover.slide]
offset = [0.0, 12.0, 0.0]
period = 7.0
"#;

/// Riders stand, or pace in small circles, for a minute; how far each was carried.
fn ride(protocol: Arc<Protocol>, link: LinkConfig, seed: u64, pace: f32) -> Vec<f32> {
    let options = SimulationOptions { seed, link, ..SimulationOptions::default() };
    let mut game = Simulation::new(options, protocol, Place::compile(RIDES).expect("a sound place"));
    for _ in 0..6 {
        game.add_client(ClientOptions::default());
    }
    let mut carried = vec![0.0; 6];
    let mut last = [None::<Vec3>; 6];
    for _ in 0..60 * 60 {
        game.tick(|key, now| {
            let angle = now.as_secs_f32() * 4.0 + key.index() as f32;
            let direction = Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle)) * pace;
            ControlInput { direction, ..ControlInput::default() }
        });
        for (index, (_, client)) in game.clients().enumerate() {
            if let Some(motor) = client.predicted() {
                let before = last[index].replace(motor.position);
                carried[index] += before.map_or(0.0, |before| motor.position.distance(before));
            }
        }
    }
    assert!(all_playing(&game));
    for player in game.server().players() {
        println!("{player:?}");
    }
    for (_, client) in game.clients() {
        assert_eq!(client.stats().mispredictions(), 0, "{:?}", client.stats());
    }
    carried
}

// S-12a
#[test]
fn standing_riders_are_carried_and_never_corrected_at_20_percent_loss_and_300_ms() {
    for carried in ride(protocol(), link(300, 0, 0.2), 3, 0.0) {
        assert!(carried > 80.0, "carried {carried} studs in a minute");
    }
}

// S-12a, S-33: a mover is where the tick says, on both sides.
#[test]
fn ticked_riders_are_carried_and_never_corrected() {
    for carried in ride(crate::ticked::ticked(), link(150, 0, 0.0), 3, 0.25) {
        assert!(carried > 80.0, "carried {carried} studs in a minute");
    }
}

// S-12a
#[test]
fn pacing_riders_are_never_corrected_at_150_ms_jitter_and_loss() {
    ride(protocol(), link(150, 30, 0.05), 4, 0.25);
}

// S-12a
#[test]
fn riders_on_a_perfect_link_are_never_corrected() {
    ride(protocol(), link(0, 0, 0.0), 5, 0.25);
}

// S-12a, S-40: others who ride are drawn on their platform, not where it was.
#[test]
fn remote_riders_are_drawn_on_what_they_ride() {
    let mut game = game(Place::compile(RIDES).expect("a sound place"), link(150, 20, 0.05), 6);
    let rider = game.add_client(ClientOptions::default());
    let watcher = game.add_client(ClientOptions::default());
    let idle = |_: ClientKey, _: Duration| ControlInput::default();
    game.run(Duration::from_secs(4), idle);
    let rider_id = game.client(rider).character().expect("it plays");
    let mut last = None;
    for _ in 0..600 {
        game.tick(idle);
        let projection = game.client(watcher).projection();
        let drawn = projection.characters.iter().find(|one| one.id == rider_id).expect("it is in sight");
        let near = |part: &&tidelock::DrawnPart| part.position.distance(drawn.position) < 20.0;
        let platform = projection.movers.iter().find(near).expect("it rides");
        let local = platform.rotation.conjugate() * (drawn.position - platform.position);
        let before = *last.get_or_insert(local);
        assert!(local.distance(before) < 0.5, "it slid from {before} to {local} on its platform");
    }
}
