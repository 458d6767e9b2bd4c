//! A link that several connections share, each with a long transfer.

use std::time::Duration;

use tidelock_net::emulator::{Link, LinkConfig};
use tidelock_net::{ClientConfig, ConnectionId};

use super::{MS, World, link};

/// A shared link, and the flows over it.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// The shared link.
    pub link: LinkConfig,
    /// Each flow: when it joins after the first, and latency of its own each way.
    pub flows: Vec<(Duration, Duration)>,
    /// Length of the messages that each sends without end.
    pub message_bytes: usize,
    pub seed: u64,
}

/// What became of it, in each second.
#[derive(Debug, Default)]
pub struct Shared {
    /// Bytes of each flow that arrived, headers included.
    pub seconds: Vec<Vec<u64>>,
    /// How long the shared queue was, each step.
    pub queue: Vec<Duration>,
}

impl Bottleneck {
    /// Flows of equal latency that join within a second of each other, at a rate with a queue of 200 ms.
    pub fn even(flows: u32, rate_bytes_s: u64, latency_ms: u32, message_bytes: usize, seed: u64) -> Self {
        let queue_bytes = (rate_bytes_s / 5).max(12_000);
        let config = LinkConfig { rate_bytes_s, queue_bytes, ..LinkConfig::default() };
        // Equal links treat equal seeds equally: what differs is when each joins.
        let joins = |flow: u32| MS * (flow * (137 + 61 * (seed as u32 % 11)) % 1_000);
        let flows = (0..flows).map(|flow| (joins(flow), MS * latency_ms)).collect();
        Self { link: config, flows, message_bytes, seed }
    }

    /// Lets all flows run for `seconds` after the last joined; `change` may change the link each second.
    pub fn run(&self, seconds: usize, change: impl Fn(usize, &mut LinkConfig)) -> Shared {
        let mut world = World::standard(self.seed);
        world.shared = Some(Link::new(self.link, self.seed));
        let started = world.now;
        let mut names: Vec<ConnectionId> = vec![];
        let (mut shared, mut before) = (Shared::default(), vec![0; self.flows.len()]);
        let last = self.flows.iter().map(|(joins, _)| *joins).max().unwrap_or_default();
        let end = started + last + Duration::from_secs(seconds as u64);
        let message = vec![1; self.message_bytes];
        let mut step = 0;
        while world.now < end {
            if let Some((joins, latency)) = self.flows.get(world.peers.len())
                && world.now >= started + *joins
            {
                let own = link(latency.as_millis() as u64, 0.0);
                world.join(ClientConfig::default(), own, own);
            }
            if names.len() < world.peers.len() {
                names.extend(world.connected_name(names.len()));
            }
            if step % 16 == 0 {
                for &name in &names {
                    world.fill_bulk(name, &message);
                }
                world.server_flush();
                world.events.clear();
            }
            world.step();
            world.peers.iter_mut().for_each(|peer| peer.events.clear());
            shared.queue.extend(world.shared.as_ref().map(|link| link.queue_delay(world.now)));
            step += 1;
            if step % 1_000 == 0 {
                let bytes: Vec<u64> = (0..world.peers.len()).map(|peer| world.client_bytes(peer)).collect();
                let per_flow = (0..self.flows.len()).map(|flow| {
                    let bytes = bytes.get(flow).copied().unwrap_or(0);
                    bytes - std::mem::replace(&mut before[flow], bytes)
                });
                shared.seconds.push(per_flow.collect());
                let mut config = self.link;
                change(step / 1_000, &mut config);
                world.shared.as_mut().expect("set above").set_config(config);
            }
        }
        shared
    }
}

impl Shared {
    /// Bytes of each flow in some of the seconds.
    pub fn bytes(&self, seconds: std::ops::Range<usize>) -> Vec<u64> {
        let flows = self.seconds[0].len();
        (0..flows).map(|flow| self.seconds[seconds.clone()].iter().map(|bytes| bytes[flow]).sum()).collect()
    }

    /// Share of each flow in some of the seconds.
    pub fn shares(&self, seconds: std::ops::Range<usize>) -> Vec<f64> {
        let bytes = self.bytes(seconds);
        let all: u64 = bytes.iter().sum();
        bytes.iter().map(|bytes| *bytes as f64 / all.max(1) as f64).collect()
    }

    /// The queue's percentile from a second on.
    pub fn queue(&self, from: usize, percent: usize) -> Duration {
        let mut times = self.queue[from * 1_000..].to_vec();
        times.sort_unstable();
        times.get(times.len() * percent / 100).copied().unwrap_or_default()
    }
}

/// Jain's index: 1 if all have the same, 1 / n if one has all.
pub fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    sum * sum / (shares.len() as f64 * squares)
}
