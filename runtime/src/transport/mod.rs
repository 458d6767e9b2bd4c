//! How a server or client reaches its shard: polled inline, on a network thread of its own, or in virtual time.

mod network_thread;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tidelock_net::io::Driver;
use tidelock_net::{Egress, Ingress, Shard};

use crate::testing::VirtualPort;

pub(crate) use network_thread::NetworkThread;

/// A shard and whatever moves its datagrams. None of its calls blocks.
pub(crate) enum Transport<S: Shard> {
    /// A socket polled by the caller's own thread. The shard's time begins with the first poll.
    Inline { driver: Box<Driver<S>>, start: Option<Duration> },
    /// A socket with a thread of its own, behind bounded lock-free channels.
    Threaded(NetworkThread),
    /// No socket: links of the virtual network.
    Virtual(Box<VirtualPort<S>>),
}

impl<S: Shard + Send + 'static> Transport<S> {
    /// Binds `address` and serves it on a thread of its own, or inline when `threaded` is false.
    pub(crate) fn bind(address: SocketAddr, shard: S, threaded: bool) -> io::Result<Self> {
        let driver = Driver::bind(address, shard)?;
        Ok(if threaded {
            Self::Threaded(NetworkThread::spawn(driver)?)
        } else {
            Self::Inline { driver: Box::new(driver), start: None }
        })
    }

    /// The address datagrams arrive at.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        match self {
            Self::Inline { driver, .. } => driver.local_addr(),
            Self::Threaded(thread) => thread.local_addr(),
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
            Self::Threaded(thread) => thread.receive(ingress),
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
            Self::Threaded(thread) => thread.send(egress),
            Self::Virtual(port) => {
                port.send(now, egress, ingress);
                Ok(())
            }
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
