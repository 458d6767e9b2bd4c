use glam::Quat;
use tidelock::net::{ClientShard, ConnectToken, DisconnectCode, DisconnectReason, Egress, Ingress, LaneSet, Span};
use tidelock::replication::ids::InstanceId;
use tidelock::replication::instance::{Audience, Color, PartProperties, Pose};
use tidelock::replication::wire::{ClientMessage, ServerMessage};
use tidelock::testing::{Digest, VirtualPort};
use tidelock::{Client, ClientConfig};

use super::*;

/// Open ground with one spawn: whoever comes later changes nobody's way.
const GREEN: &str = r#"
name = "Green"
[[spawn]]
position = [0.0, 3.0, 0.0]
[[part]]
name = "Ground"
size = [2000.0, 2.0, 2000.0]
position = [0.0, -1.0, 0.0]
"#;

/// Clients that keep every rule, and bad ones of each manner.
const GOOD: usize = 20;
const BAD: u64 = 2;
/// Parts whose colour changes in every tick, which everyone is told reliably.
const LAMPS: usize = 12;
/// When the bad ones come, when they turn bad, and the end.
const COME: Duration = Duration::from_secs(3);
const TURN: Duration = Duration::from_secs(6);
const END: Duration = Duration::from_secs(36);
/// Silence after which a connection ends: that of the simulation's tokens.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time a session may come no closer to the place.
const ENTRY_TIMEOUT: Duration = Duration::from_secs(30);
/// What connecting and parting take beyond.
const SLACK: Duration = Duration::from_millis(500);
/// The calendar when a simulation begins.
const UNIX: Duration = Duration::from_secs(1_800_000_000);
/// Where a token tells its holder the timeout: after version, protocol, two times, nonce and sealed part.
const TIMEOUT_AT: usize = 13 + 8 + 8 + 8 + 24 + 1_024;

/// What is wrong with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Sends reports on and on, and hears nothing.
    Deaf,
    /// Says nothing more, and hears nothing.
    Silent,
    /// Hears and speaks as seldom as keeps its connection.
    Trickling,
    /// Speaks as seldom, and hears nothing.
    DeafTrickling,
    /// Acknowledges everything and never says what it wants.
    NeverJoining,
    /// Acknowledges everything, has been let in, and never enters.
    NeverEntering,
    /// Acknowledges everything, has entered, and never moves.
    NeverMoving,
}

impl Manner {
    const ALL: [Self; 7] = [
        Self::Deaf,
        Self::Silent,
        Self::Trickling,
        Self::DeafTrickling,
        Self::NeverJoining,
        Self::NeverEntering,
        Self::NeverMoving,
    ];

    /// When the server has to be rid of it, if ever.
    fn ends(self) -> Option<Duration> {
        match self {
            Self::Silent | Self::Deaf => Some(TURN + TIMEOUT),
            // Its next words acknowledge what was on its way.
            Self::DeafTrickling => Some(TURN + 2 * TIMEOUT),
            Self::NeverJoining | Self::NeverEntering => Some(COME + ENTRY_TIMEOUT),
            _ => None,
        }
    }

    fn is_deaf(self) -> bool {
        matches!(self, Self::Deaf | Self::DeafTrickling)
    }

    fn trickles(self) -> bool {
        matches!(self, Self::Trickling | Self::DeafTrickling)
    }
}

/// A client that turns bad.
struct Bad {
    id: u64,
    manner: Manner,
    body: Body,
    /// When it does something again.
    next: Duration,
    /// When the server was rid of it.
    left: Option<Duration>,
}

enum Body {
    Whole(Box<Client>),
    Puppet(Box<Puppet>),
}

impl Bad {
    fn new(game: &mut Simulation, manner: Manner, id: u64) -> Self {
        let (token, now) = (patient(&game.token(id)), game.now());
        let address = ([10, 3, 0, 1], 1_000 + id as u16).into();
        let body = match manner {
            Manner::NeverJoining | Manner::NeverEntering | Manner::NeverMoving => {
                let config = tidelock::net::ClientConfig { seed: Some([id as u8; 32]), ..Default::default() };
                let shard = ClientShard::new(config, token, now, UNIX);
                let port = VirtualPort::new(shard, address, game.network().clone());
                Body::Puppet(Box::new(Puppet { port, manner, egress: vec![], reason: None }))
            }
            _ => {
                let config = ClientConfig { bind: address, ..ClientConfig::default() };
                let client = Client::in_network(config, protocol(), token, game.network().clone(), (now, UNIX));
                Body::Whole(Box::new(client.expect("a sound configuration")))
            }
        };
        Self { id, manner, body, next: now, left: None }
    }

