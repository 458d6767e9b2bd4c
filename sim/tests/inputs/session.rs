use glam::Vec3;
use tidelock_sim::client::SmoothedPose;
use tidelock_sim::clock::FixedStepClockConfig;
use tidelock_sim::input::{InputBuffer, InputBufferConfig, InputPacer, InputPacket, PressActions, StepInput};
use tidelock_sim::session::{
    PredictedSession, PredictedSessionConfig, PredictedSimulation, Reconciliation, SessionFrame, SnapshotHeader,
    StepContext,
};
use tidelock_sim::{Sequence, Tick};

use crate::link::{Chance, Link};

type Input = StepInput<i8>;
const PLAYERS: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Body {
    x: i32,
    v: i32,
}

/// A small deterministic game: bodies push each other about on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct World {
    bodies: [Body; PLAYERS],
    inputs: [Input; PLAYERS],
    round: u32,
}

impl World {
    fn new() -> Self {
        let mut world = Self::default();
        for (index, body) in world.bodies.iter_mut().enumerate() {
            body.x = index as i32 * 5_000;
        }
        world
    }

    /// Returns who jumped.
    fn step(&mut self, inputs: [Input; PLAYERS]) -> [bool; PLAYERS] {
        let jumped = [0, 1, 2].map(|index| inputs[index].buttons & !self.inputs[index].buttons & 1 != 0);
        for (index, body) in self.bodies.iter_mut().enumerate() {
            body.v += i32::from(inputs[index].held) * 40 + i32::from(jumped[index]) * 300;
            body.v = body.v * 7 / 8;
            body.x += body.v;
        }
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            let apart = self.bodies[b].x - self.bodies[a].x;
            if apart.abs() < 1_000 {
                let push = (1_000 - apart.abs()) / 4 * if apart < 0 { -1 } else { 1 };
                self.bodies[a].v -= push;
                self.bodies[b].v += push;
            }
        }
        self.inputs = inputs;
        jumped
    }
}

#[derive(Clone, Copy, Debug)]
struct Snapshot {
    header: SnapshotHeader,
    world: World,
}

/// The game as one client predicts it: the others go on as they were.
struct Predicted {
    world: World,
    me: usize,
}

impl PredictedSimulation for Predicted {
    type Input = Input;
    type Snapshot = Snapshot;
    type Event = &'static str;

    fn header(snapshot: &Snapshot) -> SnapshotHeader {
        snapshot.header
    }

    fn is_teleport(previous: &Snapshot, next: &Snapshot) -> bool {
        previous.world.round != next.world.round
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.world = snapshot.world;
    }

    fn step(&mut self, input: &Input, context: &mut StepContext<'_, &'static str>) {
        let mut inputs = self.world.inputs;
        inputs[self.me] = *input;
        if self.world.step(inputs)[self.me] {
            context.emit(self.me as u64, "jump");
        }
    }

    fn poses(&self, out: &mut Vec<SmoothedPose>) {
        out.extend(self.world.bodies.iter().enumerate().map(|(id, body)| SmoothedPose {
            id: id as u64,
            position: Vec3::X * (body.x as f32 / 1_000.0),
            ..SmoothedPose::default()
        }));
    }
}

/// A client and its links; time in microseconds.
struct Client {
    session: PredictedSession<Predicted>,
    up: Link<(Sequence, Vec<Input>)>,
    down: Link<Snapshot>,
    frame: u64,
    next_frame: u64,
    last_frame: u64,
}

impl Client {
    fn new(me: usize, hz: u32, delay: u64, fps: f64) -> Self {
        let clock = FixedStepClockConfig { hz, ..FixedStepClockConfig::default() };
        let config = PredictedSessionConfig { clock, ..PredictedSessionConfig::default() };
        Self {
            session: PredictedSession::new(Predicted { world: World::default(), me }, config).unwrap(),
            up: Link::new(me as u64 * 2 + 1, delay),
            down: Link::new(me as u64 * 2 + 2, delay),
            frame: (1e6 / fps) as u64,
            next_frame: 1 + 1_313 * me as u64,
            last_frame: 0,
        }
    }

