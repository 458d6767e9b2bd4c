use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::entropy::SeedEntropy;
use tidelock_net::{
    ClientConfig, ClientShard, ConnectToken, ConnectionId, DisconnectCode, DisconnectReason, Egress, Fault, Ingress,
    LaneId, LaneSet, ServerConfig, ServerShard, Shard, Span, TokenRequest,
};

use crate::document::Document;

const PROTOCOL: u64 = 7;
const KEY: [u8; 32] = [9; 32];
const UNIX: Duration = Duration::from_millis(1_800_000_000_000);
const MS: Duration = Duration::from_millis(1);

const MESSAGE: &str = "payload with a message";
const FOLLOWING: &str = "payload with following messages";
const UNRELIABLE: &str = "payload with an unreliable message";
const FRAGMENTS: &str = "payload with fragments";
const PING: &str = "payload with a ping";
const ACK: &str = "payload with an acknowledgement";
const RANGES: &str = "payload with acknowledged ranges";
const PADDING: &str = "payload with padding";
const KICK: &str = "payload with a disconnect";

pub(crate) fn names() -> Vec<String> {
    [MESSAGE, FOLLOWING, UNRELIABLE, FRAGMENTS, PING, ACK, RANGES, PADDING, KICK].map(str::to_owned).into()
}

/// A server that speaks lanes, and a peer that hands over payloads as they are: the netcode layer is the library's on both
/// sides, what is inside comes from the document on one.
struct Bench {
    now: Duration,
    server: ServerShard,
    peer: ClientShard,
    events: Vec<Ingress>,
    peer_events: Vec<Ingress>,
    /// Payloads from the server, with their times.
    got: Vec<(Duration, Vec<u8>)>,
}

impl Bench {
    fn new() -> Self {
        let now = Duration::from_secs(1);
        let request = TokenRequest {
            protocol_id: PROTOCOL,
            private_key: KEY,
            client_id: 1,
            server_addresses: vec![server_address()],
            create_s: UNIX.as_secs(),
            expire_s: UNIX.as_secs() + 60,
            timeout_s: 10,
            user_data: [0; 256],
        };
        let token = ConnectToken::mint(&request, &mut SeedEntropy::from_number(1)).unwrap();
        let config = ClientConfig { lanes: None, ..ClientConfig::default() };
        let mut bench = Self {
            now,
            server: ServerShard::new(ServerConfig::new(PROTOCOL, KEY), now, UNIX, [1; 32]),
            peer: ClientShard::new(config, token, now, UNIX),
            events: Vec::new(),
            peer_events: Vec::new(),
            got: Vec::new(),
        };
        bench.run(5 * MS);
        assert!(bench.events.iter().any(|event| matches!(event, Ingress::Connected { lanes: true, .. })));
        bench.events.clear();
        bench
    }

    fn connection(&self) -> ConnectionId {
        self.peer.connection()
    }

    /// Lets time pass in steps of a millisecond; datagrams take none.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += MS;
            let now = self.now;
            self.peer.advance(now, &mut self.peer_events);
            let mut datagrams = Vec::new();
            self.peer.transmit(now, &mut |_, datagram| datagrams.push(datagram.to_vec()));
            for mut datagram in datagrams.drain(..) {
                self.server.handle(now, peer_address(), &mut datagram, &mut self.events);
            }
            self.server.advance(now, &mut self.events);
            self.server.transmit(now, &mut |_, datagram| datagrams.push(datagram.to_vec()));
            for mut datagram in datagrams {
                self.peer.handle(now, server_address(), &mut datagram, &mut self.peer_events);
            }
            for event in &self.peer_events {
                if let Ingress::Raw { bytes, .. } = event {
                    self.got.push((now, bytes.to_vec()));
                }
            }
            self.peer_events.retain(|event| !matches!(event, Ingress::Raw { .. }));
        }
    }

    /// Hands a payload to the server.
    fn send(&mut self, payload: &[u8]) {
        let connection = self.connection();
        self.peer.apply(self.now, Egress::Raw { connection, bytes: Span::from(payload) }, &mut self.peer_events);
        self.peer.apply(self.now, Egress::FlushAll, &mut self.peer_events);
        self.run(MS);
    }

    /// Messages the server has got so far.
    fn messages(&mut self) -> Vec<(LaneId, Vec<u8>)> {
        let events = self.events.drain(..);
        events
            .filter_map(|event| match event {
                Ingress::Message { lane, bytes, .. } => Some((lane, bytes.to_vec())),
                _ => None,
            })
            .collect()
    }
}

fn server_address() -> SocketAddr {
    ([10, 0, 0, 1], 7_777).into()
}

fn peer_address() -> SocketAddr {
    ([10, 0, 0, 2], 5_000).into()
}

