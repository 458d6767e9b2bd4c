use std::time::Duration;

use tidelock::testing::{ClientOptions, Simulation, SimulationOptions};
use tidelock::{ClientState, ControlInput, Place, Protocol};

use super::choices::Choices;
use super::place_files::walk;

/// Places of more parts are read and not played.
const MAX_PLAYED_PARTS: usize = 24;

/// Authored places: refused with a reason, or compiled, the same when opened again, and played for a moment.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let ticks = u32::from(choices.byte() % 16);
    let Ok(text) = std::str::from_utf8(choices.rest()) else { return };
    let place = match Place::compile(text) {
        Ok(place) => place,
        Err(why) => {
            assert!(!why.to_string().is_empty());
            return;
        }
    };
    walk(&place);
    let again = Place::from_bytes(place.bytes().to_vec()).expect("what was compiled opens");
    assert_eq!((again.hash(), again.bytes()), (place.hash(), place.bytes()));
    let playable = place.spawns().next().is_some() && place.parts().len() <= MAX_PLAYED_PARTS;
    if ticks > 0 && playable {
        play(place, ticks);
    }
}

fn play(place: Place, ticks: u32) {
    let mut game = Simulation::new(SimulationOptions::default(), Protocol::builder().build(), place);
    let key = game.add_client(ClientOptions::default());
    for _ in 0..12 + ticks {
        game.tick(|_, now| ControlInput {
            direction: glam::Vec3::X,
            jump: now > Duration::from_millis(100),
            ..ControlInput::default()
        });
    }
    assert_eq!(*game.client(key).state(), ClientState::Playing);
    assert!(game.client(key).predicted().is_some_and(|motor| motor.is_finite()));
    assert!(game.server().loose_parts().all(|(_, pose, _)| pose.position.is_finite() && pose.rotation.is_finite()));
}
