use glam::Vec3;
use tidelock::net::LaneSet;
use tidelock::replication::ids::PlayerId;
use tidelock::sim::motor::CharacterState;
use tidelock::sim::report::CorrectionCause;
use tidelock::{ClientEvent, Controller, PlayerCommand};

use super::*;

pub(crate) fn all_four() -> Arc<Protocol> {
    let start = Protocol::builder().controller(Controller::ALL[0]);
    Controller::ALL[1..].iter().fold(start, |builder, other| builder.or_controller(*other)).build()
}

/// A game in which players take turns at the four controllers as they come in.
fn mixed(link: LinkConfig, seed: u64, players: u64, worker_threads: usize) -> (Simulation, Wanderers) {
    let options = SimulationOptions { seed, link, worker_threads, ..SimulationOptions::default() };
    let mut game = Simulation::new(options, all_four(), demo());
    game.server_mut().choose_controllers(|newcomer| Controller::ALL[newcomer.client_id as usize % 4]);
    crate::poses::moves(game.server_mut(), None);
    let bots = Wanderers::join(&mut game, players, seed);
    for number in 0..players as usize {
        crate::poses::fly(game.client_mut(ClientKey::nth(number)));
    }
    (game, bots)
}

// S-7: each of the four runs end to end, beside the others, at 150 ms with jitter and 5 % loss.
#[test]
fn four_controllers_play_together() {
    let rough = LinkConfig {
        latency: Duration::from_millis(75),
        jitter: Duration::from_millis(30),
        loss: 0.05,
        ..LinkConfig::default()
    };
    let (mut game, mut bots) = mixed(rough, 31, 8, 1);
    run(&mut game, &mut bots, 30.0);
    assert!(all_playing(&game));
    for controller in Controller::ALL {
        let under = game.clients().filter(|(_, client)| client.controller() == Some(controller)).count();
        assert_eq!(under, 2, "{controller:?}");
    }
    for (key, client) in game.clients() {
        let controller = client.controller().expect("it plays");
        assert_eq!(client.stats().mispredictions(), 0, "{controller:?}: {:?}", client.stats());
        assert_eq!(client.stats().faults, 0);
        assert_eq!(client.projection().characters.len(), 8);
        let server = game.server().players().find(|player| Some(player.player) == client.player()).expect("its player");
        let apart = server.position.distance(client.predicted().expect("it lives").position);
        assert!(apart < 12.0, "{key:?} {controller:?}: what is under way apart, they agree: {apart}");
        assert!(server.position.is_finite() && server.position.y > -50.0, "{server:?}");
    }
    let metrics = game.server().metrics();
    assert_eq!(metrics.reports.all_refused() + metrics.inputs.gate.all_refused(), 0);
    assert_eq!((metrics.allowances.clamped, metrics.allowances.put_back), (0, 0));
}

// S-7, T-1a: a character goes from any controller to any other, and plays on from where it was.
#[test]
fn a_character_changes_its_controller() {
    let (mut game, mut bots) = mixed(link(120, 20, 0.05), 8, 4, 1);
    run(&mut game, &mut bots, 3.0);
    let player = PlayerId(1);
    for (round, next) in [2, 3, 0, 1, 3, 2, 1, 2, 0, 3, 1, 0].into_iter().enumerate() {
        let controller = Controller::ALL[next];
        let at = |game: &Simulation| game.server().players().find(|one| one.player == player).expect("here").position;
        let before = at(&game);
        game.server_mut().commands().player(player, PlayerCommand::Control(controller));
        game.tick(|_, _| ControlInput::default());
        assert!(at(&game).distance(before) < 2.0, "{round}: it stays where it is");
        run(&mut game, &mut bots, 3.0);
        let key = game.clients().find(|(_, client)| client.player() == Some(player)).map(|(key, _)| key).expect("here");
        let client = game.client(key);
        assert_eq!(client.controller(), Some(controller), "{round}");
        assert!(client.predicted().expect("it lives").position.distance(at(&game)) < 12.0, "{round}");
        let events: Vec<_> = game.client_mut(key).drain_events().collect();
        assert!(events.contains(&ClientEvent::Controlled { controller }), "{round}: {events:?}");
        let disagreed = events.iter().filter(|event| match event {
            ClientEvent::Corrected { cause, .. } => !cause.is_command(),
            _ => false,
        });
        assert_eq!(disagreed.count(), 0, "{round}: {events:?}");
    }
    assert!(all_playing(&game), "no word of an earlier controller is a fault");
    assert!(game.clients().all(|(_, client)| client.stats().faults == 0));
}

