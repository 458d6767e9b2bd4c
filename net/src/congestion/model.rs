//! Congestion control by a model of the path: its delivery rate and its shortest round trip.

use std::time::Duration;

use crate::congestion::{
    AckEvent, Controller, INITIAL_WINDOW_BYTES, LossEvent, MIN_RATE_BYTES_S, MIN_WINDOW_BYTES, PACKET_BYTES,
};

/// Doubles the rate each round trip while the path's limit is unknown.
const STARTUP_GAIN: f64 = 2.885;
/// Rate gains of the phases that follow each other once the limit is known: look for more, make room, stay.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rate gain while the queue is longer than half the shortest round trip, or than [`MAX_QUEUE`] if that is more.
const STANDING_GAIN: f64 = 0.85;
const MAX_QUEUE: Duration = Duration::from_millis(40);
/// Rounds whose best delivery rate counts.
const RATE_ROUNDS: usize = 10;
/// Rounds without growth by a quarter after which the limit is known.
const FULL_ROUNDS: u32 = 3;
/// How long the shortest round trip is believed.
const MIN_RTT_LIFE: Duration = Duration::from_secs(10);
/// How long the window is held small to measure it anew.
const MIN_RTT_PROBE: Duration = Duration::from_millis(200);
/// Shortest phase of the cycle.
const MIN_PHASE: Duration = Duration::from_millis(20);
/// Highest loss made up for by sending more, while the queue is short.
const MAX_COMPENSATED_LOSS: f64 = 0.4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Cycle(usize),
}

/// Sends at the best delivery rate of the last ten rounds, with as much on its way as twice what the shortest round trip holds.
/// Loss alone does not slow it; a growing queue with a falling delivery rate does.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    mode: Mode,
    phase_since: Duration,
    rates: [u64; RATE_ROUNDS],
    round: u64,
    round_ends_at: u64,
    /// The best rate measured in this round was below the path's and shows its limit.
    round_rate: u64,
    round_limited: bool,
    weak_rounds: u32,
    full_rate: u64,
    full_rounds: u32,
    min_rtt: Option<Duration>,
    min_rtt_at: Duration,
    probing_until: Option<Duration>,
    /// Shortest round trips of the last round and of this one: jitter does not lengthen them, a standing queue does.
    recent_rtts: [Duration; 2],
    smoothed_rtt: Duration,
    ack_delay: Duration,
    acked_bytes: f64,
    lost_bytes: f64,
}

