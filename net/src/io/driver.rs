//! A shard on a UDP socket.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};

use crate::event::{Egress, Ingress};
use crate::io::exchange::Exchange;
use crate::io::outbox::{Flushed, Outbox};
use crate::io::port;
use crate::shard::Shard;

/// Buffers of one receive call, each for one datagram or a train of them from one sender.
const RECEIVES: usize = 32;
/// Bytes of each: the longest train, and some cache lines so that not all of them begin in the same set of a cache.
const RECEIVE_BYTES: usize = (1 << 16) + 5 * 64;
/// Receive calls of one poll at most, and datagrams after which it makes no further one: what is to be sent waits meanwhile.
const RECEIVE_CALLS: usize = 16;
const RECEIVED: u64 = 2_048;
/// Parcels of other drivers taken at once at most.
const PARCELS: usize = 4_096;
/// Size asked for the socket's own buffers.
const SOCKET_BYTES: usize = 4 << 20;

const SOCKET: Token = Token(0);
const WAKER: Token = Token(1);

/// Joins a shard to its UDP socket. Trains of datagrams to or from one peer pass the kernel at once where it can, single ones are
/// sent in batches.
pub struct Driver<S: Shard> {
    shard: S,
    poll: Poll,
    events: Events,
    waker: Waker,
    socket: UdpSocket,
    state: UdpSocketState,
    address: SocketAddr,
    outbox: Outbox,
    buffer: Vec<u8>,
    /// Whether the socket may hold more datagrams, though it will not say so again.
    readable: bool,
    /// The way to the other drivers of its set.
    exchange: Option<Exchange>,
    counters: DriverCounters,
}

