use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tidelock::metrics::Stage;
use tidelock::server::{PlayerInfo, ServerMetrics};
use tidelock::sim::report::{CorrectionCause, ReportRefusal};

use super::ticks::TickTimes;
use crate::swarm::Spread;

/// What a running server shows of itself: its thread writes after each tick, pages read.
#[derive(Debug, Default)]
pub(crate) struct Board(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    times: TickTimes,
    counters: Counters,
    players: Vec<Player>,
}

/// Everything counted since the server started.
#[derive(Clone, Debug, Default, Serialize)]
struct Counters {
    tick: u64,
    ticks_skipped: u64,
    players: usize,
    joins: u64,
    leaves: u64,
    timeouts: u64,
    /// Movement reports replayed.
    replays: u64,
    replayed_frames: u64,
    /// Of those, reports that did not equal their replay to the bit.
    inexact: u64,
    corrections: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<&'static str, u64>,
    bytes_in: u64,
    bytes_out: u64,
    message_faults: u64,
    messages_dropped: u64,
    network_errors: u64,
}

/// A player as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Player {
    pub(crate) player: u64,
    pub(crate) name: String,
    /// Centre of the character's capsule, studs.
    pub(crate) position: [f32; 3],
    /// Studs/s.
    pub(crate) velocity: [f32; 3],
    /// Radians.
    pub(crate) yaw: f32,
    pub(crate) rtt_ms: f64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

/// The server's word on its last seconds, as `/metrics.json` gives it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Word {
    /// Seconds the times are of.
    seconds: f64,
    pub(crate) tick_ms: Spread,
    stages_us: BTreeMap<&'static str, f64>,
    #[serde(flatten)]
    counters: Counters,
}

impl Word {
    /// Mean time of each stage in running order, microseconds.
    pub(crate) fn stages(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Stage::ALL.into_iter().map(|stage| (stage.name(), self.stages_us.get(stage.name()).copied().unwrap_or_default()))
    }

    pub(crate) fn players(&self) -> usize {
        self.counters.players
    }

    /// Corrections of movement sent, those by the game's own command apart.
    pub(crate) fn corrections(&self) -> u64 {
        let movement = CorrectionCause::ALL.into_iter().filter(|cause| !cause.is_command());
        movement.filter_map(|cause| self.counters.corrections.get(cause.name())).sum()
    }

    /// Bytes of datagrams received and sent.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.counters.bytes_in, self.counters.bytes_out)
    }
}

impl Board {
    /// Takes in a tick.
    pub(super) fn write<'a>(&self, metrics: &ServerMetrics, players: impl Iterator<Item = PlayerInfo<'a>>) {
        let mut state = self.lock();
        state.times.push(&metrics.last);
        state.players.clear();
        state.players.extend(players.map(Player::of));
        state.counters = Counters::of(metrics, &state.players);
    }

    /// The server's word on its last `seconds`.
    pub(crate) fn word(&self, seconds: f64) -> Word {
        let seconds = if seconds.is_finite() { seconds.clamp(0.1, 300.0) } else { 10.0 };
        let state = self.lock();
        let (tick_ms, stages_us) = (state.times.spread_ms(seconds), state.times.stages_us(seconds));
        Word { seconds, tick_ms, stages_us, counters: state.counters.clone() }
    }

    /// Everyone in the place, at the last tick.
    pub(crate) fn players(&self) -> Vec<Player> {
        self.lock().players.clone()
    }

    /// One of them.
    pub(crate) fn player(&self, player: u64) -> Option<Player> {
        self.lock().players.iter().find(|entry| entry.player == player).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
