use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::entropy::SeedEntropy;
use tidelock_net::netcode::token::TOKEN_BYTES;
use tidelock_net::{
    ClientConfig, ClientShard, ConnectToken, Egress, Fault, Ingress, ServerConfig, ServerShard, Shard, Span,
    TokenRequest,
};

use crate::document::{Document, number};

const KEY: [u8; 32] = [9; 32];
const UNIX: Duration = Duration::from_millis(1_800_000_000_123);
const NOW: Duration = Duration::from_secs(1);

fn server_address() -> SocketAddr {
    ([10, 0, 0, 1], 7_777).into()
}

fn peer_address() -> SocketAddr {
    ([10, 0, 0, 2], 5_000).into()
}

fn token(protocol_id: u64) -> ConnectToken {
    let request = TokenRequest {
        protocol_id,
        private_key: KEY,
        client_id: 5,
        server_addresses: vec![server_address()],
        create_s: 0x0102_0304,
        expire_s: UNIX.as_secs() + 60,
        timeout_s: 15,
        user_data: [3; 256],
    };
    ConnectToken::mint(&request, &mut SeedEntropy::from_number(1)).unwrap()
}

// N-1
#[test]
fn tokens_have_the_layout_of_the_table() {
    let document = Document::read();
    let bytes = token(0x1122_3344_5566_7788).to_bytes();
    assert_eq!(bytes.len(), TOKEN_BYTES);
    let rows = document.table("Connect tokens");
    let field = |name: &str| {
        let row = rows.iter().find(|row| row[2].starts_with(name)).unwrap_or_else(|| panic!("no field {name}"));
        let start = number(&row[0]) as usize;
        &bytes[start..start + number(&row[1]) as usize]
    };
    assert_eq!(field("version"), b"NETCODE 1.02\0");
    assert_eq!(field("protocol id"), 0x1122_3344_5566_7788u64.to_le_bytes());
    assert_eq!(field("create"), 0x0102_0304u64.to_le_bytes());
    assert_eq!(field("expire"), (UNIX.as_secs() + 60).to_le_bytes());
    assert_eq!(field("timeout"), 15u32.to_le_bytes());
    assert_eq!(field("number of addresses"), 1u32.to_le_bytes());
    let fixed: Vec<_> = rows.iter().filter(|row| row[0] != "then").collect();
    for pair in fixed.windows(2) {
        assert_eq!(number(&pair[0][0]) + number(&pair[0][1]), number(&pair[1][0]), "{pair:?}");
    }
    let end = fixed.last().map_or(0, |row| (number(&row[0]) + number(&row[1])) as usize);
    assert_eq!(bytes[end..end + 7], [1, 10, 0, 0, 1, 0x61, 0x1e]);
    assert!(bytes[end + 7 + 64..].iter().all(|byte| *byte == 0));
    assert!(bytes[end + 7..end + 7 + 64].iter().any(|byte| *byte != 0));
}

/// Both ends of one connection and every datagram between them.
struct Wire {
    now: Duration,
    server: ServerShard,
    peer: ClientShard,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
    events: Vec<Ingress>,
}

impl Wire {
    fn new(config: ServerConfig, protocol_id: u64, lanes: bool) -> Self {
        let client = ClientConfig::default();
        let client = if lanes { client } else { ClientConfig { lanes: None, ..client } };
        Self {
            now: NOW,
            server: ServerShard::new(config, NOW, UNIX, [1; 32]),
            peer: ClientShard::new(client, token(protocol_id), NOW, UNIX),
            up: Vec::new(),
            down: Vec::new(),
            events: Vec::new(),
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(1);
            let (now, mut ignored) = (self.now, Vec::new());
            let (up, down) = (self.up.len(), self.down.len());
            self.peer.advance(now, &mut ignored);
            self.peer.transmit(now, &mut |_, datagram| self.up.push(datagram.to_vec()));
            for datagram in &self.up[up..] {
                self.server.handle(now, peer_address(), &mut datagram.clone(), &mut self.events);
            }
            self.server.advance(now, &mut self.events);
            self.server.transmit(now, &mut |_, datagram| self.down.push(datagram.to_vec()));
            for datagram in &self.down[down..] {
                self.peer.handle(now, server_address(), &mut datagram.clone(), &mut ignored);
            }
        }
    }
}

