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
use crate::{BATCH, DOWN, Spent, TICK, TICKS, UP, WARM_TICKS};

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

/// `messages` of 1,000 bytes to each client a tick; with none nobody says anything.
pub(crate) fn run(clients: usize, extended: bool, messages: usize) -> Vec<Spent> {
    let config = ServerConfig { token_lifetime_s: 0, ..ServerConfig::new(1, [1; 32]) };
    let shard = ServerShard::new(config, Duration::ZERO, unix(), OsEntropy::new().seed());
    let mut server = Driver::bind("127.0.0.1:0".parse().expect("an address"), shard).expect("loopback has ports");
    let address = server.local_addr();
    let (mut client_now, mut client_arena) = (Duration::ZERO, Arena::new(UP, 8_192));
    let step = move |some: &mut [Client]| {
        // Each batch's time is its own; all of them pass a tick a tick.
        client_now += TICK / clients.div_ceil(BATCH) as u32;
        some.iter_mut().for_each(|client| client.step(client_now, messages > 0, &mut client_arena));
    };
    let crew = Crew::start(move || (0..clients as u64).map(|id| client(address, id, extended)).collect(), step);
    let (mut names, mut events, mut wishes) = (Vec::<ConnectionId>::new(), vec![], vec![]);
    let (mut now, mut arena) = (Duration::ZERO, Arena::new(64 << 10, 256));
    let (mut ticks, mut measured) = (vec![], 0);
    while measured < WARM_TICKS + TICKS {
        now += TICK;
        let mut of_tick = Spent::default();
        let started = spent();
        let mut writer = arena.begin();
        let range = writer.write(&[5; DOWN]);
        let chunk = arena.freeze(writer);
        for &connection in names.iter().flat_map(|name| std::iter::repeat_n(name, messages)) {
            let bytes = chunk.span(range.clone());
            wishes.push(Egress::Send { connection, lane: LaneSet::MOTION, bytes, receipt: None });
        }
        wishes.push(Egress::FlushAll);
        server.poll(now, Some(Duration::ZERO), &mut wishes, &mut events).expect("the socket works");
        of_tick.send = spent() - started;
        for some in batches(clients, BATCH) {
            crew.step(some);
            let started = spent();
            server.poll(now, Some(Duration::ZERO), &mut wishes, &mut events).expect("the socket works");
            of_tick.receive += spent() - started;
        }
        for event in events.drain(..) {
            if let Ingress::Connected { connection, .. } = event {
                names.push(connection);
            }
        }
        if names.len() == clients {
            measured += 1;
            if measured > WARM_TICKS {
                ticks.push(of_tick);
            }
        }
    }
    assert_eq!(server.shard().connected(), clients);
    let whole = if extended && messages > 0 { clients } else { 0 };
    assert!(server.shard().counters().extended as usize >= whole);
    ticks
}
