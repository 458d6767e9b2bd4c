use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::entropy::SeedEntropy;
use tidelock_net::{ClientConfig, ClientShard, ConnectToken, ConnectionId, Ingress, ServerConfig, ServerShard, Shard};
use tidelock_net::{Egress, LaneSet, Span, TokenRequest};

/// The protocol of every shard here.
pub const PROTOCOL: u64 = 0x7469_6465;
/// The key servers and issuer share.
pub const KEY: [u8; 32] = [5; 32];
/// When every run begins, on its own clock.
pub const START: Duration = Duration::from_secs(5);
/// The calendar at the clock's zero.
pub const UNIX: Duration = Duration::from_secs(1_800_000_000);
/// A millisecond.
pub const MS: Duration = Duration::from_millis(1);
/// How long tokens live, seconds.
pub const TOKEN_LIFE_S: u64 = 30;
/// How long a connection lasts without a word, seconds.
pub const TIMEOUT_S: i32 = 10;

/// Where the server is.
pub fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 40_000))
}

/// One of a few addresses clients come from.
pub fn peer_address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, number % 4], 1_000))
}

/// Somebody's token; equal clients have equal ones.
pub fn token(client_id: u64) -> ConnectToken {
    let create_s = (UNIX + START).as_secs();
    let request = TokenRequest {
        protocol_id: PROTOCOL,
        private_key: KEY,
        client_id,
        server_addresses: vec![server_address()],
        create_s,
        expire_s: create_s + TOKEN_LIFE_S,
        timeout_s: TIMEOUT_S,
        user_data: [client_id as u8; 256],
    };
    ConnectToken::mint(&request, &mut SeedEntropy::from_number(client_id)).expect("a sound request")
}

/// A server as it begins.
pub fn server() -> ServerShard {
    ServerShard::new(ServerConfig::new(PROTOCOL, KEY), START, UNIX + START, [1; 32])
}

/// A client that keeps every rule, at an address of its own.
pub struct Honest {
    shard: ClientShard,
    address: SocketAddr,
    events: Vec<Ingress>,
}

impl Honest {
    /// Begins to connect.
    pub fn new(now: Duration) -> Self {
        let config = ClientConfig { seed: Some([9; 32]), ..ClientConfig::default() };
        let address = SocketAddr::from(([10, 0, 2, 1], 1_000));
        Self { shard: ClientShard::new(config, token(99), now, UNIX + now), address, events: Vec::new() }
    }

    /// One step of both over a perfect link; what the server sends to others is dropped.
    fn step(&mut self, now: Duration, server: &mut ServerShard, events: &mut Vec<Ingress>) {
        let mut datagrams = Vec::new();
        self.shard.advance(now, &mut self.events);
        self.shard.transmit(now, &mut |_, datagram| datagrams.push(datagram.to_vec()));
        for mut datagram in datagrams.drain(..) {
            server.handle(now, self.address, &mut datagram, events);
        }
        server.advance(now, events);
        server.transmit(now, &mut |to, datagram| {
            if to == self.address {
                datagrams.push(datagram.to_vec());
            }
        });
        for mut datagram in datagrams {
            self.shard.handle(now, server_address(), &mut datagram, &mut self.events);
        }
    }

    /// Whatever others did, it connects within a second and its message arrives.
    pub fn plays(mut self, mut now: Duration, server: &mut ServerShard) {
        let mut events = Vec::new();
        let said = b"I play";
        let mut sent = false;
        for _ in 0..200 {
            now += 5 * MS;
            self.step(now, server, &mut events);
            let connected = self.events.iter().any(|event| matches!(event, Ingress::Connected { .. }));
            if connected && !sent {
                sent = true;
                let (connection, lane) = (self.shard.connection(), LaneSet::STATE);
                let egress = Egress::Send { connection, lane, bytes: Span::from(&said[..]), receipt: None };
                self.shard.apply(now, egress, &mut self.events);
                self.shard.apply(now, Egress::FlushAll, &mut self.events);
            }
            let heard = |event: &Ingress| matches!(event, Ingress::Message { bytes, .. } if bytes[..] == said[..]);
            if events.iter().any(heard) {
                return;
            }
        }
        panic!("nobody lets the honest in: {:?}", server.counters());
    }
}

/// The name of the connection an event tells of.
pub fn name_of(event: &Ingress) -> Option<ConnectionId> {
    match event {
        Ingress::Connected { connection, .. } => Some(*connection),
        _ => None,
    }
}
