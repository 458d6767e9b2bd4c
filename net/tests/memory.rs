//! What connections cost in memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::{ClientConfig, ClientShard, Egress, Ingress, LaneSet, ServerConfig, ServerShard, Shard, Span};
use world::{KEY, MS, PROTOCOL, UNIX, token_until};

/// Bytes the server holds, counted over every call of it, with its clients beside it.
struct Held {
    now: Duration,
    server: ServerShard,
    clients: HashMap<SocketAddr, (ClientShard, Vec<Ingress>)>,
    /// Clients that hear nothing, and those that say nothing either.
    deaf: HashSet<SocketAddr>,
    silent: HashSet<SocketAddr>,
    events: Vec<Ingress>,
    bytes: i64,
    /// Allocations of the server's since the last look.
    allocations: u64,
}

impl Held {
    fn new(max_clients: usize) -> Self {
        let now = Duration::from_secs(1);
        let config = ServerConfig { max_clients, ..ServerConfig::new(PROTOCOL, KEY) };
        let (mut server, mut bytes) = (None, 0);
        let info = allocation_counter::measure(|| server = Some(ServerShard::new(config, now, UNIX + now, [1; 32])));
        bytes += info.bytes_current;
        let events = Vec::with_capacity(100_000);
        let (clients, deaf, silent) = (HashMap::new(), HashSet::new(), HashSet::new());
        Self { now, server: server.unwrap(), clients, deaf, silent, events, bytes, allocations: 0 }
    }

    fn join(&mut self, id: u64) {
        let token = token_until(id, self.now, self.now + Duration::from_secs(300), id);
        let config = ClientConfig { seed: Some([id as u8; 32]), ..ClientConfig::default() };
        let shard = ClientShard::new(config, token, self.now, UNIX + self.now);
        self.clients.insert(address(id), (shard, vec![]));
    }

    fn measured(&mut self, call: impl FnOnce(&mut ServerShard, &mut Vec<Ingress>)) {
        let (server, events) = (&mut self.server, &mut self.events);
        let info = allocation_counter::measure(|| call(server, events));
        self.bytes += info.bytes_current;
        self.allocations += info.count_total;
    }

    fn step(&mut self) {
        self.now += 10 * MS;
        let now = self.now;
        let mut up = vec![];
        for (address, (shard, events)) in &mut self.clients {
            if self.silent.contains(address) {
                continue;
            }
            shard.advance(now, events);
            shard.transmit(now, &mut |_, datagram| up.push((*address, datagram.to_vec())));
        }
        for (from, mut datagram) in up {
            self.measured(|server, events| server.handle(now, from, &mut datagram, events));
        }
        let mut down = Vec::with_capacity(100_000);
        let mut buffer = Vec::with_capacity(4 << 20);
        self.measured(|server, events| {
            server.advance(now, events);
            server.transmit(now, &mut |to, datagram| {
                let start = buffer.len();
                buffer.extend_from_slice(datagram);
                down.push((to, start..buffer.len()));
            });
        });
        for (to, range) in down {
            if self.deaf.contains(&to) {
                continue;
            }
            let (shard, events) = self.clients.get_mut(&to).unwrap();
            shard.handle(now, world::server_address(), &mut buffer[range].to_vec(), events);
        }
    }

    fn run(&mut self, steps: u32) {
        (0..steps).for_each(|_| self.step());
        // What the owner was told is the owner's.
        self.measured(|_, events| events.clear());
    }
}

fn address(id: u64) -> SocketAddr {
    SocketAddr::from(([10, 4, 0, 1], 1_000 + id as u16))
}

// N-6: a client that falls silent, and one that hears nothing and speaks on, hold what their lanes may queue at most, whatever
// they are told; when the silent one has timed out and the other was thrown out, a slot's memory is left.
#[test]
fn a_stalled_connection_holds_what_its_lanes_may() {
    let mut held = Held::new(1_000);
    (0..8).for_each(|id| held.join(id));
    held.run(100);
    assert_eq!(held.server.connected(), 8);
    let before = held.bytes;
    let stalled: Vec<_> = [0, 1].map(|index| tidelock_net::ConnectionId::new(0, index, 1)).into();
    let addresses: Vec<_> = stalled.iter().map(|&name| held.server.address(name).unwrap()).collect();
    held.deaf.extend(addresses.iter());
    held.silent.insert(addresses[0]);
    let lanes = LaneSet::standard();
    let told = [LaneSet::STATE, LaneSet::MOTION, LaneSet::EVENT];
    let (mut most, mut refused) = (0, 0);
    for _ in 0..400 {
        for (&connection, lane) in stalled.iter().flat_map(|name| told.iter().map(move |lane| (name, *lane))) {
            let now = held.now;
            held.measured(|server, events| {
                for _ in 0..16 {
                    let bytes = Span::from(vec![7; 1_000]);
                    server.apply(now, Egress::Send { connection, lane, bytes, receipt: None }, events);
                }
                server.apply(now, Egress::FlushAll, events);
            });
        }
        refused += held.events.iter().filter(|event| matches!(event, Ingress::Blocked { .. })).count();
        held.run(1);
        most = most.max(held.bytes - before);
    }
    let queued: usize = told.iter().map(|lane| lanes.get(*lane).unwrap().limit_bytes).sum();
    println!("two stalled connections hold {most} bytes of {} their lanes may queue", 2 * queued);
    assert!(refused > 1_000, "{refused} refused");
    assert!(most > 2 * (5 << 20) && most < 2 * queued as i64 * 5 / 4, "{most} bytes, {queued} a lane set");
    let code = tidelock_net::DisconnectCode::Overloaded;
    let (connection, now) = (stalled[1], held.now);
    held.measured(|server, events| {
        server.apply(now, Egress::Disconnect { connection, code, text: String::new() }, events);
    });
    held.run(700);
    assert_eq!(held.server.connected(), 6);
    let left = held.bytes - before;
    assert!(left.abs() <= 8 * 4_096, "{left} bytes are left");
}

// Targets, transport: an idle connection takes 4 kB at most, also after traffic.
#[test]
fn an_idle_connection_is_small() {
    let mut held = Held::new(1_000);
    let empty = held.bytes;
    (0..500).for_each(|id| held.join(id));
    held.run(700);
    assert_eq!((held.server.connected(), held.server.counters().extended), (500, 500));
    let fresh = (held.bytes - empty) / 500;
    let names: Vec<_> = (0..500).map(|index| tidelock_net::ConnectionId::new(0, index, 1)).collect();
    for round in 0..100u8 {
        for &connection in &names {
            for lane in [LaneSet::STATE, LaneSet::MOTION, LaneSet::EVENT] {
                let now = held.now;
                held.measured(|server, events| {
                    let bytes = Span::from(vec![round; 300]);
                    server.apply(now, Egress::Send { connection, lane, bytes, receipt: None }, events);
                });
            }
        }
        let now = held.now;
        held.measured(|server, events| server.apply(now, Egress::FlushAll, events));
        held.run(2);
    }
    held.run(700);
    let rested = (held.bytes - empty) / 500;
    println!("idle connection: {fresh} bytes fresh, {rested} after traffic");
    assert!(fresh <= 4_096 && rested <= 4_096, "{fresh} and {rested}");
}
