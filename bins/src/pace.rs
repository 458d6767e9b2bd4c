use std::thread;
use std::time::{Duration, Instant};

/// Wakes its thread at an even rate, by the machine's clock.
#[derive(Debug)]
pub(crate) struct Pace {
    epoch: Instant,
    period: Duration,
    due: Duration,
}

/// Backlog above which missed beats are dropped rather than caught up.
const FORGIVEN: Duration = Duration::from_millis(100);

impl Pace {
    /// `hz` beats a second, the first at once; times count from `epoch`.
    pub(crate) fn new(epoch: Instant, hz: u32) -> Self {
        Self { epoch, period: Duration::from_secs(1) / hz, due: epoch.elapsed() }
    }

    /// Waits for the next beat and returns the time.
    pub(crate) fn wait(&mut self) -> Duration {
        let now = self.epoch.elapsed();
        if let Some(left) = self.due.checked_sub(now) {
            thread::sleep(left);
        } else if now - self.due > FORGIVEN {
            self.due = now;
        }
        self.due += self.period;
        self.epoch.elapsed()
    }
}
