use std::net::SocketAddr;
use std::time::Duration;

use tidelock::net::{ConnectionId, Egress, Ingress, LaneId, LaneSet, ServerConfig, ServerShard, Span};
use tidelock::replication::ids::{Generation, InstanceId, PlayerId};
use tidelock::replication::wire::{
    CharacterWord, PlaceChunk, Welcome, write_character, write_snapshot_end, write_welcome,
};
use tidelock::sim::Tick;
use tidelock::testing::{LinkConfig, VirtualNetwork, VirtualPort};
use tidelock::{Client, ClientConfig, ClientState, ControlInput, Place, PlaceCache, Protocol};

use super::choices::Choices;
use super::game::{all_four, yard};
use super::shards::{KEY, UNIX};

/// The most frames of a run.
const MAX_FRAMES: u32 = 300;
const FRAME: Duration = Duration::from_nanos(16_666_667);
/// Lanes a server speaks on, the state lane more often.
pub(super) const LANES: [LaneId; 5] = [LaneSet::STATE, LaneSet::STATE, LaneSet::MOTION, LaneSet::NEWEST, LaneSet::BULK];

/// A whole client and a server that says anything on any lane: the client draws on or leaves, and what it draws is finite.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut bench = Bench::new(choices.byte());
    for _ in 0..MAX_FRAMES {
        if choices.is_over() {
            break;
        }
        for _ in 0..choices.byte() % 16 {
            bench.say(&mut choices);
        }
        bench.frame(FRAME * u32::from(choices.byte() % 4), &mut choices);
        bench.check();
    }
    (0..30).for_each(|_| bench.frame(FRAME, &mut choices));
    bench.check();
}

struct Bench {
    server: VirtualPort<ServerShard>,
    client: Client,
    now: Duration,
    name: Option<ConnectionId>,
    egress: Vec<Egress>,
    place: Place,
    protocol_hash: [u8; 32],
    told: u32,
}

impl Bench {
    fn new(flags: u8) -> Self {
        let (now, unix) = (Duration::from_secs(1), UNIX);
        let network = VirtualNetwork::new(LinkConfig::default(), 1);
        let address = SocketAddr::from(([10, 0, 0, 1], 7_777));
        let config = ServerConfig::new(Protocol::NETCODE_ID, KEY);
        let server = ServerShard::new(config, now, unix, [1; 32]);
        let place = yard();
        let places = PlaceCache::new();
        if flags & 1 == 0 {
            places.add(&Place::from_bytes(place.client_bytes().to_vec()).expect("a sound place"));
        }
        let bind = SocketAddr::from(([10, 0, 1, 1], 1_000));
        let config = ClientConfig { places: places.into(), bind, ..ClientConfig::default() };
        let protocol = all_four();
        let token = token(address, unix);
        let client = Client::in_network(config, protocol.clone(), token, network.clone(), (now, unix));
        let mut bench = Self {
            server: VirtualPort::new(server, address, network),
            client: client.expect("a sound configuration"),
            now,
            name: None,
            egress: Vec::new(),
            protocol_hash: protocol.hash(),
            place,
            told: 0,
        };
        let still = &mut Choices::new(&[]);
        (0..20).for_each(|_| bench.frame(FRAME, still));
        if flags & 2 == 0 {
            bench.welcome(Generation(1));
            bench.enter(Generation(1), flags >> 2 & 3);
            (0..3).for_each(|_| bench.frame(FRAME, still));
        }
        bench
    }

    fn frame(&mut self, time: Duration, choices: &mut Choices<'_>) {
        self.now += time;
        let mut ingress = Vec::new();
        self.server.receive(self.now, &mut ingress);
        for event in ingress.drain(..) {
            if let Ingress::Connected { connection, .. } = event {
                self.name = Some(connection);
            }
        }
        self.egress.push(Egress::FlushAll);
        self.server.send(self.now, &mut self.egress, &mut ingress);
        let input = ControlInput {
            direction: glam::Vec3::new(choices.near(0.01), 0.0, choices.near(0.01)),
            jump: self.now.as_millis() % 800 < 200,
            ..ControlInput::default()
        };
        self.client.update(self.now, &input);
        self.client.drain_events().for_each(drop);
    }

