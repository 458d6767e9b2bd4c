//! Congestion control by a model of the path: its delivery rate and its shortest round trip.

use std::time::Duration;

use crate::congestion::{
    AckEvent, Controller, Delivery, INITIAL_WINDOW_BYTES, LossEvent, MIN_RATE_BYTES_S, MIN_WINDOW_BYTES, PACKET_BYTES,
};

/// Doubles the rate each round trip while the path's limit is unknown.
const STARTUP_GAIN: f64 = 2.885;
/// Phases that follow each other, a round each, once the limit is known: look for more, make room, then stay.
const PHASES: usize = 8;
/// Longest time between two looks for more, whatever the round trip.
const MAX_CYCLE: Duration = Duration::from_secs(1);
/// Rounds whose best delivery rate counts.
const RATE_ROUNDS: usize = 10;
/// Rounds without growth by a quarter after which the limit is known.
const FULL_ROUNDS: u32 = 3;
/// Queue that looking for more may make, and that is tolerated otherwise.
const SHORT_QUEUE: Duration = Duration::from_millis(3);
/// Rate gain while it stays: a little less, so that no queue is left.
const STAY_GAIN: f64 = 0.99;
/// The same while there may be a queue.
const EASE_GAIN: f64 = 0.96;
/// Mean change of the round trip, as a multiple, by which the shortest of one measurement may exceed the path's own.
const JITTER_SHARE: f64 = 3.0;
/// Smallest and largest share sent beyond the known rate to look for more.
const LEAST_PROBE: f64 = 0.01;
const MOST_LEAST_PROBE: f64 = 0.1;
const MOST_PROBE: f64 = 1.0;
/// Queue that the boldest look for more may make.
const LONG_PROBE: Duration = Duration::from_millis(30);
/// The first one.
const FIRST_PROBE: f64 = 0.25;
/// Largest share left unsent to shorten a queue.
const MOST_RELIEF: f64 = 0.3;
/// How long the shortest round trip is believed.
const MIN_RTT_LIFE: Duration = Duration::from_secs(10);
/// How long, beside a round trip, less is sent to measure it anew, and the rate gain meanwhile.
const MIN_RTT_GAIN: f64 = 0.75;
const MIN_RTT_PROBE: Duration = Duration::from_millis(200);
/// Latest round trips of which the shortest ends the doubling, once it exceeds the path's own by an eighth, or by this.
const LATEST: usize = 8;
const MOST_FILLING: Duration = Duration::from_millis(16);
/// Shortest round.
const MIN_ROUND: Duration = Duration::from_millis(20);
/// Highest loss made up for by sending more, while the queue is short.
const MAX_COMPENSATED_LOSS: f64 = 0.4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Cycle(usize),
}

/// A stretch of acknowledgements that lasts a round trip.
#[derive(Clone, Copy, Debug)]
struct Round {
    since: Duration,
    /// Bytes delivered when it began, and when it ends.
    began: u64,
    ends: u64,
    /// Whether the sender had too little to send for it to show the path's limit.
    app_limited: bool,
    /// Best rate measured for one packet in it: an average over a bunch of acknowledgements may be higher, and wrong.
    best: u64,
    /// Round trips measured in it.
    samples: u32,
    /// The longest of them.
    longest: Duration,
}

