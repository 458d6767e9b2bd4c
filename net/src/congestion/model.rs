//! Congestion control by a model of the path: its delivery rate and its shortest round trip.

mod probing;
mod sharing;

use std::time::Duration;

use self::sharing::Sharing;
use crate::congestion::{
    AckEvent, Controller, Delivery, INITIAL_WINDOW_BYTES, LossEvent, MIN_WINDOW_BYTES, PACKET_BYTES,
};

/// Doubles the rate each round trip while the path's limit is unknown.
const STARTUP_GAIN: f64 = 2.885;
/// First phase, each of a round, in which it stays at the limit; before it, it looks for more and takes what came of it.
const STAY: usize = 2;
/// Time between two looks for more.
const PATIENCE: f64 = 1.0;
/// Share of the difference by which a round that met a queue corrects the limit: it delivered what the path takes.
const CORRECTION: f64 = 0.25;
/// The same where the queue is so long that there is no doubt.
const SURE_CORRECTION: f64 = 0.6;
/// Rounds in a row with a long queue and three quarters of the limit, after which the path is believed to be slower.
const WEAK_ROUNDS: u32 = 3;
/// Divisor with which the calm round trip follows longer ones.
const CALM_WEIGHT: f64 = 128.0;
/// Rounds without growth by a quarter after which the limit is known.
const FULL_ROUNDS: u32 = 3;
/// Queue that looking for more may make, and that is tolerated otherwise.
const SHORT_QUEUE: f64 = 0.002;
/// Rate gain while it stays: a little less, so that no queue is left.
const STAY_GAIN: f64 = 0.98;
/// The same while there is a short queue.
const EASE_GAIN: f64 = 0.96;
/// Mean change of the round trip from which the mean of a round tells more of the queue than the shortest does.
const JITTERY: f64 = 0.002;
/// Mean change of the round trip, as a multiple, by which the mean of one measurement may exceed the path's own.
const JITTER_SHARE: f64 = 4.0;
/// Shortest round as a multiple of that change, and the bytes it delivers at least: fewer measure a rate badly.
const ROUND_JITTERS: f64 = 4.0;
const ROUND_BYTES: f64 = 16_000.0;
/// Longest that makes a round.
const MOST_ROUND: f64 = 0.5;
/// Share of the first look, and the largest after one that found more, where there is jitter.
const FIRST_PROBE: f64 = 0.25;
/// Largest share left unsent to shorten a queue.
const MOST_RELIEF: f64 = 0.3;
/// How long the shortest round trip is believed.
const MIN_RTT_LIFE: f64 = 10.0;
/// How long, beside a round trip, half is sent to measure it anew.
const MIN_RTT_PROBE: f64 = 0.2;
/// Latest round trips of which the shortest ends the doubling, once it exceeds the path's own by an eighth, or by this.
const LATEST: usize = 12;
const MOST_FILLING: f64 = 0.016;
/// Shortest round.
const MIN_ROUND: f64 = 0.02;
/// Bytes of a short packet, such as those of a slow path.
const SMALL_BYTES: f64 = 500.0;
/// The limit is not believed to be lower, in bytes per second.
const LEAST_RATE: f64 = 2_000.0;
/// Highest loss made up for by sending more, while the queue is short.
const MAX_COMPENSATED_LOSS: f64 = 0.4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Cycle(usize),
}

/// A stretch of acknowledgements that lasts a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    since: f64,
    /// Bytes delivered when it began, and when it ends.
    began: u64,
    ends: u64,
    /// Whether the sender had too little to send for it to show the path's limit.
    app_limited: bool,
    /// Best rate measured for one packet in it: an average over a bunch of acknowledgements may be higher, and wrong.
    best: u64,
    /// Round trips measured in it.
    samples: u32,
    /// The longest of them, and all together.
    longest: f64,
    sum: f64,
}

