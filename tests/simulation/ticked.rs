use std::sync::Mutex;

use glam::Vec3;
use tidelock::net::LaneSet;
use tidelock::replication::ids::PlayerId;
use tidelock::replication::instance::CharacterProperties;
use tidelock::replication::wire::write_inputs;
use tidelock::sim::Sequence;
use tidelock::sim::input::{
    DeviceChange, DeviceEvent, HeldControls, InputPacket, InputPresence, InputRefusal, PressActions, StepInput,
};
use tidelock::sim::motor::CharacterState;
use tidelock::sim::report::CorrectionCause;
use tidelock::{CharacterInputs, Controller, InputCounters, PlayerCommand, SystemPoint};

use super::*;

/// Button 3 jabs, button 4 parries, in that order.
pub(crate) fn ticked() -> Arc<Protocol> {
    let actions = PressActions::new(&[(1 << 3, 0), (1 << 4, 1)]).expect("two actions");
    Protocol::builder().controller(Controller::Ticked).actions(actions).build()
}

fn ticked_game(place: Place, link: LinkConfig, seed: u64) -> Simulation {
    Simulation::new(SimulationOptions { seed, link, ..SimulationOptions::default() }, ticked(), place)
}

fn plain() -> Place {
    Place::compile(crate::remote_motion::PLAIN).expect("a sound place")
}

fn east(_: ClientKey, _: Duration) -> ControlInput {
    ControlInput { direction: Vec3::X, ..ControlInput::default() }
}

/// What a game's system has read of one player's inputs, tick by tick.
type Heard = Arc<Mutex<Vec<(InputPresence, u32, u32)>>>;

fn listen(game: &mut Simulation) -> Heard {
    let heard = Heard::default();
    let ear = heard.clone();
    game.server_mut().add_system(
        SystemPoint::AfterReplay,
        Box::new(move |world, _| {
            for (who, inputs) in world.query::<(&CharacterProperties, &CharacterInputs)>().iter() {
                if who.player == PlayerId(1) {
                    let steps = inputs.steps.iter();
                    ear.lock()
                        .expect("nobody panicked")
                        .extend(steps.map(|step| (step.presence, step.pressed, step.input.buttons)));
                }
            }
        }),
    );
    heard
}

// S-33: on a static place no prediction is wrong by a bit, at any frame rate, once the first input was heard.
#[test]
fn a_ticked_character_is_never_corrected_without_loss() {
    for (round_trip_ms, frame_hz, seed) in
        [(0, 60.0, 1), (40, 144.0, 2), (150, 240.0, 3), (300, 60.0, 4), (150, 30.0, 5)]
    {
        let mut game = ticked_game(demo(), link(round_trip_ms, 0, 0.0), seed);
        for _ in 0..6 {
            game.add_client(ClientOptions { frame_hz, ..ClientOptions::default() });
        }
        let mut bots = Wanderers((0..6).map(|bot| Wanderer::new(seed * 1_000 + bot)).collect());
        run(&mut game, &mut bots, 20.0);
        assert!(all_playing(&game));
        let counters = game.server().metrics().inputs;
        for (_, client) in game.clients() {
            assert_eq!(client.stats().mispredictions(), 0, "{round_trip_ms} ms, {frame_hz} Hz: {counters:?}");
            assert!(client.stats().snapshots > 350, "{}", client.stats().snapshots);
        }
        assert_eq!(counters.gate.all_refused(), 0);
        let travelled = game.server().players().filter(|player| player.velocity.length() > 1.0).count();
        assert!(travelled >= 3, "they walk");
    }
}

fn rough() -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(75),
        jitter: Duration::from_millis(30),
        loss: 0.05,
        ..LinkConfig::default()
    }
}