    fn frame(&mut self, mut input: impl FnMut() -> Input) -> Option<Reconciliation> {
        let now = self.next_frame;
        for snapshot in self.down.arrived(now) {
            self.session.receive(snapshot);
        }
        let seconds = (now - self.last_frame) as f64 / 1e6;
        let frame = SessionFrame { seconds, now_ms: now as f64 / 1e3, scale: 1.0 };
        let start = self.session.begin_frame(frame);
        while self.session.next_step().is_some() {
            let InputPacket { last, inputs } = self.session.step(input());
            self.up.send(now, (last, inputs.to_vec()));
        }
        (self.last_frame, self.next_frame) = (now, now + self.frame);
        start.reconciliation
    }
}

struct Server {
    world: World,
    buffers: Vec<InputBuffer<i8>>,
    tick: Tick,
    hz: u32,
    next: u64,
}

impl Server {
    fn new(players: usize, hz: u32) -> Self {
        let config = InputBufferConfig { max_target: InputPacer::MAX_DEPTH, ..InputBufferConfig::default() };
        let actions = PressActions::new(&[(1, 0)]).unwrap();
        let buffer = || InputBuffer::new(config, actions, Input::default()).unwrap();
        let buffers = (0..players).map(|_| buffer()).collect();
        Self { world: World::new(), buffers, tick: Tick(u64::from(u32::MAX) - 100), hz, next: 5_000 }
    }

    fn step(&mut self, clients: &mut [Client]) {
        let mut inputs = [Input::default(); PLAYERS];
        let mut headers = Vec::new();
        self.tick = self.tick.next();
        for (index, client) in clients.iter_mut().enumerate() {
            for (last, packet) in client.up.arrived(self.next) {
                self.buffers[index].offer_range(last, &packet);
            }
            let consumed = self.buffers[index].consume();
            inputs[index] = consumed.input;
            let (acknowledged, depth, target) = (consumed.acknowledged, consumed.depth, Some(consumed.target));
            headers.push(SnapshotHeader { tick: self.tick, acknowledged, depth, target });
        }
        self.world.step(inputs);
        for (header, client) in headers.into_iter().zip(clients) {
            client.down.send(self.next, Snapshot { header, world: self.world });
        }
        self.next += 1_000_000 / u64::from(self.hz);
    }
}

/// Keys of a player who changes his mind about six times a second.
fn keys(chance: &mut Chance, input: &mut Input) -> Input {
    if chance.below(10) == 0 {
        *input = Input { buttons: chance.below(2), held: chance.below(3) as i8 - 1 };
    }
    *input
}

// S-33, S-6a, B06: at every tick rate and round trip, no input is late and no prediction wrong.
#[test]
fn a_deterministic_game_is_never_corrected() {
    for hz in [15, 30, 60, 128] {
        for delay in [0, 50, 50_000, 150_000] {
            let (mut server, mut clients) = (Server::new(1, hz), [Client::new(0, hz, delay, 240.0)]);
            let (mut chance, mut input, mut rewinds) = (Chance(u64::from(hz)), Input::default(), 0);
            let first = server.tick.0;
            while server.tick.0 < first + 10_000 {
                if server.next <= clients[0].next_frame {
                    server.step(&mut clients);
                    continue;
                }
                // Until the first input has arrived, the client cannot know in which of the server's steps it acts.
                let idle = server.tick.0 < first + u64::from(hz);
                let keys = || if idle { Input::default() } else { keys(&mut chance, &mut input) };
                if let Some(rewind) = clients[0].frame(keys) {
                    assert!(rewind.correction == 0.0 || rewind.snapped, "{hz} {delay}: {rewind:?}");
                    rewinds += 1;
                }
            }
            let stats = server.buffers[0].stats();
            assert_eq!((stats.starved, stats.merged), (stats.neutral, 0), "{hz} {delay}: {stats:?}");
            let (events, presses) = (clients[0].session.event_counters(), stats.presses);
            assert!(events.surfaced - presses.applied < 60 && presses.lost == 0, "{events:?} {presses:?}");
            assert_eq!((events.cancelled, events.late, events.forgotten), (0, 0, 0));
            assert!(rewinds > 9_000 && clients[0].session.counters().gaps == 0);
            assert!((0.99..1.01).contains(&clients[0].session.pacing().pace), "{:?}", clients[0].session.pacing());
        }
    }
}

