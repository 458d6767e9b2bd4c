use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::congestion::Algorithm;
use tidelock_net::{
    ClientConfig, ClientShard, ClientState, ConnectionId, DisconnectCode, Egress, Ingress, LaneId, LaneSet, ReceiptKey,
    ServerConfig, ServerShard, SessionConfig, Shard, Span,
};

use super::choices::Choices;
use super::shards::{KEY, MS, PROTOCOL, START, UNIX, name_of, peer_address, server_address, token};

/// Every lane by what it promises: all in order, all once, some once, some in order.
const LANES: [LaneId; 6] =
    [LaneSet::STATE, LaneSet::REPORT, LaneSet::BULK, LaneSet::EVENT, LaneSet::MOTION, LaneSet::NEWEST];
/// How many of them lose nothing, and how many of those keep the order.
const RELIABLE: usize = 4;
const ORDERED: usize = 3;
/// Most datagrams on their way; more are lost, as on any path.
const MAX_FLYING: usize = 256;
/// Most messages and operations of one run.
const MAX_MESSAGES: u64 = 600;
const MAX_OPERATIONS: u32 = 2_000;
/// Most bytes one end may hold of one lane's messages beside those of a lane's own limit.
const QUEUE_BYTES: u64 = 18 << 20;

/// Sequences of operations on a connection between two ends that keep the rules, over a path that keeps none: lanes keep their
/// promises, receipts come once, and both ends end.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut pair = Pair::new(&mut choices);
    pair.connect();
    for _ in 0..MAX_OPERATIONS {
        if choices.is_over() {
            break;
        }
        pair.operate(&mut choices);
        pair.take(false);
    }
    pair.settle();
}

/// What one end sent on each lane, and what the other got.
#[derive(Default)]
struct Ledger {
    sent: [u32; LANES.len()],
    got: [Vec<u32>; LANES.len()],
    keys: BTreeSet<u64>,
    answered: BTreeSet<u64>,
}

impl Ledger {
    fn take(&mut self, near: &[Ingress], far: &[Ingress]) {
        for event in far {
            let Ingress::Message { lane, bytes, .. } = event else { continue };
            let index = LANES.iter().position(|known| known == lane).expect("a lane that was sent on");
            let number = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
            assert!(number < self.sent[index] && bytes[4..].iter().all(|byte| *byte == number as u8), "as it was sent");
            self.got[index].push(number);
        }
        for event in near {
            match event {
                Ingress::Receipts { delivered, lost, .. } => {
                    for key in delivered.iter().chain(lost) {
                        assert!(self.keys.contains(&key.0) && self.answered.insert(key.0), "N-3b: {key:?} once");
                    }
                }
                Ingress::Blocked { receipt, lane, .. } => {
                    // What is refused is the lane's last so far.
                    let index = LANES.iter().position(|known| known == lane).expect("a lane that was sent on");
                    self.sent[index] -= 1;
                    receipt.iter().for_each(|key| assert!(self.keys.remove(&key.0)));
                }
                _ => {}
            }
        }
    }

    fn is_whole(&self) -> bool {
        let all = (0..RELIABLE).all(|index| self.got[index].len() as u32 == self.sent[index]);
        all && self.keys == self.answered
    }

    /// What came is what was sent: from the first on, and all of it if `whole`.
    fn check(&self, whole: bool) {
        for (index, lane) in LANES.iter().enumerate() {
            let got = &self.got[index];
            let ordered = index < ORDERED || *lane == LaneSet::NEWEST;
            assert!(!ordered || got.is_sorted_by(|one, next| one < next), "N-3: {lane:?} in order");
            let once: BTreeSet<u32> = got.iter().copied().collect();
            assert_eq!(once.len(), got.len(), "N-3: {lane:?} once");
            if index < ORDERED {
                assert!(got.iter().enumerate().all(|(at, number)| at as u32 == *number), "N-3: {lane:?} without gaps");
            }
            if whole && index < RELIABLE {
                assert_eq!(got.len() as u32, self.sent[index], "N-3: all of {lane:?}");
            }
        }
    }
}

/// A datagram on its way: where from, where to, and its bytes.
type Flying = (SocketAddr, SocketAddr, Vec<u8>);

struct Pair {
    server: ServerShard,
    client: ClientShard,
    now: Duration,
    address: SocketAddr,
    name: Option<ConnectionId>,
    /// On their way to the server, and to the client.
    flying: [Vec<Flying>; 2],
    events: [Vec<Ingress>; 2],
    down: Ledger,
    up: Ledger,
    messages: u64,
    /// Whether each end has ended.
    ended: [bool; 2],
}

