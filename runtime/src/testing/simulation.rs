use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tidelock_net::emulator::LinkConfig;
use tidelock_net::entropy::SeedEntropy;
use tidelock_net::{ConnectToken, LaneId, TokenRequest};
use tidelock_replication::place::Place;

use super::VirtualNetwork;
use crate::client::{Client, ClientConfig};
use crate::control::ControlInput;
use crate::protocol::Protocol;
use crate::server::{Server, ServerConfig};

/// What a [`Simulation`] begins with.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// Seed of links, keys and tokens.
    pub seed: u64,
    /// How links treat datagrams, each way, until told otherwise.
    pub link: LinkConfig,
    /// Worker threads of the server. Default 1.
    pub worker_threads: usize,
    /// Virtual time before the first tick: how long the server has been up when clients arrive. Default 0.
    pub uptime: Duration,
    /// The server's configuration; bind address, key and threads are set by the simulation.
    pub server: ServerConfig,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            link: LinkConfig::default(),
            worker_threads: 1,
            uptime: Duration::ZERO,
            server: ServerConfig::new([7; 32]),
        }
    }
}

/// How one client of a [`Simulation`] lives.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Configuration; its place cache is shared by all clients unless `fetch_place` is set.
    pub config: ClientConfig,
    /// Frames it draws per second. Default 60.
    pub frame_hz: f64,
    /// How much its clock is too fast, in parts per million. Default 0.
    pub clock_ppm: f64,
    /// Whether it begins without the place and fetches it. Default false.
    pub fetch_place: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { config: ClientConfig::default(), frame_hz: 60.0, clock_ppm: 0.0, fetch_place: false }
    }
}

/// Names a client of a [`Simulation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(usize);

impl ClientKey {
    /// The client that was added after `number` others.
    #[must_use]
    pub const fn nth(number: usize) -> Self {
        Self(number)
    }

    /// Number of the client, in the order they were added.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// One server, its clients and the links between them, in virtual time and one thread.
#[derive(Debug)]
pub struct Simulation {
    network: VirtualNetwork,
    protocol: Arc<Protocol>,
    place: Place,
    server: Server,
    server_address: SocketAddr,
    clients: Vec<SimulatedClient>,
    entropy: SeedEntropy,
    key: [u8; 32],
    now: Duration,
    server_resumes: Duration,
}

#[derive(Debug)]
struct SimulatedClient {
    client: Option<Client>,
    /// Its address as it knows it, and as the server sees it.
    port: SocketAddr,
    address: SocketAddr,
    frame: Duration,
    next_frame: Duration,
    clock_rate: f64,
}

/// Unix time at which every simulation begins.
const UNIX_START: Duration = Duration::from_secs(1_800_000_000);
const TICK: Duration = Duration::from_nanos(16_666_667);

impl Simulation {
    /// A server in `place` without clients.
    ///
    /// # Panics
    ///
    /// When the server's configuration is out of range.
    #[must_use]
    pub fn new(options: SimulationOptions, protocol: Arc<Protocol>, place: Place) -> Self {
        let network = VirtualNetwork::new(options.link, options.seed);
        let server_address = SocketAddr::from(([10, 0, 0, 1], 7777));
        let mut config = options.server;
        config.bind = server_address;
        config.worker_threads = options.worker_threads;
        let key = config.private_key;
        let server =
            Server::in_network(config, protocol.clone(), place.clone(), network.clone(), (options.uptime, UNIX_START))
                .expect("the simulation's configuration is in range");
        let entropy = SeedEntropy::from_number(options.seed);
        let clients = Vec::new();
        let (now, server_resumes) = (options.uptime, Duration::ZERO);
        Self { network, protocol, place, server, server_address, clients, entropy, key, now, server_resumes }
    }

    /// Adds a client, which begins to connect at once.
    ///
    /// # Panics
    ///
    /// When its configuration is out of range, or there are more than 65,000 clients.
    pub fn add_client(&mut self, options: ClientOptions) -> ClientKey {
        self.add_client_of(options, self.protocol.clone())
    }

    /// Adds a client that speaks another protocol than the server, perhaps.
    ///
    /// # Panics
    ///
    /// As [`Self::add_client`].
    pub fn add_client_of(&mut self, options: ClientOptions, protocol: Arc<Protocol>) -> ClientKey {
        let token = self.token(self.clients.len() as u64 + 1);
        self.add_with(options, protocol, token)
    }

    /// Adds a client that comes with a token of the caller's choosing: that of a player who is there already, or an old one.
    ///
    /// # Panics
    ///
    /// As [`Self::add_client`].
    pub fn add_client_with(&mut self, options: ClientOptions, token: ConnectToken) -> ClientKey {
        self.add_with(options, self.protocol.clone(), token)
    }