// B25, S-36: losses and stalls leave nothing behind; every press is heard of at least once, cancelled ones once.
#[test]
fn all_peers_agree_again_after_a_stall() {
    for seed in 0..1_000_u64 {
        let mut server = Server::new(PLAYERS, 60);
        let mut clients: Vec<_> = (0..PLAYERS).map(|me| Client::new(me, 60, 40_000, 97.0)).collect();
        for (index, client) in clients.iter_mut().enumerate() {
            for (link, half) in [(&mut client.up.loss, 0), (&mut client.down.loss, 1)] {
                *link = 0.1 * ((seed >> half) & 1) as f64;
            }
            client.up.chance = Chance(seed * 31 + index as u64);
            client.down.chance = Chance(seed * 37 + index as u64);
            (client.up.jitter, client.down.jitter) = (30_000, 30_000);
        }
        let mut chance = Chance(seed);
        let mut inputs = [Input::default(); PLAYERS];
        let stalled = (seed % 3) as usize;
        let held_up = 1_000_000 + seed % 7 * 16_667..1_166_667 + seed % 7 * 16_667;
        while server.next < 4_000_000 {
            let now = server.next;
            for client in &mut clients {
                // In the last second and a half the links are whole and the players still.
                if now > 2_500_000 {
                    (client.up.loss, client.down.loss) = (0.0, 0.0);
                }
            }
            let down = held_up.contains(&now);
            for index in 0..PLAYERS {
                while clients[index].next_frame < now {
                    if down && index == stalled {
                        clients[index].next_frame += clients[index].frame;
                        continue;
                    }
                    let quiet = now > 2_500_000;
                    let input = &mut inputs[index];
                    clients[index].frame(|| if quiet { Input::default() } else { keys(&mut chance, input) });
                }
            }
            server.step(&mut clients);
        }
        for client in &clients {
            assert_eq!(client.session.simulation().world, server.world, "seed {seed}");
            let mut drawn = Vec::new();
            client.session.draw(&mut drawn);
            let apart = drawn
                .iter()
                .zip(server.world.bodies)
                .map(|(drawn, body)| (drawn.position.x - body.x as f32 / 1_000.0).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-3, "seed {seed}");
        }
    }
}

// B28: with acknowledgements blocked for an hour, nothing grows.
#[test]
fn a_dead_link_fills_no_memory() {
    let mut server = Server::new(1, 60);
    let mut clients = [Client::new(0, 60, 20_000, 60.0)];
    let (mut chance, mut input) = (Chance(1), Input::default());
    while server.next < 2_000_000 {
        server.step(&mut clients);
        clients[0].frame(|| keys(&mut chance, &mut input));
    }
    let session = &mut clients[0].session;
    let mut drawn = Vec::with_capacity(8);
    let mut hour = |steps: u32| {
        for _ in 0..steps {
            session.begin_frame(SessionFrame { seconds: 1.0 / 60.0, now_ms: 0.0, scale: 1.0 });
            while session.next_step().is_some() {
                session.step(keys(&mut chance, &mut input));
            }
            drawn.clear();
            session.draw(&mut drawn);
            session.drain_events().for_each(drop);
        }
    };
    hour(10);
    let counted = allocation_counter::measure(|| hour(216_000));
    assert_eq!(counted.count_total, 0);
    assert_eq!(clients[0].session.unacknowledged(), 120);
}

