//! Processes that die and come back, with the real driver on real ports. The tests give the time, so none of them waits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tidelock_net::entropy::SeedEntropy;
use tidelock_net::io::Driver;
use tidelock_net::{
    ClientConfig, ClientShard, ClientState, ConnectToken, DisconnectReason, Egress, Fault, Ingress, LaneSet,
    ServerConfig, ServerShard, Shard, Span, TokenRequest,
};

const PROTOCOL: u64 = 11;
const KEY: [u8; 32] = [3; 32];
const UNIX: Duration = Duration::from_secs(1_800_000_000);
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const TIMEOUT_S: i32 = 3;

/// What a process sent: whether it was the server, and the datagram.
type Tap = Rc<RefCell<Vec<(bool, Vec<u8>)>>>;

/// A shard all of whose datagrams are kept.
struct Tapped<S> {
    shard: S,
    is_server: bool,
    tap: Tap,
}

impl<S: Shard> Shard for Tapped<S> {
    fn handle(&mut self, now: Duration, from: SocketAddr, datagram: &mut [u8], ingress: &mut Vec<Ingress>) {
        self.shard.handle(now, from, datagram, ingress);
    }

    fn apply(&mut self, now: Duration, egress: Egress, ingress: &mut Vec<Ingress>) {
        self.shard.apply(now, egress, ingress);
    }

    fn advance(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        self.shard.advance(now, ingress);
    }

    fn transmit(&mut self, now: Duration, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        let (tap, is_server) = (&self.tap, self.is_server);
        self.shard.transmit(now, &mut |to, datagram| {
            tap.borrow_mut().push((is_server, datagram.to_vec()));
            out(to, datagram);
        });
    }

    fn counters(&self) -> &tidelock_net::Counters {
        self.shard.counters()
    }

    fn next_timeout(&self) -> Option<Duration> {
        self.shard.next_timeout()
    }
}

/// A process with one socket.
struct Process<S: Shard> {
    driver: Driver<Tapped<S>>,
    events: Vec<Ingress>,
    wishes: Vec<Egress>,
}

impl<S: Shard> Process<S> {
    fn start(address: SocketAddr, shard: S, is_server: bool, tap: &Tap) -> Self {
        let shard = Tapped { shard, is_server, tap: Rc::clone(tap) };
        Self { driver: Driver::bind(address, shard).unwrap(), events: vec![], wishes: vec![] }
    }

    fn poll(&mut self, now: Duration) {
        self.driver.poll(now, Some(Duration::ZERO), &mut self.wishes, &mut self.events).unwrap();
    }

    fn shard(&self) -> &S {
        &self.driver.shard().shard
    }

    fn ends(&self) -> Vec<DisconnectReason> {
        let ended = |event: &Ingress| match event {
            Ingress::Disconnected { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.events.iter().filter_map(ended).collect()
    }
}

struct Machine {
    now: Duration,
    tap: Tap,
    server: Option<Process<ServerShard>>,
    address: SocketAddr,
    clients: Vec<Option<Process<ClientShard>>>,
    lives: u8,
}

impl Machine {
    fn new() -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut machine = Self { now: SECOND, tap: Tap::default(), server: None, address, clients: vec![], lives: 0 };
        machine.start_server();
        machine
    }

    /// Starts the server anew, on the port and with the keys it had.
    fn start_server(&mut self) {
        self.lives += 1;
        let shard = ServerShard::new(ServerConfig::new(PROTOCOL, KEY), self.now, UNIX + self.now, [self.lives; 32]);
        let server = Process::start(self.address, shard, true, &self.tap);
        self.address = server.driver.local_addr();
        self.server = Some(server);
    }

    fn token(&self, client_id: u64) -> ConnectToken {
        let request = TokenRequest {
            protocol_id: PROTOCOL,
            private_key: KEY,
            client_id,
            server_addresses: vec![self.address],
            create_s: (UNIX + self.now).as_secs(),
            expire_s: (UNIX + self.now).as_secs() + 30,
            timeout_s: TIMEOUT_S,
            user_data: [0; 256],
        };
        ConnectToken::mint(&request, &mut SeedEntropy::from_number(client_id + self.now.as_millis() as u64)).unwrap()
    }

    fn join(&mut self, token: ConnectToken, from: Option<SocketAddr>, extended: bool) -> usize {
        let seed = extended.then_some([self.clients.len() as u8 + 1; 32]);
        let shard =
            ClientShard::new(ClientConfig { seed, ..ClientConfig::default() }, token, self.now, UNIX + self.now);
        let from = from.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        self.clients.push(Some(Process::start(from, shard, false, &self.tap)));
        self.clients.len() - 1
    }

    /// Runs steps of a millisecond in which everyone who lives says something each 16.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += MS;
            let says = self.now.as_millis().is_multiple_of(16);
            for client in self.clients.iter_mut().flatten() {
                let connection = client.shard().connection();
                if says && matches!(client.shard().state(), ClientState::Connected(_)) {
                    let bytes = Span::from(vec![7; 60]);
                    client.wishes.push(Egress::Send { connection, lane: LaneSet::REPORT, bytes, receipt: None });
                    client.wishes.push(Egress::FlushAll);
                }
                client.poll(self.now);
            }
            let Some(server) = &mut self.server else { continue };
            server.poll(self.now);
            let connected = server.events.iter().filter_map(|event| match event {
                Ingress::Connected { connection, .. } => Some(*connection),
                _ => None,
            });
            if says {
                let state = |connection| {
                    let bytes = Span::from(vec![8; 60]);
                    Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None }
                };
                let wishes: Vec<_> = connected.map(state).collect();
                server.wishes.extend(wishes);
                server.wishes.push(Egress::FlushAll);
            }
        }
    }

    fn client(&self, client: usize) -> &Process<ClientShard> {
        self.clients[client].as_ref().unwrap()
    }

    fn is_connected(&self, client: usize) -> bool {
        matches!(self.client(client).shard().state(), ClientState::Connected(_))
    }

    fn server(&self) -> &Process<ServerShard> {
        self.server.as_ref().unwrap()
    }
}

