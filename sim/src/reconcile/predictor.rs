use glam::Vec3;

use super::{Correction, PoseHistory, ReconcileConfig, ReconcileInput, reconcile};
use crate::sequence::Sequence;

/// How a [`PosePredictor`] records and corrects (S-32).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosePredictorConfig {
    /// When to correct.
    pub reconcile: ReconcileConfig,
    /// How many inputs are recorded, rounded up to a power of two, default 256: over four seconds at 60 Hz.
    pub history: usize,
    /// Share of self-directed movement that repays what is owed, default 0.25.
    pub blend_share: f32,
    /// Half-life of the visual offset a shift leaves, seconds, default 0.05.
    pub glide_half_life_s: f32,
}

impl Default for PosePredictorConfig {
    fn default() -> Self {
        Self { reconcile: ReconcileConfig::default(), history: 256, blend_share: 0.25, glide_half_life_s: 0.05 }
    }
}

/// What the server says of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoseSnapshot {
    /// The newest input sequence it stands for, guesses included.
    pub acknowledged: Sequence,
    /// How many sequences up to that were guessed; 0 from a server that never guesses.
    pub guessed_ticks: u32,
    /// Where the entity is.
    pub position: Vec3,
}

/// One step's movement, reported after it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictedMove {
    /// The input that moved the entity.
    pub sequence: Sequence,
    /// Where it left it.
    pub position: Vec3,
    /// How much of the way was the entity's own doing: not that of platforms, knockback or teleports.
    pub self_directed: f32,
    /// When, in seconds on any steady clock.
    pub at_s: f64,
}

/// What a [`PosePredictor`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PosePredictorCounters {
    /// Drifts taken on to be repaid.
    pub blends: u64,
    /// Shifts.
    pub shifts: u64,
    /// Snaps.
    pub snaps: u64,
    /// Reconciliations that made the entity wait.
    pub waits: u64,
    /// Snapshots older than the one before, ignored.
    pub stale_snapshots: u64,
    /// Moves whose sequence was not newer than the one before, not recorded.
    pub unrecorded_moves: u64,
}

/// An entity that moves at once and is corrected later (S-32). Each step, in this order: [`PosePredictor::reconcile`],
/// move at [`PosePredictor::speed_scale`], [`PosePredictor::record`]. Go on sending and recording while stopped, and
/// scale the sent input too. Nothing allocates after construction.
#[derive(Clone, Debug)]
pub struct PosePredictor {
    config: PosePredictorConfig,
    history: PoseHistory,
    position: Vec3,
    /// Drift yet to be repaid.
    owed: Vec3,
    /// What is drawn on top of the position.
    glide: Vec3,
    speed_scale: f32,
    snapshot: Option<PoseSnapshot>,
    fresh: bool,
    /// The last acknowledgement that blended, shifted or snapped.
    read: Option<Sequence>,
    counters: PosePredictorCounters,
}

impl PosePredictor {
    /// An entity at `position` that nobody has corrected and whose first input will have sequence 1.
    #[must_use]
    pub fn new(config: PosePredictorConfig, position: Vec3) -> Self {
        Self::starting_after(Sequence(0), config, position)
    }

    /// As [`PosePredictor::new`], with inputs that go on after `last`. The position is recorded as where `last` left the
    /// entity, so that snapshots from before the first input have something to be compared with.
    #[must_use]
    pub fn starting_after(last: Sequence, config: PosePredictorConfig, position: Vec3) -> Self {
        let mut history = PoseHistory::new(config.history);
        history.record(last, position, 0.0);
        Self {
            config,
            history,
            position,
            owed: Vec3::ZERO,
            glide: Vec3::ZERO,
            speed_scale: 1.0,
            snapshot: None,
            fresh: false,
            read: None,
            counters: PosePredictorCounters::default(),
        }
    }

    /// Takes in a snapshot, to be read by the next reconciliation. One that acknowledges less than the one before is
    /// ignored, and `false` comes back.
    pub fn receive(&mut self, snapshot: PoseSnapshot) -> bool {
        let before = self.snapshot.map(|before| before.acknowledged);
        if before.is_some_and(|before| before.is_newer_than(snapshot.acknowledged)) {
            self.counters.stale_snapshots += 1;
            return false;
        }
        self.fresh = before != Some(snapshot.acknowledged);
        self.snapshot = Some(snapshot);
        true
    }

