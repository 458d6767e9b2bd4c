use std::time::Duration;

use serde::Serialize;
use tidelock::{ClientEvent, ClientStats};

use crate::hosting::Word;
use crate::swarm::Spread;

/// What the page shows beside the drawing, four times a second.
#[derive(Debug, Serialize)]
pub(super) struct StatsMessage {
    #[serde(rename = "type")]
    kind: &'static str,
    tick: Tick,
    stages: Vec<Stage>,
    client: Own,
    server: Server,
    events: Vec<Event>,
}

#[derive(Debug, Serialize)]
struct Tick {
    p50_ms: f64,
    p99_ms: f64,
}

#[derive(Debug, Serialize)]
struct Stage {
    name: &'static str,
    us: f64,
}

/// The visitor's own client.
#[derive(Debug, Serialize)]
struct Own {
    rtt_ms: f64,
    /// The worse direction, 0 to 1.
    loss: f32,
    playback_delay_ms: f64,
    corrections: u64,
    corrections_per_s: f64,
    down_bytes_s: f64,
    up_bytes_s: f64,
    kinds: Vec<Kind>,
}

#[derive(Debug, Serialize)]
struct Kind {
    name: &'static str,
    down: f64,
    up: f64,
}

#[derive(Debug, Serialize)]
struct Server {
    players: usize,
    motion_bytes_s: f64,
    corrections: u64,
}

/// A correction as it happened.
#[derive(Clone, Debug, Serialize)]
struct Event {
    at_s: f64,
    cause: &'static str,
    amount: String,
}

/// Turns counters into rates.
#[derive(Debug, Default)]
pub(super) struct Measuring {
    at: Duration,
    before: ClientStats,
    motion_bytes: u64,
    events: Vec<Event>,
}

impl Measuring {
    /// Takes in what happened this frame.
    pub(super) fn events(&mut self, now: Duration, events: &[ClientEvent]) {
        for event in events {
            if let ClientEvent::Corrected { cause, offset, .. } = event {
                let amount = format!("{:.2} studs", offset.length());
                self.events.push(Event { at_s: now.as_secs_f64(), cause: cause.name(), amount });
            }
        }
    }

    /// The message for now, with rates since the last one.
    pub(super) fn message(&mut self, now: Duration, stats: &ClientStats, word: &Word) -> StatsMessage {
        let seconds = now.saturating_sub(self.at).as_secs_f64().max(1e-3);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let before = std::mem::replace(&mut self.before, stats.clone());
        let counted = |stats: &ClientStats| stats.corrections.iter().sum::<u64>();
        let motion_before = std::mem::replace(&mut self.motion_bytes, word.motion_bytes());
        let down = rate(stats.bytes_in, before.bytes_in);
        let up = rate(stats.bytes_out, before.bytes_out);
        self.at = now;
        let Spread { p50, p99, .. } = word.tick_ms;
        StatsMessage {
            kind: "stats",
            tick: Tick { p50_ms: p50, p99_ms: p99 },
            stages: word.stages().map(|(name, us)| Stage { name, us }).collect(),
            client: Own {
                rtt_ms: stats.rtt.as_secs_f64() * 1000.0,
                loss: stats.loss_in.max(stats.loss_out),
                playback_delay_ms: stats.playback_delay.as_secs_f64() * 1000.0,
                corrections: counted(stats),
                corrections_per_s: rate(counted(stats), counted(&before)),
                down_bytes_s: down,
                up_bytes_s: up,
                kinds: kinds(stats, &before, seconds, up),
            },
            server: Server {
                players: word.players(),
                motion_bytes_s: rate(word.motion_bytes(), motion_before),
                corrections: word.corrections(),
            },
            events: std::mem::take(&mut self.events),
        }
    }
}

/// Down by kind; what is not in messages is headers, seals and acknowledgements. Up goes nothing but reports.
fn kinds(now: &ClientStats, before: &ClientStats, seconds: f64, up: f64) -> Vec<Kind> {
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    let state = rate(now.kinds_in.state, before.kinds_in.state);
    let motion = rate(now.kinds_in.motion, before.kinds_in.motion);
    let bulk = rate(now.kinds_in.bulk, before.kinds_in.bulk);
    let rest = (rate(now.bytes_in, before.bytes_in) - state - motion - bulk).max(0.0);
    vec![
        Kind { name: "motion", down: motion, up: 0.0 },
        Kind { name: "state", down: state, up: 0.0 },
        Kind { name: "place file", down: bulk, up: 0.0 },
        Kind { name: "reports", down: 0.0, up },
        Kind { name: "packets", down: rest, up: 0.0 },
    ]
}
