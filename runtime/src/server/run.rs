use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidelock_net::DisconnectCode;
use tidelock_sim::Tick;

use super::Server;
use crate::clock::SystemClock;

/// Tells a running server to stop, from any thread. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks whoever watches the flag to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Server {
    /// Runs by the machine's clock until `stop` is raised, then tells every player that the server is going away. `observe` is
    /// called after every tick, on this thread.
    pub fn run(&mut self, stop: &StopFlag, mut observe: impl FnMut(&mut Self)) {
        let clock = SystemClock::start();
        // The host may have stepped before: time goes on from there.
        let before = self.now;
        while !stop.is_raised() {
            let now = before + clock.now();
            if self.step(now).is_some() {
                observe(self);
            }
            let next = Duration::from_secs_f64((self.tick.0 + 1) as f64 / f64::from(Tick::HZ));
            clock.sleep_until(next.saturating_sub(before) + Duration::from_micros(20));
        }
        self.shut_down(before + clock.now());
        self.linger(&clock, before);
    }

    /// Ends every session with [`DisconnectCode::ShuttingDown`] and sends that at once.
    pub fn shut_down(&mut self, now: Duration) {
        for (_, session) in self.sessions.iter() {
            self.outbox.disconnect(session.connection, DisconnectCode::ShuttingDown, "the server is going away");
        }
        self.now = self.now.max(now);
        super::egress::run(self);
    }

    /// Polls the socket a while longer where no thread does, so that farewells leave as often as they are repeated.
    fn linger(&mut self, clock: &SystemClock, before: Duration) {
        if self.config.network_threads > 0 {
            return;
        }
        let end = clock.now() + Duration::from_millis(350);
        while clock.now() < end {
            self.now = self.now.max(before + clock.now());
            super::egress::run(self);
            self.ingress.clear();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