// N-2, N-3
#[test]
fn payloads_of_the_document_are_understood() {
    let document = Document::read();
    let entered = vec![3, 1];
    let long: Vec<u8> = (0..40).collect();
    let expected = [
        (MESSAGE, vec![(LaneSet::STATE, entered.clone())]),
        (FOLLOWING, vec![(LaneSet::EVENT, vec![0xaa]), (LaneSet::EVENT, vec![0xbb, 0xbb])]),
        (UNRELIABLE, vec![(LaneSet::MOTION, vec![0xcc])]),
        (FRAGMENTS, vec![(LaneSet::BULK, long)]),
        (PADDING, vec![(LaneSet::STATE, entered.clone())]),
        (PING, vec![]),
    ];
    for (name, messages) in expected {
        let mut bench = Bench::new();
        bench.send(document.example(name));
        assert_eq!(bench.messages(), messages, "{name}");
        assert_eq!(bench.server.counters().total_faults(), 0, "{name}");
        // A second copy in another datagram is the same packet, and is dropped.
        bench.send(document.example(name));
        assert_eq!((bench.messages(), bench.server.counters().fault(Fault::Replayed)), (vec![], 1), "{name}");
    }
}

// N-1b, N-2
#[test]
fn acknowledgements_are_those_of_the_document() {
    let document = Document::read();
    let mut bench = Bench::new();
    bench.send(document.example(MESSAGE));
    bench.run(23 * MS);
    assert!(bench.got.is_empty(), "an acknowledgement alone waits 25 ms");
    bench.run(3 * MS);
    assert_eq!(bench.got.len(), 1);
    assert_eq!(document.compare(ACK, &bench.got[0].1), None);

    let mut bench = Bench::new();
    let mut payload = document.example(MESSAGE).to_vec();
    for number in [0, 1, 4] {
        payload[1] = number;
        bench.send(&payload);
    }
    assert_eq!(bench.got.len(), 1, "a gap is told at once");
    assert_eq!(document.compare(RANGES, &bench.got[0].1), None);
}

#[test]
fn a_ping_is_answered_within_its_time() {
    let document = Document::read();
    let mut bench = Bench::new();
    bench.send(document.example(PING));
    bench.run(30 * MS);
    assert_eq!(bench.got.len(), 1);
    assert_eq!(document.compare(ACK, &bench.got[0].1), None, "as any packet that wants one soon");
}

