//! Our server with a `renetcode` client and our client with a `renetcode` server, over real sockets, payloads both ways.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

use renetcode::{ClientAuthentication, NetcodeClient, NetcodeServer, ServerAuthentication, ServerResult};
use tidelock_net::io::{Driver, OsEntropy};
use tidelock_net::{
    ClientConfig, ClientShard, ClientState, ConnectToken, DisconnectCode, DisconnectReason, Egress, Ingress,
    ServerConfig, ServerShard, Span, TokenRequest,
};

const FOREIGN: u64 = 99;
const KEY: [u8; 32] = [7; 32];

fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn our_token(server: SocketAddr) -> ConnectToken {
    let now_s = unix().as_secs();
    let request = TokenRequest {
        protocol_id: FOREIGN,
        private_key: KEY,
        client_id: 42,
        server_addresses: vec![server],
        create_s: now_s,
        expire_s: now_s + 60,
        timeout_s: 5,
        user_data: [6; 256],
    };
    ConnectToken::mint(&request, &mut OsEntropy::new()).unwrap()
}

/// `renetcode` reads the public form with the client id in front.
fn their_form(token: &ConnectToken) -> renetcode::ConnectToken {
    let mut bytes = 42u64.to_le_bytes().to_vec();
    bytes.extend_from_slice(&*token.to_bytes());
    renetcode::ConnectToken::read(&mut bytes.as_slice()).unwrap()
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind(loopback()).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

fn raw(events: &[Ingress]) -> Vec<Vec<u8>> {
    events
        .iter()
        .filter_map(|event| match event {
            Ingress::Raw { bytes, .. } => Some(bytes.to_vec()),
            _ => None,
        })
        .collect()
}

struct OurServer {
    driver: Driver<ServerShard>,
    started: Instant,
    events: Vec<Ingress>,
    wishes: Vec<Egress>,
}

impl OurServer {
    fn new() -> Self {
        let config = ServerConfig { foreign_protocol_ids: vec![FOREIGN], ..ServerConfig::new(1, KEY) };
        let shard = ServerShard::new(config, Duration::ZERO, unix(), OsEntropy::new().seed());
        let driver = Driver::bind(loopback(), shard).unwrap();
        Self { driver, started: Instant::now(), events: vec![], wishes: vec![] }
    }

    fn poll(&mut self) {
        let (now, wait) = (self.started.elapsed(), Some(Duration::from_millis(1)));
        self.driver.poll(now, wait, &mut self.wishes, &mut self.events).unwrap();
    }
}

struct TheirClient {
    client: NetcodeClient,
    socket: UdpSocket,
    ticked: Instant,
    got: Vec<Vec<u8>>,
}

impl TheirClient {
    fn poll(&mut self) {
        let mut buffer = [0; 2_048];
        while let Ok((bytes, _)) = self.socket.recv_from(&mut buffer) {
            if let Some(payload) = self.client.process_packet(&mut buffer[..bytes]) {
                self.got.push(payload.to_vec());
            }
        }
        let elapsed = self.ticked.elapsed();
        self.ticked = Instant::now();
        if let Some((packet, to)) = self.client.update(elapsed) {
            self.socket.send_to(packet, to).unwrap();
        }
    }

    fn send(&mut self, payload: &[u8]) {
        let (to, packet) = self.client.generate_payload_packet(payload).unwrap();
        self.socket.send_to(packet, to).unwrap();
    }
}

fn their_client_to_our_server(token: impl Fn(SocketAddr) -> renetcode::ConnectToken) {
    let mut server = OurServer::new();
    let connect_token = token(server.driver.local_addr());
    let client = NetcodeClient::new(unix(), ClientAuthentication::Secure { connect_token }).unwrap();
    let mut client = TheirClient { client, socket: socket(), ticked: Instant::now(), got: vec![] };
    let deadline = Instant::now() + Duration::from_secs(20);
    while !client.client.is_connected() {
        assert!(Instant::now() < deadline, "{:?}", server.driver.shard().counters());
        client.poll();
        server.poll();
    }
    let Some(Ingress::Connected { connection, client_id, user_data, lanes, .. }) = server.events.first() else {
        panic!("{:?}", server.events)
    };
    let connection = *connection;
    assert_eq!((*client_id, **user_data, *lanes), (42, [6; 256], false));
    let payloads: Vec<Vec<u8>> = (0..20u8).map(|i| vec![i; 1 + usize::from(i) * 60]).collect();
    for payload in &payloads {
        client.send(payload);
        server.wishes.push(Egress::Raw { connection, bytes: Span::from(&payload[..]) });
    }
    server.wishes.push(Egress::Flush { connection });
    while raw(&server.events).len() < 20 || client.got.len() < 20 {
        assert!(Instant::now() < deadline, "{:?}", server.driver.shard().counters());
        client.poll();
        server.poll();
    }
    assert_eq!(raw(&server.events), payloads);
    assert_eq!(client.got, payloads);
    server.wishes.push(Egress::Disconnect { connection, code: DisconnectCode::Kicked, text: String::new() });
    while !client.client.is_disconnected() {
        assert!(Instant::now() < deadline);
        client.poll();
        server.poll();
    }
    assert_eq!(server.driver.shard().counters().total_faults(), 0);
}

// N-1
#[test]
fn a_renetcode_client_connects_with_our_token() {
    their_client_to_our_server(|server| their_form(&our_token(server)));
}

// N-1
#[test]
fn a_renetcode_client_connects_with_its_own_token() {
    their_client_to_our_server(|server| {
        renetcode::ConnectToken::generate(unix(), FOREIGN, 60, 42, 5, vec![server], Some(&[6; 256]), &KEY).unwrap()
    });
}

struct TheirServer {
    server: NetcodeServer,
    socket: UdpSocket,
    ticked: Instant,
    got: Vec<Vec<u8>>,
    user_data: Option<[u8; 256]>,
    left: bool,
}

impl TheirServer {
    fn new() -> Self {
        let socket = socket();
        let server = NetcodeServer::new(renetcode::ServerConfig {
            current_time: unix(),
            max_clients: 4,
            protocol_id: FOREIGN,
            public_addresses: vec![socket.local_addr().unwrap()],
            authentication: ServerAuthentication::Secure { private_key: KEY },
        });
        Self { server, socket, ticked: Instant::now(), got: vec![], user_data: None, left: false }
    }

    fn poll(&mut self) {
        let mut buffer = [0; 2_048];
        while let Ok((bytes, from)) = self.socket.recv_from(&mut buffer) {
            match self.server.process_packet(from, &mut buffer[..bytes]) {
                ServerResult::PacketToSend { addr, payload } => drop(self.socket.send_to(payload, addr)),
                ServerResult::Payload { payload, .. } => self.got.push(payload.to_vec()),
                ServerResult::ClientConnected { user_data, addr, payload, .. } => {
                    self.user_data = Some(*user_data);
                    self.socket.send_to(payload, addr).unwrap();
                }
                ServerResult::ClientDisconnected { .. } => self.left = true,
                ServerResult::None => {}
            }
        }
        self.server.update(self.ticked.elapsed());
        self.ticked = Instant::now();
        for id in self.server.clients_id() {
            if let ServerResult::PacketToSend { addr, payload } = self.server.update_client(id) {
                self.socket.send_to(payload, addr).unwrap();
            }
        }
    }
}

struct OurClient {
    driver: Driver<ClientShard>,
    started: Instant,
    events: Vec<Ingress>,
    wishes: Vec<Egress>,
}

impl OurClient {
    fn new(token: ConnectToken) -> Self {
        let config = ClientConfig { lanes: None, ..ClientConfig::default() };
        let driver = Driver::bind(loopback(), ClientShard::new(config, token, Duration::ZERO, unix())).unwrap();
        Self { driver, started: Instant::now(), events: vec![], wishes: vec![] }
    }

    fn poll(&mut self) {
        let (now, wait) = (self.started.elapsed(), Some(Duration::from_millis(1)));
        self.driver.poll(now, wait, &mut self.wishes, &mut self.events).unwrap();
    }
}

// N-1
#[test]
fn our_client_connects_to_a_renetcode_server() {
    let mut server = TheirServer::new();
    let mut client = OurClient::new(our_token(server.socket.local_addr().unwrap()));
    let deadline = Instant::now() + Duration::from_secs(20);
    let connection = loop {
        assert!(Instant::now() < deadline, "{:?}", client.driver.shard().counters());
        client.poll();
        server.poll();
        if let ClientState::Connected(connection) = client.driver.shard().state() {
            break connection;
        }
    };
    assert!(matches!(client.events.first(), Some(Ingress::Connected { lanes: false, .. })));
    assert_eq!(server.user_data, Some([6; 256]));
    let payloads: Vec<Vec<u8>> = (0..20u8).map(|i| vec![i; 1 + usize::from(i) * 60]).collect();
    for payload in &payloads {
        client.wishes.push(Egress::Raw { connection, bytes: Span::from(&payload[..]) });
        let (to, packet) = server.server.generate_payload_packet(42, payload).unwrap();
        server.socket.send_to(packet, to).unwrap();
    }
    client.wishes.push(Egress::FlushAll);
    while raw(&client.events).len() < 20 || server.got.len() < 20 {
        assert!(Instant::now() < deadline, "{:?}", client.driver.shard().counters());
        client.poll();
        server.poll();
    }
    assert_eq!(raw(&client.events), payloads);
    assert_eq!(server.got, payloads);
    client.wishes.push(Egress::Disconnect { connection, code: DisconnectCode::Closed, text: String::new() });
    while !server.left {
        assert!(Instant::now() < deadline);
        client.poll();
        server.poll();
    }
    assert_eq!(client.driver.shard().counters().total_faults(), 0);
}

// N-1: a renetcode server's plain disconnect ends our connection.
#[test]
fn a_renetcode_server_ends_the_connection() {
    let mut server = TheirServer::new();
    let mut client = OurClient::new(our_token(server.socket.local_addr().unwrap()));
    let deadline = Instant::now() + Duration::from_secs(20);
    while !matches!(client.driver.shard().state(), ClientState::Connected(_)) {
        assert!(Instant::now() < deadline);
        client.poll();
        server.poll();
    }
    let ServerResult::ClientDisconnected { addr, payload: Some(payload), .. } = server.server.disconnect(42) else {
        panic!("a disconnect packet")
    };
    server.socket.send_to(payload, addr).unwrap();
    while client.driver.shard().state() != ClientState::Disconnected {
        assert!(Instant::now() < deadline);
        client.poll();
    }
    let Some(Ingress::Disconnected { reason, .. }) = client.events.last() else { panic!("{:?}", client.events) };
    assert_eq!(*reason, DisconnectReason::RemoteClosed);
}