/// What a driver did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverCounters {
    /// Datagrams sent.
    pub sent: u64,
    /// System calls that took for it.
    pub send_calls: u64,
    /// Datagrams the socket had no room for or refused.
    pub dropped: u64,
    /// Datagrams received.
    pub received: u64,
    /// System calls that took for it, the ones that found nothing included.
    pub receive_calls: u64,
    /// Parcels for other drivers of the set for which there was no room.
    pub parcels_dropped: u64,
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
    /// Binds a socket to `address` (port 0 lets the system choose) and gives it to `shard`. An IPv6 address that is unspecified
    /// serves IPv4 too where the system allows it.
    ///
    /// # Errors
    /// Those of the operating system, such as an address in use.
    pub fn bind(address: SocketAddr, shard: S) -> io::Result<Self> {
        Self::new(port::bind(address)?, shard)
    }

    /// Binds a socket to the same `address` for each shard of a set (see [`ServerShard::set`](crate::ServerShard::set)) and joins
    /// the drivers by bounded queues. The kernel spreads clients over the sockets; a datagram that comes to another than its
    /// connection's is handed over. Each driver may be polled on a thread of its own; it is woken for what it is handed.
    ///
    /// # Errors
    /// Those of the operating system; [`Unsupported`](io::ErrorKind::Unsupported) for more than one shard outside Linux;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) without shards.
    pub fn bind_set(address: SocketAddr, shards: Vec<S>) -> io::Result<Vec<Self>> {
        let mut shards = shards.into_iter();
        let first = shards.next().ok_or(io::ErrorKind::InvalidInput)?;
        if shards.len() == 0 {
            return Ok(vec![Self::bind(address, first)?]);
        }
        let first = Self::new(port::bind_shared(address)?, first)?;
        let address = first.address;
        let mut drivers = vec![first];
        for shard in shards {
            drivers.push(Self::new(port::bind_shared(address)?, shard)?);
        }
        let wakers: Vec<_> = drivers.iter().map(Self::waker).collect();
        for (driver, exchange) in drivers.iter_mut().zip(Exchange::between(&wakers)) {
            driver.exchange = Some(exchange);
        }
        Ok(drivers)
    }

    fn new(mut socket: UdpSocket, shard: S) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // Smaller buffers work too; the system's limit holds.
        let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES);
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE)?;
        let waker = Waker(Arc::new(mio::Waker::new(poll.registry(), WAKER)?));
        let address = socket.local_addr()?;
        Ok(Self {
            shard,
            poll,
            events: Events::with_capacity(4),
            waker,
            socket,
            state,
            address,
            outbox: Outbox::new(address.is_ipv6()),
            buffer: vec![0; RECEIVES * RECEIVE_BYTES],
            readable: true,
            exchange: None,
            counters: DriverCounters::default(),
        })
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
        self.waker.clone()
    }

    /// Whether the system may cut datagrams that are too long for their path into fragments. It may not where it can be told so:
    /// on Linux, macOS and Windows among others.
    #[must_use]
    pub fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }

    /// What passed through the socket.
    #[must_use]
    pub fn counters(&self) -> DriverCounters {
        self.counters
    }

    /// Carries out and drains `egress`, sends what may be sent, waits for datagrams until the shard's next timeout, the waker or
    /// `timeout` (`None` waits for ever, zero not at all), and appends what came to `ingress`. `now` is the caller's clock at the
    /// call; time spent within is added to it.
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
        let entered = Instant::now();
        self.shard.apply_all(now, egress, ingress);
        self.take_parcels(now, ingress);
        self.reckon(now, ingress);
        self.wait(now, timeout)?;
        self.take_parcels(now + entered.elapsed(), ingress);
        if self.readable {
            let now = now + entered.elapsed();
            self.receive(now, ingress)?;
        }
        self.reckon(now + entered.elapsed(), ingress);
        Ok(())
    }

    /// Takes what other drivers of the set handed over.
    fn take_parcels(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        for _ in 0..PARCELS {
            let Some(parcel) = self.exchange.as_mut().and_then(Exchange::take) else { break };
            self.shard.arrive(now, parcel, ingress);
        }
    }

    /// Hands over what belongs to other drivers of the set.
    fn give_parcels(&mut self) {
        let Some(exchange) = &mut self.exchange else { return };
        exchange.retry();
        while let Some((to, parcel)) = self.shard.depart() {
            self.counters.parcels_dropped += u64::from(!exchange.give(to, parcel));
        }
        exchange.wake();
    }

    /// Lets the shard's time pass, hands over and sends what may be sent.
    fn reckon(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        self.give_parcels();
        self.shard.advance(now, ingress);
        let (outbox, socket, state) = (&mut self.outbox, &self.socket, &self.state);
        let mut flushed = Flushed::default();
        self.shard.transmit(now, &mut |to, datagram| {
            // What was just written is still in the nearest cache.
            if outbox.is_full_for(to) {
                flushed.add(outbox.flush(socket, state));
            }
            outbox.push(to, datagram);
        });
        flushed.add(outbox.flush(socket, state));
        self.counters.sent += flushed.sent;
        self.counters.send_calls += flushed.calls;
        self.counters.dropped += flushed.dropped;
    }

    fn wait(&mut self, now: Duration, timeout: Option<Duration>) -> io::Result<()> {
        let due = self.shard.next_timeout().map(|due| due.saturating_sub(now));
        let wait = match (due, timeout) {
            _ if self.readable => Some(Duration::ZERO),
            (Some(due), Some(timeout)) => Some(due.min(timeout)),
            (due, timeout) => due.or(timeout),
        };
        if self.readable && timeout == Some(Duration::ZERO) {
            return Ok(());
        }
        match self.poll.poll(&mut self.events, wait) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => outcome?,
        }
        self.readable |= self.events.iter().any(|event| event.token() == SOCKET);
        Ok(())
    }

    /// Takes datagrams until there are none or the poll has taken its share.
    fn receive(&mut self, now: Duration, ingress: &mut Vec<Ingress>) -> io::Result<()> {
        let mut metas = [RecvMeta::default(); RECEIVES];
        let enough = self.counters.received + RECEIVED;
        for _ in 0..RECEIVE_CALLS {
            if self.counters.received >= enough {
                break;
            }
            self.counters.receive_calls += 1;
            let mut chunks = self.buffer.chunks_exact_mut(RECEIVE_BYTES);
            let mut slices: [IoSliceMut<'_>; RECEIVES] =
                std::array::from_fn(|_| IoSliceMut::new(chunks.next().expect("the buffer has a chunk for each")));
            let count = match self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut metas) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.readable = false;
                    return Ok(());
                }
                // An earlier datagram could not be delivered; nothing is wrong with the socket.
                Err(error) if is_passing(&error) => continue,
                Err(error) => return Err(error),
            };
            let trains = metas[..count].iter().zip(self.buffer.chunks_exact_mut(RECEIVE_BYTES));
            self.counters.received +=
                metas[..count].iter().map(|meta| meta.len.div_ceil(meta.stride.max(1)) as u64).sum::<u64>();
            let mut datagrams = trains.flat_map(|(meta, chunk)| {
                let from = canonical(meta.addr);
                chunk[..meta.len].chunks_mut(meta.stride.max(1)).map(move |datagram| (from, datagram))
            });
            self.shard.handle_batch(now, &mut datagrams, ingress);
        }
        Ok(())
    }
}

/// An IPv4 address as such, though an IPv6 socket tells it in its mapped form.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(_) => address,
        SocketAddr::V6(v6) => SocketAddr::new(v6.ip().to_canonical(), v6.port()),
    }
}

/// Whether an error of a receive call says nothing about the next.
pub(super) fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | ConnectionReset | HostUnreachable | Interrupted | NetworkUnreachable)
}
