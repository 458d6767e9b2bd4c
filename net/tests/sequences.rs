//! Random sequences of operations on a connection, against what its lanes promise. The runs are the same every time;
//! `TIDELOCK_RUNS` asks for more of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::emulator::LinkConfig;
use tidelock_net::entropy::{Entropy, SeedEntropy};
use tidelock_net::{
    ClientConfig, ConnectionId, DisconnectCode, DisconnectReason, Egress, Ingress, LaneId, LaneSet, Shard, Span,
};
use world::{MS, World, link, number_of, numbered};

/// Runs without `TIDELOCK_RUNS`.
const RUNS: u64 = 150;
const OPERATIONS: u64 = 250;
const LANES: [LaneId; 4] = [LaneSet::STATE, LaneSet::REPORT, LaneSet::EVENT, LaneSet::BULK];

struct Luck(SeedEntropy);

impl Luck {
    fn below(&mut self, below: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % below
    }
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
    /// Takes what came at the far end and what the near end was told.
    fn take(&mut self, near: &mut Vec<Ingress>, far: &mut Vec<Ingress>) {
        for (index, lane) in LANES.into_iter().enumerate() {
            let messages = world::take_messages(far, lane);
            self.got[index].extend(messages.iter().map(|message| number_of(message)));
        }
        for (key, _) in world::take_receipts(near) {
            assert!(self.keys.contains(&key) && self.answered.insert(key), "each receipt once");
        }
        near.retain(|event| {
            let Ingress::Blocked { receipt, lane, .. } = event else { return true };
            // A refused message is the lane's last so far.
            let index = LANES.iter().position(|of| of == lane).unwrap();
            self.sent[index] -= 1;
            self.keys.retain(|key| Some(*key) != receipt.map(|receipt| receipt.0));
            false
        });
    }

    /// What came is what was sent, from the first on; all of it if `whole`.
    fn check(&self, whole: bool, seed: u64) {
        for (index, lane) in LANES.into_iter().enumerate() {
            let mut got = self.got[index].clone();
            if lane == LaneSet::EVENT {
                got.sort_unstable();
                assert!(got.windows(2).all(|pair| pair[0] != pair[1]), "once: seed {seed}");
                assert!(!whole || got.len() as u32 == self.sent[index], "all events: seed {seed}");
            } else {
                let expected = if whole { self.sent[index] } else { got.len() as u32 };
                assert_eq!(got, (0..expected).collect::<Vec<_>>(), "{lane:?}: seed {seed}");
            }
        }
        assert!(!whole || self.keys == self.answered, "every receipt: seed {seed}");
    }
}

struct Run {
    world: World,
    luck: Luck,
    peer: usize,
    name: ConnectionId,
    down: Ledger,
    up: Ledger,
    next_key: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut world = World::standard(seed);
        let config = match seed % 3 {
            0 => ClientConfig::default(),
            _ => ClientConfig { seed: Some([seed as u8; 32]), ..ClientConfig::default() },
        };
        let peer = world.join(config, link(10, 0.05), link(10, 0.05));
        let name = world.await_connection(peer);
        world.events.clear();
        world.peers[peer].events.clear();
        let luck = Luck(SeedEntropy::from_number(seed));
        Self { world, luck, peer, name, down: Ledger::default(), up: Ledger::default(), next_key: 0 }
    }

    fn link(&mut self) -> LinkConfig {
        let luck = &mut self.luck;
        let probability = |luck: &mut Luck, percent: u64| luck.below(percent + 1) as f64 / 100.0;
        LinkConfig {
            latency: MS * luck.below(120) as u32,
            jitter: MS * luck.below(60) as u32,
            loss: probability(luck, 30),
            duplicate: probability(luck, 30),
            reorder: probability(luck, 20),
            reorder_delay: MS * luck.below(80) as u32,
            corrupt: probability(luck, 5),
            rate_bytes_s: [0, 0, 60_000, 400_000][luck.below(4) as usize],
            queue_bytes: 30_000,
            ..LinkConfig::default()
        }
    }

    fn send(&mut self, from_server: bool) {
        let index = self.luck.below(LANES.len() as u64) as usize;
        let len = match self.luck.below(20) {
            0 => self.luck.below(60_000),
            1..5 => self.luck.below(5_000),
            _ => self.luck.below(400),
        };
        let ledger = if from_server { &mut self.down } else { &mut self.up };
        let bytes = numbered(ledger.sent[index], len.min(16_000) as usize);
        ledger.sent[index] += 1;
        let receipt = (self.luck.below(2) == 0).then(|| {
            self.next_key += 1;
            ledger.keys.insert(self.next_key);
            self.next_key
        });
        if from_server {
            self.world.server_send(self.name, LANES[index], &bytes, receipt);
        } else {
            self.world.client_send(self.peer, LANES[index], &bytes, receipt);
        }
        self.take();
    }

    fn take(&mut self) {
        let (server, client) = (&mut self.world.events, &mut self.world.peers[self.peer].events);
        // Each end's events are its own receipts and the other's messages.
        self.down.take(server, client);
        self.up.take(client, server);
    }

    fn junk(&mut self) {
        let mut datagram: Vec<u8> = (0..self.luck.below(1_300)).map(|_| self.luck.below(256) as u8).collect();
        let (now, from) = (self.world.now, self.world.peers[self.peer].address);
        if let (true, Some(first)) = (self.luck.below(2) == 0, datagram.first_mut()) {
            *first = [0x55, 0x57, 0x47, 0x87, 0x97, 0x00, 0x35][self.luck.below(7) as usize];
        }
        self.world.server.handle(now, from, &mut datagram.clone(), &mut self.world.events);
        let peer = &mut self.world.peers[self.peer];
        peer.shard.handle(now, world::server_address(), &mut datagram, &mut peer.events);
    }

    fn operate(&mut self) {
        match self.luck.below(20) {
            0..=6 => self.send(true),
            7..=11 => self.send(false),
            12 => {
                let link = self.link();
                self.world.peers[self.peer].up.set_config(link);
            }
            13 => {
                let link = self.link();
                self.world.peers[self.peer].down.set_config(link);
            }
            14 => self.junk(),
            15 if self.world.server.counters().extended > 0 => {
                let host = self.luck.below(200) as u8;
                self.world.peers[self.peer].address = SocketAddr::from(([10, 0, 7, host], 9));
            }
            _ => {
                self.world.server_flush();
                self.world.client_flush(self.peer);
                let time = MS * self.luck.below(40) as u32;
                self.world.run(time);
                self.take();
            }
        }
    }
}

