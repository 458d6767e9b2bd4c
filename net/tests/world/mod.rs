//! A server and its clients joined by emulated links, in virtual time.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

pub mod bottleneck;
pub mod cell;
pub mod grid;
pub mod transfer;

use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::emulator::{Link, LinkConfig};
use tidelock_net::entropy::SeedEntropy;
use tidelock_net::{
    ClientConfig, ClientShard, ConnectToken, ConnectionId, Egress, Ingress, LaneId, LaneSet, ReceiptKey, ServerConfig,
    ServerShard, Shard, Span, TokenRequest,
};

pub const PROTOCOL: u64 = 0x7469_6465;
pub const KEY: [u8; 32] = [5; 32];
pub const UNIX: Duration = Duration::from_secs(1_800_000_000);
pub const MS: Duration = Duration::from_millis(1);
/// One step of virtual time.
pub const STEP: Duration = MS;

pub fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 40_000))
}

/// A token minted at `at` on the world's clock, good for 30 s.
pub fn token(client_id: u64, at: Duration, seed: u64) -> ConnectToken {
    token_until(client_id, at, at + Duration::from_secs(30), seed)
}

pub fn token_until(client_id: u64, at: Duration, until: Duration, seed: u64) -> ConnectToken {
    mint(client_id, (at, until), 10, seed)
}

/// A token whose connection ends after `timeout_s` seconds of silence.
pub fn token_lasting(client_id: u64, at: Duration, timeout_s: i32, seed: u64) -> ConnectToken {
    mint(client_id, (at, at + Duration::from_secs(30)), timeout_s, seed)
}

fn mint(client_id: u64, (at, until): (Duration, Duration), timeout_s: i32, seed: u64) -> ConnectToken {
    let request = TokenRequest {
        protocol_id: PROTOCOL,
        private_key: KEY,
        client_id,
        server_addresses: vec![server_address()],
        create_s: (UNIX + at).as_secs(),
        expire_s: (UNIX + until).as_secs(),
        timeout_s,
        user_data: [client_id as u8; 256],
    };
    ConnectToken::mint(&request, &mut SeedEntropy::from_number(seed)).unwrap()
}

pub struct Peer {
    pub shard: ClientShard,
    pub address: SocketAddr,
    pub up: Link,
    pub down: Link,
    pub events: Vec<Ingress>,
    /// Whether the process runs; a dead one neither receives nor sends.
    pub alive: bool,
    pub sent: u64,
}

pub struct World {
    pub now: Duration,
    pub server: ServerShard,
    pub events: Vec<Ingress>,
    pub peers: Vec<Peer>,
    /// Datagrams and bytes the server sent.
    pub server_sent: u64,
    /// Every datagram seen, when kept.
    pub tap: Option<Vec<(bool, Vec<u8>)>>,
    /// A link that all the server sends passes before its peers' own; it tells them apart by port.
    pub shared: Option<Link>,
    seed: u64,
}

impl World {
    pub fn new(config: ServerConfig, seed: u64) -> Self {
        let now = Duration::from_secs(5);
        let server = ServerShard::new(config, now, UNIX + now, [seed as u8; 32]);
        Self { now, server, events: Vec::new(), peers: Vec::new(), server_sent: 0, tap: None, shared: None, seed }
    }

    pub fn standard(seed: u64) -> Self {
        Self::new(ServerConfig::new(PROTOCOL, KEY), seed)
    }

    pub fn join(&mut self, config: ClientConfig, up: LinkConfig, down: LinkConfig) -> usize {
        let token = token(self.peers.len() as u64 + 1, self.now, self.seed ^ (self.peers.len() as u64 + 77) << 20);
        let port = 1_000 + self.peers.len() as u16;
        self.join_with(token, config, (up, down), SocketAddr::from(([10, 0, 1, 1], port)))
    }

    pub fn join_with(
        &mut self,
        token: ConnectToken,
        config: ClientConfig,
        (up, down): (LinkConfig, LinkConfig),
        address: SocketAddr,
    ) -> usize {
        let index = self.peers.len();
        let seed = self.seed.wrapping_mul(1_000) + index as u64 * 2;
        self.peers.push(Peer {
            shard: ClientShard::new(config, token, self.now, UNIX + self.now),
            address,
            up: Link::new(up, seed),
            down: Link::new(down, seed + 1),
            events: Vec::new(),
            alive: true,
            sent: 0,
        });
        index
    }

    /// One client on equal links both ways, connected; its index and the server's name for it.
    pub fn connect(&mut self, link: LinkConfig) -> (usize, ConnectionId) {
        let peer = self.join(ClientConfig::default(), link, link);
        let name = self.await_connection(peer);
        (peer, name)
    }

    pub fn await_connection(&mut self, peer: usize) -> ConnectionId {
        for _ in 0..20_000 {
            self.step();
            let there = self.peers[peer].events.iter().any(|event| matches!(event, Ingress::Connected { .. }));
            if let (true, Some(name)) = (there, self.connected_name(peer)) {
                return name;
            }
        }
        panic!("no connection: server {:?}, client {:?}", self.server.counters(), self.peers[peer].shard.counters());
    }

    /// The server's name for a client whose connection is among its events.
    pub fn connected_name(&self, peer: usize) -> Option<ConnectionId> {
        let address = self.peers[peer].address;
        self.events.iter().rev().find_map(|event| match event {
            Ingress::Connected { connection, address: of, .. } if *of == address => Some(*connection),
            _ => None,
        })
    }