// N-8
#[test]
fn a_disconnect_ends_the_connection() {
    let document = Document::read();
    let mut bench = Bench::new();
    bench.send(document.example(KICK));
    let reasons = bench.events.iter().filter_map(|event| match event {
        Ingress::Disconnected { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    let reasons: Vec<_> = reasons.collect();
    assert_eq!(reasons, [DisconnectReason::Remote { code: DisconnectCode::Kicked, text: "bye".into() }]);

    // The server says the same, and again, in packets of their own, and ends with a plain netcode disconnect.
    let mut bench = Bench::new();
    let (connection, code) = (bench.connection(), DisconnectCode::Kicked);
    let start = bench.now + MS;
    bench.server.apply(start, Egress::Disconnect { connection, code, text: "bye".into() }, &mut bench.events);
    bench.run(400 * MS);
    let mut farewell = document.example(KICK).to_vec();
    for (number, (time, after_ms)) in bench.got.iter().map(|(time, _)| time).zip([0, 0, 50, 150, 300]).enumerate() {
        assert_eq!(*time, start + after_ms * MS);
        farewell[1] = number as u8;
        assert_eq!(bench.got[number].1, farewell);
    }
    assert_eq!(bench.got.len(), 5);
    let closed =
        |event: &Ingress| matches!(event, Ingress::Disconnected { reason: DisconnectReason::RemoteClosed, .. });
    assert!(bench.peer_events.iter().any(closed));
}

/// Payloads the document forbids, with the fault it names.
fn forbidden() -> Vec<(&'static str, Vec<u8>)> {
    let state = [0x80, 0, 0, 0];
    let ahead = [0x80, 0, 0x40, 0];
    let with = |frames: &[u8]| [&[0x01, 0, 0][..], frames].concat();
    vec![
        ("Frame", vec![0x05, 0, 0, 0x00]),
        ("Frame", vec![0x03, 0, 0]),
        ("Frame", with(&[0x04])),
        ("Frame", with(&[0xa0, 0])),
        ("Frame", with(&[0xa2, 0])),
        ("Frame", with(&[&state[..], &[4 << 2, 1, 2]].concat())),
        ("Frame", with(&[0x01, 0, 0, 0])),
        ("Frame", with(&[0x01, 0, 0, 1, 1 << 2])),
        ("Frame", with(&[&[0xc4, 0, 0, 0, 0, 40 << 2, 15 << 2][..], &[0; 15]].concat())),
        ("Frame", with(&[&[0xc4, 0, 0, 0, 2 << 2, 40 << 2, 16 << 2][..], &[0; 16]].concat())),
        ("Lane", with(&[0x86, 0, 0, 0, 0])),
        ("Lane", with(&[&[0xc2, 0, 32 << 2, 16 << 2][..], &[0; 16]].concat())),
        ("AckUnsent", with(&[0x01, 0, 0, 1, 0])),
        ("MessageBytes", with(&[&[0xc4, 0, 0, 0, 0, 0x06, 0, 0, 0x04, 16 << 2][..], &[0; 16]].concat())),
        ("WindowIds", with(&[&ahead[..], &[0]].concat())),
    ]
}

// N-13
#[test]
fn forbidden_payloads_are_the_faults_of_the_table() {
    let document = Document::read();
    let named: Vec<String> = document.table("Faults inside a session").into_iter().map(|row| row[0].clone()).collect();
    let peers: Vec<String> =
        Fault::ALL.iter().filter(|fault| fault.is_peers()).map(|fault| format!("{fault:?}")).collect();
    assert_eq!(named, peers);
    for (index, (name, payload)) in forbidden().into_iter().enumerate() {
        let mut bench = Bench::new();
        bench.send(&payload);
        let counted: Vec<String> = bench
            .server
            .counters()
            .faults()
            .filter(|fault| fault.1 > 0)
            .map(|fault| format!("{:?}", fault.0))
            .collect();
        assert_eq!(counted, [name], "payload {index}: {payload:02x?}");
        // Its packet number was not taken: the same number with sound frames is.
        bench.send(document.example(MESSAGE));
        assert_eq!(bench.messages().len(), 1, "payload {index}");
    }
}

#[test]
fn seventeen_faults_at_once_end_the_connection() {
    let mut bench = Bench::new();
    (0..16).for_each(|_| bench.send(&[0x01, 0, 0, 0x04]));
    assert!(bench.got.is_empty());
    bench.send(&[0x01, 0, 0, 0x04]);
    let farewell = [0x01, 0, 0, 0x02, DisconnectCode::Faults as u8, 0];
    assert_eq!(bench.got.first().map(|(_, bytes)| &bytes[..]), Some(&farewell[..]));
}

/// The server's own messages, as they come out on the wire.
#[test]
fn what_the_server_sends_is_framed_as_the_document_says() {
    let document = Document::read();
    let mut bench = Bench::new();
    let connection = bench.connection();
    for (lane, bytes) in [(LaneSet::EVENT, &[0xaa][..]), (LaneSet::EVENT, &[0xbb, 0xbb])] {
        let egress = Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: None };
        bench.server.apply(bench.now, egress, &mut bench.events);
    }
    bench.server.apply(bench.now, Egress::FlushAll, &mut bench.events);
    bench.run(MS);
    // The example lets its last frame run to the end; this writes its length.
    let written = [0x01, 0, 0, 0x83, 0, 0, 0, 1 << 2, 0xaa, 0xa3, 2 << 2, 0xbb, 0xbb];
    assert_eq!(bench.got.iter().map(|(_, bytes)| &bytes[..]).collect::<Vec<_>>(), [&written[..]]);
    assert_eq!(document.example(FOLLOWING).len() + 1, written.len());
    // Until it is acknowledged it is sent again, in other packets with other numbers.
    bench.run(Duration::from_secs(2));
    assert!(bench.got.len() > 2);
    let numbers: Vec<u8> = bench.got.iter().map(|(_, bytes)| bytes[1]).collect();
    assert!(numbers.iter().enumerate().all(|(place, number)| place == usize::from(*number)), "{numbers:?}");
    assert!(bench.got[1..].iter().any(|(_, bytes)| bytes.windows(10).any(|part| part == &written[3..13])));
}

// N-3a
#[test]
fn unacknowledged_reports_ride_again() {
    let mut bench = Bench::new();
    let connection = bench.connection();
    for number in 0..3u8 {
        let egress =
            Egress::Send { connection, lane: LaneSet::REPORT, bytes: Span::from(&[number][..]), receipt: None };
        bench.server.apply(bench.now, egress, &mut bench.events);
        bench.server.apply(bench.now, Egress::FlushAll, &mut bench.events);
        bench.run(16 * MS);
    }
    let [first, second, third] = &bench.got[..] else { panic!("three payloads, not {:?}", bench.got) };
    assert_eq!(first.1, [0x01, 0, 0, 0x81, 0, 0, 0, 1 << 2, 0]);
    assert_eq!(second.1, [&[0x01, 1, 0][..], &first.1[3..], &[0xa1, 1 << 2, 1]].concat());
    assert_eq!(third.1, [&[0x01, 2, 0][..], &second.1[3..], &[0xa1, 1 << 2, 2]].concat());
}
