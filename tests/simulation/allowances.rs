use std::collections::VecDeque;

use glam::Vec3;
use tidelock::net::{ClientConfig, ClientShard, ConnectionId, Egress, Ingress, LaneSet, Span};
use tidelock::replication::ids::{InstanceId, PlayerId};
use tidelock::replication::wire::{ClientMessage, ServerMessage, write_newest_report};
use tidelock::sim::allowance::{AllowanceLimits, MovementGrants, ValidationReason};
use tidelock::sim::motor::CharacterState;
use tidelock::sim::report::{Correction, CorrectionCause, Report, ReportRefusal};
use tidelock::sim::{Sequence, SimTime};
use tidelock::testing::VirtualPort;
use tidelock::{Controller, MovementSignals, PlayerCommand, SystemPoint};

use super::*;

const WALK_SPEED: f32 = 16.0;

pub(crate) fn judged() -> Arc<Protocol> {
    Protocol::builder().controller(Controller::Allowances).build()
}

fn judged_game(place: Place, link: LinkConfig, seed: u64) -> Simulation {
    Simulation::new(SimulationOptions { seed, link, ..SimulationOptions::default() }, judged(), place)
}

/// A floor nobody falls off.
fn plain() -> Place {
    Place::compile(crate::remote_motion::PLAIN).expect("a sound place")
}

/// 200 ± 80 ms each way.
fn rough() -> LinkConfig {
    LinkConfig { latency: Duration::from_millis(120), ..rough_of(160) }
}

/// So much jitter and 5 % loss.
fn rough_of(jitter_ms: u64) -> LinkConfig {
    LinkConfig { jitter: Duration::from_millis(jitter_ms), loss: 0.05, ..LinkConfig::default() }
}

// S-20, S-25, B20: honest players on a bad link are believed, seen by others and never corrected.
#[test]
fn honest_players_are_not_clamped() {
    for seed in 1..=2 {
        let mut game = judged_game(demo(), rough(), seed);
        let mut bots = Wanderers::join(&mut game, 6, seed);
        run(&mut game, &mut bots, 40.0);
        let counters = game.server().metrics().allowances;
        assert_eq!((counters.clamped, counters.put_back, counters.corrections), (0, 0, 0), "{counters:?}");
        assert!(counters.accepted > 6 * 35 * 10, "{counters:?}");
        assert_eq!(game.server().metrics().reports.all_refused(), 0, "nothing is replayed");
        assert!(all_playing(&game));
        for (_, client) in game.clients() {
            assert_eq!(client.stats().mispredictions(), 0);
            assert_eq!(client.projection().characters.len(), 6);
        }
        for player in game.server().players() {
            let (_, client) = game.clients().find(|(_, client)| client.player() == Some(player.player)).unwrap();
            let apart = player.position.distance(client.predicted().unwrap().position);
            assert!(apart < 12.0, "what is under way apart, they agree: {apart}");
        }
    }
}

// S-25, T-1a: commands move a character judged by allowances, and what was reported before them is stale.
#[test]
fn commands_move_the_character_and_raise_its_epoch() {
    let mut game = judged_game(plain(), link(100, 0, 0.0), 3);
    let key = game.add_client(ClientOptions::default());
    let east = |_: ClientKey, _: Duration| ControlInput { direction: Vec3::X, ..ControlInput::default() };
    game.run(Duration::from_secs(2), east);
    let there = Vec3::new(20.0, 12.0, 20.0);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Teleport { position: there, yaw: 0.0 });
    game.run(Duration::from_millis(700), |_, _| ControlInput::default());
    let predicted = game.client(key).predicted().unwrap().position;
    let server = game.server().players().next().unwrap().position;
    for position in [predicted, server] {
        assert!((position - there).length() < 14.0 && (position.x - there.x).abs() < 0.1, "{position}");
    }
    assert_eq!(game.client(key).stats().corrections[CorrectionCause::Teleport as usize], 1);
    assert!(game.server().metrics().allowances.refused(ReportRefusal::StaleEpoch) > 0);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Kill);
    game.run(Duration::from_secs(1), east);
    assert_eq!(game.client(key).predicted().unwrap().state, CharacterState::Dead);
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Respawn);
    game.run(Duration::from_secs(2), east);
    assert_eq!(game.client(key).predicted().unwrap().state, CharacterState::Grounded);
    assert_eq!(game.server().metrics().allowances.corrections, 0);
}