/// Sends a little less than the path delivers and keeps its queue within a few milliseconds.
///
/// It doubles the rate until a queue shows, and lets that drain. Then rounds that met a queue tell what the path delivers. Once
/// a second it looks for more: without jitter by a few milliseconds of more, sharply, whose longest round trip tells at once how
/// much passed; with jitter by a round or longer, since only the mean of many round trips tells a queue from
/// jitter then. Looks grow bolder while nothing resists and rarer while only a queue comes of them. Loss alone does not slow it;
/// a long queue with a falling delivery rate does.
///
/// Where others use the path too, the queue tells all of them the same even share, which each goes towards.
///
/// It reckons in seconds and bytes per second: with `Duration` an acknowledgement took twice as long.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    mode: Mode,
    /// Bytes per second that the path delivers.
    limit: f64,
    rounds: u64,
    round: Round,
    weak_rounds: u32,
    /// Rounds whose round trips tell of what was sent before.
    stale_rounds: u32,
    full_rate: f64,
    full_rounds: u32,
    /// Share beyond the rate with which the next look for more is made; it grows while nothing resists.
    probe: f64,
    /// The rate when that began.
    probed_rate: f64,
    /// Bytes of it still to be sent, and how long that takes, in seconds.
    probe_bytes: f64,
    probe_time: f64,
    sharing: Sharing,
    cycle_since: f64,
    /// Time between two looks for more.
    patience: f64,
    min_rtt: Option<f64>,
    min_rtt_at: f64,
    probing_until: Option<f64>,
    /// The shortest since that began.
    renewed_rtt: f64,
    /// Round trips measured in all.
    samples: u64,
    /// Shortest round trips of the last round and of this one.
    recent_rtts: [f64; 2],
    latest_rtts: [f64; LATEST],
    /// Round trips measured in the last round.
    last_samples: u32,
    /// The longest of the last round, and their sum.
    last_longest: f64,
    last_sum: f64,
    /// When it began, and the bytes delivered then; and those delivered now.
    last_began: (f64, u64),
    delivered: u64,
    /// Mean round trip while nothing waits: the least of all rounds', which forgets slowly.
    calm_rtt: Option<f64>,
    smoothed_rtt: f64,
    /// Mean change of the round trip from one measurement to the next: a growing queue changes it little, jitter much.
    jitter: f64,
    ack_delay: f64,
    acked_bytes: f64,
    lost_bytes: f64,
    /// Rate and window that follow from all that: several are asked for with each packet.
    rate: u64,
    window: u64,
}

impl Model {
    /// Knowing nothing.
    #[must_use]
    pub fn new() -> Self {
        let mut model = Self {
            mode: Mode::Startup,
            limit: 0.0,
            rounds: 0,
            round: Round { app_limited: true, ..Round::default() },
            weak_rounds: 0,
            stale_rounds: 0,
            full_rate: 0.0,
            full_rounds: 0,
            probe: 0.0,
            probed_rate: 0.0,
            probe_bytes: 0.0,
            probe_time: 0.0,
            sharing: Sharing::default(),
            cycle_since: 0.0,
            patience: PATIENCE,
            min_rtt: None,
            min_rtt_at: 0.0,
            probing_until: None,
            renewed_rtt: f64::INFINITY,
            samples: 0,
            recent_rtts: [f64::INFINITY; 2],
            latest_rtts: [0.0; LATEST],
            last_samples: 0,
            last_longest: 0.0,
            last_sum: 0.0,
            last_began: (0.0, 0),
            delivered: 0,
            calm_rtt: None,
            smoothed_rtt: 0.1,
            jitter: 0.0,
            ack_delay: 0.0,
            acked_bytes: 0.0,
            lost_bytes: 0.0,
            rate: 0,
            window: 0,
        };
        model.conclude();
        model
    }

    /// Draws the conclusions from a change.
    fn conclude(&mut self) {
        let (queue, noise) = (self.queue(), self.noise());
        (self.rate, self.window) = (self.current_rate(queue, noise), self.current_window(noise));
    }

