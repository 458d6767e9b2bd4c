use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Lateness of the swarm's own updates above which its findings say more about the swarm than about the server, milliseconds.
const OVERLOADED_MS: f64 = 8.0;
/// A stall of the machine after which corrections say nothing: reports of so long a time may exceed the movement budget.
const STALL_MS: f64 = 100.0;
/// The same in ticks the server skipped.
const STALL_TICKS: u64 = 6;

/// A distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of values in any order.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (share * values.len().saturating_sub(1) as f64).round() as usize;
            values.get(index).copied().unwrap_or_default()
        };
        Self { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p50 {:.2}  p99 {:.2}  max {:.2}", self.p50, self.p99, self.max)
    }
}

/// What a swarm found; with `--json` printed as it is.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Bots asked for.
    pub(crate) bots: usize,
    /// Bots that came into the place.
    pub(crate) joined: usize,
    /// Seconds measured.
    pub(crate) seconds: f64,
    /// The bots' links.
    pub(crate) link: LinkReport,
    /// The server's own word, as its metrics address gives it.
    pub(crate) server: Option<Value>,
    /// Corrections of movement the bots applied, by cause.
    pub(crate) corrections: BTreeMap<&'static str, u64>,
    /// Sessions that ended, by reason.
    pub(crate) disconnects: BTreeMap<String, u64>,
    /// Bytes of datagrams a player received each second.
    pub(crate) down_bytes_s: Spread,
    /// Bytes of datagrams a player sent each second.
    pub(crate) up_bytes_s: Spread,
    pub(crate) rtt_ms: Spread,
    pub(crate) playback_delay_ms: Spread,
    /// Share of packets lost from the server, 0 to 1, as the bots measured it.
    pub(crate) loss_down: Spread,
    /// Share of packets lost to the server, 0 to 1.
    pub(crate) loss_up: Spread,
    /// Messages of the server the bots could not read.
    pub(crate) faults: u64,
    /// Datagrams of junk sent, and the processor time that took, in seconds.
    pub(crate) junk: u64,
    pub(crate) junk_time_s: f64,
    /// How late the bots' own updates began.
    pub(crate) lateness_ms: Spread,
    /// Whether the swarm itself could not keep up.
    pub(crate) overloaded: bool,
}

/// What was added to each bot's link, each way.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct LinkReport {
    pub(crate) latency_ms: f64,
    pub(crate) jitter_ms: f64,
    pub(crate) loss: f64,
}

impl Report {
    /// Takes in the lateness, and judges by it.
    pub(crate) fn judge_lateness(&mut self, late_us: &[u32]) {
        self.lateness_ms = Spread::of(late_us.iter().map(|late| f64::from(*late) / 1000.0).collect());
        self.overloaded = self.lateness_ms.p99 > OVERLOADED_MS;
    }

    /// Whether the machine stood still for so long that corrections are its own doing.
    fn stalled(&self) -> bool {
        let skipped = self.server.as_ref().and_then(|server| server.get("ticks_skipped")).and_then(Value::as_u64);
        self.lateness_ms.max > STALL_MS || skipped.unwrap_or_default() >= STALL_TICKS
    }

    /// What keeps the run from being clean: whoever did not join, was corrected without a stall, or lost.
    pub(crate) fn blemishes(&self) -> Vec<String> {
        let corrected: u64 = self.corrections.values().sum();
        let lost: u64 = self.disconnects.values().sum();
        let found = [
            (self.joined < self.bots, format!("{} of {} joined", self.joined, self.bots)),
            (corrected > 0 && !self.stalled(), format!("{corrected} corrections")),
            (lost > 0, format!("{lost} sessions lost")),
            (self.faults > 0, format!("{} unreadable messages", self.faults)),
        ];
        found.into_iter().filter(|(spoilt, _)| *spoilt).map(|(_, what)| what).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LinkReport { latency_ms, jitter_ms, loss } = self.link;
        writeln!(f, "{} of {} bots for {:.1} s", self.joined, self.bots, self.seconds)?;
        writeln!(f, "  links, each way      {latency_ms} ms + {jitter_ms} ms, {:.1} % loss", loss * 100.0)?;
        match &self.server {
            Some(server) => write_server(f, server)?,
            None => writeln!(f, "  server               says nothing: no metrics address")?,
        }
        if self.junk > 0 {
            writeln!(
                f,
                "  junk sent            {} datagrams, {:.0} a second, by {:.2} of a core",
                self.junk,
                self.junk as f64 / self.seconds,
                self.junk_time_s / self.seconds
            )?;
        }
        writeln!(f, "  corrections          {}", counts(self.corrections.iter()))?;
        writeln!(f, "  disconnects          {}", counts(self.disconnects.iter()))?;
        writeln!(f, "  down, B/s a player   {}", self.down_bytes_s)?;
        writeln!(f, "  up, B/s a player     {}", self.up_bytes_s)?;
        writeln!(f, "  round trip, ms       {}", self.rtt_ms)?;
        writeln!(f, "  playback delay, ms   {}", self.playback_delay_ms)?;
        writeln!(f, "  loss down, %         {}", percent(self.loss_down))?;
        writeln!(f, "  loss up, %           {}", percent(self.loss_up))?;
        writeln!(f, "  unreadable messages  {}", self.faults)?;
        write!(f, "  bots late by, ms     {}", self.lateness_ms)?;
        if self.overloaded {
            write!(
                f,
                "\n  WARNING: this swarm could not keep up with its own bots, so what it found is not the server's doing."
            )?;
            write!(f, "\n           Use fewer bots, --thin, more --threads, or another machine.")?;
        }
        Ok(())
    }
}