    fn add_with(&mut self, options: ClientOptions, protocol: Arc<Protocol>, token: ConnectToken) -> ClientKey {
        let number = self.clients.len();
        let port = u16::try_from(1_000 + number % 60_000).expect("below 61,000");
        let address = SocketAddr::from(([10, 1, (number / 60_000) as u8, 1], port));
        let mut config = options.config;
        if !options.fetch_place {
            config.places.add(&client_part(&self.place));
        }
        config.bind = address;
        let client = Client::in_network(config, protocol, token, self.network.clone(), (self.now, UNIX_START))
            .expect("the client's configuration is in range");
        let frame = Duration::from_secs_f64(1.0 / options.frame_hz);
        // Spread over the frame, so that no two clients share a phase.
        let phase = frame.mul_f64((number as f64 * 0.618_034).fract());
        let clock_rate = 1.0 + options.clock_ppm * 1e-6;
        let next_frame = self.now + phase;
        self.clients.push(SimulatedClient {
            client: Some(client),
            port: address,
            address,
            frame,
            next_frame,
            clock_rate,
        });
        ClientKey(number)
    }

    /// A token this server accepts, made now, for clients made by hand and for [`Self::add_client_with`].
    ///
    /// # Panics
    ///
    /// Never: the request is sound.
    pub fn token(&mut self, client_id: u64) -> ConnectToken {
        let create_s = UNIX_START.as_secs() + self.now.as_secs();
        let request = TokenRequest {
            protocol_id: Protocol::NETCODE_ID,
            private_key: self.key,
            client_id,
            server_addresses: vec![self.server_address],
            create_s,
            expire_s: create_s + 10 * 365 * 86_400,
            timeout_s: 10,
            user_data: [0; 256],
        };
        ConnectToken::mint(&request, &mut self.entropy).expect("a sound request")
    }

    /// Runs one server tick and every client frame up to it; `input` says what each client holds.
    pub fn tick(&mut self, mut input: impl FnMut(ClientKey, Duration) -> ControlInput) {
        self.now += TICK;
        for (number, simulated) in self.clients.iter_mut().enumerate() {
            while simulated.next_frame <= self.now {
                let at = simulated.next_frame;
                simulated.next_frame += simulated.frame;
                let Some(client) = &mut simulated.client else { continue };
                let control = input(ClientKey(number), at);
                client.update_skewed(at, at.mul_f64(simulated.clock_rate), &control);
            }
        }
        if self.now >= self.server_resumes {
            self.server.step(self.now);
        }
    }

    /// Runs ticks for a stretch of virtual time.
    pub fn run(&mut self, time: Duration, mut input: impl FnMut(ClientKey, Duration) -> ControlInput) {
        let end = self.now + time;
        while self.now < end {
            self.tick(&mut input);
        }
    }

    /// Takes a client away without a word, as when its process is killed.
    pub fn kill_client(&mut self, key: ClientKey) {
        self.clients[key.0].client = None;
    }

    /// Sends a message of the caller's own making from a client that has not been killed, as a hostile one would.
    ///
    /// # Panics
    ///
    /// When it was killed.
    pub fn forge(&mut self, key: ClientKey, lane: LaneId, bytes: Vec<u8>) {
        self.client_mut(key).forge(lane, bytes);
    }

    /// Lets a client draw no frame for a stretch of time, as when its machine is busy.
    pub fn stall_client(&mut self, key: ClientKey, time: Duration) {
        self.clients[key.0].next_frame += time;
    }

    /// Lets the server run no tick for a stretch of time, as when its machine is busy.
    pub fn stall_server(&mut self, time: Duration) {
        self.server_resumes = self.now + time;
    }

    /// Changes both directions of a client's link.
    pub fn set_link(&self, key: ClientKey, config: LinkConfig) {
        self.network.set_path(self.clients[key.0].address, self.server_address, config);
    }

    /// Changes the link from a client to the server alone.
    pub fn set_uplink(&self, key: ClientKey, config: LinkConfig) {
        self.network.set_link(self.clients[key.0].address, self.server_address, config);
    }

    /// Lets the server see a client at another address from now on, without the client's doing. Its link stays as it was set.
    pub fn move_client(&mut self, key: ClientKey, to: SocketAddr) {
        let client = &mut self.clients[key.0];
        self.network.move_port(client.port, to);
        client.address = to;
    }

    /// The network, for more particular links.
    #[must_use]
    pub fn network(&self) -> &VirtualNetwork {
        &self.network
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The server, to give it commands and systems.
    pub fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// A client that has not been killed.
    ///
    /// # Panics
    ///
    /// When it was killed.
    #[must_use]
    pub fn client(&self, key: ClientKey) -> &Client {
        self.clients[key.0].client.as_ref().expect("the client was killed")
    }

    /// A client that has not been killed, to take its events.
    ///
    /// # Panics
    ///
    /// When it was killed.
    pub fn client_mut(&mut self, key: ClientKey) -> &mut Client {
        self.clients[key.0].client.as_mut().expect("the client was killed")
    }

    /// All clients not killed.
    pub fn clients(&self) -> impl Iterator<Item = (ClientKey, &Client)> {
        let numbered = self.clients.iter().enumerate();
        numbered.filter_map(|(number, simulated)| Some((ClientKey(number), simulated.client.as_ref()?)))
    }
}

/// The place as a client would fetch it.
fn client_part(place: &Place) -> Place {
    Place::from_bytes(place.client_bytes().to_vec()).expect("the client part of a sound place is sound")
}