/// Direction, low half of the prefix and sequence bytes of a packet of the standard.
fn sequence_of((from_server, datagram): &(bool, Vec<u8>)) -> Option<(bool, Vec<u8>)> {
    let (kind, bytes) = (datagram[0] & 15, usize::from(datagram[0] >> 4));
    let mut sequence = datagram.get(1..=bytes)?.to_vec();
    sequence.resize(8, 0);
    (1..=6).contains(&kind).then_some((*from_server, sequence))
}

/// Asserts that no key sealed two packets with one nonce: those of the standard in `tap` are of one token, so their sequence numbers
/// differ in each direction; whatever else was sealed, two nonces of one key or two keys give two tags.
fn assert_no_nonce_twice(tap: &Tap) {
    let (mut numbers, mut tags) = (HashSet::new(), HashSet::new());
    for sent in tap.borrow().iter().filter(|(_, datagram)| datagram[0] != 0) {
        assert!(sequence_of(sent).is_none_or(|number| numbers.insert(number)), "a sequence number came twice");
        assert!(tags.insert((sent.0, sent.1[sent.1.len() - 16..].to_vec())), "a tag came twice");
    }
    assert!(tags.len() > 200, "{} packets", tags.len());
}

// N-1, N-1a, B95: a client is killed and comes back with its token, the server is killed and comes back on its port with its keys: the
// token is refused from then on, and no packet of either life repeats a nonce.
#[test]
fn a_restart_repeats_no_nonce_and_takes_no_token_of_before() {
    for extended in [false, true] {
        let mut machine = Machine::new();
        let token = machine.token(7);
        let first = machine.join(token.clone(), None, extended);
        machine.run(2 * SECOND);
        assert!(machine.is_connected(first));
        let from = machine.client(first).driver.local_addr();
        machine.clients[first] = None;
        // The same token takes its place again once the place is free.
        machine.run(SECOND * (TIMEOUT_S as u32 + 1));
        let second = machine.join(token.clone(), Some(from), extended);
        machine.run(2 * SECOND);
        assert!(machine.is_connected(second), "{:?}", machine.server().shard().counters());
        // Killed, both: nobody says goodbye.
        machine.clients[second] = None;
        machine.server = None;
        machine.run(2 * SECOND);
        machine.start_server();
        let stale = machine.join(token, Some(from), extended);
        machine.run(2 * SECOND);
        assert!(!machine.is_connected(stale));
        assert!(machine.server().shard().counters().fault(Fault::TokenBeforeStart) > 5);
        assert_no_nonce_twice(&machine.tap);
        let fresh = machine.token(7);
        let fresh = machine.join(fresh, None, extended);
        machine.run(SECOND);
        assert!(machine.is_connected(fresh));
    }
}

// N-8: who is left behind is told so within the timeout: a client whose server was killed, and a server whose client was.
#[test]
fn whoever_is_left_behind_times_out() {
    let timeout = SECOND * TIMEOUT_S as u32;
    let mut machine = Machine::new();
    let tokens: Vec<_> = (1..=3).map(|id| machine.token(id)).collect();
    let clients: Vec<_> = tokens.into_iter().map(|token| machine.join(token, None, true)).collect();
    machine.run(SECOND);
    assert!(clients.iter().all(|&client| machine.is_connected(client)));
    machine.clients[clients[0]] = None;
    machine.run(timeout - 200 * MS);
    assert_eq!(machine.server().ends(), []);
    machine.run(400 * MS);
    assert_eq!(machine.server().ends(), [DisconnectReason::TimedOut]);
    assert_eq!(machine.server().shard().connected(), 2);
    machine.server = None;
    machine.run(timeout - 200 * MS);
    assert!(clients[1..].iter().all(|&client| machine.client(client).ends().is_empty()));
    machine.run(400 * MS);
    for &client in &clients[1..] {
        assert_eq!(machine.client(client).ends(), [DisconnectReason::TimedOut]);
        assert_eq!(machine.client(client).shard().state(), ClientState::Disconnected);
    }
}

// N-6, N-8: a client that takes nothing off its socket for longer than the timeout is gone for the server, learns why when it wakes,
// and costs the others nothing.
#[test]
fn a_stalled_client_ends_alone() {
    let mut machine = Machine::new();
    let (one, other) = (machine.token(1), machine.token(2));
    let (stalled, honest) = (machine.join(one, None, true), machine.join(other, None, true));
    machine.run(SECOND);
    let asleep = machine.clients[stalled].take();
    let before = machine.client(honest).events.len();
    machine.run(SECOND * (TIMEOUT_S as u32 + 1));
    assert_eq!(machine.server().ends(), [DisconnectReason::TimedOut]);
    let heard = machine.client(honest).events.iter().skip(before);
    let messages = heard.filter(|event| matches!(event, Ingress::Message { .. })).count();
    assert!(messages > 200, "{messages}");
    machine.clients[stalled] = asleep;
    machine.run(SECOND);
    assert_eq!(machine.client(stalled).ends().len(), 1, "{:?}", machine.client(stalled).ends());
    assert!(machine.is_connected(honest));
}