// S-5, S-6, S-33: 150 ms with jitter and 5 % loss.
#[test]
fn a_ticked_character_plays_on_a_rough_link() {
    let mut game = ticked_game(demo(), rough(), 7);
    let mut bots = Wanderers::join(&mut game, 8, 7);
    run(&mut game, &mut bots, 40.0);
    assert!(all_playing(&game));
    let counters = game.server().metrics().inputs;
    let buffer = counters.buffer;
    assert!(buffer.applied + buffer.merged + buffer.speculation_hits > 8 * 35 * 60, "{buffer:?}");
    assert_eq!((buffer.dropped, counters.gate.all_refused()), (0, 0), "{counters:?}");
    for (_, client) in game.clients() {
        assert_eq!(client.stats().mispredictions(), 0, "{counters:?}");
    }
}

// S-6, S-33: whoever holds something else in every tick is corrected when an input comes too late, and only then: that is rare.
#[test]
fn only_late_inputs_are_corrected() {
    let (mut late, mut corrections) = (0, 0);
    for seed in 1..=6 {
        let mut game = ticked_game(plain(), rough(), seed);
        let key = game.add_client(ClientOptions::default());
        game.run(Duration::from_secs(60), |_, now| {
            let angle = now.as_secs_f32() * 4.0;
            let direction = Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle));
            ControlInput { direction, ..ControlInput::default() }
        });
        let buffer = game.server().metrics().inputs.buffer;
        let stats = game.client(key).stats();
        late += buffer.starved - buffer.neutral;
        corrections += stats.mispredictions();
        assert!(stats.mispredictions() <= 3 * (buffer.starved - buffer.neutral), "{buffer:?} {stats:?}");
        assert_eq!(stats.correction_sizes[3..], [0; 3], "half a stud at most");
    }
    assert!(late <= 6 && corrections <= 18, "{late} late inputs in six minutes, {corrections} corrections");
}

// B15: forward is held for 300 ticks, the packets of some from the hundredth on are lost: what is missing is guessed for half a
// second, then nobody holds the keys; the game can tell, and its counts are the server's.
#[test]
fn a_silent_client_is_guessed_then_let_go() {
    use InputPresence::{Absent, Guessed, Present};
    let clean = link(60, 0, 0.0);
    for silent_ticks in [31_u64, 60] {
        let mut game = ticked_game(plain(), clean, 3);
        let heard = listen(&mut game);
        let key = game.add_client(ClientOptions::default());
        game.run(Duration::from_secs(2), |_, _| ControlInput::default());
        let (before, first) = (game.server().metrics().inputs.buffer, heard.lock().unwrap().len());
        for tick in 0..300 {
            match tick {
                100 => game.set_uplink(key, LinkConfig { loss: 1.0, ..clean }),
                tick if tick == 100 + silent_ticks => game.set_uplink(key, clean),
                _ => {}
            }
            game.tick(east);
        }
        let heard: Vec<_> = heard.lock().unwrap()[first..].iter().map(|(presence, ..)| *presence).collect();
        let count = |wanted| heard.iter().filter(|presence| **presence == wanted).count() as u64;
        let counted = game.server().metrics().inputs.buffer.since(&before);
        assert_eq!((count(Present), count(Absent)), (counted.applied, counted.neutral));
        assert_eq!(count(Guessed), counted.starved - counted.neutral);
        let runs: Vec<_> = heard.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect();
        // Two inputs wait at the server when silence begins.
        let missing = silent_ticks - 2;
        assert_eq!(runs[0].0, Present);
        assert_eq!(runs[1], (Guessed, missing.min(30)), "{runs:?}");
        let let_go = runs.iter().filter(|(presence, _)| *presence == Absent).map(|(_, len)| len).sum::<u64>();
        assert_eq!(let_go, missing.saturating_sub(30), "{runs:?}");
        let server = game.server().players().next().expect("it plays").position;
        let apart = game.client(key).predicted().expect("it lives").position.distance(server);
        assert!(apart < 4.0, "they agree again but for what is under way: {apart}");
    }
}

