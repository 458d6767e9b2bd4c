use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::{ConnectionId, Egress, Ingress, LaneId, LaneSet, ServerShard, Shard, Span};

use super::sealed::{Extended, Keys, Standard};
use super::shards::{PROTOCOL, START, UNIX, name_of, peer_address, server, token};

/// Sum of what an address sent and got, and whether the connection was ever there.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    sent: usize,
    got: usize,
    validated: bool,
}

/// A client with a genuine token that keeps no rule, and the server it tries.
pub struct HostilePeer {
    /// The server.
    pub server: ServerShard,
    /// The time.
    pub now: Duration,
    /// What the server told its owner in the last operation.
    pub events: Vec<Ingress>,
    /// Its connection, once there is one.
    pub name: Option<ConnectionId>,
    /// Bytes of payloads that opened, so far.
    pub payload_bytes: usize,
    /// Number of the next packet of the standard, and of the extension.
    pub next: [u64; 2],
    address: u8,
    keys: Keys,
    up: Standard,
    down: Standard,
    extended: Option<Extended>,
    /// The server's name for the connection, as it says it.
    wire_name: [u8; 6],
    challenge: Vec<u8>,
    random: [u8; 32],
    traffic: [Traffic; 4],
}

impl Default for HostilePeer {
    fn default() -> Self {
        let keys = Keys::of(&*token(1).to_bytes());
        let first = (UNIX + START).as_millis() as u64;
        Self {
            server: server(),
            now: START,
            events: Vec::new(),
            name: None,
            payload_bytes: 0,
            next: [first << 20, 0],
            address: 0,
            up: Standard::new(&keys.to_server),
            down: Standard::new(&keys.to_client),
            keys,
            extended: None,
            wire_name: [0; 6],
            challenge: vec![0; 308],
            random: [7; 32],
            traffic: [Traffic::default(); 4],
        }
    }
}

impl HostilePeer {
    /// One whose connection stands.
    pub fn connected() -> Self {
        let mut peer = Self::default();
        peer.request();
        peer.advance(Duration::ZERO);
        peer.respond();
        peer.advance(Duration::ZERO);
        assert!(peer.name.is_some(), "its token is genuine");
        peer
    }

    /// One whose connection has gone over to the extension.
    pub fn extended() -> Self {
        let mut peer = Self::connected();
        peer.announce();
        peer.advance(Duration::ZERO);
        assert!(peer.extended.is_some(), "the server answers");
        peer.send_extended(0x47, true, &[0; 8]);
        peer.advance(Duration::ZERO);
        peer
    }

    /// The address it sends from.
    pub fn address(&self) -> SocketAddr {
        peer_address(self.address)
    }

    /// Sends from another address from now on.
    pub fn move_to(&mut self, number: u8) {
        self.address = number % 4;
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, mut datagram: Vec<u8>) {
        self.traffic[usize::from(self.address)].sent += datagram.len();
        let from = self.address();
        self.server.handle(self.now, from, &mut datagram, &mut self.events);
    }

    /// Asks to connect.
    pub fn request(&mut self) {
        let token = token(1).to_bytes();
        let request = [&[0], &token[..13], &PROTOCOL.to_le_bytes(), &token[29..61], &token[61..1_085]].concat();
        assert_eq!(request.len(), 1_078);
        self.send(request);
    }

    /// Answers the last challenge.
    pub fn respond(&mut self) {
        let challenge = self.challenge.clone();
        self.send_standard(0x83, &challenge);
    }

    /// Announces the extension.
    pub fn announce(&mut self) {
        let notice = [&[0x80], &self.random[..]].concat();
        self.send_standard(0x85, &notice);
    }

    /// Sends a packet of the standard that opens.
    pub fn send_standard(&mut self, prefix: u8, body: &[u8]) {
        self.payload_bytes += body.len();
        let packet = self.up.seal(prefix, self.next[0], body);
        self.next[0] = self.next[0].wrapping_add(1);
        self.send(packet);
    }

    /// Sends a packet of the extension that opens, under the connection's name or under none; nothing before the server has
    /// agreed to the extension.
    pub fn send_extended(&mut self, prefix: u8, named: bool, body: &[u8]) {
        let Some(extended) = &self.extended else { return };
        self.payload_bytes += body.len();
        let name = if named { self.wire_name } else { [0xff; 6] };
        let packet = extended.seal(&[&[prefix], &name[..]].concat(), self.next[1], body);
        self.next[1] = self.next[1].wrapping_add(1);
        self.send(packet);
    }

    /// The server sends it a message.
    pub fn told(&mut self, lane: u8, bytes: usize) {
        let Some(connection) = self.name else { return };
        let bytes = Span::from(vec![3; bytes]);
        let egress = Egress::Send { connection, lane: LaneId(lane), bytes, receipt: None };
        self.server.apply(self.now, egress, &mut self.events);
        self.server.apply(self.now, Egress::FlushAll, &mut self.events);
    }

    /// Lets time pass, takes what the server sends, and checks what must always hold.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
        self.server.advance(self.now, &mut self.events);
        let mut datagrams = Vec::new();
        self.server.transmit(self.now, &mut |to, datagram| datagrams.push((to, datagram.to_vec())));
        for event in &self.events {
            self.name = name_of(event).or(self.name);
        }
        let home = self.name.and_then(|name| self.server.address(name));
        for (number, traffic) in self.traffic.iter_mut().enumerate() {
            let address = peer_address(number as u8);
            traffic.validated |= home == Some(address);
            traffic.got +=
                datagrams.iter().filter(|(to, _)| *to == address).map(|(_, datagram)| datagram.len()).sum::<usize>();
            assert!(traffic.validated || traffic.got <= traffic.sent, "N-7, N-9: {traffic:?}");
        }
        datagrams.iter().for_each(|(_, datagram)| self.learn(datagram));
        assert!(self.server.connected() <= 1);
        self.check_events();
    }

    /// Takes from the server's words what an answer needs.
    fn learn(&mut self, datagram: &[u8]) {
        match self.down.open(datagram) {
            Some((2, challenge)) => self.challenge = challenge,
            Some((5, payload)) if payload.first() == Some(&0x81) && payload.len() == 39 => {
                self.wire_name.copy_from_slice(&payload[33..]);
                let (to_server, _) = Extended::derive(&self.keys, &self.random, &payload[1..33]);
                self.extended = Some(to_server);
            }
            _ => {}
        }
    }

    fn check_events(&mut self) {
        let lanes = LaneSet::standard();
        for event in self.events.drain(..) {
            if let Ingress::Message { lane, bytes, .. } = event {
                let limit = lanes.get(lane).map_or(0, |lane| lane.max_message_bytes);
                assert!(bytes.len() <= limit, "N-4");
                // What is held and handed over came over the wire.
                assert!(bytes.len() <= self.payload_bytes, "N-4");
                self.payload_bytes -= bytes.len();
            }
        }
    }
}
