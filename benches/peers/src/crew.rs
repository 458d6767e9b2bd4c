//! The clients, on a thread of their own: the server's processor time is its own, and its caches too.

use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Clients that do a step when they are told to.
pub(crate) struct Crew {
    go: SyncSender<Range<usize>>,
    done: Receiver<()>,
}

impl Crew {
    /// Starts a thread that makes its clients with `make` and has `step` carried out for some of them at a time.
    pub(crate) fn start<C: 'static>(
        make: impl FnOnce() -> Vec<C> + Send + 'static,
        mut step: impl FnMut(&mut [C]) + Send + 'static,
    ) -> Self {
        let (go, told) = sync_channel::<Range<usize>>(1);
        let (tell, done) = sync_channel(1);
        thread::spawn(move || {
            let mut clients = make();
            let _ = tell.send(());
            while let Ok(some) = told.recv() {
                step(&mut clients[some]);
                let _ = tell.send(());
            }
        });
        done.recv().expect("the clients are made");
        Self { go, done }
    }

    /// Has a step carried out by these clients and waits for its end.
    pub(crate) fn step(&self, some: Range<usize>) {
        self.go.send(some).expect("the clients live");
        self.done.recv().expect("the clients live");
    }
}

/// Ranges of up to `size` that make up `0..count`.
pub(crate) fn batches(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(size).map(move |start| start..count.min(start + size))
}

/// Processor time of this thread.
pub(crate) fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