    fn live(&mut self, game: &Simulation) {
        let (now, turned) = (game.now(), game.now() >= TURN);
        if now < self.next || (turned && self.manner == Manner::Silent) {
            return;
        }
        if turned && self.manner.trickles() {
            self.next = now + TIMEOUT - Duration::from_millis(200);
        }
        match &mut self.body {
            Body::Whole(client) => {
                if turned && self.manner.is_deaf() {
                    let cut = LinkConfig { partition: true, ..LinkConfig::default() };
                    game.network().set_link(game.server().local_addr(), client.local_addr(), cut);
                }
                client.update(now, &ControlInput::default());
            }
            Body::Puppet(puppet) => puppet.live(now),
        }
    }

    /// Notes whether the server has it still.
    fn look_for(&mut self, game: &Simulation) {
        if self.left.is_none() && !game.server().players().any(|info| info.client_id == self.id) {
            self.left = Some(game.now());
        }
    }

    /// Why it is out, as the server told it, once it reads what came.
    fn reason(&mut self, now: Duration) -> Option<DisconnectReason> {
        match &mut self.body {
            Body::Whole(client) => {
                client.update(now, &ControlInput::default());
                match client.state() {
                    ClientState::Disconnected { reason } => Some(reason.clone()),
                    _ => None,
                }
            }
            Body::Puppet(puppet) => puppet.reason.clone(),
        }
    }
}

/// A token whose holder never gives up; the server goes by the sealed part.
fn patient(token: &ConnectToken) -> ConnectToken {
    let mut bytes = token.to_bytes();
    bytes[TIMEOUT_AT..TIMEOUT_AT + 4].copy_from_slice(&(-1_i32).to_le_bytes());
    ConnectToken::from_bytes(&bytes[..]).expect("as it was")
}

/// A connection that comes as far as its manner says and acknowledges all it hears.
struct Puppet {
    port: VirtualPort<ClientShard>,
    manner: Manner,
    egress: Vec<Egress>,
    reason: Option<DisconnectReason>,
}

impl Puppet {
    fn live(&mut self, now: Duration) {
        let mut ingress = vec![];
        self.port.receive(now, &mut ingress);
        ingress.drain(..).for_each(|event| self.hear(event));
        self.egress.push(Egress::FlushAll);
        self.port.send(now, &mut self.egress, &mut ingress);
    }

    fn hear(&mut self, event: Ingress) {
        match event {
            Ingress::Connected { .. } if self.manner != Manner::NeverJoining => {
                let (protocol_hash, name) = (protocol().hash(), "puppet".into());
                self.say(&ClientMessage::Join { protocol_hash, name, place: None });
            }
            Ingress::Message { lane: LaneSet::STATE, bytes, .. } if self.manner == Manner::NeverMoving => {
                if let Ok(ServerMessage::Welcome(welcome)) = ServerMessage::read(&bytes) {
                    self.say(&ClientMessage::Entered { generation: welcome.generation });
                }
            }
            Ingress::Disconnected { reason, .. } => self.reason = Some(reason),
            _ => {}
        }
    }

    fn say(&mut self, message: &ClientMessage) {
        let mut bytes = vec![];
        message.write(&mut bytes);
        let (connection, bytes) = (self.port.shard().connection(), Span::from(bytes));
        self.egress.push(Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None });
    }
}

/// A game of good clients, the bad ones that came, and what each good one saw: a digest per tick.
struct Run {
    game: Simulation,
    bots: Wanderers,
    lamps: Vec<InstanceId>,
    bad: Vec<Bad>,
    seen: Vec<Vec<u64>>,
}

impl Run {
    fn new(link: LinkConfig) -> Self {
        let mut game = game(Place::compile(GREEN).expect("a sound place"), link, 71);
        let bots = Wanderers::join(&mut game, GOOD as u64, 71);
        let lamp = |number: usize| {
            let pose = Pose { position: Vec3::new(number as f32 * 4.0, 40.0, 0.0), rotation: Quat::IDENTITY };
            game.server_mut().commands().create_part(PartProperties::default(), pose, Audience::Shared)
        };
        let lamps = (0..LAMPS).map(lamp).collect();
        Self { game, bots, lamps, bad: vec![], seen: vec![vec![]; GOOD] }
    }