// S-40 to S-43, S-50: others see a judged character walk as evenly as any, and it pushes what is loose.
#[test]
fn a_judged_character_is_seen_evenly_and_pushes() {
    let path = LinkConfig { latency: Duration::from_millis(75), ..rough_of(30) };
    let speeds: Vec<_> =
        (1..=12).flat_map(|seed| crate::remote_motion::watched_speeds(judged(), path, 60.0, seed)).collect();
    let uneven = crate::remote_motion::uneven(&speeds, 0.10);
    assert!(uneven * 1_000 <= speeds.len(), "{uneven} of {} frames are off by more than 10 %", speeds.len());
    assert_eq!(crate::remote_motion::uneven(&speeds, 0.5), 0, "frames that leap");
    let crate_ahead =
        "[[part]]\nname = \"Crate\"\nsize = [2.0, 2.0, 2.0]\nposition = [8.0, 1.0, 0.0]\nanchored = false\n";
    let place = format!("{}\n{crate_ahead}", crate::remote_motion::PLAIN);
    let mut game = judged_game(Place::compile(&place).expect("a sound place"), link(60, 0, 0.0), 6);
    game.add_client(ClientOptions::default());
    // Until it has been told that it simulates the crate.
    game.run(Duration::from_secs(2), |_, _| ControlInput::default());
    game.run(Duration::from_secs(2), |_, _| ControlInput { direction: Vec3::X, ..ControlInput::default() });
    let (_, pose, moved) = game.server().loose_parts().next().unwrap();
    assert!(moved && (pose.position - Vec3::new(8.0, 1.0, 0.0)).length() > 0.5, "{pose:?}");
}

/// A peer that says what it likes.
struct Liar {
    port: VirtualPort<ClientShard>,
    ingress: Vec<Ingress>,
    egress: Vec<Egress>,
    connection: Option<ConnectionId>,
    character: Option<InstanceId>,
    /// Its character by the server's last word.
    word: Option<Correction>,
    corrections: u32,
    sequence: u32,
}

impl Liar {
    fn join(game: &mut Simulation) -> Self {
        let token = game.token(77);
        let shard = ClientShard::new(ClientConfig::default(), token, game.now(), Duration::from_secs(1_800_000_000));
        Self {
            port: VirtualPort::new(shard, ([10, 9, 0, 1], 999).into(), game.network().clone()),
            ingress: Vec::new(),
            egress: Vec::new(),
            connection: None,
            character: None,
            word: None,
            corrections: 0,
            sequence: 0,
        }
    }