fn write_server(f: &mut fmt::Formatter<'_>, server: &Value) -> fmt::Result {
    let number = |pointer: &str| server.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
    let tick = Spread { p50: number("/tick_ms/p50"), p99: number("/tick_ms/p99"), max: number("/tick_ms/max") };
    writeln!(f, "  server tick, ms      {tick}")?;
    let stages = server.pointer("/stages_us").and_then(Value::as_object);
    let stages =
        stages.into_iter().flatten().map(|(name, us)| format!("{name} {:.0}", us.as_f64().unwrap_or_default()));
    let skipped = number("/ticks_skipped");
    writeln!(f, "  ticks skipped        {skipped:.0}")?;
    writeln!(f, "  server stages, µs    {}", stages.collect::<Vec<_>>().join("  "))?;
    let seconds = number("/seconds").max(1e-3);
    writeln!(f, "  network threads      {:.2} of a core", number("/network/threads_us") / 1e6 / seconds)?;
    let [replays, frames, inexact] = ["/replays", "/replayed_frames", "/inexact"].map(number);
    writeln!(f, "  server replays       {replays:.0} reports, {frames:.0} frames; {inexact:.0} not equal to the bit")?;
    for (label, pointer) in [
        ("  server corrections ", "/corrections"),
        ("  server refusals    ", "/refusals"),
        ("  datagrams refused  ", "/network/faults"),
    ] {
        let counted = server.pointer(pointer).and_then(Value::as_object).cloned().unwrap_or_default();
        writeln!(f, "{label}  {}", counts(counted.iter().filter(|(_, count)| count.as_u64() != Some(0))))?;
    }
    Ok(())
}

fn counts<'a, K: fmt::Display + 'a, V: fmt::Display + 'a>(counted: impl Iterator<Item = (&'a K, &'a V)>) -> String {
    let shown: Vec<String> = counted.map(|(what, count)| format!("{count} {what}")).collect();
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}

fn percent(share: Spread) -> Spread {
    Spread { p50: share.p50 * 100.0, p99: share.p99 * 100.0, max: share.max * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_of_sorted_values() {
        let spread = Spread::of((1..=101).rev().map(f64::from).collect());
        assert_eq!((spread.p50, spread.p99, spread.max), (51.0, 100.0, 101.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }

    // T-42: an overloaded swarm does not read as server faults.
    #[test]
    fn an_overloaded_swarm_says_so() {
        let mut report = Report { bots: 2, joined: 2, ..Report::default() };
        report.judge_lateness(&[100, 200, 300]);
        assert!(!report.to_string().contains("WARNING"));
        report.judge_lateness(&[100, 20_000, 30_000]);
        assert!(report.to_string().contains("WARNING"));
    }

    #[test]
    fn blemishes_are_named() {
        let mut report = Report { bots: 2, joined: 2, ..Report::default() };
        assert!(report.blemishes().is_empty());
        report.joined = 1;
        report.corrections.insert("budget", 3);
        assert_eq!(report.blemishes(), ["1 of 2 joined", "3 corrections"]);
        report.server = Some(serde_json::json!({ "ticks_skipped": 9 }));
        assert_eq!(report.blemishes(), ["1 of 2 joined"]);
    }
}
