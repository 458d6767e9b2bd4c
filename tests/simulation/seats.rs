use std::sync::Mutex;

use glam::{Quat, Vec3};
use tidelock::hecs::World;
use tidelock::replication::ids::{InstanceId, PlayerId};
use tidelock::replication::instance::{Audience, CharacterProperties, PartProperties, Pose, Seat};
use tidelock::sim::motor::CharacterState;
use tidelock::sim::report::ReportRefusal;
use tidelock::{CharacterBody, Commands, Controller, PlayerCommand, SystemPoint};

use super::*;

/// A cart on wheels nobody sees, a carousel, and a bench.
const YARD: &str = r#"
name = "Yard"

[[spawn]]
position = [0.0, 3.0, 12.0]

[[part]]
name = "Floor"
size = [4000.0, 2.0, 4000.0]
position = [0.0, -1.0, 0.0]

[[part]]
name = "Cart"
size = [4.0, 2.0, 6.0]
position = [0.0, 1.0, 0.0]
anchored = false

[[part]]
name = "Carousel"
size = [24.0, 1.0, 24.0]
position = [60.0, 0.6, 0.0]
[part.mover.turn]
axis = [0.0, 1.0, 0.0]
period = 9.0

[[part]]
name = "Bench"
size = [4.0, 1.0, 2.0]
position = [-30.0, 0.5, 0.0]
"#;

const CART: InstanceId = InstanceId(2);
const CAROUSEL: InstanceId = InstanceId(3);
const BENCH: InstanceId = InstanceId(4);

fn yard_of(controller: Controller, seed: u64) -> Simulation {
    let place = Place::compile(YARD).expect("a sound place");
    let options = SimulationOptions { seed, link: link(150, 30, 0.05), ..SimulationOptions::default() };
    Simulation::new(options, Protocol::builder().controller(controller).build(), place)
}

fn on(part: InstanceId) -> Seat {
    Seat { part, offset: Vec3::new(0.0, 3.5, 2.0), yaw: 0.25 }
}

fn order(game: &mut Simulation, key: ClientKey, command: PlayerCommand) {
    let player = player(game, key);
    game.server_mut().commands().player(player, command);
}

/// How the character of `rider` sits on the drawn part, on one screen.
fn seen(game: &Simulation, screen: ClientKey, rider: PlayerId, part: InstanceId) -> (Vec3, CharacterState) {
    let projection = game.client(screen).projection();
    let character = projection.characters.iter().find(|one| one.player == rider).expect("the rider is in sight");
    let drawn = projection.parts.iter().chain(&projection.movers).find(|one| one.id == part).expect("the part");
    (drawn.rotation.conjugate() * (character.position - drawn.position), character.state)
}

/// What the server's systems see of characters: whose, where, what its player holds, whether it sits.
type Seen = Vec<(PlayerId, Vec3, ControlInput, bool)>;

/// Looks on from a system of the game.
fn watch(game: &mut Simulation) -> Arc<Mutex<Seen>> {
    let seen = Arc::new(Mutex::new(Seen::new()));
    let into = seen.clone();
    let look = move |world: &World, _: &mut Commands| {
        let mut query = world.query::<(&CharacterProperties, &CharacterBody, &ControlInput, Option<&Seat>)>();
        let all = query.iter().map(|(who, body, held, seat)| (who.player, body.position, *held, seat.is_some()));
        *into.lock().expect("one thread") = all.collect();
    };
    game.server_mut().add_system(SystemPoint::BeforePublish, Box::new(look));
    seen
}

fn of(seen: &Arc<Mutex<Seen>>, player: PlayerId) -> (Vec3, ControlInput, bool) {
    let seen = seen.lock().expect("one thread");
    let found = seen.iter().find(|one| one.0 == player).expect("its character");
    (found.1, found.2, found.3)
}

fn mispredictions(game: &Simulation) -> u64 {
    game.clients().map(|(_, client)| client.stats().mispredictions()).sum()
}

