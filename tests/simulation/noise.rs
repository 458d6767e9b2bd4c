use std::net::SocketAddr;
use std::time::Duration;

use tidelock::net::{Counters, Egress, Ingress, Shard};
use tidelock::testing::{VirtualNetwork, VirtualPort};

/// Somebody who sends rubbish: random bytes, and random bytes that begin as packets of the protocol do.
pub(super) struct Noise {
    port: VirtualPort<Rubbish>,
}

struct Rubbish {
    target: SocketAddr,
    state: u64,
    /// Datagrams to send at the next opportunity.
    due: usize,
    /// Rubbish counts nothing.
    counters: Counters,
}

impl Noise {
    /// Somebody at `address`, which may be another's own: then the rubbish is spoofed.
    pub(super) fn new(network: &VirtualNetwork, address: SocketAddr, target: SocketAddr, seed: u64) -> Self {
        let rubbish = Rubbish { target, state: seed, due: 0, counters: Counters::default() };
        Self { port: VirtualPort::new(rubbish, address, network.clone()) }
    }

    /// Sends `count` datagrams. What comes back is nobody's: taking it would take it from whoever is spoofed.
    pub(super) fn send(&mut self, now: Duration, count: usize) {
        let mut wishes: Vec<Egress> = (0..count).map(|_| Egress::FlushAll).collect();
        self.port.send(now, &mut wishes, &mut Vec::new());
    }
}

impl Rubbish {
    fn number(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn datagram(&mut self) -> Vec<u8> {
        let length = match self.number(4) {
            0 => self.number(32),
            1 => 1_078,
            _ => self.number(1_500),
        };
        let mut bytes: Vec<u8> = (0..length).map(|_| self.number(256) as u8).collect();
        if let Some(first) = bytes.first_mut().filter(|_| length % 3 != 0) {
            // A packet type of the standard, and a length of sequence number that it allows.
            *first = (self.number(8) | (1 + self.number(8)) << 4) as u8;
        }
        if bytes.len() == 1_078 {
            bytes[0] = 0;
            bytes[1..14].copy_from_slice(b"NETCODE 1.02\0");
        }
        bytes
    }
}

impl Shard for Rubbish {
    fn handle(&mut self, _: Duration, _: SocketAddr, _: &mut [u8], _: &mut Vec<Ingress>) {}

    fn apply(&mut self, _: Duration, _: Egress, _: &mut Vec<Ingress>) {
        self.due += 1;
    }

    fn advance(&mut self, _: Duration, _: &mut Vec<Ingress>) {}

    fn transmit(&mut self, _: Duration, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        for _ in 0..std::mem::take(&mut self.due) {
            let datagram = self.datagram();
            out(self.target, &datagram);
        }
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn next_timeout(&self) -> Option<Duration> {
        None
    }
}
