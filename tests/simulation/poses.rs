use glam::Vec3;
use tidelock::replication::ids::{InstanceId, PlayerId};
use tidelock::sim::input::{HeldControls, StepInput};
use tidelock::sim::motor::CharacterState;
use tidelock::sim::report::CorrectionCause;
use tidelock::{
    CharacterBody, CharacterInputs, CharacterMove, Client, Controller, PlayerCommand, PoseMove, Server, SystemPoint,
};

use super::*;

const SPEED: f32 = 6.0;

pub(crate) fn posed() -> Arc<Protocol> {
    Protocol::builder().controller(Controller::Poses).build()
}

/// One tick of a kite that goes where it is told, and rises while jump is held.
fn kite(position: Vec3, input: &StepInput<HeldControls>) -> (Vec3, Vec3) {
    let frame = input.frame();
    let velocity = frame.direction * SPEED + if frame.jump { Vec3::Y * 2.0 } else { Vec3::ZERO };
    (position + velocity / 60.0, velocity)
}

/// The game's code on a client.
pub(crate) fn fly(client: &mut Client) {
    client.set_mover(|step| {
        let (position, velocity) = kite(step.position, &step.input);
        PoseMove { position, velocity, yaw: step.yaw, state: CharacterState::Flying, ..PoseMove::default() }
    });
}

/// The game's code on the server, where a gust moves everyone now and then by `gust`.
pub(crate) fn moves(server: &mut Server, gust: Option<(u64, Vec3)>) {
    let mut tick = 0_u64;
    server.add_system(
        SystemPoint::AfterReplay,
        Box::new(move |world, commands| {
            tick += 1;
            let blow = gust.filter(|(period, _)| tick.is_multiple_of(*period)).map_or(Vec3::ZERO, |(_, by)| by);
            for (id, body, inputs) in world.query::<(&InstanceId, &CharacterBody, &CharacterInputs)>().iter() {
                let CharacterBody { position, velocity, yaw, .. } = *body;
                let mut to = CharacterMove { position: position + blow, velocity, yaw, state: CharacterState::Flying };
                for step in &inputs.steps {
                    (to.position, to.velocity) = kite(to.position, &step.input);
                }
                commands.move_character(*id, to);
            }
        }),
    );
}

fn posed_game(link: LinkConfig, seed: u64) -> (Simulation, ClientKey) {
    let place = Place::compile(crate::remote_motion::PLAIN).expect("a sound place");
    let mut game = Simulation::new(SimulationOptions { seed, link, ..SimulationOptions::default() }, posed(), place);
    moves(game.server_mut(), None);
    // What drifts by a metre is not blended but shifted, so that a shift tells.
    let mut options = ClientOptions::default();
    options.config.poses.reconcile.correct_m = 1.0;
    let key = game.add_client(options);
    fly(game.client_mut(key));
    (game, key)
}

fn rough() -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(75),
        jitter: Duration::from_millis(30),
        loss: 0.05,
        ..LinkConfig::default()
    }
}

fn east(_: ClientKey, _: Duration) -> ControlInput {
    ControlInput { direction: Vec3::X, ..ControlInput::default() }
}

fn apart(game: &Simulation, key: ClientKey) -> f32 {
    let server = game.server().players().next().expect("a player").position;
    game.client(key).predicted().expect("a character").position.distance(server)
}

// S-31, S-32: at 150 ms with jitter and 5 % loss a character the game moves is never corrected at once, and ends where the server has it.
#[test]
fn a_posed_character_is_not_corrected_on_a_rough_link() {
    for seed in 1..=4 {
        let (mut game, key) = posed_game(rough(), seed);
        let mut bot = Wanderer::new(seed);
        game.run(Duration::from_secs(40), |_, now| bot.input(now));
        let poses = game.client(key).stats().poses;
        assert_eq!((poses.shifts, poses.snaps, poses.waits), (0, 0, 0), "{poses:?}");
        assert_eq!(game.client(key).stats().mispredictions(), 0);
        game.run(Duration::from_secs(2), |_, _| ControlInput::default());
        assert!(apart(&game, key) < 0.05, "{}", apart(&game, key));
        let travelled = game.server().players().next().expect("a player").position;
        assert!(Vec3::new(travelled.x, 0.0, travelled.z).length() > 3.0, "{travelled}");
        assert_eq!(game.server().metrics().counters.commands_dropped, 0);
        assert_eq!(game.client(key).projection().own().expect("it plays").state, CharacterState::Flying);
    }
}

