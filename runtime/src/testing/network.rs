use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidelock_net::emulator::{Link, LinkConfig, LinkStats};
use tidelock_net::entropy::{Entropy, SeedEntropy};
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
    /// The address others see, of ports that have another of their own.
    outside: BTreeMap<SocketAddr, SocketAddr>,
    /// Seeds of connections; the links' chances do not depend on it.
    entropy: SeedEntropy,
}

impl VirtualNetwork {
    /// A network all of whose links are alike until told otherwise; equal seeds treat equal traffic equally.
    #[must_use]
    pub fn new(default: LinkConfig, seed: u64) -> Self {
        let links = Links {
            seed,
            default,
            links: BTreeMap::new(),
            configs: BTreeMap::new(),
            outside: BTreeMap::new(),
            entropy: SeedEntropy::from_number(!seed),
        };
        Self(Arc::new(Mutex::new(links)))
    }

    /// Lets others see the port at `inside` at another address from now on, as when a router forgets whom it served. What is
    /// on its way to the address they saw before is lost. Links of the new address are as those of the old one were set.
    pub fn move_port(&self, inside: SocketAddr, to: SocketAddr) {
        let mut links = self.0.lock();
        let before = links.outside.insert(inside, to).unwrap_or(inside);
        let moved = |address: SocketAddr| if address == before { to } else { address };
        let theirs = links.configs.iter().filter(|((one, other), _)| *one == before || *other == before);
        let configs: Vec<_> = theirs.map(|(&(one, other), &config)| ((moved(one), moved(other)), config)).collect();
        links.configs.extend(configs);
    }

    /// Bytes nobody else is given, for the keys of one connection; the same in each run of equal calls.
    pub(crate) fn connection_seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.0.lock().entropy.fill(&mut seed);
        seed
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
        let from = links.outside.get(&from).copied().unwrap_or(from);
        let config = links.configs.get(&(to, from)).copied().unwrap_or(links.default);
        let seed = links.seed ^ u64::from(from.port()) << 32 ^ u64::from(to.port()) << 48 ^ u64::from(to.port());
        links.links.entry((to, from)).or_insert_with(|| Link::new(config, seed)).push(now, datagram);
    }

    /// What is due at an address, with its senders.
    fn deliver(&self, now: Duration, to: SocketAddr) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut due = Vec::new();
        let mut links = self.0.lock();
        let to = links.outside.get(&to).copied().unwrap_or(to);
        for ((receiver, sender), link) in links.links.range_mut((to, SocketAddr::from(([0, 0, 0, 0], 0)))..) {
            if *receiver != to {
                break;
            }
            while let Some(datagram) = link.pop(now) {
                due.push((*sender, datagram));
            }
        }
        due
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
        let mut due = network.deliver(now, *address);
        shard.handle_batch(now, &mut due.iter_mut().map(|(from, datagram)| (*from, &mut datagram[..])), ingress);
        shard.advance(now, ingress);
        self.transmit(now);
    }

    /// Carries out and drains `egress` and sends what may be sent.
    pub fn send(&mut self, now: Duration, egress: &mut Vec<Egress>, ingress: &mut Vec<Ingress>) {
        self.shard.apply_all(now, egress, ingress);
        self.transmit(now);
    }

    fn transmit(&mut self, now: Duration) {
        let (network, address) = (&self.network, self.address);
        self.shard.transmit(now, &mut |to, datagram| network.send(now, address, to, datagram));
    }
}
