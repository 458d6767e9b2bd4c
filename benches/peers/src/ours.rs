//! Our driver and server shard; the clients are shards on plain sockets.

use std::net::UdpSocket;
use std::time::{Duration, Instant, SystemTime};

use tidelock_net::io::{Driver, OsEntropy};
use tidelock_net::{
    Arena, ClientConfig, ClientShard, ClientState, ConnectToken, ConnectionId, Egress, Ingress, LaneSet, ServerConfig,
    ServerShard, Shard, TokenRequest,
};

use crate::{BATCH, DOWN, Spent, TICK, TICKS, UP, WARM_TICKS};

struct Client {
    shard: ClientShard,
    socket: UdpSocket,
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
    Client { shard: ClientShard::new(config, token, Duration::ZERO, unix()), socket, events: vec![] }
}

impl Client {
    fn step(&mut self, now: Duration, arena: &mut Arena) {
        let mut buffer = [0; 2_048];
        while let Ok((bytes, from)) = self.socket.recv_from(&mut buffer) {
            self.shard.handle(now, from, &mut buffer[..bytes], &mut self.events);
        }
        self.shard.advance(now, &mut self.events);
        if let ClientState::Connected(connection) = self.shard.state() {
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

pub(crate) fn run(clients: usize, extended: bool) -> Vec<Spent> {
    let config = ServerConfig { token_lifetime_s: 0, ..ServerConfig::new(1, [1; 32]) };
    let shard = ServerShard::new(config, Duration::ZERO, unix(), OsEntropy::new().seed());
    let mut server = Driver::bind("127.0.0.1:0".parse().expect("an address"), shard).expect("loopback has ports");
    let mut clients: Vec<_> = (0..clients as u64).map(|id| client(server.local_addr(), id, extended)).collect();
    let (mut names, mut events, mut wishes) = (Vec::<ConnectionId>::new(), vec![], vec![]);
    let (mut now, mut arena, mut client_arena) = (Duration::ZERO, Arena::new(64 << 10, 256), Arena::new(UP, 8_192));
    let (mut spent, mut measured) = (vec![], 0);
    while measured < WARM_TICKS + TICKS {
        now += TICK;
        let mut of_tick = Spent::default();
        let started = Instant::now();
        let mut writer = arena.begin();
        let range = writer.write(&[5; DOWN]);
        let chunk = arena.freeze(writer);
        for &connection in &names {
            let bytes = chunk.span(range.clone());
            wishes.push(Egress::Send { connection, lane: LaneSet::MOTION, bytes, receipt: None });
        }
        wishes.push(Egress::FlushAll);
        server.poll(now, Some(Duration::ZERO), &mut wishes, &mut events).expect("the socket works");
        of_tick.send = started.elapsed();
        for batch in clients.chunks_mut(BATCH) {
            batch.iter_mut().for_each(|client| client.step(now, &mut client_arena));
            let started = Instant::now();
            server.poll(now, Some(Duration::ZERO), &mut wishes, &mut events).expect("the socket works");
            of_tick.receive += started.elapsed();
        }
        for event in events.drain(..) {
            if let Ingress::Connected { connection, .. } = event {
                names.push(connection);
            }
        }
        if names.len() == clients.len() {
            measured += 1;
            if measured > WARM_TICKS {
                spent.push(of_tick);
            }
        }
    }
    assert_eq!(server.shard().connected(), clients.len());
    assert_eq!(server.shard().counters().extended as usize, if extended { clients.len() } else { 0 });
    spent
}