// B16, S-4: a thousand one-frame taps at 240 frames a second over 20 % loss are a thousand presses, in order.
#[test]
fn no_tap_is_lost_doubled_or_put_out_of_order() {
    let mut game = ticked_game(plain(), link(80, 10, 0.2), 16);
    let heard = listen(&mut game);
    let key = game.add_client(ClientOptions { frame_hz: 240.0, ..ClientOptions::default() });
    game.run(Duration::from_secs(2), |_, _| ControlInput::default());
    let (mut frame, mut tapped) = (0_u32, Vec::new());
    while tapped.len() < 1_000 {
        game.tick(|_, _| {
            frame += 1;
            // Every eighth frame one of the two, for that frame alone.
            let tap = (frame % 8 == 0 && tapped.len() < 1_000).then_some(if frame % 24 == 0 { 1 << 4 } else { 1 << 3 });
            tapped.extend(tap);
            ControlInput { buttons: tap.unwrap_or_default(), ..ControlInput::default() }
        });
    }
    game.run(Duration::from_secs(3), |_, _| ControlInput::default());
    let pressed: Vec<_> =
        heard.lock().unwrap().iter().map(|(_, pressed, _)| *pressed).filter(|one| *one != 0).collect();
    assert_eq!(pressed, tapped);
    let presses = game.server().metrics().inputs.buffer.presses;
    assert_eq!((presses.offered, presses.applied), (1_000, 1_000));
    assert_eq!((presses.lost, presses.reordered, presses.extra), (0, 0, 0));
    // And one between two updates, which no frame ever held.
    let now_ms = game.client(key).frame_time() * 1e3;
    for (after, change) in [(1.0, DeviceChange::Press(3)), (2.0, DeviceChange::Release(3))] {
        assert!(game.client_mut(key).device_changed(DeviceEvent { at_ms: now_ms + after, device: 1, change }));
    }
    game.run(Duration::from_secs(1), |_, _| ControlInput::default());
    assert_eq!(game.server().metrics().inputs.buffer.presses.applied, 1_001);
}

// B20: a client whose clock runs half as fast again, or that hoards, moves no faster than the server's ticks.
#[test]
fn no_surplus_of_inputs_moves_faster() {
    let distance = |clock_ppm: f64, hoard: bool| {
        let mut game = ticked_game(plain(), link(60, 0, 0.0), 20);
        let key = game.add_client(ClientOptions { clock_ppm, ..ClientOptions::default() });
        game.run(Duration::from_secs(3), east);
        let (mut path, mut most) = (std::collections::VecDeque::new(), 0.0_f32);
        for second in 0..10 {
            if hoard && second == 4 {
                game.stall_client(key, Duration::from_secs(1));
            }
            for _ in 0..60 {
                game.tick(east);
                let x = game.server().players().next().unwrap().position.x;
                path.push_back(x);
                if path.len() > 61 {
                    path.pop_front();
                }
                most = most.max(x - path[0]);
            }
        }
        (most, game.server().metrics().inputs)
    };
    let (honest, _) = distance(0.0, false);
    for (ppm, hoard) in [(500_000.0, false), (50_000.0, false), (0.0, true)] {
        let (most, counters) = distance(ppm, hoard);
        assert!(most <= honest * 1.02, "{ppm} ppm: {most} of {honest}, {counters:?}");
        if ppm > 100_000.0 {
            let surplus = counters.gate.all_refused() + counters.buffer.merged + counters.buffer.dropped;
            assert!(surplus > 0, "{counters:?}");
        }
    }
}