impl Model {
    /// Knowing nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            mode: Mode::Startup,
            phase_since: Duration::ZERO,
            rates: [0; RATE_ROUNDS],
            round: 0,
            round_ends_at: 0,
            round_rate: 0,
            round_limited: true,
            weak_rounds: 0,
            full_rate: 0,
            full_rounds: 0,
            min_rtt: None,
            min_rtt_at: Duration::ZERO,
            probing_until: None,
            recent_rtts: [Duration::MAX; 2],
            smoothed_rtt: Duration::from_millis(100),
            ack_delay: Duration::ZERO,
            acked_bytes: 0.0,
            lost_bytes: 0.0,
        }
    }

    fn rate(&self) -> u64 {
        self.rates.iter().copied().max().unwrap_or(0)
    }

    fn held_bytes(&self, time: Duration) -> f64 {
        self.rate() as f64 * time.as_secs_f64()
    }

    fn path_bytes(&self) -> f64 {
        self.held_bytes(self.min_rtt.unwrap_or(self.smoothed_rtt))
    }

    /// How long packets wait on the path, as far as the shortest recent round trip tells.
    fn queue(&self) -> Duration {
        let recent = self.recent_rtts[0].min(self.recent_rtts[1]);
        self.min_rtt.filter(|_| recent < Duration::MAX).map_or(Duration::ZERO, |min| recent.saturating_sub(min))
    }

    /// Whether there is a queue.
    fn is_queue_long(&self) -> bool {
        self.queue() > (self.min_rtt.unwrap_or_default() / 4).max(Duration::from_millis(15))
    }

    /// Whether the queue is longer than looking for more explains.
    fn is_queue_standing(&self) -> bool {
        self.queue() > (self.min_rtt.unwrap_or_default() / 2).max(MAX_QUEUE)
    }

    fn gain(&self) -> f64 {
        let gain = match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => 1.0 / STARTUP_GAIN,
            Mode::Cycle(_) if self.is_queue_standing() => STANDING_GAIN,
            Mode::Cycle(phase) => CYCLE[phase],
        };
        if self.is_queue_long() {
            return gain;
        }
        let loss = self.lost_bytes / (self.lost_bytes + self.acked_bytes).max(1.0);
        gain / (1.0 - loss.min(MAX_COMPENSATED_LOSS))
    }

    fn measure(&mut self, ack: &AckEvent) {
        let Some(delivery) = ack.delivery else { return };
        if delivery.delivered_before >= self.round_ends_at {
            self.end_round();
            self.round_ends_at = delivery.delivered;
        }
        if !delivery.app_limited {
            self.round_limited = false;
            self.round_rate = self.round_rate.max(delivery.bytes_s);
        }
        if !delivery.app_limited || delivery.bytes_s > self.rate() {
            let slot = &mut self.rates[self.round as usize % RATE_ROUNDS];
            *slot = (*slot).max(delivery.bytes_s);
        }
    }

    fn end_round(&mut self) {
        let shows_limit = !self.round_limited;
        if shows_limit && self.mode == Mode::Startup {
            if self.rate() as f64 > self.full_rate as f64 * 1.25 {
                self.full_rate = self.rate();
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
            }
        }
        let weak = shows_limit && self.is_queue_long() && (self.round_rate as f64) < 0.75 * self.rate() as f64;
        self.weak_rounds = if weak { self.weak_rounds + 1 } else { 0 };
        if self.weak_rounds >= 2 {
            self.rates = [self.round_rate; RATE_ROUNDS];
            self.weak_rounds = 0;
        }
        let kept = self.rates[self.round as usize % RATE_ROUNDS];
        self.round += 1;
        // A round that showed nothing keeps what the one before knew.
        self.rates[self.round as usize % RATE_ROUNDS] = if shows_limit { 0 } else { kept.max(self.rate()) };
        (self.round_rate, self.round_limited) = (0, true);
        self.recent_rtts = [self.recent_rtts[1], Duration::MAX];
        self.acked_bytes *= 0.75;
        self.lost_bytes *= 0.75;
    }

    fn switch(&mut self, ack: &AckEvent) {
        match self.mode {
            Mode::Startup if self.full_rounds >= FULL_ROUNDS => self.mode = Mode::Drain,
            Mode::Drain if ack.in_flight as f64 <= self.path_bytes() => self.enter(ack.now, 2),
            Mode::Cycle(phase) => {
                let lasts = self.min_rtt.unwrap_or(MIN_PHASE).max(MIN_PHASE);
                let over = ack.now.saturating_sub(self.phase_since) >= lasts;
                let emptied = phase == 1 && ack.in_flight as f64 <= self.path_bytes();
                if over || emptied {
                    self.enter(ack.now, (phase + 1) % CYCLE.len());
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, now: Duration, phase: usize) {
        self.mode = Mode::Cycle(phase);
        self.phase_since = now;
    }

    fn follow_rtt(&mut self, ack: &AckEvent) {
        self.smoothed_rtt = ack.smoothed_rtt;
        self.ack_delay = ack.ack_delay.max(self.ack_delay * 63 / 64);
        let Some(rtt) = ack.rtt else { return };
        self.recent_rtts[1] = self.recent_rtts[1].min(rtt);
        let expired = ack.now.saturating_sub(self.min_rtt_at) > MIN_RTT_LIFE;
        if self.min_rtt.is_none_or(|min| rtt <= min) {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), ack.now);
        } else if expired && self.probing_until.is_none() {
            self.probing_until = Some(ack.now + MIN_RTT_PROBE + ack.smoothed_rtt);
            self.min_rtt = Some(rtt);
            self.min_rtt_at = ack.now;
        }
        if self.probing_until.is_some_and(|until| until <= ack.now) {
            self.probing_until = None;
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Controller for Model {
    fn on_sent(&mut self, _now: Duration, _bytes: u64, _in_flight: u64) {}

    fn on_ack(&mut self, ack: &AckEvent) {
        self.acked_bytes += ack.acked_bytes as f64;
        self.follow_rtt(ack);
        self.measure(ack);
        self.switch(ack);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        if !loss.persistent {
            self.lost_bytes += loss.lost_bytes as f64;
        }
    }

    fn window_bytes(&self) -> u64 {
        let gain = if self.mode == Mode::Startup { STARTUP_GAIN } else { 2.0 };
        let slack = self.held_bytes(self.ack_delay) + 4.0 * PACKET_BYTES as f64;
        let window = gain * self.path_bytes() + slack;
        if self.mode == Mode::Startup {
            return (window as u64).max(INITIAL_WINDOW_BYTES);
        }
        let window = if self.probing_until.is_some() { window.min(0.5 * self.path_bytes() + slack) } else { window };
        (window as u64).max(MIN_WINDOW_BYTES)
    }

    fn rate_bytes_s(&self) -> u64 {
        let measured = (self.gain() * self.rate() as f64) as u64;
        if self.mode != Mode::Startup {
            return measured.max(MIN_RATE_BYTES_S);
        }
        let round = self.smoothed_rtt.max(Duration::from_millis(1)).as_secs_f64();
        measured.max((INITIAL_WINDOW_BYTES as f64 / round) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Delivery;

    fn ack(now_ms: u64, bytes_s: u64, delivered: u64, rtt_ms: u64) -> AckEvent {
        let rtt = Duration::from_millis(rtt_ms);
        AckEvent {
            now: Duration::from_millis(now_ms),
            acked_bytes: PACKET_BYTES,
            in_flight_before: 0,
            in_flight: 0,
            sent_at: Duration::from_millis(now_ms - rtt_ms),
            ack_delay: Duration::ZERO,
            rtt: Some(rtt),
            smoothed_rtt: rtt,
            min_rtt: rtt,
            delivery: Some(Delivery { bytes_s, app_limited: false, delivered_before: delivered - 1, delivered }),
        }
    }

    #[test]
    fn a_rate_that_stops_growing_ends_startup() {
        let mut model = Model::new();
        (1..10).for_each(|round| model.on_ack(&ack(100 * round, 100_000, 10_000 * round, 50)));
        assert!(matches!(model.mode, Mode::Cycle(_)), "{:?}", model.mode);
        let rate = model.rate_bytes_s();
        assert!((75_000..=125_000).contains(&rate), "{rate}");
        let window = model.window_bytes();
        assert!((10_000..10_000 + 5 * PACKET_BYTES).contains(&window), "{window}");
    }

    // N-5: never below 16 kB/s.
    #[test]
    fn the_floor_holds() {
        let mut model = Model::new();
        (1..30).for_each(|round| model.on_ack(&ack(1_000 * round, 500, 500 * round, 900)));
        assert_eq!(model.rate_bytes_s(), MIN_RATE_BYTES_S);
        assert!(model.window_bytes() >= MIN_WINDOW_BYTES);
    }

    #[test]
    fn loss_without_a_queue_is_made_up_for() {
        let mut model = Model::new();
        (1..10).for_each(|round| model.on_ack(&ack(100 * round, 100_000, 10_000 * round, 50)));
        let before = model.gain();
        let lost_bytes = (model.acked_bytes * 0.25) as u64;
        model.on_loss(&LossEvent {
            now: Duration::from_secs(2),
            lost_bytes,
            newest_sent_at: Duration::ZERO,
            in_flight: 0,
            persistent: false,
        });
        assert!((1.2..1.3).contains(&(model.gain() / before)));
    }
}
