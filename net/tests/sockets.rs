//! Drivers and the relay on real loopback sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

use tidelock_net::emulator::LinkConfig;
use tidelock_net::io::{Driver, OsEntropy, Relay};
use tidelock_net::{
    ClientConfig, ClientShard, ClientState, ConnectToken, DisconnectCode, DisconnectReason, Egress, Ingress, LaneSet,
    ServerConfig, ServerShard, SessionConfig, Span, TokenRequest,
};

const PROTOCOL: u64 = 11;
const KEY: [u8; 32] = [3; 32];

fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn token(server: SocketAddr, client_id: u64) -> ConnectToken {
    let now_s = unix().as_secs();
    let request = TokenRequest {
        protocol_id: PROTOCOL,
        private_key: KEY,
        client_id,
        server_addresses: vec![server],
        create_s: now_s,
        expire_s: now_s + 60,
        timeout_s: 10,
        user_data: [0; 256],
    };
    ConnectToken::mint(&request, &mut OsEntropy::new()).unwrap()
}

struct Stage {
    started: Instant,
    server: Driver<ServerShard>,
    clients: Vec<Driver<ClientShard>>,
    server_events: Vec<Ingress>,
    client_events: Vec<Vec<Ingress>>,
    server_wishes: Vec<Egress>,
    client_wishes: Vec<Vec<Egress>>,
}

impl Stage {
    fn new() -> Self {
        Self::with(SessionConfig::default())
    }

    fn with(session: SessionConfig) -> Self {
        let config = ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) };
        let shard = ServerShard::new(config, Duration::ZERO, unix(), OsEntropy::new().seed());
        Self {
            started: Instant::now(),
            server: Driver::bind(loopback(), shard).unwrap(),
            clients: vec![],
            server_events: vec![],
            client_events: vec![],
            server_wishes: vec![],
            client_wishes: vec![],
        }
    }

    fn join(&mut self, token: ConnectToken) {
        self.join_with(ClientConfig::default(), token);
    }

    fn join_with(&mut self, config: ClientConfig, token: ConnectToken) {
        let shard = ClientShard::new(config, token, self.started.elapsed(), unix());
        self.clients.push(Driver::bind(loopback(), shard).unwrap());
        self.client_events.push(vec![]);
        self.client_wishes.push(vec![]);
    }

    fn poll(&mut self) {
        let wait = Some(Duration::from_millis(1));
        self.server.poll(self.started.elapsed(), wait, &mut self.server_wishes, &mut self.server_events).unwrap();
        for (index, client) in self.clients.iter_mut().enumerate() {
            let (wishes, events) = (&mut self.client_wishes[index], &mut self.client_events[index]);
            client.poll(self.started.elapsed(), Some(Duration::ZERO), wishes, events).unwrap();
        }
    }

    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !done(self) {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.server.shard().counters());
            self.poll();
        }
    }

    fn connected(&self) -> usize {
        self.clients.iter().filter(|client| matches!(client.shard().state(), ClientState::Connected(_))).count()
    }
}

fn messages(events: &[Ingress]) -> usize {
    events.iter().filter(|event| matches!(event, Ingress::Message { .. })).count()
}