    fn tell(&mut self, lane: LaneId, bytes: Vec<u8>) {
        let Some(connection) = self.name else { return };
        self.told += 1;
        self.egress.push(Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: None });
    }

    fn welcome(&mut self, generation: Generation) {
        let mut bytes = Vec::new();
        let welcome = Welcome {
            protocol_hash: self.protocol_hash,
            player: PlayerId(1),
            character: InstanceId(1_000),
            tick: Tick((self.now.as_secs_f64() * 60.0) as u64),
            generation,
            place_hash: self.place.hash(),
            place_name: self.place.name().into(),
            place_bytes: self.place.client_bytes().len() as u64,
            divisor: 3,
        };
        write_welcome(&mut bytes, &welcome);
        self.tell(LaneSet::STATE, bytes);
    }

    /// The character is this one under that controller, and the place is whole.
    fn enter(&mut self, generation: Generation, controller: u8) {
        let position = glam::Vec3::Y * 3.0;
        let word = CharacterWord { generation, id: InstanceId(1_000), controller, position, yaw: 0.0 };
        let (mut bytes, mut end) = (Vec::new(), Vec::new());
        write_character(&mut bytes, &word);
        self.tell(LaneSet::STATE, bytes);
        write_snapshot_end(&mut end, generation);
        self.tell(LaneSet::STATE, end);
    }

    fn say(&mut self, choices: &mut Choices<'_>) {
        match choices.byte() % 12 {
            0 => self.welcome(Generation(u32::from(choices.byte() % 4))),
            1 => self.enter(Generation(u32::from(choices.byte() % 4)), choices.byte() % 5),
            2 => self.piece(choices),
            kind => {
                let lane = LANES[usize::from(kind) % LANES.len()];
                // Unreliable lanes carry no more.
                let most = if lane == LaneSet::STATE || lane == LaneSet::BULK { usize::MAX } else { 1_024 };
                let chunk = choices.chunk();
                self.tell(lane, chunk[..chunk.len().min(most)].to_vec());
            }
        }
    }

    /// A piece of the place under a true head, packed or not.
    fn piece(&mut self, choices: &mut Choices<'_>) {
        let content = choices.chunk();
        let whole = self.place.client_bytes();
        let honest = choices.byte().is_multiple_of(2);
        let (len, total) =
            if honest { (whole.len() as u32, whole.len() as u64) } else { (choices.word() >> 16, whole.len() as u64) };
        let stored;
        let bytes = if honest {
            stored = stored_block(whole);
            &stored[..]
        } else {
            content
        };
        let chunk = PlaceChunk { hash: self.place.hash(), offset: u64::from(choices.byte() / 128), total, len, bytes };
        let mut message = Vec::new();
        chunk.write(&mut message);
        self.tell(LaneSet::BULK, message);
    }

    fn check(&self) {
        let projection = self.client.projection();
        for character in &projection.characters {
            assert!(character.position.is_finite());
        }
        for part in &projection.parts {
            assert!(part.position.is_finite());
        }
        if *self.client.state() == ClientState::Playing
            && let Some(motor) = self.client.predicted()
        {
            assert!(motor.is_finite());
        }
    }
}

/// An LZ4 block that stores bytes as they are.
fn stored_block(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0xf0];
    let mut rest = bytes.len() - 15;
    while rest >= 255 {
        block.push(255);
        rest -= 255;
    }
    block.push(rest as u8);
    block.extend_from_slice(bytes);
    block
}

/// A token for a server at `address`.
pub(super) fn token(address: SocketAddr, unix: Duration) -> tidelock::net::ConnectToken {
    let request = tidelock::net::TokenRequest {
        protocol_id: Protocol::NETCODE_ID,
        private_key: KEY,
        client_id: 1,
        server_addresses: vec![address],
        create_s: unix.as_secs(),
        expire_s: unix.as_secs() + 600,
        timeout_s: 10,
        user_data: [0; 256],
    };
    let mut entropy = tidelock::net::entropy::SeedEntropy::from_number(1);
    tidelock::net::ConnectToken::mint(&request, &mut entropy).expect("a sound request")
}