fn runs() -> u64 {
    std::env::var("TIDELOCK_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS)
}

// N-3, N-3b, N-9, N-13: whatever happens to a connection that lives, its reliable lanes lose, repeat and disorder nothing.
#[test]
fn lanes_keep_their_promises_through_any_sequence() {
    for seed in 0..runs() {
        let mut run = Run::new(seed);
        for _ in 0..OPERATIONS {
            run.operate();
        }
        run.down.check(false, seed);
        run.up.check(false, seed);
        run.world.set_links(run.peer, link(10, 0.0));
        for _ in 0..400 {
            run.world.server_flush();
            run.world.client_flush(run.peer);
            run.world.run(50 * MS);
            run.take();
        }
        run.down.check(true, seed);
        run.up.check(true, seed);
        assert!(run.world.server.stats(run.name).is_some(), "alive: seed {seed}");
        let faults = run.world.server.stats(run.name).map(|stats| stats.faults);
        assert_eq!(faults, Some(0), "the peer is blameless: seed {seed}");
    }
}

// N-3b, N-8: a connection ended at any moment answers every receipt and says why.
#[test]
fn any_moment_may_be_the_last() {
    for seed in 0..runs() {
        let mut run = Run::new(seed);
        for _ in 0..20 + seed % 100 {
            run.operate();
        }
        // A peer that has just moved is found first.
        run.world.set_links(run.peer, link(10, 0.0));
        run.world.run(Duration::from_millis(1_200));
        run.take();
        let link = run.link();
        run.world.peers[run.peer].up.set_config(link);
        let (connection, code) = (run.name, DisconnectCode::Kicked);
        let egress = Egress::Disconnect { connection, code, text: "go".into() };
        run.world.server.apply(run.world.now, egress, &mut run.world.events);
        let bytes = Span::from(vec![1; 10]);
        let late = Egress::Send { connection, lane: LaneSet::STATE, bytes, receipt: None };
        run.world.server.apply(run.world.now, late, &mut run.world.events);
        let refused = run.world.events.iter().filter(|event| matches!(event, Ingress::Blocked { .. })).count();
        assert_eq!(refused, 1);
        for (key, _) in world::take_receipts(&mut run.world.events) {
            assert!(run.down.answered.insert(key), "once: seed {seed}");
        }
        assert_eq!(run.down.keys, run.down.answered, "seed {seed}");
        run.world.run(Duration::from_secs(12));
        let told = run.world.peers[run.peer].events.iter().rev().find_map(|event| match event {
            Ingress::Disconnected { reason, .. } => Some(reason.clone()),
            _ => None,
        });
        let text = "go".into();
        assert_eq!(told, Some(DisconnectReason::Remote { code, text }), "seed {seed}");
        assert_eq!(run.world.server.connected(), 0);
    }
}
