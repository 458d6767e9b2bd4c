//! Several shards that are one server, in virtual time and on loopback sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tidelock_net::io::{Driver, OsEntropy};
use tidelock_net::{
    ClientConfig, ClientShard, ClientState, ConnectToken, ConnectionId, DisconnectCode, DisconnectReason, Egress,
    Fault, Ingress, LaneId, LaneSet, ServerConfig, ServerShard, Shard, Span, TokenRequest,
};
use world::{KEY, MS, PROTOCOL, UNIX, token_until};

const SECOND: Duration = Duration::from_secs(1);

/// A set of shards and clients without links: datagrams arrive at once, at the shard of the client's choice.
struct Set {
    now: Duration,
    shards: Vec<ServerShard>,
    events: Vec<Ingress>,
    clients: Vec<Client>,
}

struct Client {
    shard: ClientShard,
    address: SocketAddr,
    /// Where the kernel lets its datagrams arrive.
    arrives_at: usize,
    events: Vec<Ingress>,
}

impl Set {
    fn new(count: usize, max_clients: usize) -> Self {
        let now = Duration::from_secs(5);
        let config = ServerConfig { max_clients, ..ServerConfig::new(PROTOCOL, KEY) };
        let shards = ServerShard::set(&config, count, now, UNIX + now, [3; 32]);
        Self { now, shards, events: vec![], clients: vec![] }
    }

    fn join(&mut self, token: ConnectToken, port: u16, arrives_at: usize) -> usize {
        let shard = ClientShard::new(ClientConfig::default(), token, self.now, UNIX + self.now);
        let address = SocketAddr::from(([10, 0, 3, 1], port));
        self.clients.push(Client { shard, address, arrives_at, events: vec![] });
        self.clients.len() - 1
    }