// S-32: a stall of 1.5 s with a guessing server ends with no correction and under 1 m of drift.
#[test]
fn a_stall_ends_without_correction() {
    for (hears, seed) in [(false, 1), (true, 2)] {
        let (mut game, key) = posed_game(link(100, 0, 0.0), seed);
        game.run(Duration::from_secs(3), east);
        let silent = LinkConfig { loss: 1.0, ..link(100, 0, 0.0) };
        let mut stood = false;
        if hears {
            game.set_uplink(key, silent);
        } else {
            game.set_link(key, silent);
        }
        let end = game.now() + Duration::from_millis(1_500);
        while game.now() < end {
            game.tick(east);
            stood |= game.client(key).predicted().expect("a character").velocity == Vec3::ZERO;
        }
        game.set_link(key, link(100, 0, 0.0));
        game.run(Duration::from_secs(4), east);
        let poses = game.client(key).stats().poses;
        assert!(stood && poses.waits > 0, "{poses:?}");
        assert_eq!((poses.shifts, poses.snaps), (0, 0), "drifts below a metre: {poses:?}");
        game.run(Duration::from_secs(2), |_, _| ControlInput::default());
        assert!(apart(&game, key) < 0.05, "{}", apart(&game, key));
    }
}

// S-31: where the server's game differs the client follows: gently, under a glide, or at once.
#[test]
fn differences_are_followed_by_their_size() {
    for (gust, shifts, snaps) in [(0.5, false, false), (3.0, true, false), (40.0, false, true)] {
        let place = Place::compile(crate::remote_motion::PLAIN).expect("a sound place");
        let options = SimulationOptions { seed: 5, link: link(80, 0, 0.0), ..SimulationOptions::default() };
        let mut game = Simulation::new(options, posed(), place);
        moves(game.server_mut(), Some((300, Vec3::Z * gust)));
        let key = game.add_client(ClientOptions::default());
        fly(game.client_mut(key));
        game.run(Duration::from_secs(13), east);
        let poses = game.client(key).stats().poses;
        assert_eq!((poses.shifts > 0, poses.snaps > 0), (shifts, snaps), "{gust}: {poses:?}");
        assert_eq!(game.client(key).stats().mispredictions() > 0, shifts || snaps);
        let server = game.server().players().next().expect("a player").position;
        let client = game.client(key).predicted().expect("a character").position;
        assert!((client.z - server.z).abs() < 0.05, "{gust}: {client} {server}");
    }
}

// S-31: a rule of the game comes first, and sees where the character is drawn.
#[test]
fn a_rule_of_the_game_snaps() {
    let place = Place::compile(crate::remote_motion::PLAIN).expect("a sound place");
    let options = SimulationOptions { seed: 5, link: link(80, 0, 0.0), ..SimulationOptions::default() };
    let mut game = Simulation::new(options, posed(), place);
    moves(game.server_mut(), Some((300, Vec3::Z * 0.5)));
    let key = game.add_client(ClientOptions::default());
    fly(game.client_mut(key));
    game.client_mut(key).set_snap_rule(|input| (input.drawn.z - input.server.z).abs() > 0.3);
    game.run(Duration::from_secs(13), |_, _| ControlInput::default());
    let poses = game.client(key).stats().poses;
    assert_eq!((poses.snaps, poses.blends, poses.shifts), (2, 0, 0), "{poses:?}");
    assert!(apart(&game, key) < 0.05);
}