    /// Time a packet takes to pass the path.
    fn packet_time(&self) -> f64 {
        SMALL_BYTES / self.limit.max(LEAST_RATE)
    }

    fn path_bytes(&self) -> f64 {
        self.limit * self.min_rtt.unwrap_or(self.smoothed_rtt)
    }

    /// Whether the round trip varies so much that only the mean of many tells something.
    fn is_jittery(&self) -> bool {
        self.jitter > JITTERY + self.packet_time() && self.calm_rtt.is_some()
    }

    /// How long packets wait on the path, as far as the shortest or, with jitter, the mean of the last two rounds' tells.
    fn queue(&self) -> f64 {
        if self.is_jittery() {
            return self.wait(self.round.sum + self.last_sum, self.round.samples + self.last_samples);
        }
        let recent = self.recent_rtts[0].min(self.recent_rtts[1]);
        let Some(min) = self.min_rtt.filter(|_| recent < f64::INFINITY) else { return 0.0 };
        // A long one need not wait until a round has met nothing else.
        let latest = (self.shortest_latest() - min).max(0.0);
        if latest > self.noise() * 4.0 { latest } else { (recent - min).max(0.0) }
    }

    fn shortest_latest(&self) -> f64 {
        self.latest_rtts.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn wait(&self, sum: f64, samples: u32) -> f64 {
        let mean = sum / f64::from(samples.max(1));
        (mean - self.calm_rtt.unwrap_or(mean)).max(0.0)
    }

    /// How long a queue must be to stand out.
    fn noise(&self) -> f64 {
        self.noise_of(self.round.samples + self.last_samples)
    }

    /// The mean round trip varies by a part of the jitter, the smaller the more were measured, and by the time one packet takes.
    fn noise_of(&self, samples: u32) -> f64 {
        let jitter = self.jitter * JITTER_SHARE / f64::from(samples.max(4)).sqrt();
        SHORT_QUEUE.max(self.packet_time()) + jitter
    }

    /// Whether even the shortest of the latest round trips shows a queue.
    fn is_filling(&self) -> bool {
        let enough = self.round.samples >= LATEST as u32 && !self.round.app_limited;
        if let (true, Some(calm)) = (self.is_jittery(), self.calm_rtt) {
            let mean = self.latest_rtts.iter().sum::<f64>() / LATEST as f64;
            let stands_out = SHORT_QUEUE + self.jitter * 1.5;
            return enough && mean > calm + stands_out;
        }
        let latest = self.shortest_latest();
        let min = self.min_rtt.unwrap_or(f64::INFINITY);
        // More careful than elsewhere: this is decided once.
        let stands_out = (min / 8.0).clamp(SHORT_QUEUE, MOST_FILLING).max(self.jitter * 2.0);
        enough && latest > min + stands_out
    }

    /// Share left unsent so that a queue is gone after a round trip or 50 ms.
    fn relief(&self, queue: f64) -> f64 {
        let within = self.smoothed_rtt.max(0.05);
        (queue / within).min(MOST_RELIEF)
    }

    /// Whether this may be a queue, though not one that stands out.
    fn is_uneasy(&self, queue: f64, noise: f64) -> bool {
        queue > if self.is_jittery() { noise * 2.0 / 3.0 } else { noise / 3.0 }
    }

    fn gain(&self, queue: f64, noise: f64) -> f64 {
        let long = queue > noise;
        let gain = match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => 1.0 / STARTUP_GAIN,
            Mode::Cycle(_) if self.probing_until.is_some() => 0.5,
            Mode::Cycle(_) if long => 1.0 - self.relief(queue),
            Mode::Cycle(0) if self.probe_bytes > 0.0 => 1.0 + self.probe,
            Mode::Cycle(1) if self.is_jittery() => 1.0 - self.probe.min(MOST_RELIEF),
            Mode::Cycle(_) if self.is_uneasy(queue, noise) => EASE_GAIN,
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
        self.delivered = delivery.delivered;
        self.round.app_limited |= delivery.app_limited;
        self.round.best = self.round.best.max(delivery.bytes_s);
        let now = ack.now.as_secs_f64();
        let lasted = (now - self.round.since).max(0.0);
        let bytes = delivery.delivered.saturating_sub(self.round.began);
        let (rounds, best) = (self.rounds, self.round.best);
        let rate = || {
            // The first round has no beginning.
            let average = if rounds == 0 { u64::MAX } else { (bytes as f64 / lasted.max(1e-3)) as u64 };
            average.min(best) as f64
        };
        if self.mode == Mode::Startup && self.rounds > 1 && self.is_filling() {
            // It grew fast within this round: what came last counts.
            self.limit = (delivery.bytes_s as f64).max(rate().min(self.limit));
            self.mode = Mode::Drain;
        } else if (delivery.delivered_before >= self.round.ends && lasted >= self.least_round())
            || self.is_drained(ack.in_flight)
        {
            self.end_round(now, rate(), ack.in_flight);
        } else {
            return self.keep_up(&delivery);
        }
        let (began, ends) = (delivery.delivered, delivery.delivered + ack.in_flight.saturating_sub(PACKET_BYTES));
        self.round = Round { since: now, began, ends, ..Round::default() };
    }

    /// Whether what was sent too much is gone, which need not take a whole round.
    fn is_drained(&self, in_flight: u64) -> bool {
        self.mode == Mode::Drain && in_flight as f64 <= self.path_bytes()
    }

    /// A round is long enough to measure something.
    fn least_round(&self) -> f64 {
        let least = self.min_rtt.unwrap_or_default().max(MIN_ROUND);
        if self.mode == Mode::Startup {
            return least;
        }
        let filled = ROUND_BYTES / self.limit.max(LEAST_RATE);
        least.max(filled.max(self.jitter * ROUND_JITTERS).min(MOST_ROUND))
    }

    /// Follows a rate that doubles each round, which no round's average does.
    fn keep_up(&mut self, delivery: &Delivery) {
        if self.mode == Mode::Startup && !delivery.app_limited && self.round.samples >= LATEST as u32 {
            self.limit = self.limit.max(delivery.bytes_s as f64);
        }
    }

    fn end_round(&mut self, now: f64, rate: f64, in_flight: u64) {
        let shows_limit = !self.round.app_limited;
        self.correct(now, rate, shows_limit);
        self.note_queue(now, shows_limit);
        self.rounds += 1;
        self.stale_rounds = self.stale_rounds.saturating_sub(1);
        self.switch(now, (rate, shows_limit), in_flight);
        self.recent_rtts = [self.recent_rtts[1], f64::INFINITY];
        if self.round.samples >= 4 {
            let mean = self.round.sum / f64::from(self.round.samples);
            self.calm_rtt = Some(
                self.calm_rtt.map_or(mean, |calm| if mean < calm { mean } else { calm + (mean - calm) / CALM_WEIGHT }),
            );
        }
        self.last_began = (self.round.since, self.round.began);
        (self.last_samples, self.last_longest, self.last_sum) =
            (self.round.samples, self.round.longest, self.round.sum);
        self.acked_bytes *= 0.75;
        self.lost_bytes *= 0.75;
    }

    /// Corrects the limit by what a round delivered.
    fn correct(&mut self, now: f64, rate: f64, shows_limit: bool) {
        let (queue, noise, before) = (self.queue(), self.noise(), self.limit);
        let (least, share) = if self.is_jittery() { (noise, CORRECTION) } else { (noise / 2.0, CORRECTION * 2.0) };
        self.limit = match self.mode {
            Mode::Startup => before.max(rate),
            _ if !shows_limit => before.max(rate),
            Mode::Cycle(_) if self.is_shared() && !self.is_beyond_even(queue) => {
                self.share_evenly(queue, (now - self.round.since).max(0.0))
            }
            // So long a queue leaves no doubt.
            Mode::Cycle(_) if queue > noise * 4.0 && self.stale_rounds == 0 => {
                before + (rate.max(self.two_rounds(now)) - before).min(0.0) * SURE_CORRECTION
            }
            Mode::Cycle(_) if queue > least && self.stale_rounds == 0 => {
                before + (self.two_rounds(now) - before) * share
            }
            _ => before,
        };
        let cycling = matches!(self.mode, Mode::Cycle(_));
        let weak = cycling && shows_limit && queue > noise * 4.0 && rate < 0.75 * before;
        self.weak_rounds = if weak { self.weak_rounds + 1 } else { 0 };
        if self.weak_rounds >= WEAK_ROUNDS {
            self.limit = rate;
            self.weak_rounds = 0;
        }
        self.limit = self.limit.max(LEAST_RATE);
    }

    /// Bytes per second delivered in this round and the last.
    fn two_rounds(&self, now: f64) -> f64 {
        let time = (now - self.last_began.0).max(0.0);
        self.delivered.saturating_sub(self.last_began.1) as f64 / time.max(1e-3)
    }

    /// Goes on to the next mode at a round's end.
    fn switch(&mut self, now: f64, (rate, shows_limit): (f64, bool), in_flight: u64) {
        let long = self.queue() > self.noise();
        match self.mode {
            Mode::Startup if shows_limit => {
                if self.limit > self.full_rate * 1.25 {
                    (self.full_rate, self.full_rounds) = (self.limit, 0);
                } else {
                    self.full_rounds += 1;
                }
                if self.full_rounds >= FULL_ROUNDS || (long && self.rounds > 2) {
                    self.limit = rate.max(LEAST_RATE);
                    self.mode = Mode::Drain;
                }
            }
            Mode::Drain if !long || self.is_drained(in_flight) => {
                // What was measured while the rate doubled may be half the path's.
                self.probe = FIRST_PROBE;
                // Round trips measured until then met the queue that is gone.
                (self.mode, self.stale_rounds) = (Mode::Cycle(STAY), 2);
                self.cycle_since = (now - self.patience).max(0.0);
            }
            Mode::Cycle(phase) => {
                // What more was sent has come back by the end of the second phase.
                let paid = phase == 1 && self.judge_probe(now, shows_limit && rate > 0.75 * self.probed_rate);
                let next = match phase {
                    1 if paid => 0,
                    1 if long => 1,
                    STAY if now - self.cycle_since >= self.patience => 0,
                    _ => (phase + 1).min(STAY),
                };
                self.mode = Mode::Cycle(next);
                if next == 0 {
                    self.begin_probe(now, paid);
                }
            }
            _ => {}
        }
    }

    fn follow_rtt(&mut self, ack: &AckEvent) {
        let now = ack.now.as_secs_f64();
        (self.smoothed_rtt, self.jitter) = (ack.smoothed_rtt.as_secs_f64(), ack.jitter.as_secs_f64());
        let ack_delay = ack.ack_delay.as_secs_f64();
        self.ack_delay = ack_delay.max(self.ack_delay * (63.0 / 64.0));
        let Some(rtt) = ack.rtt.map(|rtt| (rtt.as_secs_f64() - ack_delay).max(0.0)) else { return };
        self.recent_rtts[1] = self.recent_rtts[1].min(rtt);
        self.latest_rtts[self.samples as usize % LATEST] = rtt;
        self.samples += 1;
        self.round.samples += 1;
        self.round.longest = self.round.longest.max(rtt);
        self.round.sum += rtt;
        if self.min_rtt.is_none_or(|min| rtt <= min) {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), now);
        }
        self.renewed_rtt = self.renewed_rtt.min(rtt);
        match self.probing_until {
            Some(until) if until <= now => {
                (self.min_rtt, self.min_rtt_at) = (Some(self.renewed_rtt), now);
                self.probing_until = None;
            }
            None if now - self.min_rtt_at > MIN_RTT_LIFE => {
                self.probing_until = Some(now + MIN_RTT_PROBE + self.smoothed_rtt);
                self.renewed_rtt = rtt;
            }
            _ => {}
        }
    }

    fn current_window(&self, noise: f64) -> u64 {
        let gain = if self.mode == Mode::Startup { STARTUP_GAIN } else { 2.0 };
        // Acknowledgements that come late or in bunches leave more on its way than the shortest round trip holds.
        let spread = (self.smoothed_rtt - self.min_rtt.unwrap_or(self.smoothed_rtt)).max(0.0).min(noise * 4.0);
        let slack = self.limit * self.ack_delay + 4.0 * PACKET_BYTES as f64;
        let window = gain * (self.path_bytes() + self.limit * spread) + slack;
        if self.mode == Mode::Startup {
            return (window as u64).max(INITIAL_WINDOW_BYTES);
        }
        (window as u64).max(MIN_WINDOW_BYTES)
    }

    fn current_rate(&self, queue: f64, noise: f64) -> u64 {
        let measured = (self.gain(queue, noise) * self.limit) as u64;
        if self.mode != Mode::Startup {
            return measured;
        }
        let round = self.smoothed_rtt.max(0.001);
        measured.max((INITIAL_WINDOW_BYTES as f64 / round) as u64)
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Controller for Model {
    fn on_sent(&mut self, _now: Duration, bytes: u64, _in_flight: u64) {
        let probed = self.probe_bytes > 0.0;
        self.probe_bytes -= bytes as f64;
        if probed && self.probe_bytes <= 0.0 {
            self.conclude();
        }
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.acked_bytes += ack.acked_bytes as f64;
        self.follow_rtt(ack);
        self.measure(ack);
        self.conclude();
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        if loss.persistent {
            // Whatever the path was, it may be another now.
            (self.mode, self.full_rate, self.full_rounds) = (Mode::Startup, 0.0, 0);
            (self.acked_bytes, self.lost_bytes) = (0.0, 0.0);
            return self.conclude();
        }
        // What a full queue drops is no reason to send more.
        let waits = (self.smoothed_rtt - self.min_rtt.unwrap_or(self.smoothed_rtt)).max(0.0);
        let congested = waits > self.noise() * 4.0 + self.jitter * 4.0;
        if !congested && self.mode != Mode::Drain {
            self.lost_bytes += loss.lost_bytes as f64;
        }
        self.conclude();
    }

    fn window_bytes(&self) -> u64 {
        self.window
    }

    fn rate_bytes_s(&self) -> u64 {
        self.rate
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

    // N-5: what is measured below a floor is not believed; the session adds its own least rate.
    #[test]
    fn the_floor_holds() {
        let mut model = Model::new();
        (1..30).for_each(|round| model.on_ack(&ack(1_000 * round, 500, 500 * round, 900)));
        assert!((LEAST_RATE * 0.5..LEAST_RATE * 2.0).contains(&(model.rate_bytes_s() as f64)));
        assert!(model.window_bytes() >= MIN_WINDOW_BYTES);
    }

    #[test]
    fn loss_without_a_queue_is_made_up_for() {
        let mut model = Model::new();
        (1..10).for_each(|round| model.on_ack(&ack(100 * round, 100_000, 10_000 * round, 50)));
        let before = model.rate_bytes_s() as f64;
        let lost_bytes = (model.acked_bytes * 0.25) as u64;
        model.on_loss(&LossEvent {
            now: Duration::from_secs(2),
            lost_bytes,
            newest_sent_at: Duration::ZERO,
            in_flight: 0,
            persistent: false,
        });
        assert!((1.2..1.3).contains(&(model.rate_bytes_s() as f64 / before)));
    }
}