// S-6a, B18, B21: what no honest client sends is refused and counted, and the game goes on.
#[test]
fn hostile_inputs_are_refused_and_counted() {
    let mut game = ticked_game(plain(), link(40, 0, 0.0), 21);
    // At this rate most frames send nothing of their own, which would replace what is forged.
    let liar = game.add_client(ClientOptions { frame_hz: 240.0, ..ClientOptions::default() });
    let honest = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), east);
    let held = |direction| HeldControls { direction, ..HeldControls::default() };
    let fast = [StepInput { buttons: u32::MAX, held: held([127, 127, 127]) }; 3];
    let lies = [
        (0, 30_000, InputRefusal::Ahead),
        (0, 0x7fff_ffff, InputRefusal::Ahead),
        (0, (1 << 31) + 10_000, InputRefusal::Stale),
        (0, u32::MAX, InputRefusal::Stale),
        (7, 500, InputRefusal::NotOwned),
        (u32::MAX, 1, InputRefusal::NotOwned),
    ];
    let mut before = 0;
    for (began, last, reason) in lies {
        let refused = |game: &Simulation| game.server().metrics().inputs.gate.refused(reason);
        let already = refused(&game);
        for _ in 0..20 {
            let mut bytes = Vec::new();
            write_inputs(&mut bytes, began, &InputPacket { last: Sequence(last), inputs: &fast });
            game.forge(liar, LaneSet::NEWEST, bytes);
            game.run(Duration::from_millis(40), east);
        }
        assert!(refused(&game) > already + 10, "{began} {last}: {:?}", game.server().metrics().inputs.gate);
        before += refused(&game) - already;
    }
    assert_eq!(game.server().metrics().inputs.gate.all_refused(), before, "nothing else was refused");
    for bytes in [vec![2], vec![9, 1], vec![2, 0, 1, 0, 0, 0, 21], vec![2, 0, 1, 0, 0, 0, 1, 0xff]] {
        game.forge(liar, LaneSet::NEWEST, bytes);
        game.run(Duration::from_millis(50), east);
    }
    assert!(all_playing(&game), "a few faults end no session");
    // Directions that are too long are cut: nobody is faster than full speed.
    for player in game.server().players() {
        assert!(player.velocity.length() < 17.0 && player.position.is_finite(), "{player:?}");
    }
    assert_eq!(game.client(honest).stats().mispredictions(), 0);
}

// T-1a: commands move a ticked character; what is under way goes on from there.
#[test]
fn commands_move_a_ticked_character() {
    let mut game = ticked_game(plain(), link(100, 0, 0.0), 5);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), east);
    let there = Vec3::new(20.0, 12.0, 20.0);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Teleport { position: there, yaw: 0.0 });
    game.run(Duration::from_millis(700), |_, _| ControlInput::default());
    let stats = game.client(key).stats();
    assert_eq!((stats.corrections[CorrectionCause::Teleport as usize], stats.mispredictions()), (1, 0));
    let (client, server) =
        (game.client(key).predicted().unwrap().position, game.server().players().next().unwrap().position);
    assert!(client.distance(server) < 0.01 && (client.z - there.z).abs() < 0.01, "{client} {server}");
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Kill);
    game.run(Duration::from_secs(1), east);
    assert_eq!(game.client(key).predicted().unwrap().state, CharacterState::Dead);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Respawn);
    game.run(Duration::from_secs(2), east);
    assert_eq!(game.client(key).predicted().unwrap().state, CharacterState::Grounded);
    assert_eq!(game.client(key).stats().mispredictions(), 0);
}

// S-40 to S-43: others see a ticked character move evenly.
#[test]
fn a_ticked_character_is_seen_evenly() {
    let speeds: Vec<_> =
        (1..=6).flat_map(|seed| crate::remote_motion::watched_speeds(ticked(), rough(), 60.0, seed)).collect();
    let uneven = crate::remote_motion::uneven(&speeds, 0.10);
    assert!(uneven * 1_000 <= speeds.len(), "{uneven} of {} frames are off by more than 10 %", speeds.len());
}