// N-10: one socket serves 200 clients, both ways; batches take fewer system calls than datagrams.
#[test]
fn two_hundred_clients_on_loopback() {
    let mut stage = Stage::new();
    let server = stage.server.local_addr();
    (0..200).for_each(|id| stage.join(token(server, id)));
    stage.until("connecting", |stage| stage.connected() == 200 && stage.server.shard().connected() == 200);
    let names: Vec<_> = stage
        .server_events
        .iter()
        .filter_map(|event| match event {
            Ingress::Connected { connection, .. } => Some(*connection),
            _ => None,
        })
        .collect();
    assert_eq!(names.len(), 200);
    let (calls, sent) = (stage.server.counters().send_calls, stage.server.counters().sent);
    for round in 0..5u8 {
        for &connection in &names {
            let bytes = Span::from(vec![round; 3_000]);
            stage.server_wishes.push(Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None });
        }
        stage.server_wishes.push(Egress::FlushAll);
        for (index, wishes) in stage.client_wishes.iter_mut().enumerate() {
            let connection = stage.clients[index].shard().connection();
            let bytes = Span::from(vec![round; 100]);
            wishes.push(Egress::Send { connection, lane: LaneSet::REPORT, bytes, receipt: None });
            wishes.push(Egress::Flush { connection });
        }
        stage.poll();
    }
    stage.until("messages", |stage| {
        messages(&stage.server_events) == 1_000 && stage.client_events.iter().all(|events| messages(events) == 5)
    });
    let counters = stage.server.counters();
    assert!(counters.sent - sent > 2_500);
    assert!(counters.send_calls - calls < counters.sent - sent, "{counters:?}");
    let code = DisconnectCode::ShuttingDown;
    names.iter().for_each(|&connection| {
        stage.server_wishes.push(Egress::Disconnect { connection, code, text: "bye".into() });
    });
    stage.until("farewell", |stage| stage.connected() == 0);
    for events in &stage.client_events {
        let Some(Ingress::Disconnected { reason, .. }) = events.last() else { panic!("{events:?}") };
        assert_eq!(*reason, DisconnectReason::Remote { code, text: "bye".into() });
    }
}

#[test]
fn a_waker_ends_a_wait() {
    let mut stage = Stage::new();
    stage.poll();
    let waker = stage.server.waker();
    let started = Instant::now();
    let thread = std::thread::spawn(move || waker.wake());
    stage.server.poll(Duration::ZERO, Some(Duration::from_secs(30)), &mut vec![], &mut vec![]).unwrap();
    thread.join().unwrap().unwrap();
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_busy_port_is_an_error() {
    let stage = Stage::new();
    let shard = ServerShard::new(ServerConfig::new(PROTOCOL, KEY), Duration::ZERO, unix(), [0; 32]);
    assert!(Driver::bind(stage.server.local_addr(), shard).is_err());
}

// N-11: the relay delays by its links and follows its control.
#[test]
fn a_relay_passes_both_ways_and_follows_its_control() {
    let mut stage = Stage::new();
    let server = stage.server.local_addr();
    let slow = LinkConfig { latency: Duration::from_millis(20), ..LinkConfig::default() };
    let relay = Relay::bind(loopback(), server, (slow, slow), 1).unwrap().spawn().unwrap();
    stage.join(token(server, 1).through(vec![relay.local_addr()]).unwrap());
    stage.until("connecting", |stage| stage.connected() == 1);
    let connection = stage.clients[0].shard().connection();
    let send = |stage: &mut Stage| {
        let bytes = Span::from(&b"hello"[..]);
        stage.client_wishes[0].push(Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None });
        stage.client_wishes[0].push(Egress::FlushAll);
    };
    let started = Instant::now();
    send(&mut stage);
    stage.until("a message", |stage| messages(&stage.server_events) == 1);
    assert!(started.elapsed() >= Duration::from_millis(20));
    relay.control().set_up(LinkConfig { partition: true, ..slow });
    send(&mut stage);
    let until = Instant::now() + Duration::from_millis(150);
    while Instant::now() < until {
        stage.poll();
    }
    assert_eq!(messages(&stage.server_events), 1, "the way is closed");
    relay.control().set_up(slow);
    stage.until("the other", |stage| messages(&stage.server_events) == 2);
}

