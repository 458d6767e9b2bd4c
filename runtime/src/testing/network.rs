use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidelock_net::emulator::{Link, LinkConfig, LinkStats};
use tidelock_net::{Egress, Ingress, Shard};

/// Datagrams between addresses, without sockets and in virtual time: one seeded [`Link`] per direction and pair.
///
/// Cheap to clone; clones are the same network.
#[derive(Clone, Debug)]
pub struct VirtualNetwork(Arc<Mutex<Links>>);

#[derive(Debug)]
struct Links {
    seed: u64,
    default: LinkConfig,
    /// By receiver, then sender, so that receivers see senders in a fixed order.
    links: BTreeMap<(SocketAddr, SocketAddr), Link>,
    configs: BTreeMap<(SocketAddr, SocketAddr), LinkConfig>,
}

impl VirtualNetwork {
    /// A network all of whose links are alike until told otherwise; equal seeds treat equal traffic equally.
    #[must_use]
    pub fn new(default: LinkConfig, seed: u64) -> Self {
        let links = Links { seed, default, links: BTreeMap::new(), configs: BTreeMap::new() };
        Self(Arc::new(Mutex::new(links)))
    }

    /// Changes the link from one address to another, for datagrams sent from now on.
    pub fn set_link(&self, from: SocketAddr, to: SocketAddr, config: LinkConfig) {
        let mut links = self.0.lock();
        links.configs.insert((to, from), config);
        if let Some(link) = links.links.get_mut(&(to, from)) {
            link.set_config(config);
        }
    }

    /// Changes both directions between two addresses.
    pub fn set_path(&self, one: SocketAddr, other: SocketAddr, config: LinkConfig) {
        self.set_link(one, other, config);
        self.set_link(other, one, config);
    }

    /// What a link did so far; zeros when nothing was sent on it.
    #[must_use]
    pub fn stats(&self, from: SocketAddr, to: SocketAddr) -> LinkStats {
        self.0.lock().links.get(&(to, from)).map(Link::stats).unwrap_or_default()
    }

    fn send(&self, now: Duration, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        let mut links = self.0.lock();
        let config = links.configs.get(&(to, from)).copied().unwrap_or(links.default);
        let seed = links.seed ^ u64::from(from.port()) << 32 ^ u64::from(to.port()) << 48 ^ u64::from(to.port());
        links.links.entry((to, from)).or_insert_with(|| Link::new(config, seed)).push(now, datagram);
    }

    fn deliver(&self, now: Duration, to: SocketAddr, mut take: impl FnMut(SocketAddr, &mut [u8])) {
        let mut due = Vec::new();
        {
            let mut links = self.0.lock();
            for ((receiver, sender), link) in links.links.range_mut((to, SocketAddr::from(([0, 0, 0, 0], 0)))..) {
                if *receiver != to {
                    break;
                }
                while let Some(datagram) = link.pop(now) {
                    due.push((*sender, datagram));
                }
            }
        }
        for (sender, mut datagram) in due {
            take(sender, &mut datagram);
        }
    }
}

/// A shard's place in a [`VirtualNetwork`].
#[derive(Debug)]
pub struct VirtualPort<S: Shard> {
    shard: S,
    address: SocketAddr,
    network: VirtualNetwork,
}

impl<S: Shard> VirtualPort<S> {
    /// Gives `shard` an address in `network`. Two shards at one address would take each other's datagrams.
    #[must_use]
    pub fn new(shard: S, address: SocketAddr, network: VirtualNetwork) -> Self {
        Self { shard, address, network }
    }

    /// Its address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The shard.
    #[must_use]
    pub fn shard(&self) -> &S {
        &self.shard
    }

    /// Takes the datagrams due at `now` and answers what must be answered.
    pub fn receive(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        let Self { shard, address, network } = self;
        network.deliver(now, *address, |from, datagram| shard.handle(now, from, datagram, ingress));
        shard.advance(now, ingress);
        self.transmit(now);
    }

    /// Carries out and drains `egress` and sends what may be sent.
    pub fn send(&mut self, now: Duration, egress: &mut Vec<Egress>, ingress: &mut Vec<Ingress>) {
        for wish in egress.drain(..) {
            self.shard.apply(now, wish, ingress);
        }
        self.transmit(now);
    }

    fn transmit(&mut self, now: Duration) {
        let (network, address) = (&self.network, self.address);
        self.shard.transmit(now, &mut |to, datagram| network.send(now, address, to, datagram));
    }
}
