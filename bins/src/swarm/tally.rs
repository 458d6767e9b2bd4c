use std::collections::BTreeMap;

use tidelock::ClientStats;
use tidelock::net::DisconnectReason;
use tidelock::sim::report::CorrectionCause;

use super::report::{Report, Spread};
use crate::bots::Crowd;

/// What bots found over the measured time.
#[derive(Default)]
pub(crate) struct Tally {
    joined: usize,
    corrections: [u64; CorrectionCause::ALL.len()],
    disconnects: BTreeMap<String, u64>,
    bytes_in: Vec<f64>,
    bytes_out: Vec<f64>,
    rtt_ms: Vec<f64>,
    delay_ms: Vec<f64>,
    loss_in: Vec<f64>,
    loss_out: Vec<f64>,
    faults: u64,
    late_us: Vec<u32>,
}

/// A reason as reports count it; texts of the peer would make each its own.
fn reason_name(reason: &DisconnectReason) -> String {
    match reason {
        DisconnectReason::Local { code } => format!("local {code:?}"),
        DisconnectReason::Remote { code, .. } => format!("remote {code:?}"),
        other => format!("{other:?}"),
    }
}

impl Tally {
    /// Of a crowd whose bots had measured `before` when the run began.
    pub(crate) fn of(crowd: &mut Crowd, before: &[ClientStats]) -> Self {
        let mut tally = Self { late_us: crowd.take_lateness(), ..Self::default() };
        for (bot, before) in crowd.bots().iter().zip(before) {
            if let Some(reason) = bot.ended() {
                *tally.disconnects.entry(reason_name(reason)).or_default() += 1;
            }
            if bot.plays() {
                tally.add(&bot.stats(), before);
            }
        }
        tally
    }

    fn add(&mut self, now: &ClientStats, before: &ClientStats) {
        self.joined += 1;
        for (sum, (now, before)) in self.corrections.iter_mut().zip(now.corrections.iter().zip(before.corrections)) {
            *sum += now - before;
        }
        self.bytes_in.push((now.bytes_in - before.bytes_in) as f64);
        self.bytes_out.push((now.bytes_out - before.bytes_out) as f64);
        self.rtt_ms.push(now.rtt.as_secs_f64() * 1000.0);
        self.delay_ms.push(now.playback_delay.as_secs_f64() * 1000.0);
        self.loss_in.push(f64::from(now.loss_in));
        self.loss_out.push(f64::from(now.loss_out));
        self.faults += now.faults - before.faults;
    }

    /// Adds what another thread found.
    pub(crate) fn merge(&mut self, other: Self) {
        self.joined += other.joined;
        self.faults += other.faults;
        self.corrections.iter_mut().zip(other.corrections).for_each(|(sum, count)| *sum += count);
        for (reason, count) in other.disconnects {
            *self.disconnects.entry(reason).or_default() += count;
        }
        for (all, more) in [
            (&mut self.bytes_in, other.bytes_in),
            (&mut self.bytes_out, other.bytes_out),
            (&mut self.rtt_ms, other.rtt_ms),
            (&mut self.delay_ms, other.delay_ms),
            (&mut self.loss_in, other.loss_in),
            (&mut self.loss_out, other.loss_out),
        ] {
            all.extend(more);
        }
        self.late_us.extend(other.late_us);
    }

    /// Writes it into a report whose seconds are known. Corrections by the game's own command are no fault and left out.
    pub(crate) fn write(self, report: &mut Report) {
        let seconds = report.seconds;
        let rate = |bytes: Vec<f64>| Spread::of(bytes.into_iter().map(|bytes| bytes / seconds).collect());
        report.joined = self.joined;
        let counted = CorrectionCause::ALL.into_iter().zip(self.corrections);
        report.corrections = counted
            .filter(|(cause, count)| *count > 0 && !cause.is_command())
            .map(|(cause, count)| (cause.name(), count))
            .collect();
        report.disconnects = self.disconnects;
        report.down_bytes_s = rate(self.bytes_in);
        report.up_bytes_s = rate(self.bytes_out);
        report.rtt_ms = Spread::of(self.rtt_ms);
        report.playback_delay_ms = Spread::of(self.delay_ms);
        report.loss_down = Spread::of(self.loss_in);
        report.loss_up = Spread::of(self.loss_out);
        report.faults = self.faults;
        report.judge_lateness(&self.late_us);
    }
}
