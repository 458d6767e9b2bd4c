//! A real UDP relay with an emulated link in each direction.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use crate::emulator::{Link, LinkConfig};
use crate::io::driver::is_passing;

/// Clients relayed at most; datagrams of more are dropped.
const MAX_ROUTES: usize = 4_096;
/// A client unheard for so long makes room for another.
const ROUTE_LIFE: Duration = Duration::from_secs(60);
/// How often a relay on its own thread looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);
const FRONT: Token = Token(usize::MAX - 1);

/// Stands between clients and one server: clients send to the relay's address, the server sees one socket of the relay per client,
/// and datagrams pass through an emulated link in each direction.
pub struct Relay {
    poll: Poll,
    events: Events,
    front: UdpSocket,
    address: SocketAddr,
    server: SocketAddr,
    control: RelayControl,
    seed: u64,
    started: Instant,
    routes: Vec<Option<Route>>,
    by_client: HashMap<SocketAddr, usize>,
    buffer: Vec<u8>,
}

struct Route {
    client: SocketAddr,
    back: UdpSocket,
    up: Link,
    down: Link,
    heard: Duration,
}

/// Changes a running relay's links, from any thread. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RelayControl(Arc<Mutex<Links>>);

#[derive(Debug)]
struct Links {
    up: LinkConfig,
    down: LinkConfig,
    changes: u64,
}

impl RelayControl {
    /// Sets the link from the clients to the server, for datagrams that arrive from now on.
    pub fn set_up(&self, config: LinkConfig) {
        let mut links = self.links();
        links.up = config;
        links.changes += 1;
    }

    /// Sets the link from the server to the clients, for datagrams that arrive from now on.
    pub fn set_down(&self, config: LinkConfig) {
        let mut links = self.links();
        links.down = config;
        links.changes += 1;
    }

    fn links(&self) -> MutexGuard<'_, Links> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A relay on its own thread, which ends when this is dropped.
#[derive(Debug)]
pub struct RelayThread {
    address: SocketAddr,
    control: RelayControl,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RelayThread {
    /// The address clients send to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// A handle to change the links.
    #[must_use]
    pub fn control(&self) -> RelayControl {
        self.control.clone()
    }
}

impl Drop for RelayThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A relay that failed has nothing more to do.
            let _ = thread.join();
        }
    }
}

impl Relay {
    /// Binds a relay at `address` (port 0 lets the system choose) in front of `server`. `up` is the link towards the server,
    /// `down` the one towards the clients; each client has links of its own, whose luck follows from `seed`.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn bind(
        address: SocketAddr,
        server: SocketAddr,
        (up, down): (LinkConfig, LinkConfig),
        seed: u64,
    ) -> io::Result<Self> {
        let mut front = UdpSocket::bind(address)?;
        let poll = Poll::new()?;
        poll.registry().register(&mut front, FRONT, Interest::READABLE)?;
        Ok(Self {
            poll,
            events: Events::with_capacity(64),
            address: front.local_addr()?,
            front,
            server,
            control: RelayControl(Arc::new(Mutex::new(Links { up, down, changes: 0 }))),
            seed,
            started: Instant::now(),
            routes: Vec::new(),
            by_client: HashMap::new(),
            buffer: vec![0; 1 << 16],
        })
    }

    /// The address clients send to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// A handle to change the links.
    #[must_use]
    pub fn control(&self) -> RelayControl {
        self.control.clone()
    }

    /// Moves the relay to a thread of its own.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn spawn(mut self) -> io::Result<RelayThread> {
        let (address, control) = (self.address, self.control());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("relay".into())
            .spawn(move || while !stopped.load(Ordering::Relaxed) && self.poll(STOP_INTERVAL).is_ok() {})?;
        Ok(RelayThread { address, control, stop, thread: Some(thread) })
    }

    /// Moves what is due and waits at most `timeout` for more.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn poll(&mut self, timeout: Duration) -> io::Result<()> {
        let now = self.started.elapsed();
        let due = self.routes.iter().flatten().flat_map(|route| [route.up.next(), route.down.next()]).flatten().min();
        let wait = due.map_or(timeout, |due| due.saturating_sub(now).min(timeout));
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => outcome?,
        }
        let now = self.started.elapsed();
        self.follow_control();
        // A socket that is not drained says nothing again, so all that speak are.
        let spoke: Vec<usize> = self.events.iter().map(|event| event.token().0).collect();
        for token in spoke {
            if token == FRONT.0 { self.receive_front(now)? } else { self.receive_back(now, token)? }
        }
        (0..self.routes.len()).for_each(|index| self.deliver(now, index));
        Ok(())
    }

    /// Applies what the control was told to every route.
    fn follow_control(&mut self) {
        let mut links = self.control.links();
        if std::mem::take(&mut links.changes) == 0 {
            return;
        }
        for route in self.routes.iter_mut().flatten() {
            route.up.set_config(links.up);
            route.down.set_config(links.down);
        }
    }

    fn receive_front(&mut self, now: Duration) -> io::Result<()> {
        while let Some((bytes, client)) = receive(&self.front, &mut self.buffer)? {
            let index = match self.by_client.get(&client) {
                Some(&index) => index,
                None => match self.open_route(now, client)? {
                    Some(index) => index,
                    None => continue,
                },
            };
            if let Some(route) = &mut self.routes[index] {
                route.heard = now;
                route.up.push(now, &self.buffer[..bytes]);
            }
        }
        Ok(())
    }

    fn receive_back(&mut self, now: Duration, index: usize) -> io::Result<()> {
        let Some(Some(route)) = self.routes.get_mut(index) else { return Ok(()) };
        while let Some((bytes, from)) = receive(&route.back, &mut self.buffer)? {
            if from == self.server {
                route.down.push(now, &self.buffer[..bytes]);
            }
        }
        Ok(())
    }

    /// Sends what has passed the links. What a socket refuses is lost, as on the way.
    fn deliver(&mut self, now: Duration, index: usize) {
        let Some(route) = &mut self.routes[index] else { return };
        while let Some(datagram) = route.up.pop(now) {
            let _ = route.back.send_to(&datagram, self.server);
        }
        while let Some(datagram) = route.down.pop(now) {
            let _ = self.front.send_to(&datagram, route.client);
        }
    }

    fn open_route(&mut self, now: Duration, client: SocketAddr) -> io::Result<Option<usize>> {
        let stale = |route: &Route| route.heard + ROUTE_LIFE < now;
        let index = match self.routes.iter().position(|route| route.as_ref().is_none_or(stale)) {
            Some(index) => index,
            None if self.routes.len() < MAX_ROUTES => self.routes.len(),
            None => return Ok(None),
        };
        let any: SocketAddr =
            if self.server.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
        let mut back = UdpSocket::bind(any)?;
        self.poll.registry().register(&mut back, Token(index), Interest::READABLE)?;
        let links = self.control.links();
        let seed = self.seed.wrapping_add(index as u64 * 2);
        let (up, down) = (Link::new(links.up, seed), Link::new(links.down, seed + 1));
        drop(links);
        let route = Route { client, back, up, down, heard: now };
        if index == self.routes.len() {
            self.routes.push(Some(route));
        } else if let Some(old) = self.routes[index].replace(route) {
            self.by_client.remove(&old.client);
        }
        self.by_client.insert(client, index);
        Ok(Some(index))
    }
}

/// One datagram, or `None` if there is none.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
    loop {
        match socket.recv_from(buffer) {
            Ok(received) => return Ok(Some(received)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
}