    /// Runs to the end, with `each` of every manner.
    fn play(mut self, each: u64) -> Self {
        while self.game.now() < END {
            if self.game.now() >= COME && self.bad.is_empty() {
                let manners = Manner::ALL.into_iter().flat_map(|manner| (0..each).map(move |_| manner));
                self.bad = (1_000..).zip(manners).map(|(id, manner)| Bad::new(&mut self.game, manner, id)).collect();
            }
            self.bad.iter_mut().for_each(|bad| bad.live(&self.game));
            self.tick();
            if self.game.now() >= TURN {
                self.bad.iter_mut().for_each(|bad| bad.look_for(&self.game));
            }
        }
        self
    }

    fn tick(&mut self) {
        let Self { game, bots, lamps, seen, .. } = self;
        let shade = game.server().tick().0 as u8;
        for &lamp in lamps.iter() {
            let color = Color([shade, lamp.0 as u8, 9]);
            game.server_mut().commands().set_part(lamp, PartProperties { color, ..PartProperties::default() });
        }
        game.tick(|key, now| bots.input(key, now));
        for (number, seen) in seen.iter_mut().enumerate() {
            seen.push(sight(game, ClientKey::nth(number), lamps));
        }
    }
}

/// All that a good client shows and says of its own kind: what happened to it, the times it draws at, where it draws whom, and
/// what it was told reliably so far.
fn sight(game: &mut Simulation, key: ClientKey, lamps: &[InstanceId]) -> u64 {
    let mut digest = Digest::default();
    for event in game.client_mut(key).drain_events() {
        digest.bytes(format!("{event:?}").as_bytes());
    }
    let client = game.client(key);
    digest.bytes(format!("{:?}", client.state()).as_bytes());
    let (projection, stats) = (client.projection(), client.stats());
    for seconds in [projection.playback_s, projection.predicted_s, stats.rtt.as_secs_f64()] {
        digest.number(seconds.to_bits());
    }
    for character in projection.characters.iter().filter(|character| character.player.0 <= GOOD as u64) {
        digest.number(character.id.0);
        digest.vector(character.position);
        digest.vector(character.velocity);
        digest.number(u64::from(character.yaw.to_bits()));
    }
    for (part, _) in lamps.iter().filter_map(|lamp| client.part(*lamp)) {
        digest.bytes(&part.color.0);
    }
    for count in [stats.mispredictions(), stats.faults, stats.reports] {
        digest.number(count);
    }
    digest.value()
}

// Invariants 2 and 3, N-6: clients that stop reading, fall silent, trickle or never come to anything. Every good client sees in
// every tick what it sees without them, to the bit: its corrections, the times it draws at, the others' motion, what it is told
// reliably. Those that break a promise are out in time and hear why, and nothing of them is left.
#[test]
fn clients_that_stall_touch_nobody() {
    for link in [link(60, 0, 0.0), link(80, 10, 0.05)] {
        let alone = Run::new(link).play(0);
        let mut beside = Run::new(link).play(BAD);
        for (number, (alone, beside)) in alone.seen.iter().zip(&beside.seen).enumerate() {
            let parts = alone.iter().zip(beside).position(|(alone, beside)| alone != beside);
            assert_eq!((alone.len(), parts), (beside.len(), None), "client {number} with {link:?}");
        }
        let (metrics, now) = (beside.game.server().metrics(), beside.game.now());
        let staying = beside.bad.iter().filter(|bad| bad.manner.ends().is_none()).count();
        let leaving = beside.bad.len() - staying;
        assert_eq!((metrics.players, metrics.counters.timeouts), (GOOD + staying, leaving as u64));
        assert_eq!(beside.game.server().instances(), alone.game.server().instances() + staying);
        for bad in &mut beside.bad {
            let Some(ends) = bad.manner.ends() else {
                assert_eq!(bad.left, None, "{:?}", bad.manner);
                continue;
            };
            let late = bad.left.map(|left| left.saturating_sub(ends));
            assert!(late.is_some_and(|late| late < SLACK), "{:?} left {:?}", bad.manner, bad.left);
            // The deaf do not hear why.
            if bad.manner.is_deaf() {
                continue;
            }
            let reason = bad.reason(now);
            let Some(DisconnectReason::Remote { code, .. }) = reason else { panic!("{:?}: {reason:?}", bad.manner) };
            assert_eq!(code, DisconnectCode::Timeout, "{:?}", bad.manner);
        }
    }
}
