//! Our driver and server shard; the clients are shards on plain sockets.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::time::{Duration, SystemTime};

use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use tidelock_net::io::{Driver, OsEntropy};
use tidelock_net::{
    Arena, ClientConfig, ClientShard, ClientState, ConnectToken, ConnectionId, Egress, Ingress, LaneSet, ServerConfig,
    ServerShard, Shard, TokenRequest,
};

use crate::crew::{Crew, batches, spent};
use crate::{BATCH, DOWN, Spent, TICK, Transport, UP};

struct Client {
    shard: ClientShard,
    socket: UdpSocket,
    /// Takes what the kernel joined in one piece, as our driver does.
    state: UdpSocketState,
    buffer: Vec<u8>,
    events: Vec<Ingress>,
}

fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970")
}

fn client(server: std::net::SocketAddr, id: u64, extended: bool) -> Client {
    let now_s = unix().as_secs();
    let request = TokenRequest {
        protocol_id: 1,
        private_key: [1; 32],
        client_id: id,
        server_addresses: vec![server],
        create_s: now_s,
        expire_s: now_s + 300,
        timeout_s: 60,
        user_data: [0; 256],
    };
    let token = ConnectToken::mint(&request, &mut OsEntropy::new()).expect("a good request");
    let config = ClientConfig { seed: extended.then(|| OsEntropy::new().seed()), ..ClientConfig::default() };
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has ports");
    socket.set_nonblocking(true).expect("sockets can be nonblocking");
    let state = UdpSocketState::new(UdpSockRef::from(&socket)).expect("a UDP socket");
    let shard = ClientShard::new(config, token, Duration::ZERO, unix());
    Client { shard, socket, state, buffer: vec![0; 1 << 16], events: vec![] }
}

impl Client {
    fn step(&mut self, now: Duration, talks: bool, arena: &mut Arena) {
        let mut metas = [RecvMeta::default()];
        while self
            .state
            .recv(UdpSockRef::from(&self.socket), &mut [IoSliceMut::new(&mut self.buffer)], &mut metas)
            .is_ok()
        {
            let RecvMeta { addr, len, stride, .. } = metas[0];
            for datagram in self.buffer[..len].chunks_mut(stride.max(1)) {
                self.shard.handle(now, addr, datagram, &mut self.events);
            }
        }
        self.shard.advance(now, &mut self.events);
        if let (ClientState::Connected(connection), true) = (self.shard.state(), talks) {
            let bytes = arena.copy(&[6; UP]);
            let send = Egress::Send { connection, lane: LaneSet::MOTION, bytes, receipt: None };
            self.shard.apply(now, send, &mut self.events);
            self.shard.apply(now, Egress::FlushAll, &mut self.events);
        }
        let socket = &self.socket;
        self.shard.transmit(now, &mut |to, datagram| drop(socket.send_to(datagram, to)));
        self.events.clear();
    }
}

/// Our server and its clients.
pub(crate) struct Ours {
    server: Driver<ServerShard>,
    crew: Crew,
    clients: usize,
    names: Vec<ConnectionId>,
    events: Vec<Ingress>,
    wishes: Vec<Egress>,
    now: Duration,
    arena: Arena,
    /// Messages of 1,000 bytes to each client a tick; with none nobody says anything.
    messages: usize,
}

impl Ours {
    /// Connects the clients, with packets of the extension or of the standard.
    pub(crate) fn new(clients: usize, extended: bool, messages: usize) -> Self {
        let config = ServerConfig { token_lifetime_s: 0, ..ServerConfig::new(1, [1; 32]) };
        let shard = ServerShard::new(config, Duration::ZERO, unix(), OsEntropy::new().seed());
        let server = Driver::bind("127.0.0.1:0".parse().expect("an address"), shard).expect("loopback has ports");
        let address = server.local_addr();
        let (mut client_now, mut client_arena) = (Duration::ZERO, Arena::new(UP, 8_192));
        let step = move |some: &mut [Client]| {
            // Each batch's time is its own; all of them pass a tick a tick.
            client_now += TICK / clients.div_ceil(BATCH) as u32;
            some.iter_mut().for_each(|client| client.step(client_now, messages > 0, &mut client_arena));
        };
        let crew = Crew::start(move || (0..clients as u64).map(|id| client(address, id, extended)).collect(), step);
        let (names, events, wishes) = (vec![], vec![], vec![]);
        let arena = Arena::new(64 << 10, 256);
        let mut ours = Self { server, crew, clients, names, events, wishes, now: Duration::ZERO, arena, messages };
        while ours.names.len() < clients {
            ours.tick();
        }
        ours
    }

    /// That all the clients were served, with the packets they were to have.
    pub(crate) fn check(&self, extended: bool) {
        assert_eq!(self.server.shard().connected(), self.clients);
        let whole = if extended && self.messages > 0 { self.clients } else { 0 };
        assert!(self.server.shard().counters().extended as usize >= whole);
    }

    fn poll(&mut self) -> Duration {
        let started = spent();
        let poll = self.server.poll(self.now, Some(Duration::ZERO), &mut self.wishes, &mut self.events);
        poll.expect("the socket works");
        spent() - started
    }
}

impl Transport for Ours {
    fn tick(&mut self) -> Spent {
        self.now += TICK;
        let mut of_tick = Spent::default();
        let started = spent();
        let mut writer = self.arena.begin();
        let range = writer.write(&[5; DOWN]);
        let chunk = self.arena.freeze(writer);
        for &connection in self.names.iter().flat_map(|name| std::iter::repeat_n(name, self.messages)) {
            let bytes = chunk.span(range.clone());
            self.wishes.push(Egress::Send { connection, lane: LaneSet::MOTION, bytes, receipt: None });
        }
        self.wishes.push(Egress::FlushAll);
        of_tick.send = spent() - started + self.poll();
        for some in batches(self.clients, BATCH) {
            self.crew.step(some);
            of_tick.receive += self.poll();
        }
        for event in self.events.drain(..) {
            if let Ingress::Connected { connection, .. } = event {
                self.names.push(connection);
            }
        }
        of_tick
    }
}