impl Pair {
    fn new(choices: &mut Choices<'_>) -> Self {
        let flags = choices.byte();
        let congestion = if flags & 1 == 0 { Algorithm::Model } else { Algorithm::Cubic };
        // Numbers begin at zero, or short of the edge of their short forms.
        let first_packet = [0, (1 << 24) - 8, (1 << 32) - 8, (1 << 16) - 8][usize::from(flags >> 1 & 3)];
        let probe_mtu = flags & 8 != 0;
        let session = SessionConfig { congestion, first_packet, probe_mtu, ..SessionConfig::default() };
        let config = ServerConfig { session, ..ServerConfig::new(PROTOCOL, KEY) };
        let seed = (flags & 16 == 0).then_some([3; 32]);
        let client = ClientConfig { session, seed, ..ClientConfig::default() };
        Self {
            server: ServerShard::new(config, START, UNIX + START, [1; 32]),
            client: ClientShard::new(client, token(1), START, UNIX + START),
            now: START,
            address: peer_address(0),
            name: None,
            flying: Default::default(),
            events: Default::default(),
            down: Ledger::default(),
            up: Ledger::default(),
            messages: 0,
            ended: [false; 2],
        }
    }

    fn connect(&mut self) {
        for _ in 0..20 {
            self.pass(MS);
            self.deliver_all();
            self.take(true);
        }
        assert!(self.name.is_some() && matches!(self.client.state(), ClientState::Connected(_)));
    }

    /// Lets time pass at both ends, and lets them send.
    fn pass(&mut self, time: Duration) {
        self.now += time;
        let [to_server, to_client] = &mut self.flying;
        let [at_server, at_client] = &mut self.events;
        self.server.advance(self.now, at_server);
        self.client.advance(self.now, at_client);
        self.server.transmit(self.now, &mut |to, datagram| {
            if to_client.len() < MAX_FLYING {
                to_client.push((server_address(), to, datagram.to_vec()));
            }
        });
        let address = self.address;
        self.client.transmit(self.now, &mut |to, datagram| {
            if to_server.len() < MAX_FLYING {
                to_server.push((address, to, datagram.to_vec()));
            }
        });
    }

    fn deliver(&mut self, way: usize, (from, to, mut datagram): Flying) {
        if way == 0 {
            self.server.handle(self.now, from, &mut datagram, &mut self.events[0]);
        } else if to == self.address {
            self.client.handle(self.now, from, &mut datagram, &mut self.events[1]);
        }
    }

    fn deliver_all(&mut self) {
        for way in 0..2 {
            for datagram in std::mem::take(&mut self.flying[way]) {
                self.deliver(way, datagram);
            }
        }
    }

    fn send(&mut self, from_server: bool, choices: &mut Choices<'_>) {
        let index = usize::from(choices.byte()) % LANES.len();
        let length = usize::from(choices.short());
        let most = if index < RELIABLE { 16_000 } else { 1_024 };
        if self.messages == MAX_MESSAGES {
            return;
        }
        self.messages += 1;
        let ledger = if from_server { &mut self.down } else { &mut self.up };
        let mut bytes = vec![ledger.sent[index] as u8; 4 + length % (most - 4)];
        bytes[..4].copy_from_slice(&ledger.sent[index].to_le_bytes());
        ledger.sent[index] += 1;
        let receipt = (length & 1 == 0).then(|| {
            ledger.keys.insert(self.messages);
            ReceiptKey(self.messages)
        });
        let connection = if from_server { self.name } else { Some(self.client.connection()) };
        let Some(connection) = connection else { return };
        self.apply(from_server, Egress::Send { connection, lane: LANES[index], bytes: Span::from(bytes), receipt });
        self.take(false);
    }

    fn apply(&mut self, at_server: bool, egress: Egress) {
        match at_server {
            true => self.server.apply(self.now, egress, &mut self.events[0]),
            false => self.client.apply(self.now, egress, &mut self.events[1]),
        }
    }

    fn operate(&mut self, choices: &mut Choices<'_>) {
        match choices.byte() % 16 {
            0 | 1 => self.send(true, choices),
            2 | 3 => self.send(false, choices),
            4 => self.flush(),
            5 => {
                self.pass(MS * u32::from(choices.byte() % 64));
                self.deliver_all();
            }
            6 => self.pass(MS * u32::from(choices.byte())),
            7 => self.pass(MS * u32::from(choices.short() % 12_000)),
            8..=14 => self.meddle(choices),
            _ => self.disturb(choices),
        }
    }

