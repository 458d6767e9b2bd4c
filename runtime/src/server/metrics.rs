use std::time::Duration;

use tidelock_net::{DisconnectCode, DisconnectReason};
use tidelock_replication::ids::PlayerId;
use tidelock_sim::Tick;
use tidelock_sim::allowance::AllowanceCounters;
use tidelock_sim::ownership::OwnedCounters;
use tidelock_sim::report::{CorrectionCause, Desync, Difference, ReportCounters};

use super::inputs::InputCounters;
use crate::metrics::{Stage, StageTimes, TimeHistogram};

/// What a tick may take (T-3).
const TICK_BUDGET: Duration = Duration::from_nanos(1_000_000_000 / Tick::HZ as u64);

/// What a server has counted and timed since it started.
#[derive(Clone, Debug, Default)]
pub struct ServerMetrics {
    /// The last tick.
    pub tick: Tick,
    /// Ticks run.
    pub ticks: u64,
    /// Players at the last tick.
    pub players: usize,
    /// Times of whole ticks since the last clearing.
    pub tick_times: TimeHistogram,
    /// Times of each stage since the last clearing, in the order of [`Stage::ALL`].
    pub stage_times: [TimeHistogram; Stage::COUNT],
    /// Times of the last tick.
    pub last: StageTimes,
    /// How movement reports fared.
    pub reports: ReportCounters,
    /// Whose client last parted from the server after they had agreed to the bit, and in what.
    pub last_desync: Option<(PlayerId, Desync)>,
    /// Who was last corrected after a replay, for what cause, and in what report and replay differed.
    pub last_correction: Option<(PlayerId, CorrectionCause, Difference)>,
    /// How reports fared that are judged and not run.
    pub allowances: AllowanceCounters,
    /// How inputs of ticks fared.
    pub inputs: InputCounters,
    /// How reports of owned loose parts fared.
    pub owned: OwnedCounters,
    /// Changes of owners of loose parts.
    pub handovers: u64,
    /// Everything else that is decided silently.
    pub counters: ServerCounters,
}

/// Counters of a server; each only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Ticks skipped because the server was late.
    pub ticks_skipped: u64,
    /// Ticks that took longer than 1/60 s.
    pub ticks_over_budget: u64,
    /// Connections made.
    pub connections: u64,
    /// Players that entered the place.
    pub joins: u64,
    /// Sessions that ended, timeouts apart.
    pub leaves: u64,
    /// Sessions that ended because nothing was heard, or came no closer to the place for too long.
    pub timeouts: u64,
    /// Joins refused, by wrong protocol or message.
    pub joins_refused: u64,
    /// Sessions ended because of what they sent.
    pub faulty_sessions: u64,
    /// Messages that could not be read.
    pub message_faults: u64,
    /// Messages dropped because their session had too many waiting, or for want of a meaning.
    pub messages_dropped: u64,
    /// Messages the network refused to queue.
    pub sends_refused: u64,
    /// Errors of the socket or its thread.
    pub network_errors: u64,
    /// Commands for players or instances that are not here.
    pub commands_dropped: u64,
    /// Motion items sent.
    pub motion_items: u64,
    /// Bytes of motion batches sent.
    pub motion_bytes: u64,
    /// Bytes of published records, once per audience.
    pub record_bytes: u64,
}

impl ServerMetrics {
    pub(super) fn count_tick(&mut self, tick: Tick, skipped: u64, times: &StageTimes, players: usize) {
        self.tick = tick;
        self.ticks += 1;
        self.players = players;
        self.counters.ticks_skipped += skipped;
        self.tick_times.record(times.total());
        for (stage, histogram) in Stage::ALL.into_iter().zip(&mut self.stage_times) {
            histogram.record(times.get(stage));
        }
        self.last = *times;
        if times.total() > TICK_BUDGET {
            self.counters.ticks_over_budget += 1;
            let (stage, total) = (times.slowest(), times.total());
            tracing::debug!(tick = tick.0, ?total, slowest = stage.name(), took = ?times.get(stage), "tick over budget");
        }
    }

    pub(super) fn count_disconnect(&mut self, reason: &DisconnectReason) {
        match reason {
            DisconnectReason::TimedOut | DisconnectReason::Local { code: DisconnectCode::Timeout } => {
                self.counters.timeouts += 1;
            }
            DisconnectReason::Local { code: DisconnectCode::Faults } => self.counters.faulty_sessions += 1,
            _ => self.counters.leaves += 1,
        }
    }

    pub(super) fn clear_times(&mut self) {
        self.tick_times.clear();
        self.stage_times.iter_mut().for_each(TimeHistogram::clear);
    }
}