    /// Decides on the newest snapshot and applies the decision; `now_s` is the time of [`PredictedMove::at_s`]. `rule`
    /// may force a snap, see [`reconcile`]. Without any snapshot nothing happens.
    pub fn reconcile<R: Copy>(&mut self, now_s: f64, rule: impl FnOnce(&ReconcileInput) -> Option<R>) -> Correction<R> {
        let Some(snapshot) = self.snapshot else { return Correction::None };
        let acknowledged = snapshot.acknowledged;
        let heard = Sequence(acknowledged.0.wrapping_sub(snapshot.guessed_ticks));
        let input = ReconcileInput {
            ack_fresh: self.fresh,
            ack_unread: self.read.is_none_or(|read| acknowledged.is_newer_than(read)),
            guessed_ticks: snapshot.guessed_ticks,
            server: snapshot.position,
            recorded: self.history.position(acknowledged),
            drawn: self.position,
            history_empty: self.history.is_empty(),
            oldest_unheard_age: self.history.first_after(heard).map(|at| now_s - at),
        };
        let correction = reconcile(&input, &self.config.reconcile, rule);
        self.apply(&correction, acknowledged);
        correction
    }

    /// Records a step's movement and repays some of what is owed. Returns where the entity is then.
    pub fn record(&mut self, step: PredictedMove) -> Vec3 {
        self.position = step.position;
        let owed = self.owed.length();
        let share = self.config.blend_share * step.self_directed.max(0.0);
        if owed > 0.0 && share > 0.0 {
            let repaid = if share >= owed { self.owed } else { self.owed * (share / owed) };
            self.owed = if share >= owed { Vec3::ZERO } else { self.owed - repaid };
            self.position += repaid;
            self.history.shift(repaid);
        }
        if !self.history.record(step.sequence, self.position, step.at_s) {
            self.counters.unrecorded_moves += 1;
        }
        self.position
    }

    /// Lets the visual offset fade for `dt` seconds.
    pub fn fade(&mut self, dt: f32) {
        let dt = if dt.is_finite() { dt.max(0.0) } else { 0.0 };
        let half_life = self.config.glide_half_life_s;
        self.glide *= if half_life > 0.0 { libm::exp2f(-dt / half_life) } else { 0.0 };
    }

    /// Moves the world's origin: entity, history and pending snapshot together.
    pub fn rebase(&mut self, by: Vec3) {
        self.position += by;
        self.history.shift(by);
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.position += by;
        }
    }

    /// Where the entity is, for simulation.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        self.position
    }

    /// Where to draw it. Never feed this back into simulation (S-37).
    #[must_use]
    pub fn drawn(&self) -> Vec3 {
        self.position + self.glide
    }

    /// Share of full speed the entity may move and send at, 0 to 1.
    #[must_use]
    pub fn speed_scale(&self) -> f32 {
        self.speed_scale
    }

    /// Drift yet to be repaid by movement.
    #[must_use]
    pub fn owed(&self) -> Vec3 {
        self.owed
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> PosePredictorCounters {
        self.counters
    }

    fn apply<R>(&mut self, correction: &Correction<R>, acknowledged: Sequence) {
        self.speed_scale = 1.0;
        match *correction {
            Correction::None => return,
            Correction::Wait { speed_scale } => {
                self.counters.waits += 1;
                self.speed_scale = speed_scale;
                return;
            }
            Correction::Blend { drift } => {
                self.counters.blends += 1;
                self.owed = drift;
            }
            Correction::Shift { drift } => {
                self.counters.shifts += 1;
                self.position += drift;
                self.history.shift(drift);
                self.glide -= drift;
                self.owed = Vec3::ZERO;
            }
            Correction::Snap { to, .. } => {
                self.counters.snaps += 1;
                self.position = to;
                self.history.gather(to);
                (self.owed, self.glide) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
        self.read = Some(acknowledged);
    }
}