    fn say(&mut self, lane: tidelock::net::LaneId, bytes: Vec<u8>) {
        let Some(connection) = self.connection else { return };
        self.egress.push(Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: None });
    }

    fn control(&mut self, message: &ClientMessage) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        self.say(LaneSet::STATE, bytes);
    }

    /// Hears the server out; then claims what `claims` makes of the server's last word.
    fn update(&mut self, now: Duration, claims: impl FnOnce(&Correction) -> Vec<Report>) {
        let mut ingress = std::mem::take(&mut self.ingress);
        self.port.receive(now, &mut ingress);
        for event in ingress.drain(..) {
            match event {
                Ingress::Connected { connection, .. } => {
                    self.connection = Some(connection);
                    let protocol_hash = judged().hash();
                    self.control(&ClientMessage::Join { protocol_hash, name: "liar".into(), place: None });
                }
                Ingress::Message { lane: LaneSet::STATE, bytes, .. } => {
                    match ServerMessage::read(&bytes).expect("sound") {
                        ServerMessage::Welcome(welcome) => {
                            self.control(&ClientMessage::Entered { generation: welcome.generation });
                        }
                        ServerMessage::Character(word) => self.character = Some(word.id),
                        ServerMessage::Correction(correction) => {
                            self.corrections += u32::from(correction.cause == CorrectionCause::Allowance);
                            self.word = Some(correction);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        self.ingress = ingress;
        if let Some(word) = self.word {
            for mut claim in claims(&word) {
                self.sequence += 1;
                (claim.sequence, claim.epoch) = (Sequence(self.sequence), word.epoch);
                let mut bytes = Vec::new();
                write_newest_report(&mut bytes, &claim);
                self.say(LaneSet::NEWEST, bytes);
                self.egress.push(Egress::FlushAll);
            }
        }
        self.egress.push(Egress::FlushAll);
        self.port.send(now, &mut self.egress, &mut self.ingress);
    }
}

/// Runs a liar for 20 s and returns it with the farthest its character got horizontally within any second.
fn lie(game: &mut Simulation, mut claims: impl FnMut(u32, &Correction) -> Vec<Report>) -> (Liar, f32) {
    let mut liar = Liar::join(game);
    let mut path: VecDeque<Vec3> = VecDeque::new();
    let mut farthest = 0.0_f32;
    for tick in 0..1_200 {
        liar.update(game.now(), |word| claims(tick, word));
        game.tick(|_, _| ControlInput::default());
        let Some(player) = game.server().players().find(|player| player.client_id == 77) else { continue };
        if player.character.is_none() {
            continue;
        }
        assert!(player.position.is_finite() && player.velocity.is_finite(), "{player:?}");
        path.push_back(player.position * Vec3::new(1.0, 0.0, 1.0));
        // The sum of all steps within a second, not the way as the crow flies.
        if path.len() > 61 {
            path.pop_front();
        }
        let sum = path.iter().zip(path.iter().skip(1)).map(|(a, b)| a.distance(*b)).sum::<f32>();
        farthest = farthest.max(sum);
    }
    assert!(path.len() > 60, "the liar came in");
    (liar, farthest)
}

/// What is claimed at a tick after the server's last word.
type Lie = Box<dyn FnMut(u32, &Correction) -> Vec<Report>>;

fn claim(game_tick: u32, position: Vec3, velocity: Vec3) -> Report {
    let time = SimTime(u64::from(game_tick) * 1_024);
    let state = CharacterState::Grounded;
    Report { start: time, end: time, position, velocity, state, ..Report::default() }
}

// S-25, S-25a, B20, B21: whatever a client claims, its character stays within the written envelope.
#[test]
fn no_lie_leaves_the_envelope() {
    let envelope = AllowanceLimits::default().envelope(WALK_SPEED);
    // Steady speed at five times walking, steps just below what clamps, teleports, floods, and no numbers at all.
    let mut far = Vec3::ZERO;
    let mut lies: Vec<(&str, Lie)> = Vec::new();
    lies.push((
        "speed",
        Box::new(move |tick, word| {
            if far == Vec3::ZERO {
                far = word.sim.motor.position;
            }
            far.x += WALK_SPEED * 5.0 / 60.0;
            (tick % 3 == 0).then(|| claim(tick, far, Vec3::X * WALK_SPEED * 5.0)).into_iter().collect()
        }),
    ));
    lies.push((
        "creep",
        Box::new(|tick, word| {
            let position = word.sim.motor.position + Vec3::X * (tick as f32 * 1.35 * WALK_SPEED / 60.0 * 1.2);
            (tick % 2 == 0).then(|| claim(tick, position, Vec3::X * WALK_SPEED)).into_iter().collect()
        }),
    ));
    lies.push((
        "teleport",
        Box::new(|tick, word| {
            let position = word.sim.motor.position + Vec3::X * if tick % 6 == 0 { 500.0 } else { 30.0 };
            (tick % 3 == 0).then(|| claim(tick, position, Vec3::ZERO)).into_iter().collect()
        }),
    ));
    lies.push((
        "flood",
        Box::new(|tick, word| {
            let step = |number: u32| word.sim.motor.position + Vec3::Z * (0.29 * (tick * 8 + number) as f32);
            (0..8).map(|number| claim(tick, step(number), Vec3::ZERO)).collect()
        }),
    ));
    lies.push((
        "nonfinite",
        Box::new(|tick, word| {
            let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX][tick as usize % 4];
            let at = word.sim.motor.position;
            let claims = [claim(tick, Vec3::splat(bad), Vec3::ZERO), claim(tick, at, Vec3::splat(bad))];
            (tick % 4 == 0).then_some(claims).into_iter().flatten().collect()
        }),
    ));
    for (name, claims) in &mut lies {
        let mut game = judged_game(plain(), link(60, 10, 0.02), 4);
        let mut bots = Wanderers::join(&mut game, 1, 4);
        run(&mut game, &mut bots, 1.0);
        let (liar, farthest) = lie(&mut game, &mut *claims);
        // A window of ticks sees a tick more than a second of reports.
        assert!(farthest <= envelope + 0.01, "{name}: {farthest} studs in a second of {envelope}");
        let counters = game.server().metrics().allowances;
        assert_eq!(counters.corrections > 0, liar.corrections > 0, "{name}: {counters:?}");
        assert!(counters.all_signalled() + counters.refused(ReportRefusal::Nonfinite) > 0, "{name}");
        assert!(all_playing(&game), "{name}: nobody else minds");
        println!("{name}: {farthest} of {envelope}, {counters:?}");
    }
}

// S-26: a game's system reads what was wrong, and grants what its rules allow.
#[test]
fn games_read_signals_and_grant_speed() {
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    for granted in [false, true] {
        let mut game = judged_game(plain(), link(40, 0, 0.0), 5);
        let ear = heard.clone();
        game.server_mut().add_system(
            SystemPoint::AfterReplay,
            Box::new(move |world, _| {
                for (id, signals) in world.query::<(&InstanceId, &MovementSignals)>().iter() {
                    ear.lock().unwrap().extend(signals.signals.iter().map(|signal| (*id, signal.reason)));
                }
            }),
        );
        let mut start = Vec3::ZERO;
        let (_, farthest) = {
            if granted {
                let mut grants = MovementGrants::default();
                grants.grant_burst(WALK_SPEED * 4.0, SimTime::from_seconds(60.0));
                let grant = move |_: &tidelock::hecs::World, commands: &mut tidelock::Commands| {
                    commands.player(PlayerId(1), PlayerCommand::Grant(grants));
                };
                game.server_mut().add_system(SystemPoint::BeforeReplay, Box::new(grant));
            }
            let mut x = 0.0;
            lie(&mut game, move |tick, word| {
                if start == Vec3::ZERO {
                    start = word.sim.motor.position;
                }
                x = (x + WALK_SPEED * 3.0 / 60.0) % 24.0;
                let position = start + Vec3::X * (12.0 - (x - 12.0_f32).abs());
                (tick % 3 == 0).then(|| claim(tick, position, Vec3::ZERO)).into_iter().collect()
            })
        };
        let mut heard = heard.lock().unwrap();
        let speeding = heard.iter().any(|(_, reason)| {
            matches!(reason, ValidationReason::Speed | ValidationReason::Streak | ValidationReason::Distance)
        });
        assert_eq!(speeding, !granted, "{granted}: {heard:?}");
        assert_eq!(farthest > WALK_SPEED * 2.0, granted, "{granted}: {farthest}");
        heard.clear();
    }
}