// S-7: a choice that cannot be is dropped and counted; the dead stay dead.
#[test]
fn impossible_choices_change_nothing() {
    let place = Place::compile(crate::remote_motion::PLAIN).expect("a sound place");
    let two = Protocol::builder().or_controller(Controller::Ticked).build();
    let mut game = Simulation::new(SimulationOptions::default(), two, place);
    game.server_mut().choose_controllers(|_| Controller::Poses);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(1), |_, _| ControlInput::default());
    assert_eq!(game.client(key).controller(), Some(Controller::Replay), "the first, since there are no poses");
    for impossible in [Controller::Replay, Controller::Allowances, Controller::Poses] {
        game.server_mut().commands().player(PlayerId(1), PlayerCommand::Control(impossible));
    }
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Kill);
    game.run(Duration::from_secs(1), |_, _| ControlInput::default());
    assert_eq!(game.server().metrics().counters.commands_dropped, 3);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Control(Controller::Ticked));
    game.run(Duration::from_secs(1), |_, _| ControlInput { direction: Vec3::X, ..ControlInput::default() });
    let client = game.client(key);
    assert_eq!(
        (client.controller(), client.predicted().unwrap().state),
        (Some(Controller::Ticked), CharacterState::Dead)
    );
    assert!(client.stats().corrections[CorrectionCause::Death as usize] <= 2);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Respawn);
    game.run(Duration::from_secs(1), |_, _| ControlInput { direction: Vec3::X, ..ControlInput::default() });
    assert_eq!(game.client(key).predicted().unwrap().state, CharacterState::Grounded);
}

// S-7: a client whose protocol names other controllers is not let in.
#[test]
fn other_controllers_are_another_protocol() {
    let place = Place::compile(crate::remote_motion::PLAIN).expect("a sound place");
    let mut game = Simulation::new(SimulationOptions::default(), all_four(), place);
    let key = game.add_client_of(ClientOptions::default(), protocol());
    game.run(Duration::from_secs(2), |_, _| ControlInput::default());
    assert!(matches!(game.client(key).state(), ClientState::Disconnected { .. }));
    assert_eq!(game.server().metrics().counters.joins_refused, 1);
}

// Invariant 1, T-2
#[test]
fn mixed_controllers_give_equal_digests_whatever_the_number_of_workers() {
    let digests = |workers: usize| -> Vec<u64> {
        let (mut game, mut bots) = mixed(link(100, 20, 0.05), 17, 40, workers);
        let second = |_| {
            run(&mut game, &mut bots, 1.0);
            game.server().digest()
        };
        (0..8).map(second).collect()
    };
    assert_eq!(digests(1), digests(8));
}

/// Bytes from a seed.
struct Junk(u64);

impl Junk {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// A message that begins as one of its lane does.
    fn message(&mut self) -> Vec<u8> {
        let length = self.below(200);
        let mut bytes: Vec<u8> = (0..length).map(|_| self.below(256) as u8).collect();
        if let Some(first) = bytes.first_mut() {
            *first = 1 + self.below(3) as u8;
        }
        bytes
    }
}

// B21, S-21, S-6a: whatever a client of any controller says on the lanes of all of them, it is its own loss alone.
#[test]
fn junk_on_every_lane_costs_only_its_sender() {
    let (mut game, mut bots) = mixed(link(80, 10, 0.0), 51, 8, 1);
    run(&mut game, &mut bots, 3.0);
    let mut junk = Junk(7);
    let liars: Vec<_> = (0..4).map(ClientKey::nth).collect();
    for tick in 0..600 {
        for liar in &liars {
            let lane = [LaneSet::NEWEST, LaneSet::REPORT, LaneSet::MOTION][junk.below(3) as usize];
            let bytes = junk.message();
            // A few faults are forgiven, so the sound ones among them are heard for a while.
            if tick % 20 == 0 || *game.client(*liar).state() != ClientState::Playing {
                game.forge(*liar, lane, bytes);
            }
        }
        game.tick(|key, now| bots.input(key, now));
        for player in game.server().players() {
            assert!(player.position.is_finite() && player.velocity.is_finite(), "{player:?}");
        }
    }
    assert!(game.server().metrics().counters.message_faults > 0);
    for (key, client) in game.clients().filter(|(key, _)| !liars.contains(key)) {
        assert_eq!(*client.state(), ClientState::Playing, "{key:?}");
        assert_eq!((client.stats().mispredictions(), client.stats().faults), (0, 0), "{key:?}");
    }
    let refused = |client: &tidelock::Client| matches!(client.state(), ClientState::Disconnected { .. });
    assert!(liars.iter().any(|liar| refused(game.client(*liar))), "too many faults end a session");
}