    fn flush(&mut self) {
        self.apply(true, Egress::FlushAll);
        self.apply(false, Egress::FlushAll);
        self.pass(Duration::ZERO);
    }

    /// Something happens to one datagram on its way.
    fn meddle(&mut self, choices: &mut Choices<'_>) {
        let (what, at) = (choices.byte(), usize::from(choices.byte()));
        let way = usize::from(what & 1);
        if self.flying[way].is_empty() {
            return;
        }
        let at = at % self.flying[way].len();
        match what >> 1 & 7 {
            // Of its turn, or before it; and twice.
            0..=2 => {
                let datagram = self.flying[way].remove(at);
                self.deliver(way, datagram);
            }
            3 => {
                let copy = self.flying[way][at].clone();
                self.deliver(way, copy);
            }
            4 => drop(self.flying[way].remove(at)),
            5 => self.flying[way].clear(),
            6 => {
                let datagram = &mut self.flying[way][at].2;
                let byte = usize::from(choices.short()) % datagram.len();
                datagram[byte] ^= choices.byte();
            }
            _ => {
                let datagram = &mut self.flying[way][at].2;
                datagram.truncate(usize::from(choices.short()) % (datagram.len() + 1));
                if datagram.is_empty() {
                    self.flying[way].remove(at);
                }
            }
        }
    }

    /// The rarer things: another address, junk, the end.
    fn disturb(&mut self, choices: &mut Choices<'_>) {
        let text = || "enough".to_owned();
        match choices.byte() {
            0..=99 => self.address = peer_address(choices.byte()),
            100..=199 => {
                let way = usize::from(choices.byte() % 2);
                let (from, to) = [(self.address, server_address()), (server_address(), self.address)][way];
                self.deliver(way, (from, to, choices.chunk().to_vec()));
            }
            200..=227 => {
                let Some(connection) = self.name else { return };
                self.apply(true, Egress::Disconnect { connection, code: DisconnectCode::Kicked, text: text() });
            }
            228 => {
                let connection = self.client.connection();
                self.apply(false, Egress::Disconnect { connection, code: DisconnectCode::Closed, text: text() });
            }
            _ => {}
        }
    }

    /// Books what both ends were told.
    fn take(&mut self, connecting: bool) {
        let [server, client] = std::mem::take(&mut self.events);
        self.down.take(&server, &client);
        self.up.take(&client, &server);
        for (ended, events) in self.ended.iter_mut().zip([&server, &client]) {
            for event in events {
                match event {
                    Ingress::Disconnected { .. } => assert!(!std::mem::replace(ended, true), "it ends once"),
                    Ingress::Connected { .. } => assert!(connecting, "it begins once"),
                    _ => {}
                }
            }
        }
        self.name = self.name.or_else(|| server.iter().find_map(name_of));
        let stats = self.name.and_then(|name| self.server.stats(name));
        for stats in stats.into_iter().chain(self.client.stats(self.client.connection())) {
            assert!(stats.lanes.iter().all(|lane| lane.queued_bytes <= QUEUE_BYTES), "N-6");
            assert_eq!(stats.faults, 0, "both keep the rules");
        }
    }

    /// Whether both have ended, or all that was sent has come and all receipts.
    fn is_done(&self) -> bool {
        self.ended == [true; 2] || self.ended == [false; 2] && self.down.is_whole() && self.up.is_whole()
    }

    /// The path is perfect from now on: either all arrives, or both ends end.
    fn settle(&mut self) {
        self.down.check(false);
        self.up.check(false);
        // Longer than the timeout, so that one end whose other is gone notices.
        let until = self.now + Duration::from_secs(60);
        let mut calm = 0;
        while calm < 50 && self.now < until {
            self.apply(true, Egress::FlushAll);
            self.apply(false, Egress::FlushAll);
            self.pass(10 * MS);
            self.deliver_all();
            self.take(false);
            // Done is done only when nothing more comes for a while.
            calm = if self.is_done() { calm + 1 } else { 0 };
        }
        let [server, client] = self.ended;
        assert_eq!(server, client, "both end, or none");
        let whole = !server;
        self.down.check(whole);
        self.up.check(whole);
        for ledger in [&self.down, &self.up] {
            assert_eq!(ledger.keys, ledger.answered, "N-3b: every receipt");
        }
    }
}
