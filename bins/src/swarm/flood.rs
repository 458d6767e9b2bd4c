use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tidelock::net::io::{Driver, thread_time};
use tidelock::net::{Counters, Egress, Ingress, Shard};

use super::junk::Junk;
use crate::failure::Failure;

/// Sockets it comes from, so that the server sees several addresses.
const SOCKETS: u8 = 16;
/// How often it sends what is due.
const BEAT: Duration = Duration::from_millis(1);
/// Beats whose datagrams are sent at once at most: what a busy machine had no time for is not sent later.
const MOST_BEATS: f64 = 20.0;

/// Junk that somebody sends the server while others play.
pub(crate) struct Flood {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Flooded>,
}

/// What was sent, and the processor time it took to send: with what the kernel did to deliver it, on loopback.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flooded {
    pub(crate) datagrams: u64,
    pub(crate) time: Duration,
}

impl Flood {
    /// Sends `rate` datagrams a second from now on, some of them in the name of the server's first `players` connections.
    pub(crate) fn start(to: SocketAddr, rate: u32, players: u16, seed: u64) -> Result<Self, Failure> {
        let sources: Vec<_> = (0..SOCKETS)
            .map(|number| source(to, number, Junk::new(seed + u64::from(number), players)))
            .collect::<std::io::Result<_>>()
            .map_err(Failure::system("no sockets for the junk"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("junk".into())
            .spawn(move || flood(sources, rate, &told))
            .map_err(Failure::system("no thread for the junk"))?;
        Ok(Self { stop, thread })
    }

    /// Stops, and says what was sent.
    pub(crate) fn end(self) -> Flooded {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

/// Somebody who sends junk and takes nothing.
struct Source {
    to: SocketAddr,
    junk: Junk,
    /// Datagrams to send at the next opportunity.
    due: u64,
    /// Nothing is counted here.
    counters: Counters,
}

/// A socket of an address range of its own, where the system has some to give.
fn source(to: SocketAddr, number: u8, junk: Junk) -> std::io::Result<Driver<Source>> {
    let source = || Source { to, junk: junk.clone(), due: 0, counters: Counters::default() };
    let any = match to {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => "[::]:0".parse().expect("a constant address"),
    };
    if to.is_ipv4() && to.ip().is_loopback() {
        let own = SocketAddr::from(([127, 66, number, 1], 0));
        return Driver::bind(own, source()).or_else(|_| Driver::bind(any, source()));
    }
    Driver::bind(any, source())
}

impl Shard for Source {
    fn handle(&mut self, _: Duration, _: SocketAddr, _: &mut [u8], _: &mut Vec<Ingress>) {}

    fn apply(&mut self, _: Duration, _: Egress, _: &mut Vec<Ingress>) {}

    fn advance(&mut self, _: Duration, _: &mut Vec<Ingress>) {}

    fn transmit(&mut self, _: Duration, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        for _ in 0..std::mem::take(&mut self.due) {
            out(self.to, self.junk.draw());
        }
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn next_timeout(&self) -> Option<Duration> {
        None
    }
}

fn flood(mut sources: Vec<Driver<Source>>, rate: u32, stop: &AtomicBool) -> Flooded {
    let (begun, mut told, mut turn) = (Instant::now(), 0, 0);
    let most = (MOST_BEATS * BEAT.as_secs_f64() * f64::from(rate)).ceil() as u64;
    let (mut wishes, mut heard) = (Vec::new(), Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let due = (begun.elapsed().as_secs_f64() * f64::from(rate)) as u64;
        let source = &mut sources[turn];
        source.shard_mut().due = (due - told).min(most);
        (told, turn) = (due, (turn + 1) % usize::from(SOCKETS));
        // What the kernel has no room for was not sent, and is not sent again.
        let _ = source.poll(begun.elapsed(), Some(Duration::ZERO), &mut wishes, &mut heard);
        thread::sleep(BEAT);
    }
    Flooded { datagrams: sources.iter().map(|source| source.counters().sent).sum(), time: thread_time() }
}
