use std::net::SocketAddr;
use std::time::Duration;

use glam::{Quat, Vec3};
use tidelock::net::{
    ClientConfig, ClientShard, ConnectionId, Egress, Ingress, LaneId, LaneSet, ServerConfig, ServerShard,
};
use tidelock::replication::ids::InstanceId;
use tidelock::replication::instance::{Audience, Color, PartProperties, Pose, Seat};
use tidelock::testing::{ClientOptions, Simulation, SimulationOptions, VirtualNetwork, VirtualPort};
use tidelock::{Client, Commands, ControlInput, Controller, PlayerCommand, Protocol};

use super::choices::Choices;
use super::client_game;
use super::game::{all_four, walk, yard};
use super::shards::{KEY, UNIX};

/// Ticks recorded of each session, and the longest input made of them: what the fuzzer takes.
const TICKS: u64 = 150;
const SEED_BYTES: usize = 4_000;
/// The identity of whoever is recorded.
const RECORDED: u64 = 99;

/// Inputs of `client_game` and `server_game` made of what real ends say to each other: under each controller one who walks among
/// others and has everything done to it, its place known or fetched. Target, name and input of each.
pub fn recorded() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut inputs = vec![];
    for (number, controller) in Controller::ALL.into_iter().enumerate() {
        for eventful in [false, true] {
            let middle = play(controller, eventful);
            let name = format!("session-{number}-{}", if eventful { "eventful" } else { "quiet" });
            inputs.push(("client_game", name.clone(), for_client(&middle.down, !eventful)));
            inputs.push(("server_game", name, for_server(&middle.up, number as u8)));
        }
    }
    inputs
}

/// A message as it passed: tick, lane and bytes.
type Said = (u64, LaneId, Vec<u8>);

/// Somebody in the middle: a server to a client, and a client to the server, who passes on what each says and writes it down.
struct Middle {
    front: VirtualPort<ServerShard>,
    back: VirtualPort<ClientShard>,
    client: Option<ConnectionId>,
    /// What the client says before there is a server to say it to.
    early: Vec<Egress>,
    up: Vec<Said>,
    down: Vec<Said>,
}

impl Middle {
    fn new(game: &mut Simulation, address: SocketAddr) -> Self {
        let (now, network) = (game.now(), game.network().clone());
        let front = ServerShard::new(ServerConfig::new(Protocol::NETCODE_ID, KEY), now, UNIX, [2; 32]);
        let back = ClientShard::new(ClientConfig::default(), game.token(RECORDED), now, UNIX);
        Self {
            front: VirtualPort::new(front, address, network.clone()),
            back: VirtualPort::new(back, SocketAddr::from(([10, 5, 0, 2], 1_000)), network),
            client: None,
            early: vec![],
            up: vec![],
            down: vec![],
        }
    }

    fn step(&mut self, now: Duration, tick: u64) {
        let (mut heard, mut upwards, mut downwards) = (vec![], std::mem::take(&mut self.early), vec![]);
        let server = self.back.shard().connection();
        self.front.receive(now, &mut heard);
        for event in heard.drain(..) {
            match event {
                Ingress::Connected { connection, .. } => self.client = Some(connection),
                Ingress::Message { lane, bytes, .. } => {
                    self.up.push((tick, lane, bytes.to_vec()));
                    upwards.push(Egress::Send { connection: server, lane, bytes, receipt: None });
                }
                _ => {}
            }
        }
        self.back.receive(now, &mut heard);
        for event in heard.drain(..) {
            if let (Ingress::Message { lane, bytes, .. }, Some(connection)) = (event, self.client) {
                self.down.push((tick, lane, bytes.to_vec()));
                downwards.push(Egress::Send { connection, lane, bytes, receipt: None });
            }
        }
        if matches!(self.back.shard().state(), tidelock::net::ClientState::Connected(_)) {
            upwards.push(Egress::FlushAll);
            self.back.send(now, &mut upwards, &mut heard);
        } else {
            self.early = upwards;
        }
        downwards.push(Egress::FlushAll);
        self.front.send(now, &mut downwards, &mut heard);
    }
}

/// A session of one client under `controller` through somebody in the middle.
fn play(controller: Controller, eventful: bool) -> Middle {
    let mut game = Simulation::new(SimulationOptions::default(), all_four(), yard());
    game.server_mut().choose_controllers(
        move |newcomer| if newcomer.client_id == RECORDED { controller } else { Controller::Replay },
    );
    (0..2).for_each(|_| _ = game.add_client(ClientOptions::default()));
    (0..60).for_each(|_| game.tick(walk));
    let address = SocketAddr::from(([10, 5, 0, 1], 7_777));
    let mut middle = Middle::new(&mut game, address);
    let mut client = recorded_client(game.network().clone(), game.now(), address, eventful);
    for tick in 0..TICKS {
        let now = game.now();
        client.update(now, &walk_of_its_own(now));
        middle.step(now, tick);
        if eventful {
            happen(&mut game, tick);
        }
        game.tick(walk);
    }
    middle
}