    /// Sends the message over the bulk lane until that holds enough for half a second.
    pub fn fill_bulk(&mut self, connection: ConnectionId, message: &[u8]) {
        let Some(stats) = self.server.stats(connection) else { return };
        let (rate, lane) = (stats.rate_bytes_s, LaneSet::BULK);
        let mut queued = stats.lanes[usize::from(lane.0)].queued_bytes;
        while queued < rate / 2 + 2 * message.len() as u64 {
            self.server_send(connection, lane, message, None);
            queued += message.len() as u64;
        }
    }

    pub fn set_links(&mut self, peer: usize, link: LinkConfig) {
        self.peers[peer].up.set_config(link);
        self.peers[peer].down.set_config(link);
    }

    pub fn server_send(&mut self, connection: ConnectionId, lane: LaneId, bytes: &[u8], receipt: Option<u64>) {
        let egress = Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: receipt.map(ReceiptKey) };
        self.server.apply(self.now, egress, &mut self.events);
    }

    pub fn server_flush(&mut self) {
        self.server.apply(self.now, Egress::FlushAll, &mut self.events);
    }

    pub fn client_send(&mut self, peer: usize, lane: LaneId, bytes: &[u8], receipt: Option<u64>) {
        let peer = &mut self.peers[peer];
        let connection = peer.shard.connection();
        let egress = Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: receipt.map(ReceiptKey) };
        peer.shard.apply(self.now, egress, &mut peer.events);
    }

    pub fn client_flush(&mut self, peer: usize) {
        let peer = &mut self.peers[peer];
        peer.shard.apply(self.now, Egress::FlushAll, &mut peer.events);
    }

    /// Moves time on by one step.
    pub fn step(&mut self) {
        self.now += STEP;
        let now = self.now;
        for peer in &mut self.peers {
            while let Some(mut datagram) = peer.up.pop(now) {
                self.server.handle(now, peer.address, &mut datagram, &mut self.events);
            }
            while let Some(mut datagram) = peer.down.pop(now) {
                if peer.alive {
                    peer.shard.handle(now, server_address(), &mut datagram, &mut peer.events);
                }
            }
        }
        self.server.advance(now, &mut self.events);
        let (peers, tap, sent) = (&mut self.peers, &mut self.tap, &mut self.server_sent);
        let shared = &mut self.shared;
        self.server.transmit(now, &mut |to, datagram| {
            *sent += 1;
            if let Some(tap) = tap {
                tap.push((false, datagram.to_vec()));
            }
            if let Some(shared) = shared {
                shared.push(now, &[&to.port().to_le_bytes(), datagram].concat());
            } else if let Some(peer) = peers.iter_mut().rev().find(|peer| peer.address == to) {
                peer.down.push(now, datagram);
            }
        });
        while let Some(carried) = self.shared.as_mut().and_then(|shared| shared.pop(now)) {
            let to = u16::from_le_bytes([carried[0], carried[1]]);
            if let Some(peer) = self.peers.iter_mut().find(|peer| peer.address.port() == to) {
                peer.down.push(now, &carried[2..]);
            }
        }
        for peer in self.peers.iter_mut().filter(|peer| peer.alive) {
            peer.shard.advance(now, &mut peer.events);
            let (up, sent) = (&mut peer.up, &mut peer.sent);
            peer.shard.transmit(now, &mut |to, datagram| {
                assert_eq!(to, server_address());
                *sent += 1;
                if let Some(tap) = &mut self.tap {
                    tap.push((true, datagram.to_vec()));
                }
                up.push(now, datagram);
            });
        }
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    /// Bytes of datagrams that reached the client, headers included.
    pub fn client_bytes(&self, peer: usize) -> u64 {
        let counters = self.peers[peer].shard.counters();
        counters.bytes_in + 28 * counters.datagrams_in
    }

    /// Messages the client got on a lane, taken out of its events.
    pub fn client_messages(&mut self, peer: usize, lane: LaneId) -> Vec<Vec<u8>> {
        take_messages(&mut self.peers[peer].events, lane)
    }

    /// Messages the server got on a lane, taken out of its events.
    pub fn server_messages(&mut self, lane: LaneId) -> Vec<Vec<u8>> {
        take_messages(&mut self.events, lane)
    }
}

pub fn take_messages(events: &mut Vec<Ingress>, of: LaneId) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    events.retain(|event| match event {
        Ingress::Message { lane, bytes, .. } if *lane == of => {
            messages.push(bytes.to_vec());
            false
        }
        _ => true,
    });
    messages
}

/// Receipts in order: key and whether delivered.
pub fn take_receipts(events: &mut Vec<Ingress>) -> Vec<(u64, bool)> {
    let mut receipts = Vec::new();
    events.retain(|event| match event {
        Ingress::Receipts { delivered, lost, .. } => {
            receipts.extend(delivered.iter().map(|key| (key.0, true)));
            receipts.extend(lost.iter().map(|key| (key.0, false)));
            false
        }
        _ => true,
    });
    receipts
}

pub fn link(latency_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig { latency: Duration::from_millis(latency_ms), loss, ..LinkConfig::default() }
}

/// How many runs a test makes of itself: as many as the environment variable `TIDELOCK_RUNS` says, or `few`.
pub fn runs(few: u64) -> u64 {
    std::env::var("TIDELOCK_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(few)
}

/// A message of `len` bytes that tells its number.
pub fn numbered(number: u32, len: usize) -> Vec<u8> {
    let mut bytes = vec![number as u8; len.max(4)];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

pub fn number_of(message: &[u8]) -> u32 {
    u32::from_le_bytes(message[..4].try_into().unwrap())
}