/// A datagram's kind and sequence number, as the standard writes them.
fn head(datagram: &[u8]) -> (u8, u64) {
    let count = usize::from(datagram[0] >> 4);
    let mut sequence = [0; 8];
    sequence[..count].copy_from_slice(&datagram[1..=count]);
    (datagram[0] & 15, u64::from_le_bytes(sequence))
}

// N-1
#[test]
fn a_connection_begins_with_the_datagrams_of_the_table() {
    let document = Document::read();
    let mut wire = Wire::new(ServerConfig::new(7, KEY), 7, true);
    wire.run(Duration::from_millis(3));
    let connection = wire.peer.connection();
    let bytes = Span::from(&[1, 2, 3][..]);
    let egress = Egress::Send { connection, lane: tidelock_net::LaneSet::STATE, bytes, receipt: None };
    wire.peer.apply(wire.now, egress, &mut wire.events);
    wire.peer.apply(wire.now, Egress::FlushAll, &mut wire.events);
    wire.run(Duration::from_millis(1));
    let up: Vec<(u8, usize)> = wire.up.iter().map(|datagram| (head(datagram).0, datagram.len())).collect();
    let down: Vec<(u8, usize)> = wire.down.iter().map(|datagram| (head(datagram).0, datagram.len())).collect();
    let rows = document.table("Datagrams");
    let size = |kind: u8| {
        let row = rows.iter().find(|row| number(&row[0]) == u64::from(kind));
        (kind, number(&row.unwrap_or_else(|| panic!("no kind {kind}"))[2]) as usize)
    };
    // Of payloads the table gives what is around them; this one has three bytes in a frame of five behind a head of three.
    let payload = (5, size(5).1 + 3 + 5 + 3);
    assert_eq!(up, [size(0), size(3), payload]);
    assert_eq!(down[..2], [size(2), size(4)]);
    let request = &wire.up[0];
    assert_eq!(request[..22], [&[0][..], b"NETCODE 1.02\0", &7u64.to_le_bytes()].concat());
    // Of what follows the token has everything.
    let token = token(7).to_bytes();
    assert_eq!(request[22..30], token[29..37]);
    assert_eq!(request[30..54], token[37..61]);
    assert_eq!(request[54..], token[61..1_085]);
}

// N-1: sequences begin at the unix time in milliseconds times 2^20.
#[test]
fn sequences_begin_at_the_time() {
    let mut wire = Wire::new(ServerConfig::new(7, KEY), 7, true);
    wire.run(Duration::from_millis(2_000));
    let floor = (UNIX.as_millis() as u64) << 20;
    let sequences = |datagrams: &[Vec<u8>]| -> Vec<u64> { datagrams.iter().map(|datagram| head(datagram).1).collect() };
    // The connection request has no sequence.
    let up = sequences(&wire.up[1..]);
    let down = sequences(&wire.down);
    assert_eq!(up[0], floor);
    assert!((floor..floor + (1 << 21)).contains(&down[0]), "{} of {floor}", down[0]);
    for sequences in [up, down] {
        assert!(sequences.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

#[test]
fn what_another_protocol_gets() {
    let mut wire = Wire::new(ServerConfig::new(7, KEY), 8, true);
    wire.run(Duration::from_millis(500));
    assert_eq!((wire.down.len(), wire.events.len()), (0, 0), "no answer");
    assert_eq!(wire.server.counters().fault(Fault::Protocol), 5, "asked every 100 ms");

    let config = ServerConfig { foreign_protocol_ids: vec![8], ..ServerConfig::new(7, KEY) };
    let mut wire = Wire::new(config, 8, false);
    wire.run(Duration::from_millis(3));
    let connection = wire.peer.connection();
    let payload = Span::from(&[0xff; 1_200][..]);
    wire.peer.apply(wire.now, Egress::Raw { connection, bytes: payload.clone() }, &mut wire.events);
    wire.peer.apply(wire.now, Egress::FlushAll, &mut wire.events);
    wire.run(Duration::from_millis(1));
    assert!(wire.events.iter().any(|event| matches!(event, Ingress::Connected { lanes: false, .. })));
    assert!(wire.events.iter().any(|event| matches!(event, Ingress::Raw { bytes, .. } if **bytes == *payload)));
}

#[test]
fn the_protocol_id_is_that_of_the_document() {
    let document = Document::read();
    let rows = document.table("What versions mean");
    let id = rows.iter().find(|row| row[0] == "protocol id").expect("a row of the protocol id");
    assert_eq!(format!("0x{:016x}", tidelock::Protocol::NETCODE_ID), id[1]);
}
