//! CUBIC, after RFC 9438.

use std::time::Duration;

use crate::congestion::{AckEvent, Controller, INITIAL_WINDOW_BYTES, LossEvent, MIN_WINDOW_BYTES, PACKET_BYTES};

/// What remains of the window after a loss.
const BETA: f64 = 0.7;
/// Growth, in packets per second cubed.
const C: f64 = 0.4;

/// A stretch of growth without loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    since: Duration,
    /// Where the cubic function is flat, and after how many seconds.
    plateau: f64,
    plateau_s: f64,
}

/// Grows the window until packets are lost: slow start, then a cubic function of the time since the last loss.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    window: f64,
    threshold: f64,
    window_max: f64,
    epoch: Option<Epoch>,
    /// The Reno-friendly window.
    reno: f64,
    /// Losses of packets sent before this belong to a reduction already made.
    recovered_at: Option<Duration>,
    smoothed_rtt: Duration,
}

impl Cubic {
    /// In slow start.
    #[must_use]
    pub fn new() -> Self {
        Self {
            window: INITIAL_WINDOW_BYTES as f64,
            threshold: f64::INFINITY,
            window_max: 0.0,
            epoch: None,
            reno: 0.0,
            recovered_at: None,
            smoothed_rtt: Duration::from_millis(100),
        }
    }

    fn grow(&mut self, ack: &AckEvent) {
        let packet = PACKET_BYTES as f64;
        let (window, window_max) = (self.window, self.window_max);
        let epoch = *self.epoch.get_or_insert_with(|| Epoch {
            since: ack.now,
            plateau: window_max.max(window),
            plateau_s: ((window_max - window).max(0.0) / packet / C).cbrt(),
        });
        let since_s = (ack.now.saturating_sub(epoch.since) + ack.smoothed_rtt).as_secs_f64();
        let target = epoch.plateau + C * packet * (since_s - epoch.plateau_s).powi(3);
        let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
        self.reno += alpha * packet * ack.acked_bytes as f64 / self.window;
        let target = target.clamp(self.window, self.window * 1.5);
        self.window += (target - self.window) * ack.acked_bytes as f64 / self.window;
        self.window = self.window.max(self.reno);
    }
}

impl Default for Cubic {
    fn default() -> Self {
        Self::new()
    }
}

impl Controller for Cubic {
    fn on_sent(&mut self, _now: Duration, _bytes: u64, _in_flight: u64) {}

    fn on_ack(&mut self, ack: &AckEvent) {
        self.smoothed_rtt = ack.smoothed_rtt;
        let in_recovery = self.recovered_at.is_some_and(|at| ack.sent_at <= at);
        let window_used = ack.in_flight_before + 3 * PACKET_BYTES >= self.window as u64;
        if in_recovery || !window_used {
            return;
        }
        if self.window < self.threshold {
            self.window += ack.acked_bytes as f64;
        } else {
            self.grow(ack);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        if loss.persistent {
            self.window = MIN_WINDOW_BYTES as f64;
            self.epoch = None;
        }
        if self.recovered_at.is_some_and(|at| loss.newest_sent_at <= at) {
            return;
        }
        self.recovered_at = Some(loss.now);
        self.window_max = if self.window < self.window_max { self.window * (1.0 + BETA) / 2.0 } else { self.window };
        self.window = (self.window * BETA).max(MIN_WINDOW_BYTES as f64);
        self.threshold = self.window;
        self.reno = self.window;
        self.epoch = None;
    }

    fn window_bytes(&self) -> u64 {
        self.window as u64
    }

    fn rate_bytes_s(&self) -> u64 {
        let gain = if self.window < self.threshold { 2.0 } else { 1.25 };
        (gain * self.window / self.smoothed_rtt.as_secs_f64().max(0.000_1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: Duration, window: u64) -> AckEvent {
        AckEvent {
            now,
            acked_bytes: PACKET_BYTES,
            in_flight_before: window,
            in_flight: window,
            sent_at: now,
            ack_delay: Duration::ZERO,
            rtt: None,
            smoothed_rtt: Duration::from_millis(50),
            jitter: Duration::ZERO,
            min_rtt: Duration::from_millis(50),
            delivery: None,
        }
    }

    // N-5
    #[test]
    fn one_reduction_a_round_then_growth_back_to_the_old_window() {
        let mut cubic = Cubic::new();
        let ms = Duration::from_millis;
        (0..100).for_each(|_| cubic.on_ack(&ack(ms(1), cubic.window_bytes())));
        let before = cubic.window_bytes();
        assert_eq!(before, INITIAL_WINDOW_BYTES + 100 * PACKET_BYTES);
        let loss = LossEvent { now: ms(100), lost_bytes: 1, newest_sent_at: ms(60), in_flight: 0, persistent: false };
        cubic.on_loss(&loss);
        cubic.on_loss(&LossEvent { newest_sent_at: ms(90), now: ms(120), ..loss });
        assert_eq!(cubic.window_bytes(), (before as f64 * BETA) as u64);
        for step in 0..6_000 {
            cubic.on_ack(&ack(ms(130 + step), cubic.window_bytes()));
        }
        assert!(cubic.window_bytes() >= before, "{} of {before}", cubic.window_bytes());
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut cubic = Cubic::new();
        (0..100).for_each(|_| cubic.on_ack(&ack(Duration::from_millis(1), 1_000)));
        assert_eq!(cubic.window_bytes(), INITIAL_WINDOW_BYTES);
    }
}
