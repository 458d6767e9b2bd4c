use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
use parking_lot::Mutex;
use tidelock_net::io::{Driver, Waker, thread_time};
use tidelock_net::{Counters, Egress, Ingress, Shard};

use super::backlog::Backlog;
use crate::clock::SystemClock;

/// Batches that wait in either direction at most. A tick makes one batch each way, so this is a second's worth.
const QUEUED_BATCHES: usize = 64;
/// How often the thread says what it has counted.
const COUNTS_EVERY: Duration = Duration::from_millis(100);
/// Longest wait for datagrams, so that a lost wake-up or a stop costs little.
const MAX_WAIT: Duration = Duration::from_millis(20);
/// How long a stopped thread goes on, so that farewells leave as often as they are repeated.
const LINGER: Duration = Duration::from_millis(350);

/// A thread that owns one shard and its socket whole (N-10). Ends when dropped.
pub(crate) struct NetworkThread {
    address: SocketAddr,
    waker: Waker,
    egress: Sender<Vec<Egress>>,
    /// Wishes not handed over yet, in order.
    overflow: Vec<Egress>,
    spare_egress: Receiver<Vec<Egress>>,
    ingress: Receiver<Vec<Ingress>>,
    spare_ingress: Sender<Vec<Ingress>>,
    backlog: Arc<Backlog>,
    stop: Arc<AtomicBool>,
    told: Arc<Mutex<Told>>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread says of itself.
#[derive(Default)]
struct Told {
    counters: Counters,
    /// Processor time it has used.
    time: Duration,
}

/// The thread's side of the channels.
struct Worker<S: Shard> {
    driver: Driver<S>,
    clock: SystemClock,
    egress: Receiver<Vec<Egress>>,
    spare_egress: Sender<Vec<Egress>>,
    ingress: Sender<Vec<Ingress>>,
    spare_ingress: Receiver<Vec<Ingress>>,
    backlog: Arc<Backlog>,
    stop: Arc<AtomicBool>,
    told: Arc<Mutex<Told>>,
    counts_due: Duration,
}

impl NetworkThread {
    /// Starts a thread for `driver`, on the clock its shard was made by.
    pub(crate) fn spawn<S: Shard + Send + 'static>(driver: Driver<S>, clock: SystemClock) -> io::Result<Self> {
        let (egress, egress_in) = bounded(QUEUED_BATCHES);
        let (spare_egress_out, spare_egress) = bounded(QUEUED_BATCHES);
        let (ingress_out, ingress) = bounded(QUEUED_BATCHES);
        let (spare_ingress, spare_ingress_in) = bounded(QUEUED_BATCHES);
        let backlog = Arc::<Backlog>::default();
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::<Mutex<Told>>::default();
        let (address, waker) = (driver.local_addr(), driver.waker());
        let worker = Worker {
            driver,
            clock,
            egress: egress_in,
            spare_egress: spare_egress_out,
            ingress: ingress_out,
            spare_ingress: spare_ingress_in,
            backlog: Arc::clone(&backlog),
            stop: Arc::clone(&stop),
            told: Arc::clone(&told),
            counts_due: Duration::ZERO,
        };
        let name = format!("net-{}", address.port());
        let thread = std::thread::Builder::new().name(name).spawn(move || worker.run())?;
        Ok(Self {
            address,
            waker,
            egress,
            overflow: Vec::new(),
            spare_egress,
            ingress,
            spare_ingress,
            backlog,
            stop,
            told,
            thread: Some(thread),
        })
    }

    /// The socket's address.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What its shard has counted, up to a moment ago.
    pub(crate) fn counters(&self) -> Counters {
        self.told.lock().counters.clone()
    }

    /// Processor time it has used, up to a moment ago.
    pub(crate) fn time(&self) -> Duration {
        self.told.lock().time
    }

    /// Appends what the thread has handed over.
    pub(crate) fn receive(&mut self, ingress: &mut Vec<Ingress>) -> io::Result<()> {
        loop {
            match self.ingress.try_recv() {
                Ok(mut batch) => {
                    self.backlog.take(&batch);
                    ingress.append(&mut batch);
                    // A full return channel only means that this batch is freed instead of reused.
                    drop(self.spare_ingress.try_send(batch));
                }
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    /// Hands over and drains `egress`.
    pub(crate) fn send(&mut self, egress: &mut Vec<Egress>) -> io::Result<()> {
        self.overflow.append(egress);
        self.flush()
    }

    /// Keeps a wish until the next flush.
    pub(crate) fn queue(&mut self, wish: Egress) {
        self.overflow.push(wish);
    }

    /// Hands over what is kept. A thread that lags a second behind gets what waits in one batch, later.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.overflow.is_empty() {
            return Ok(());
        }
        let spare = self.spare_egress.try_recv().unwrap_or_default();
        let batch = std::mem::replace(&mut self.overflow, spare);
        match self.egress.try_send(batch) {
            Ok(()) => self.waker.wake(),
            Err(TrySendError::Full(batch)) => {
                self.overflow = batch;
                self.waker.wake()
            }
            Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for NetworkThread {
    fn drop(&mut self) {
        // Whoever stops has usually just told its peers why: the thread carries out what is queued before it ends.
        drop(self.flush());
        self.stop.store(true, Ordering::Release);
        drop(self.waker.wake());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl<S: Shard> Worker<S> {
    fn tell(&mut self) {
        let now = self.clock.now();
        if now >= self.counts_due {
            self.counts_due = now + COUNTS_EVERY;
            let mut told = self.told.lock();
            told.counters.clone_from(self.driver.shard().counters());
            told.time = thread_time();
        }
    }

    fn run(mut self) {
        let (mut wishes, mut held) = (Vec::new(), Vec::new());
        let mut end = None;
        loop {
            if end.is_none() && self.stop.load(Ordering::Acquire) {
                end = Some(self.clock.now() + LINGER);
            }
            while let Ok(mut batch) = self.egress.try_recv() {
                wishes.append(&mut batch);
                drop(self.spare_egress.try_send(batch));
            }
            if self.backlog.is_full() {
                std::thread::sleep(Duration::from_millis(1));
            } else {
                let before = held.len();
                if self.driver.poll(self.clock.now(), Some(MAX_WAIT), &mut wishes, &mut held).is_err() {
                    return;
                }
                self.backlog.add(&held[before..]);
            }
            self.tell();
            if let Some(end) = end {
                // Nobody listens any more.
                self.backlog.take(&held);
                held.clear();
                if self.clock.now() >= end {
                    return;
                }
                continue;
            }
            if !held.is_empty() {
                let spare = self.spare_ingress.try_recv().unwrap_or_default();
                match self.ingress.try_send(std::mem::replace(&mut held, spare)) {
                    Ok(()) => {}
                    Err(TrySendError::Full(batch)) => held = batch,
                    Err(TrySendError::Disconnected(_)) => return,
                }
            }
        }
    }
}
