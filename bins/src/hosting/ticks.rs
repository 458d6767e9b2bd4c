use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tidelock::sim::Tick;
use tidelock::{Stage, StageTimes};

use crate::swarm::Spread;

/// Seconds of ticks kept.
const KEPT_S: usize = 300;

/// The times of the last ticks, whole and by stage, in microseconds.
#[derive(Debug, Default)]
pub(super) struct TickTimes {
    rows: VecDeque<[u32; Stage::COUNT]>,
}

impl TickTimes {
    pub(super) fn push(&mut self, times: &StageTimes) {
        if self.rows.len() == KEPT_S * Tick::HZ as usize {
            self.rows.pop_front();
        }
        self.rows.push_back(Stage::ALL.map(|stage| microseconds(times.get(stage))));
    }

    /// Whole ticks of the last `seconds`, milliseconds.
    pub(super) fn spread_ms(&self, seconds: f64) -> Spread {
        Spread::of(self.last(seconds).map(|row| f64::from(row.iter().sum::<u32>()) / 1000.0).collect())
    }

    /// Mean time of each stage over the last `seconds`, microseconds.
    pub(super) fn stages_us(&self, seconds: f64) -> BTreeMap<&'static str, f64> {
        let count = self.last(seconds).count().max(1) as f64;
        let mean = |at: usize| self.last(seconds).map(|row| f64::from(row[at])).sum::<f64>() / count;
        Stage::ALL.iter().enumerate().map(|(at, stage)| (stage.name(), mean(at))).collect()
    }

    fn last(&self, seconds: f64) -> impl Iterator<Item = &[u32; Stage::COUNT]> {
        let wanted = (seconds * f64::from(Tick::HZ)).ceil().max(1.0) as usize;
        self.rows.iter().skip(self.rows.len().saturating_sub(wanted))
    }
}

fn microseconds(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