/// Sends at the best delivery rate of the last ten rounds, with as much on its way as twice what the shortest round trip holds, and
/// keeps the queue within a few milliseconds: by the shortest of a round's round trips, which jitter does not lengthen and a
/// queue does. Loss alone does not slow it; a growing queue with a falling delivery rate does.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    mode: Mode,
    rates: [u64; RATE_ROUNDS],
    rounds: u64,
    round: Round,
    weak_rounds: u32,
    full_rate: u64,
    full_rounds: u32,
    /// Share beyond the rate with which the next look for more is made; it grows while nothing resists.
    probe: f64,
    /// The rate when that began.
    probed_rate: u64,
    cycle_since: Duration,
    min_rtt: Option<Duration>,
    min_rtt_at: Duration,
    probing_until: Option<Duration>,
    /// Shortest round trips of the last round and of this one.
    recent_rtts: [Duration; 2],
    latest_rtts: [Duration; LATEST],
    /// Round trips measured in the last round.
    last_samples: u32,
    /// The longest of the last round.
    last_longest: Duration,
    smoothed_rtt: Duration,
    /// Mean change of the round trip from one measurement to the next: a growing queue changes it little, jitter much.
    jitter: Duration,
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
            rates: [0; RATE_ROUNDS],
            rounds: 0,
            round: Round {
                since: Duration::ZERO,
                began: 0,
                ends: 0,
                app_limited: true,
                best: 0,
                samples: 0,
                longest: Duration::ZERO,
            },
            weak_rounds: 0,
            full_rate: 0,
            full_rounds: 0,
            probe: 0.0,
            probed_rate: 0,
            cycle_since: Duration::ZERO,
            min_rtt: None,
            min_rtt_at: Duration::ZERO,
            probing_until: None,
            recent_rtts: [Duration::MAX; 2],
            latest_rtts: [Duration::ZERO; LATEST],
            last_samples: 0,
            last_longest: Duration::ZERO,
            smoothed_rtt: Duration::from_millis(100),
            jitter: Duration::ZERO,
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

    /// How long a queue must be to stand out: the shortest round trip of a round varies by a part of the jitter, the smaller the
    /// more were measured, and by the time one packet takes.
    fn noise(&self) -> Duration {
        let samples = self.round.samples.max(self.last_samples).max(4);
        let jitter = self.jitter.mul_f64(JITTER_SHARE / f64::from(samples).sqrt());
        let packet = Duration::from_secs_f64(PACKET_BYTES as f64 / self.rate().max(MIN_RATE_BYTES_S) as f64);
        SHORT_QUEUE.max(packet) + jitter
    }

    /// Whether even the shortest of the latest round trips shows a queue.
    fn is_filling(&self) -> bool {
        let enough = self.round.samples >= LATEST as u32 && !self.round.app_limited;
        let latest = self.latest_rtts.iter().min().copied().unwrap_or_default();
        let min = self.min_rtt.unwrap_or(Duration::MAX);
        // More careful than elsewhere: this is decided once.
        let stands_out = (min / 8).clamp(SHORT_QUEUE, MOST_FILLING).max(self.jitter * 2);
        enough && latest > min.saturating_add(stands_out)
    }

    /// Whether any packet of this round or the last one met a queue.
    fn has_waited(&self) -> bool {
        let longest = self.round.longest.max(self.last_longest);
        let packet = Duration::from_secs_f64(PACKET_BYTES as f64 / self.rate().max(MIN_RATE_BYTES_S) as f64);
        longest > self.min_rtt.unwrap_or(Duration::MAX).saturating_add(SHORT_QUEUE.max(packet) + self.jitter * 2)
    }

    /// Share left unsent so that the queue is gone after a round trip or 50 ms.
    fn relief(&self) -> f64 {
        let within = self.smoothed_rtt.max(Duration::from_millis(50));
        (self.queue().as_secs_f64() / within.as_secs_f64()).min(MOST_RELIEF)
    }

    fn gain(&self) -> f64 {
        let long = self.queue() > self.noise();
        let gain = match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => 1.0 / STARTUP_GAIN,
            Mode::Cycle(_) if self.probing_until.is_some() => MIN_RTT_GAIN,
            Mode::Cycle(_) if long => 1.0 - self.relief(),
            Mode::Cycle(0) => 1.0 + self.probe,
            Mode::Cycle(1) => 1.0 - self.probe.min(MOST_RELIEF),
            Mode::Cycle(_) if self.queue() > self.noise() / 3 => EASE_GAIN,
            Mode::Cycle(_) => STAY_GAIN,
        };
        if long {
            return gain;
        }
        let loss = self.lost_bytes / (self.lost_bytes + self.acked_bytes).max(1.0);
        gain / (1.0 - loss.min(MAX_COMPENSATED_LOSS))
    }

    fn measure(&mut self, ack: &AckEvent) {
        let Some(delivery) = ack.delivery else { return };
        self.round.app_limited |= delivery.app_limited;
        self.round.best = self.round.best.max(delivery.bytes_s);
        let lasted = ack.now.saturating_sub(self.round.since);
        let bytes = delivery.delivered.saturating_sub(self.round.began);
        // The first round has no beginning.
        let average = if self.rounds == 0 { u64::MAX } else { (bytes as f64 / lasted.as_secs_f64().max(1e-3)) as u64 };
        let rate = average.min(self.round.best);
        let least = self.min_rtt.unwrap_or_default().max(MIN_ROUND);
        if self.mode == Mode::Startup && self.rounds > 1 && self.is_filling() {
            // It grew fast within this round: what came last counts.
            self.rates = [delivery.bytes_s.max(rate.min(self.rate())); RATE_ROUNDS];
            self.mode = Mode::Drain;
        } else if delivery.delivered_before >= self.round.ends && lasted >= least {
            self.end_round(ack.now, rate, ack.in_flight);
        } else {
            return self.keep_up(&delivery);
        }
        let (began, ends) = (delivery.delivered, delivery.delivered + ack.in_flight.saturating_sub(PACKET_BYTES));
        self.round =
            Round { since: ack.now, began, ends, app_limited: false, best: 0, samples: 0, longest: Duration::ZERO };
    }

    /// Follows a rate that doubles each round, which no round's average does.
    fn keep_up(&mut self, delivery: &Delivery) {
        if self.mode == Mode::Startup && !delivery.app_limited && self.round.samples >= LATEST as u32 {
            let slot = self.rounds as usize % RATE_ROUNDS;
            self.rates[slot] = self.rates[slot].max(delivery.bytes_s);
        }
    }

    fn end_round(&mut self, now: Duration, rate: u64, in_flight: u64) {
        let shows_limit = !self.round.app_limited;
        let best = self.rate();
        let slot = self.rounds as usize % RATE_ROUNDS;
        self.rates[slot] = match self.mode {
            // A round that showed nothing keeps what the one before knew.
            _ if !shows_limit => rate.max(best),
            Mode::Startup => rate.max(self.rates[slot]),
            _ => rate,
        };
        self.rounds += 1;
        let weak = shows_limit && self.queue() > self.noise() * 4 && (rate as f64) < 0.75 * best as f64;
        self.weak_rounds = if weak { self.weak_rounds + 1 } else { 0 };
        if self.weak_rounds >= 2 {
            self.rates = [rate; RATE_ROUNDS];
            self.weak_rounds = 0;
        }
        self.switch(now, (rate, shows_limit), in_flight);
        self.recent_rtts = [self.recent_rtts[1], Duration::MAX];
        (self.last_samples, self.last_longest) = (self.round.samples, self.round.longest);
        self.acked_bytes *= 0.75;
        self.lost_bytes *= 0.75;
    }

    /// Goes on to the next mode at a round's end.
    fn switch(&mut self, now: Duration, (rate, shows_limit): (u64, bool), in_flight: u64) {
        let long = self.queue() > self.noise();
        match self.mode {
            Mode::Startup if shows_limit => {
                if self.rate() as f64 > self.full_rate as f64 * 1.25 {
                    (self.full_rate, self.full_rounds) = (self.rate(), 0);
                } else {
                    self.full_rounds += 1;
                }
                if self.full_rounds >= FULL_ROUNDS || (long && self.rounds > 2) {
                    self.rates = [rate; RATE_ROUNDS];
                    self.mode = Mode::Drain;
                }
            }
            Mode::Drain if !long || in_flight as f64 <= self.path_bytes() => {
                // What was measured while the rate doubled may be half the path's.
                (self.probe, self.probed_rate) = (FIRST_PROBE, self.rate());
                self.mode = Mode::Cycle(0);
            }
            Mode::Cycle(phase) => {
                // What more was sent has come back by the end of the second phase. More must have come, or the path is full.
                let paid = phase == 1 && !long && rate as f64 > self.probed_rate as f64 * (1.0 + self.probe / 2.0);
                if phase == 1 {
                    // A few packets more in a round cannot be measured; that they did not wait can.
                    let bolder = paid || !(long || self.has_waited());
                    self.probe = if bolder { self.probe * 2.0 } else { 0.0 };
                }
                let next = match phase {
                    1 if paid => 0,
                    1 if long => 1,
                    2.. if now.saturating_sub(self.cycle_since) >= MAX_CYCLE => 0,
                    _ => (phase + 1) % PHASES,
                };
                self.mode = Mode::Cycle(next);
                if next == 0 {
                    self.cycle_since = now;
                    let round = self.smoothed_rtt.max(MIN_ROUND).as_secs_f64();
                    let least = (SHORT_QUEUE.as_secs_f64() / round).clamp(LEAST_PROBE, MOST_LEAST_PROBE);
                    let most = (LONG_PROBE.as_secs_f64() / round).clamp(MOST_LEAST_PROBE, MOST_PROBE);
                    self.probe = self.probe.clamp(least, most);
                    self.probed_rate = self.rate();
                }
            }
            _ => {}
        }
    }

    fn follow_rtt(&mut self, ack: &AckEvent) {
        (self.smoothed_rtt, self.jitter) = (ack.smoothed_rtt, ack.jitter);
        self.ack_delay = ack.ack_delay.max(self.ack_delay * 63 / 64);
        let Some(rtt) = ack.rtt.map(|rtt| rtt.saturating_sub(ack.ack_delay)) else { return };
        self.recent_rtts[1] = self.recent_rtts[1].min(rtt);
        self.latest_rtts[self.round.samples as usize % LATEST] = rtt;
        self.round.samples += 1;
        self.round.longest = self.round.longest.max(rtt);
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
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        if loss.persistent {
            // Whatever the path was, it may be another now.
            (self.mode, self.full_rate, self.full_rounds) = (Mode::Startup, 0, 0);
            (self.acked_bytes, self.lost_bytes) = (0.0, 0.0);
            return;
        }
        // What a full queue drops is no reason to send more.
        let waits = self.smoothed_rtt.saturating_sub(self.min_rtt.unwrap_or(self.smoothed_rtt));
        let congested = waits > self.noise() * 4 + self.jitter * 4;
        if !congested && self.mode != Mode::Drain {
            self.lost_bytes += loss.lost_bytes as f64;
        }
    }

    fn window_bytes(&self) -> u64 {
        let gain = if self.mode == Mode::Startup { STARTUP_GAIN } else { 2.0 };
        // Acknowledgements that come late or in bunches leave more on its way than the shortest round trip holds.
        let spread = self.smoothed_rtt.saturating_sub(self.min_rtt.unwrap_or(self.smoothed_rtt)).min(self.noise() * 4);
        let slack = self.held_bytes(self.ack_delay) + 4.0 * PACKET_BYTES as f64;
        let window = gain * (self.path_bytes() + self.held_bytes(spread)) + slack;
        if self.mode == Mode::Startup {
            return (window as u64).max(INITIAL_WINDOW_BYTES);
        }
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
            jitter: Duration::ZERO,
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