fn recorded_client(network: VirtualNetwork, now: Duration, server: SocketAddr, fetches: bool) -> Client {
    let places = tidelock::PlaceCache::new();
    if !fetches {
        places.add(&tidelock::Place::from_bytes(yard().client_bytes().to_vec()).expect("a sound place"));
    }
    let bind = SocketAddr::from(([10, 5, 0, 3], 1_000));
    let config = tidelock::ClientConfig { places: places.into(), bind, ..tidelock::ClientConfig::default() };
    let token = client_game::token(server, UNIX);
    Client::in_network(config, all_four(), token, network, (now, UNIX)).expect("a sound configuration")
}

/// What the game does in a tick, mostly to whoever is recorded.
fn happen(game: &mut Simulation, tick: u64) {
    let Some(info) = game.server().players().find(|info| info.client_id == RECORDED) else { return };
    let crate_part = game.server().loose_parts().next().map_or(InstanceId(2), |(part, ..)| part);
    let commands = game.server_mut().commands();
    let to_player = match tick {
        40 => PlayerCommand::Teleport { position: Vec3::new(12.0, 3.0, 12.0), yaw: 1.0 },
        60 => PlayerCommand::Sit(Seat { part: crate_part, offset: Vec3::Y * 3.0, yaw: 0.5 }),
        80 => PlayerCommand::Stand,
        90 => PlayerCommand::SetGroups(vec![3]),
        100 => PlayerCommand::Kill,
        110 => PlayerCommand::Respawn,
        120 => PlayerCommand::Control(Controller::ALL[(info.player.0 % 4) as usize]),
        145 => PlayerCommand::Kick { text: "enough".into() },
        30 | 70 | 95 | 105 => return to_parts(commands, tick, crate_part),
        _ => return,
    };
    commands.player(info.player, to_player);
}

/// Parts come, change, are told to a group alone, go over to an owner, and go.
fn to_parts(commands: &mut Commands, tick: u64, loose: InstanceId) {
    let pose = Pose { position: Vec3::new(0.0, 9.0, 2.0), rotation: Quat::IDENTITY };
    match tick {
        30 => {
            let tags = ["lamp".into(), "red".into()].into();
            let properties = PartProperties { name: "Lamp".into(), tags, ..PartProperties::default() };
            commands.create_part(properties, pose, Audience::Shared);
            commands.create_part(
                PartProperties { anchored: false, ..PartProperties::default() },
                pose,
                Audience::Group(3),
            );
        }
        70 => commands.launch_part(loose, pose, Vec3::X * 9.0, Vec3::Y),
        95 => commands.set_part(loose, PartProperties { color: Color([9, 8, 7]), ..PartProperties::default() }),
        _ => commands.destroy(loose),
    }
}

fn walk_of_its_own(now: Duration) -> ControlInput {
    let directions = [Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Z];
    let direction = directions[(now.as_millis() / 400 % 4) as usize];
    ControlInput { direction, jump: now.as_millis() % 900 < 100, ..ControlInput::default() }
}

/// What the server said as an input of `client_game`: every tick a frame with what came in it.
fn for_client(said: &[Said], has_place: bool) -> Vec<u8> {
    let mut input = vec![if has_place { 2 } else { 3 }];
    let said = thinned(said);
    for tick in 0..TICKS {
        let messages: Vec<_> = said.iter().filter(|(at, ..)| *at == tick).collect();
        let mut frame = vec![messages.len().min(15) as u8];
        for (_, lane, bytes) in messages.into_iter().take(15) {
            let kind = client_game::LANES.iter().position(|one| one == lane).unwrap_or(0);
            frame.push(5 + kind as u8);
            chunk(&mut frame, bytes);
        }
        // A frame's length of time, and what the player holds.
        frame.extend([1, 40, 0]);
        if input.len() + frame.len() > SEED_BYTES {
            break;
        }
        input.extend(frame);
    }
    input
}

/// What the client said, but for its joining, as an input of `server_game` for whoever has that controller.
fn for_server(said: &[Said], controller: u8) -> Vec<u8> {
    let mut input = vec![controller, 1, 16];
    let said = thinned(said);
    for tick in 0..TICKS {
        let messages: Vec<_> = said.iter().filter(|(at, lane, _)| *at == tick && *lane != LaneSet::STATE).collect();
        let mut ticked = vec![messages.len() as u8];
        for (_, lane, bytes) in messages {
            ticked.extend([3, lane.0]);
            chunk(&mut ticked, bytes);
        }
        ticked.push(0);
        if input.len() + ticked.len() > SEED_BYTES {
            break;
        }
        input.extend(ticked);
    }
    input
}

/// All that is said reliably, and a quarter of the rest, so that an input has room for the whole session.
fn thinned(said: &[Said]) -> Vec<&Said> {
    let is_kept = |(number, (_, lane, _)): &(usize, &Said)| {
        matches!(*lane, LaneSet::STATE | LaneSet::BULK) || number.is_multiple_of(4)
    };
    said.iter().enumerate().filter(is_kept).map(|(_, said)| said).collect()
}

/// Appends what [`Choices::chunk`] reads back, of at most its length.
fn chunk(input: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(Choices::MAX_CHUNK)];
    input.extend((bytes.len() as u16).to_le_bytes());
    input.extend(bytes);
}