// B08: whatever the freeze, the player is in control again within a second, and no frame resimulates more than the cap.
#[test]
fn a_frozen_client_comes_back() {
    for freeze in [200_000, 2_000_000, 30_000_000, 900_000_000_u64] {
        let mut server = Server::new(1, 60);
        let mut clients = [Client::new(0, 60, 50_000, 60.0)];
        let mut resumed = None;
        loop {
            if server.next <= clients[0].next_frame {
                server.step(&mut clients);
                if resumed.is_some_and(|resumed| server.next > resumed + 1_000_000) {
                    break;
                }
                continue;
            }
            if clients[0].next_frame > 2_000_000 && resumed.is_none() {
                clients[0].next_frame += freeze;
                resumed = Some(clients[0].next_frame);
                continue;
            }
            let held = i8::from(resumed.is_some());
            let rewind = clients[0].frame(|| Input { buttons: 0, held });
            assert!(rewind.is_none_or(|rewind| rewind.replayed <= 120));
        }
        assert_eq!(server.world.inputs[0].held, 1, "{freeze}");
        assert!(server.world.bodies[0].x > 3_000, "{freeze}: {:?}", server.world.bodies[0]);
    }
}

// S-33: only newer snapshots count, the first and teleports snap.
#[test]
fn the_newest_snapshot_wins_and_teleports_snap() {
    let mut session = Client::new(0, 60, 0, 60.0).session;
    let snapshot = |tick: u64, x: i32, round: u32| {
        let mut world = World::new();
        (world.bodies[0].x, world.round) = (x, round);
        Snapshot { header: SnapshotHeader { tick: Tick(tick), ..SnapshotHeader::default() }, world }
    };
    let frame = SessionFrame { seconds: 0.0, now_ms: 0.0, scale: 1.0 };
    assert_eq!(session.begin_frame(frame).steps, 0, "nothing to predict from");
    assert!(session.receive(snapshot(10, 0, 0)) && session.receive(snapshot(12, 0, 0)));
    assert!(!session.receive(snapshot(12, 9, 0)) && !session.receive(snapshot(11, 9, 0)));
    let start = session.begin_frame(frame);
    assert_eq!((start.steps, start.reconciliation.unwrap().snapped), (2, true));
    assert!(!session.receive(snapshot(12, 9, 0)));
    let x = |session: &PredictedSession<Predicted>| {
        let mut drawn = Vec::new();
        session.draw(&mut drawn);
        drawn[0].position.x
    };
    session.receive(snapshot(13, 1_000, 0));
    let moved = session.begin_frame(frame).reconciliation.unwrap();
    assert_eq!((moved.correction, moved.snapped, x(&session)), (1.0, false, 0.0), "hidden by its offset");
    session.receive(snapshot(14, 5_000, 1));
    let moved = session.begin_frame(frame).reconciliation.unwrap();
    assert_eq!((moved.correction, moved.snapped, x(&session)), (4.0, true, 5.0));
    let counters = session.counters();
    assert_eq!((counters.applied, counters.stale, counters.superseded), (3, 3, 1));
}

// B11: a body of even speed is drawn evenly at every frame rate and phase.
#[test]
fn drawn_motion_is_even() {
    for fps in [59.94, 60.0, 120.0, 144.0, 240.0] {
        for phase in 0..20 {
            let mut server = Server::new(1, 60);
            let mut clients = [Client::new(0, 60, 30_000, fps)];
            clients[0].next_frame += phase * 833;
            let (mut last, mut frames) = (None, 0);
            while server.next < 6_000_000 {
                if server.next <= clients[0].next_frame {
                    server.step(&mut clients);
                    continue;
                }
                clients[0].frame(|| Input { buttons: 0, held: -1 });
                let mut drawn = Vec::new();
                clients[0].session.draw(&mut drawn);
                let Some(x) = drawn.first().map(|drawn| drawn.position.x) else { continue };
                if let Some(before) = last.replace(x).filter(|_| server.next > 3_000_000) {
                    let wanted = clients[0].session.simulation().world.bodies[0].v as f32 / 1e3 * 60.0 / fps as f32;
                    assert!(((x - before) / wanted - 1.0).abs() < 0.05, "{fps} {phase}: {} {wanted}", x - before);
                    frames += 1;
                }
            }
            assert!(frames > 150);
        }
    }
}