// S-40 to S-43
#[test]
fn a_posed_character_is_seen_evenly() {
    let place = || Place::compile(crate::remote_motion::PLAIN).expect("a sound place");
    let (mut frames, mut uneven) = (0, 0);
    for seed in 1..=6 {
        let options = SimulationOptions { seed, link: rough(), ..SimulationOptions::default() };
        let mut game = Simulation::new(options, posed(), place());
        moves(game.server_mut(), None);
        let [walker, watcher] = [0, 1].map(|_| game.add_client(ClientOptions::default()));
        fly(game.client_mut(walker));
        let mut last: Option<(f64, Vec3)> = None;
        while game.now() < Duration::from_secs(30) {
            game.tick(|key, _| if key == walker { east(key, Duration::ZERO) } else { ControlInput::default() });
            let (id, client) = (game.client(walker).character(), game.client(watcher));
            let Some(drawn) = client.projection().characters.iter().find(|one| Some(one.id) == id) else { continue };
            let at = client.frame_time();
            let before = last.replace((at, drawn.position)).filter(|(before, _)| *before < at);
            if let Some((before, position)) = before.filter(|_| game.now() > Duration::from_secs(4)) {
                let speed = drawn.position.distance(position) / (at - before) as f32;
                frames += 1;
                uneven += usize::from((speed / SPEED - 1.0).abs() > 0.10);
            }
        }
    }
    assert!(frames > 6 * 1_400 && uneven * 1_000 <= frames, "{uneven} of {frames}");
}

// T-1a, B21: commands, numbers that are none, and characters that are not the game's to move.
#[test]
fn the_game_moves_only_what_is_its_own_and_with_numbers() {
    let (mut game, key) = posed_game(link(60, 0, 0.0), 9);
    game.run(Duration::from_secs(2), east);
    let id = game.client(key).character().expect("a character");
    for bad in [f32::NAN, f32::INFINITY] {
        let to = CharacterMove { position: Vec3::splat(bad), ..CharacterMove::default() };
        game.server_mut().commands().move_character(id, to);
        let to = CharacterMove { velocity: Vec3::X * bad, ..CharacterMove::default() };
        game.server_mut().commands().move_character(id, to);
    }
    for state in [CharacterState::Seated, CharacterState::Dead] {
        let to = CharacterMove { state, ..CharacterMove::default() };
        game.server_mut().commands().move_character(id, to);
    }
    game.server_mut().commands().move_character(InstanceId(900_000), CharacterMove::default());
    game.run(Duration::from_secs(1), east);
    assert_eq!(game.server().metrics().counters.commands_dropped, 7);
    assert!(game.server().players().all(|player| player.position.is_finite()));
    let there = Vec3::new(20.0, 12.0, 20.0);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Teleport { position: there, yaw: 1.0 });
    game.run(Duration::from_secs(1), east);
    let stats = game.client(key).stats();
    assert_eq!(stats.corrections[CorrectionCause::Teleport as usize], 1);
    assert_eq!((stats.poses.snaps, stats.mispredictions()), (0, 0), "{:?}", stats.poses);
    game.run(Duration::from_secs(1), |_, _| ControlInput::default());
    assert!(
        apart(&game, key) < 0.05 && (game.client(key).predicted().expect("it lives").position.z - 20.0).abs() < 0.05
    );
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Kill);
    game.run(Duration::from_secs(1), east);
    assert_eq!(game.client(key).predicted().expect("still there").state, CharacterState::Dead);
    assert!(game.server().metrics().counters.commands_dropped > 7, "the dead are not moved");
    game.client_mut(key).set_mover(|step| PoseMove { position: step.position * f32::NAN, ..PoseMove::default() });
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Respawn);
    game.run(Duration::from_secs(1), east);
    assert!(game.client(key).predicted().expect("alive again").position.is_finite());
}