// S-6a, B20: an honest client on 200 ± 80 ms with 5 % loss is never refused anything and loses no press, in ten minutes.
#[test]
fn an_honest_client_is_never_penalised() {
    let link = LinkConfig { latency: Duration::from_millis(120), jitter: Duration::from_millis(160), ..rough() };
    let mut game = ticked_game(plain(), link, 44);
    let key = game.add_client(ClientOptions::default());
    let mut bot = Wanderer::new(44);
    let mut frame = 0_u32;
    game.run(Duration::from_secs(600), |_, now| {
        frame += 1;
        ControlInput { buttons: u32::from(frame % 40 < 3) << 3, ..bot.input(now) }
    });
    let InputCounters { gate, buffer } = game.server().metrics().inputs;
    assert_eq!((gate.all_refused(), buffer.dropped, buffer.presses.lost), (0, 0, 0), "{gate:?} {buffer:?}");
    assert_eq!((buffer.presses.reordered, buffer.presses.extra), (0, 0));
    assert!(buffer.presses.applied.abs_diff(u64::from(frame) / 40) < 8, "{buffer:?} of {frame} frames");
    let late = buffer.starved - buffer.neutral;
    assert!(late * 20 < buffer.applied, "{late} late inputs of {}", buffer.applied);
    let travelled = game.server().players().next().expect("it plays").position;
    assert!(travelled.is_finite() && *game.client(key).state() == ClientState::Playing);
}

// S-33: a late server takes an input for each tick it has missed, so that nobody falls behind or is corrected.
#[test]
fn a_late_server_takes_an_input_for_each_tick() {
    let mut game = ticked_game(plain(), link(80, 0, 0.0), 6);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), east);
    let start = game.server().players().next().expect("it plays").position.x;
    for stall_ms in [34, 50, 67, 100, 34] {
        game.run(Duration::from_secs(2), east);
        game.stall_server(Duration::from_millis(stall_ms));
    }
    game.run(Duration::from_secs(2), east);
    assert!(game.server().metrics().counters.ticks_skipped >= 8);
    assert_eq!(game.client(key).stats().mispredictions(), 0);
    let way = game.server().players().next().expect("it plays").position.x - start;
    assert!((way - 12.0 * 16.0).abs() < 2.0, "{way} studs in twelve seconds");
}

// B08: whatever the freeze, the player is in control again within a second.
#[test]
fn a_frozen_client_comes_back() {
    for freeze in [0.5, 2.0, 6.0] {
        let mut game = ticked_game(plain(), link(100, 0, 0.0), 8);
        let key = game.add_client(ClientOptions::default());
        game.run(Duration::from_secs(2), |_, _| ControlInput::default());
        game.stall_client(key, Duration::from_secs_f64(freeze));
        game.run(Duration::from_secs_f64(freeze), |_, _| ControlInput::default());
        let before = game.server().players().next().expect("it plays").position;
        game.run(Duration::from_secs(1), east);
        let after = game.server().players().next().expect("it plays").position;
        assert!(after.x - before.x > 8.0, "{freeze} s: {before} {after}");
        let apart = game.client(key).predicted().expect("it lives").position.distance(after);
        assert!(apart < 4.0, "{freeze} s: {apart}");
    }
}

// S-50, S-52: a ticked character pushes what is loose, which gives way at once and is believed.
#[test]
fn a_ticked_character_pushes_what_it_owns() {
    use crate::ownership::{crate_of, truth, yard};
    let mut game = ticked_game(yard(), link(150, 10, 0.02), 3);
    let pusher = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), idle);
    let own = |game: &Simulation| game.client(pusher).predicted().expect("it lives").position;
    let side = if own(&game).x < 0.0 { Vec3::X } else { -Vec3::X };
    let (mut last, mut worst) = (crate_of(&game, pusher).position, 0.0_f32);
    for _ in 0..120 {
        game.tick(|_, _| towards(side));
        let here = crate_of(&game, pusher).position;
        worst = worst.max(here.distance(last));
        last = here;
    }
    game.run(Duration::from_secs(2), idle);
    let owned = game.server().metrics().owned;
    assert!(last.x * side.x > 2.0 && owned.accepted > 20, "{last} {owned:?}");
    assert!(worst < 1.0, "a jump of {worst}");
    assert!(crate_of(&game, pusher).position.distance(truth(&game)) < 0.1);
    assert_eq!(game.client(pusher).stats().mispredictions(), 0);
}