    fn step(&mut self) {
        self.now += MS;
        let now = self.now;
        for client in &mut self.clients {
            client.shard.advance(now, &mut client.events);
            let (shard, events) = (&mut self.shards[client.arrives_at], &mut self.events);
            client.shard.transmit(now, &mut |_, datagram| {
                shard.handle(now, client.address, &mut datagram.to_vec(), events);
            });
        }
        for index in 0..self.shards.len() {
            while let Some((to, parcel)) = self.shards[index].depart() {
                assert_ne!(usize::from(to), index);
                self.shards[usize::from(to)].arrive(now, parcel, &mut self.events);
            }
        }
        for shard in &mut self.shards {
            shard.advance(now, &mut self.events);
            shard.transmit(now, &mut |to, datagram| {
                if let Some(client) = self.clients.iter_mut().rev().find(|client| client.address == to) {
                    client.shard.handle(now, world::server_address(), &mut datagram.to_vec(), &mut client.events);
                }
            });
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    fn name(&self, client: usize) -> ConnectionId {
        let at = self.clients[client].address;
        let found = self.events.iter().rev().find_map(|event| match event {
            Ingress::Connected { connection, address, .. } if *address == at => Some(*connection),
            _ => None,
        });
        found.unwrap()
    }

    fn is_connected(&self, client: usize) -> bool {
        matches!(self.clients[client].shard.state(), ClientState::Connected(_))
    }

    fn connected(&self) -> usize {
        self.shards.iter().map(ServerShard::connected).sum()
    }

    fn faults(&self, fault: Fault) -> u64 {
        self.shards.iter().map(|shard| shard.counters().fault(fault)).sum()
    }

    fn client_send(&mut self, client: usize, lane: LaneId, bytes: &[u8]) {
        let client = &mut self.clients[client];
        let connection = client.shard.connection();
        let egress = Egress::Send { connection, lane, bytes: Span::from(bytes), receipt: None };
        client.shard.apply(self.now, egress, &mut client.events);
        client.shard.apply(self.now, Egress::FlushAll, &mut client.events);
    }
}

// N-10: connection ids carry their shard, and datagrams that come to another shard's socket reach their connection.
#[test]
fn datagrams_reach_their_connection_from_any_socket() {
    for count in [2, 4] {
        let mut set = Set::new(count, 100);
        let later = set.now + 30 * SECOND;
        for client in 0..8 {
            set.join(token_until(client, set.now, later, client), client as u16, client as usize % count);
        }
        set.run(300 * MS);
        for client in 0..8 {
            assert_eq!(usize::from(set.name(client).shard()), client % count);
        }
        assert_eq!(set.shards.iter().map(ServerShard::connected).collect::<Vec<_>>(), vec![8 / count; count]);
        // The kernel changes its mind about all of them.
        for client in 0..8 {
            set.clients[client].arrives_at = (client + 1) % count;
            set.client_send(client, LaneSet::STATE, &[client as u8; 3_000]);
        }
        set.run(300 * MS);
        let mut got = world::take_messages(&mut set.events, LaneSet::STATE);
        got.sort();
        assert_eq!(got, (0..8u8).map(|client| vec![client; 3_000]).collect::<Vec<_>>());
        assert!(set.shards.iter().map(|shard| shard.counters().forwarded).sum::<u64>() >= 24);
        set.run(15 * SECOND);
        assert_eq!((set.connected(), set.faults(Fault::UnknownAddress)), (8, 0), "they live on");
    }
}

// N-9, N-10: a client that moves and thereby comes to another socket is followed by its own shard.
#[test]
fn a_client_moves_to_another_socket() {
    let mut set = Set::new(2, 100);
    let token = token_until(1, set.now, set.now + 30 * SECOND, 1);
    let client = set.join(token, 1, 0);
    let config = ClientConfig { seed: Some([4; 32]), ..ClientConfig::default() };
    let token = token_until(2, set.now, set.now + 30 * SECOND, 2);
    set.clients[client].shard = ClientShard::new(config, token, set.now, UNIX + set.now);
    set.run(SECOND);
    let name = set.name(client);
    assert_eq!((name.shard(), set.shards[0].counters().extended), (0, 1));
    set.clients[client].address = SocketAddr::from(([10, 0, 77, 1], 9));
    set.clients[client].arrives_at = 1;
    set.client_send(client, LaneSet::STATE, &[5; 10_000]);
    set.run(SECOND);
    assert_eq!(world::take_messages(&mut set.events, LaneSet::STATE), [vec![5; 10_000]]);
    assert_eq!(set.shards[0].address(name), Some(set.clients[client].address));
    let egress = Egress::Send { connection: name, lane: LaneSet::STATE, bytes: Span::from(vec![6; 10]), receipt: None };
    set.shards[0].apply(set.now, egress, &mut set.events);
    set.shards[0].apply(set.now, Egress::FlushAll, &mut set.events);
    set.run(20 * SECOND);
    assert_eq!(world::take_messages(&mut set.clients[client].events, LaneSet::STATE), [vec![6; 10]]);
    assert!(set.is_connected(client));
}

// N-1, B95: identities, used tokens and the client limit are known to all shards.
#[test]
fn shards_are_one_server() {
    let mut set = Set::new(2, 2);
    let (now, later) = (set.now, set.now + 30 * SECOND);
    let first = set.join(token_until(7, now, later, 1), 1, 0);
    set.run(300 * MS);
    let old = set.name(first);
    let stolen = set.join(token_until(7, now, later, 1), 2, 1);
    set.run(300 * MS);
    assert!(!set.is_connected(stolen) && set.is_connected(first));
    let newer = set.join(token_until(7, now, later + SECOND, 2), 3, 1);
    set.run(300 * MS);
    assert!(set.is_connected(newer) && !set.is_connected(first));
    let ends: Vec<_> = set
        .events
        .iter()
        .filter_map(|event| match event {
            Ingress::Disconnected { connection, reason } => Some((*connection, reason.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(old, DisconnectReason::Local { code: DisconnectCode::TakenOver })]);
    let older = set.join(token_until(7, now, later, 3), 4, 0);
    let second = set.join(token_until(8, now, later, 4), 5, 0);
    set.run(300 * MS);
    assert!(!set.is_connected(older) && set.is_connected(second));
    assert!(set.faults(Fault::IdentityHeld) > 0 && set.faults(Fault::TokenReused) == 0);
    for arrives_at in 0..2 {
        let third = set.join(token_until(9 + arrives_at as u64, now, later, 5), 6 + arrives_at, arrives_at.into());
        set.run(300 * MS);
        let Some(Ingress::Disconnected { reason, .. }) = set.clients[third].events.last() else { panic!("denied") };
        assert_eq!(*reason, DisconnectReason::Denied);
    }
    assert_eq!(set.connected(), 2);
    // A place that becomes free in one shard is free for the other.
    let gone = set.name(second);
    let egress = Egress::Disconnect { connection: gone, code: DisconnectCode::Kicked, text: String::new() };
    set.shards[usize::from(gone.shard())].apply(set.now, egress, &mut set.events);
    set.run(SECOND);
    let fourth = set.join(token_until(20, now, later, 6), 9, 1);
    set.run(300 * MS);
    assert!(set.is_connected(fourth));
    // B95: used, and its connection over: the token is still bound to its address, whichever socket it comes to.
    for arrives_at in 0..2 {
        let again = set.join(token_until(8, now, later, 4), 10 + arrives_at, arrives_at.into());
        set.run(300 * MS);
        assert!(!set.is_connected(again));
    }
    assert!(set.faults(Fault::TokenReused) > 0);
}

fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap()
}

fn loopback_token(server: SocketAddr, client_id: u64) -> ConnectToken {
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

// N-10: two and four sockets on one port, each shard polled by a thread of its own.
#[cfg(target_os = "linux")]
#[test]
fn sockets_share_a_port() {
    for count in [2, 4] {
        let started = Instant::now();
        let config = ServerConfig::new(PROTOCOL, KEY);
        let shards = ServerShard::set(&config, count, Duration::ZERO, unix(), OsEntropy::new().seed());
        let drivers = Driver::bind_set(SocketAddr::from(([127, 0, 0, 1], 0)), shards).unwrap();
        let address = drivers[0].local_addr();
        assert!(drivers.iter().all(|driver| driver.local_addr() == address));
        let deadline = started + Duration::from_secs(20);
        let stop = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = drivers
            .into_iter()
            .map(|mut driver| {
                let stopped = Arc::clone(&stop);
                std::thread::spawn(move || {
                    let (mut wishes, mut events, mut echoed) = (vec![], vec![], 0);
                    while !stopped.load(Ordering::Relaxed) {
                        let wait = Some(Duration::from_millis(20));
                        driver.poll(started.elapsed(), wait, &mut wishes, &mut events).unwrap();
                        for event in events.drain(..) {
                            if let Ingress::Message { connection, lane, bytes } = event {
                                echoed += 1;
                                wishes.push(Egress::Send { connection, lane, bytes, receipt: None });
                                wishes.push(Egress::Flush { connection });
                            }
                        }
                    }
                    echoed
                })
            })
            .collect();
        let mut clients: Vec<_> = (0..64)
            .map(|id| {
                let token = loopback_token(address, id);
                let shard = ClientShard::new(ClientConfig::default(), token, started.elapsed(), unix());
                (Driver::bind(SocketAddr::from(([127, 0, 0, 1], 0)), shard).unwrap(), vec![], vec![], false)
            })
            .collect();
        while clients.iter().any(|(.., done)| !done) {
            assert!(Instant::now() < deadline);
            for (client, wishes, events, done) in &mut clients {
                client.poll(started.elapsed(), Some(Duration::ZERO), wishes, events).unwrap();
                for event in events.drain(..) {
                    match event {
                        Ingress::Connected { connection, .. } => {
                            let bytes = Span::from(vec![7; 2_000]);
                            wishes.push(Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None });
                            wishes.push(Egress::FlushAll);
                        }
                        Ingress::Message { connection, bytes, .. } => {
                            assert_eq!(*bytes, [7; 2_000]);
                            let (code, text) = (DisconnectCode::Closed, String::new());
                            wishes.push(Egress::Disconnect { connection, code, text });
                        }
                        Ingress::Disconnected { .. } => *done = true,
                        _ => {}
                    }
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        let echoed: Vec<i32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(echoed.iter().sum::<i32>(), 64, "{echoed:?}");
        assert!(echoed.iter().all(|&echoed| echoed > 0), "the kernel spreads: {echoed:?}");
    }
}
