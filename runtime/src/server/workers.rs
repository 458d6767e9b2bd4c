use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tidelock_sim::collision::Nearby;

/// Sessions in one job of a parallel stage. Jobs are cut by slot and merged by slot, so the number of threads shows nowhere.
pub(crate) const SESSIONS_PER_JOB: usize = 32;
/// Characters in one replay job; a row costs some microseconds, so small jobs balance better than the 256 of light stages.
pub(crate) const CHARACTERS_PER_JOB: usize = 32;

/// The threads of the parallel stages and what each keeps warm.
pub(crate) struct Workers {
    pool: Arc<ThreadPool>,
    /// One collision scratch per thread, and one for whoever runs outside the pool.
    nearby: Vec<Mutex<Nearby>>,
}

impl Workers {
    /// A pool of `threads`, or one per core for 0.
    pub(crate) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("tick-{n}")).build()?;
        let nearby = (0..=pool.current_num_threads()).map(|_| Mutex::new(Nearby::new())).collect();
        Ok(Self { pool: Arc::new(pool), nearby })
    }

    /// The pool itself: a whole tick runs inside it, so that its thread works on parallel stages instead of waiting for others
    /// to wake up.
    pub(crate) fn pool(&self) -> Arc<ThreadPool> {
        Arc::clone(&self.pool)
    }

    /// Runs a stage inside the pool; at once on a thread that already is.
    pub(crate) fn run<T: Send>(&self, stage: impl FnOnce() -> T + Send) -> T {
        self.pool.install(stage)
    }

    /// The calling thread's collision scratch. What a query finds never depends on which one it is.
    pub(crate) fn nearby(&self) -> MutexGuard<'_, Nearby> {
        let thread = self.pool.current_thread_index().unwrap_or(self.nearby.len() - 1);
        self.nearby[thread].lock()
    }
}
