//! How a server or client reaches its shard: polled inline, on a network thread of its own, or in virtual time.

mod backlog;
mod network_thread;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::io::Driver;
use tidelock_net::{Counters, Egress, Ingress, Shard};

use crate::clock::SystemClock;
use crate::testing::VirtualPort;

pub(crate) use network_thread::NetworkThread;

/// A shard and whatever moves its datagrams. None of its calls blocks.
pub(crate) enum Transport<S: Shard> {
    /// A socket polled by the caller's own thread. The shard's time begins with the first poll.
    Inline { driver: Box<Driver<S>>, start: Option<Duration> },
    /// Sockets on one address, each with a shard and a thread of its own, behind bounded lock-free channels.
    Threaded(Vec<NetworkThread>),
    /// No socket: links of the virtual network.
    Virtual(Box<VirtualPort<S>>),
}

impl<S: Shard + Send + 'static> Transport<S> {
    /// Binds `address` for a caller that polls it.
    pub(crate) fn bind_inline(address: SocketAddr, shard: S) -> io::Result<Self> {
        Ok(Self::Inline { driver: Box::new(Driver::bind(address, shard)?), start: None })
    }

    /// Binds a socket to `address` for each shard, and serves each on a thread of its own. `clock` is the one the shards were
    /// made by.
    pub(crate) fn bind_threads(address: SocketAddr, shards: Vec<S>, clock: SystemClock) -> io::Result<Self> {
        let drivers = Driver::bind_set(address, shards)?;
        let threads = drivers.into_iter().map(|driver| NetworkThread::spawn(driver, clock));
        Ok(Self::Threaded(threads.collect::<io::Result<_>>()?))
    }

    /// The address datagrams arrive at.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        match self {
            Self::Inline { driver, .. } => driver.local_addr(),
            Self::Threaded(threads) => threads[0].local_addr(),
            Self::Virtual(port) => port.local_addr(),
        }
    }

    /// Appends what has come since the last call.
    ///
    /// # Errors
    ///
    /// Those of the socket as a whole, and `BrokenPipe` when the network thread has ended.
    pub(crate) fn receive(&mut self, now: Duration, ingress: &mut Vec<Ingress>) -> io::Result<()> {
        match self {
            Self::Inline { driver, start } => {
                let now = now.saturating_sub(*start.get_or_insert(now));
                driver.poll(now, Some(Duration::ZERO), &mut Vec::new(), ingress)
            }
            Self::Threaded(threads) => threads.iter_mut().try_for_each(|thread| thread.receive(ingress)),
            Self::Virtual(port) => {
                port.receive(now, ingress);
                Ok(())
            }
        }
    }

    /// Hands over and drains `egress`; answers of the shard go to `ingress`.
    ///
    /// # Errors
    ///
    /// As [`Self::receive`].
    pub(crate) fn send(
        &mut self,
        now: Duration,
        egress: &mut Vec<Egress>,
        ingress: &mut Vec<Ingress>,
    ) -> io::Result<()> {
        match self {
            Self::Inline { driver, start } => {
                let now = now.saturating_sub(*start.get_or_insert(now));
                driver.poll(now, Some(Duration::ZERO), egress, ingress)
            }
            Self::Threaded(threads) => route(threads, egress),
            Self::Virtual(port) => {
                port.send(now, egress, ingress);
                Ok(())
            }
        }
    }

    /// What was counted by all shards together; with network threads up to a moment ago.
    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        match self {
            Self::Inline { driver, .. } => sum.add(driver.shard().counters()),
            Self::Threaded(threads) => threads.iter().for_each(|thread| sum.add(&thread.counters())),
            Self::Virtual(port) => sum.add(port.shard().counters()),
        }
        sum
    }

    /// Processor time its own threads have used, up to a moment ago.
    pub(crate) fn time(&self) -> Duration {
        match self {
            Self::Inline { .. } | Self::Virtual(_) => Duration::ZERO,
            Self::Threaded(threads) => threads.iter().map(NetworkThread::time).sum(),
        }
    }

    /// The shard, where this thread can reach it.
    pub(crate) fn shard(&self) -> Option<&S> {
        match self {
            Self::Inline { driver, .. } => Some(driver.shard()),
            Self::Threaded(_) => None,
            Self::Virtual(port) => Some(port.shard()),
        }
    }
}

/// Hands each wish to the thread of its connection's shard.
fn route(threads: &mut [NetworkThread], egress: &mut Vec<Egress>) -> io::Result<()> {
    if let [only] = threads {
        return only.send(egress);
    }
    for wish in egress.drain(..) {
        let shard = match &wish {
            Egress::Send { connection, .. }
            | Egress::Raw { connection, .. }
            | Egress::Flush { connection }
            | Egress::Disconnect { connection, .. } => usize::from(connection.shard()),
            Egress::FlushAll => {
                threads.iter_mut().for_each(|thread| thread.queue(Egress::FlushAll));
                continue;
            }
        };
        // A connection's shard is one of those it was made by.
        if let Some(thread) = threads.get_mut(shard) {
            thread.queue(wish);
        }
    }
    threads.iter_mut().try_for_each(NetworkThread::flush)
}
