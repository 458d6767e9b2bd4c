use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The machine's clocks, read here and nowhere else in the runtime.
///
/// Everything below takes `now`, a [`Duration`] since an epoch of the host's choosing; this is the epoch for hosts that
/// run on wall time.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    epoch: Instant,
}

impl SystemClock {
    /// A clock whose epoch is this moment.
    #[must_use]
    pub fn start() -> Self {
        Self { epoch: Instant::now() }
    }

    /// Time since the epoch, never backward.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// Time since 1970-01-01 UTC, for token lifetimes; zero when the machine's date lies before.
    #[must_use]
    pub fn unix_time() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// Sleeps until `deadline` since the epoch has passed.
    pub fn sleep_until(&self, deadline: Duration) {
        if let Some(left) = deadline.checked_sub(self.now()) {
            std::thread::sleep(left);
        }
    }
}

/// Times the stages of a tick: each lap ends one and begins the next.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    lap: Instant,
}

impl Stopwatch {
    /// Starts the first lap.
    pub(crate) fn start() -> Self {
        Self { lap: Instant::now() }
    }

    /// Ends the lap and says how long it took.
    pub(crate) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.lap, now)
    }
}
