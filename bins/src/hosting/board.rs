use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tidelock::Stage;
use tidelock::sim::ownership::{OwnedVerdict, SnapshotRefusal};
use tidelock::sim::report::{CorrectionCause, ReportRefusal};
use tidelock::{PlayerInfo, Server, ServerMetrics};

use super::movement::{Inputs, Judged};
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
    ticks_over_budget: u64,
    players: usize,
    joins: u64,
    leaves: u64,
    timeouts: u64,
    joins_refused: u64,
    faulty_sessions: u64,
    /// Movement reports replayed.
    replays: u64,
    replayed_frames: u64,
    /// Of those, reports that did not equal their replay to the bit.
    inexact: u64,
    desyncs: u64,
    corrections: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<&'static str, u64>,
    /// Movement under the other controllers.
    allowances: Judged,
    inputs: Inputs,
    /// Changes of owners of loose parts, and what owners reported.
    handovers: u64,
    owned_accepted: u64,
    owned_reports: BTreeMap<&'static str, u64>,
    owned_refusals: BTreeMap<&'static str, u64>,
    /// Motion items and bytes sent to all players together.
    motion_items: u64,
    motion_bytes: u64,
    /// Bytes of published records, once per audience.
    record_bytes: u64,
    message_faults: u64,
    messages_dropped: u64,
    sends_refused: u64,
    network_errors: u64,
    network: Network,
}

/// What the transport counted.
#[derive(Clone, Debug, Default, Serialize)]
struct Network {
    datagrams_in: u64,
    bytes_in: u64,
    datagrams_out: u64,
    bytes_out: u64,
    connected: u64,
    disconnected: u64,
    expelled: u64,
    taken_over: u64,
    moved: u64,
    /// Processor time the network threads have used, microseconds.
    threads_us: u64,
    /// Datagrams, or what was in them, not taken, by reason.
    faults: BTreeMap<&'static str, u64>,
}

impl Network {
    fn of(server: &Server) -> Self {
        let counters = server.network_counters();
        Self {
            threads_us: server.network_time().as_micros() as u64,
            datagrams_in: counters.datagrams_in,
            bytes_in: counters.bytes_in,
            datagrams_out: counters.datagrams_out,
            bytes_out: counters.bytes_out,
            connected: counters.connected,
            disconnected: counters.disconnected,
            expelled: counters.expelled,
            taken_over: counters.taken_over,
            moved: counters.moved,
            faults: counters.faults().map(|(fault, count)| (fault.name(), count)).collect(),
        }
    }
}

const VERDICTS: [(&str, OwnedVerdict); 4] = [
    ("processed", OwnedVerdict::Processed),
    ("stale", OwnedVerdict::Stale),
    ("malformed", OwnedVerdict::Malformed),
    ("rate", OwnedVerdict::Rate),
];

impl Counters {
    fn of(server: &Server) -> Self {
        let metrics = server.metrics();
        let ServerMetrics { reports, counters, owned, .. } = metrics;
        Self {
            tick: metrics.tick.0,
            ticks_skipped: counters.ticks_skipped,
            ticks_over_budget: counters.ticks_over_budget,
            players: metrics.players,
            joins: counters.joins,
            leaves: counters.leaves,
            timeouts: counters.timeouts,
            joins_refused: counters.joins_refused,
            faulty_sessions: counters.faulty_sessions,
            replays: reports.adopted + reports.all_corrected(),
            replayed_frames: reports.frames,
            inexact: reports.adopted_inexact,
            desyncs: reports.desyncs,
            corrections: CorrectionCause::ALL
                .into_iter()
                .map(|cause| (cause.name(), reports.corrected(cause)))
                .collect(),
            refusals: ReportRefusal::ALL.into_iter().map(|reason| (reason.name(), reports.refused(reason))).collect(),
            allowances: Judged::from(&metrics.allowances),
            inputs: Inputs::from(&metrics.inputs),
            handovers: metrics.handovers,
            owned_accepted: owned.accepted,
            owned_reports: VERDICTS.into_iter().map(|(name, verdict)| (name, owned.reports(verdict))).collect(),
            owned_refusals: SnapshotRefusal::ALL
                .into_iter()
                .map(|reason| (reason.name(), owned.refused(reason)))
                .collect(),
            motion_items: counters.motion_items,
            motion_bytes: counters.motion_bytes,
            record_bytes: counters.record_bytes,
            message_faults: counters.message_faults,
            messages_dropped: counters.messages_dropped,
            sends_refused: counters.sends_refused,
            network_errors: counters.network_errors,
            network: Network::of(server),
        }
    }
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
    /// Share of packets to it that are lost, 0 to 1.
    pub(crate) loss: f32,
    pub(crate) motion_bytes_out: u64,
    pub(crate) message_bytes_in: u64,
}

impl Player {
    fn of(info: PlayerInfo) -> Self {
        Self {
            player: info.player.0,
            name: info.name.to_string(),
            position: info.position.to_array(),
            velocity: info.velocity.to_array(),
            yaw: info.yaw,
            rtt_ms: info.rtt.as_secs_f64() * 1000.0,
            loss: info.loss,
            motion_bytes_out: info.traffic.motion_out,
            message_bytes_in: info.traffic.messages_in,
        }
    }
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
        Stage::ALL
            .into_iter()
            .map(|stage| (stage.name(), self.stages_us.get(stage.name()).copied().unwrap_or_default()))
    }

    pub(crate) fn players(&self) -> usize {
        self.counters.players
    }

    /// Corrections of movement sent, those by the game's own command apart.
    pub(crate) fn corrections(&self) -> u64 {
        let movement = CorrectionCause::ALL.into_iter().filter(|cause| !cause.is_command());
        movement.filter_map(|cause| self.counters.corrections.get(cause.name())).sum()
    }

    /// Bytes of motion sent so far, to all players together.
    pub(crate) fn motion_bytes(&self) -> u64 {
        self.counters.motion_bytes
    }
}

impl Board {
    /// Takes in a tick.
    pub(super) fn write_tick(&self, metrics: &ServerMetrics) {
        self.lock().times.push(&metrics.last);
    }

    /// Takes in everyone in the place, and all counters.
    pub(super) fn write_players(&self, server: &Server) {
        let mut state = self.lock();
        state.counters = Counters::of(server);
        state.players.clear();
        state.players.extend(server.players().filter(|info| info.character.is_some()).map(Player::of));
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