// S-12, S-24: a rider sits on the part, wherever it goes, on every screen; what it holds reaches the game.
#[test]
fn riders_sit_still_on_moving_parts_on_every_screen() {
    for (seed, controller) in Controller::ALL.into_iter().enumerate() {
        let mut game = yard_of(controller, seed as u64 + 1);
        let seen_by_systems = watch(&mut game);
        let (rider, other) = (game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default()));
        if controller == Controller::Poses {
            crate::poses::moves(game.server_mut(), None);
            [rider, other].into_iter().for_each(|key| crate::poses::fly(game.client_mut(key)));
        }
        game.run(Duration::from_secs(3), idle);
        let who = player(&game, rider);
        for part in [CAROUSEL, CART] {
            order(&mut game, rider, PlayerCommand::Sit(on(part)));
            game.run(Duration::from_secs(1), idle);
            let launch = Vec3::new(9.0, 40.0, 4.0);
            if part == CART {
                let pose = game.server().loose_parts().find(|(id, ..)| *id == CART).expect("the cart").1;
                assert!(pose.position.abs_diff_eq(Vec3::Y, 0.05), "sitting down moved the cart: {pose:?}");
                game.server_mut().commands().launch_part(CART, pose, launch, Vec3::Y * 2.0);
            }
            let mut own_way = 0.0;
            let mut last = game.client(rider).projection().own().expect("it plays").position;
            for frame in 0..90 {
                game.tick(|key, _| ControlInput {
                    jump: key == rider && frame >= 30,
                    direction: Vec3::X,
                    ..idle(key, Duration::ZERO)
                });
                for screen in [rider, other] {
                    let (spot, state) = seen(&game, screen, who, part);
                    assert_eq!(state, CharacterState::Seated, "{controller:?} {frame}");
                    assert!(
                        spot.distance(on(part).offset) < 2e-3,
                        "{controller:?} {frame}: sits at {spot} of {part:?}"
                    );
                }
                let here = game.client(rider).projection().own().expect("it plays").position;
                own_way += here.distance(last);
                // Inputs of ticks wait at the server, so their client is farther ahead of what it is told, as when the cart flies up.
                let most = if controller == Controller::Ticked { 1.5 } else { 1.0 };
                assert!(here.distance(last) < most, "{controller:?}: a jump of {}", here.distance(last));
                last = here;
            }
            assert!(own_way > 1.5, "{part:?} moved {own_way}");
            let (position, held, seated) = of(&seen_by_systems, who);
            assert!(seated && held.jump && held.direction == Vec3::X, "{held:?}");
            // The server is ahead of what is drawn by no more than the way of half a second.
            assert!(position.distance(last) < 8.0, "{position} {last}");
        }
        order(&mut game, rider, PlayerCommand::Stand);
        game.run(Duration::from_secs(1), idle);
        let before = mispredictions(&game);
        game.run(Duration::from_secs(4), |_, now| ControlInput {
            direction: Vec3::new(libm::sinf(now.as_secs_f32()), 0.0, -1.0),
            ..ControlInput::default()
        });
        assert!(!of(&seen_by_systems, who).2);
        assert_eq!(mispredictions(&game), before, "{controller:?}");
        let walker = game.client(rider).projection().own().expect("it plays");
        let on_its_own =
            if controller == Controller::Poses { CharacterState::Flying } else { CharacterState::Grounded };
        assert_eq!(walker.state, on_its_own);
        let metrics = game.server().metrics();
        assert_eq!(metrics.reports.refused(ReportRefusal::NotReplayed), 0);
        // The seated are not the game's to move.
        assert!(metrics.counters.commands_dropped == 0 || controller == Controller::Poses);
    }
}

// R-40, T-1a: a seat ends with its part, and names none that is hidden; whoever comes later is told of it.
#[test]
fn seats_end_with_their_parts_and_are_told_to_newcomers() {
    let mut game = yard_of(Controller::Replay, 3);
    let seen_by_systems = watch(&mut game);
    let rider = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let who = player(&game, rider);
    order(&mut game, rider, PlayerCommand::Sit(on(BENCH)));
    game.run(Duration::from_secs(1), idle);
    let late = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), idle);
    let bench = Vec3::new(-30.0, 0.5, 0.0);
    for screen in [rider, late] {
        let characters = &game.client(screen).projection().characters;
        let one = characters.iter().find(|one| one.player == who).expect("the rider");
        assert_eq!((one.position, one.state), (bench + on(BENCH).offset, CharacterState::Seated));
    }
    let sits = |game: &mut Simulation, command: Option<PlayerCommand>| {
        if let Some(command) = command {
            order(game, rider, command);
        }
        game.run(Duration::from_secs(1), idle);
        of(&seen_by_systems, who).2
    };
    game.server_mut().commands().destroy(BENCH);
    assert!(!sits(&mut game, None), "on a part that is gone");
    let hidden = game.server_mut().commands().create_part(
        PartProperties { anchored: true, ..PartProperties::default() },
        Pose { position: Vec3::new(20.0, 0.5, 0.0), rotation: Quat::IDENTITY },
        Audience::Shared,
    );
    assert!(sits(&mut game, Some(PlayerCommand::Sit(on(hidden)))));
    game.server_mut().commands().set_audience(hidden, Audience::Owner(PlayerId(999)));
    assert!(!sits(&mut game, None), "on a part that others may not know of");
    assert_eq!(game.server().metrics().counters.commands_dropped, 0);
    let nowhere = Seat { offset: Vec3::NAN, ..on(CART) };
    let refused = [
        PlayerCommand::Sit(on(hidden)),
        PlayerCommand::Sit(on(BENCH)),
        PlayerCommand::Sit(on(InstanceId(77_777))),
        PlayerCommand::Sit(nowhere),
        PlayerCommand::Stand,
    ];
    for (dropped, command) in refused.into_iter().enumerate() {
        assert!(!sits(&mut game, Some(command.clone())), "{command:?}");
        assert_eq!(game.server().metrics().counters.commands_dropped, 1 + dropped as u64, "{command:?}");
    }
    assert!(sits(&mut game, Some(PlayerCommand::Sit(on(CART)))));
    assert!(!sits(&mut game, Some(PlayerCommand::Kill)), "the dead sit");
    assert!(!sits(&mut game, Some(PlayerCommand::Sit(on(CART)))), "the dead sit down");
    assert!(!sits(&mut game, Some(PlayerCommand::Respawn)));
    assert!(sits(&mut game, Some(PlayerCommand::Sit(on(CART)))));
    game.kill_client(rider);
    game.run(Duration::from_secs(20), idle);
    assert!(!seen_by_systems.lock().expect("one thread").iter().any(|one| one.0 == who), "its session is over");
}