// N-5, B86: nothing is cut on the way, and longer datagrams are used where they pass whole.
#[test]
fn longer_datagrams_pass_loopback_whole() {
    let session = SessionConfig { probe_mtu: true, ..SessionConfig::default() };
    let mut stage = Stage::with(session);
    let server = stage.server.local_addr();
    stage.join_with(ClientConfig { session, seed: Some([4; 32]), ..ClientConfig::default() }, token(server, 1));
    stage.until("connecting", |stage| stage.connected() == 1 && stage.server.shard().connected() == 1);
    let Some(Ingress::Connected { connection, .. }) = stage.server_events.first() else { panic!() };
    let connection = *connection;
    let stats = |stage: &Stage| stage.server.shard().stats(connection).unwrap();
    // 1,500 bytes less those of IP, UDP and the packet around it.
    stage.until("the search", |stage| stats(stage).payload_bytes == 1_500 - 28 - 21);
    let bytes = Span::from(vec![1; 500_000]);
    stage.server_wishes.push(Egress::Send { connection, lane: LaneSet::BULK, bytes, receipt: None });
    stage.server_wishes.push(Egress::FlushAll);
    stage.until("the message", |stage| messages(&stage.client_events[0]) == 1);
    if cfg!(any(target_os = "linux", target_os = "macos", windows)) {
        assert!(!stage.server.may_fragment() && !stage.clients[0].may_fragment());
    }
}

/// What a router with address translation does: passes one client's datagrams on from a socket of its own.
struct Router {
    front: UdpSocket,
    back: UdpSocket,
    server: SocketAddr,
    client: Option<SocketAddr>,
}

impl Router {
    fn new(server: SocketAddr) -> Self {
        Self { front: Self::socket([127, 0, 0, 1]), back: Self::socket([127, 0, 0, 1]), server, client: None }
    }

    fn socket(address: [u8; 4]) -> UdpSocket {
        let socket = UdpSocket::bind(SocketAddr::from((address, 0))).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    }

    fn pass(&mut self) {
        let mut buffer = [0; 2_048];
        while let Ok((bytes, from)) = self.front.recv_from(&mut buffer) {
            self.client = Some(from);
            self.back.send_to(&buffer[..bytes], self.server).unwrap();
        }
        while let Ok((bytes, _)) = self.back.recv_from(&mut buffer) {
            self.front.send_to(&buffer[..bytes], self.client.unwrap()).unwrap();
        }
    }

    /// Forgets its translation: the server sees the client come from elsewhere. All of 127.0.0.0/8 is this machine on Linux.
    fn translate_anew(&mut self) {
        self.back = Self::socket(if cfg!(target_os = "linux") { [127, 0, 0, 2] } else { [127, 0, 0, 1] });
    }
}

// N-9: a client whose address changes under way stays connected, without a new handshake, and nothing is lost.
#[test]
fn a_client_whose_address_changes_plays_on() {
    let mut stage = Stage::new();
    let server = stage.server.local_addr();
    let mut router = Router::new(server);
    let through = token(server, 1).through(vec![router.front.local_addr().unwrap()]).unwrap();
    stage.join_with(ClientConfig { seed: Some([6; 32]), ..ClientConfig::default() }, through);
    let both = Cell::new((0usize, 0usize));
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut connection = None;
    let mut round = 0;
    while both.get() != (90, 90) {
        assert!(Instant::now() < deadline, "{:?} {:?}", both.get(), stage.server.shard().counters());
        stage.poll();
        router.pass();
        connection = connection.or(stage.server_events.iter().find_map(|event| match event {
            Ingress::Connected { connection, .. } => Some(*connection),
            _ => None,
        }));
        let extended = stage.server.shard().counters().extended == 1;
        let (Some(name), true) = (connection, extended && round < 90) else {
            both.set((messages(&stage.server_events), messages(&stage.client_events[0])));
            continue;
        };
        if round == 30 || round == 60 {
            router.translate_anew();
        }
        let bytes = Span::from(vec![round; 2_000]);
        let down = Egress::Send { connection: name, lane: LaneSet::STATE, bytes: bytes.clone(), receipt: None };
        stage.server_wishes.extend([down, Egress::FlushAll]);
        let connection = stage.clients[0].shard().connection();
        let up = Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None };
        stage.client_wishes[0].extend([up, Egress::FlushAll]);
        round += 1;
        both.set((messages(&stage.server_events), messages(&stage.client_events[0])));
    }
    let counters = stage.server.shard().counters();
    assert_eq!((counters.connected, counters.disconnected), (1, 0));
    assert!(counters.moved >= 1, "{counters:?}");
    assert_eq!(stage.connected(), 1);
}
