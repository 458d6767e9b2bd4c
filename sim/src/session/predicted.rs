use super::drawing::StepPoses;
use super::{DrawnObject, PredictedSimulation, SnapshotHeader, StepContext};
use crate::client::{CorrectionSmoother, CorrectionSmootherConfig, SmoothedPose};
use crate::clock::{ClockConfigError, FixedStepClock, FixedStepClockConfig};
use crate::events::{EventCounters, EventIdentity, EventLedger, SurfacedEvent};
use crate::input::{InputPacer, InputPacket, PacerReport, SendQueue};
use crate::sequence::Sequence;
use crate::tick::Tick;

/// How a [`PredictedSession`] runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedSessionConfig {
    /// The clock of its steps; its rate is the server's.
    pub clock: FixedStepClockConfig,
    /// The most inputs in a packet, default 15: 0.25 s at 60 Hz.
    pub redundancy: usize,
    /// How corrections fade from the picture.
    pub smoother: CorrectionSmootherConfig,
    /// The most event identities remembered, default 1,024.
    pub events: usize,
    /// Steps taken at once with the first snapshot, default 2: the server's queue begins at the depth the pacer keeps, so
    /// that no input is late, without any round trip too (S-6a).
    pub initial_lead: u32,
}

impl Default for PredictedSessionConfig {
    fn default() -> Self {
        Self {
            clock: FixedStepClockConfig::default(),
            redundancy: 15,
            smoother: CorrectionSmootherConfig::default(),
            events: 1024,
            initial_lead: InputPacer::MIN_DEPTH as u32,
        }
    }
}

/// One frame of wall time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionFrame {
    /// Its length, seconds.
    pub seconds: f64,
    /// Its end on the clock of device changes, milliseconds.
    pub now_ms: f64,
    /// The game's time scale, 1 for real time.
    pub scale: f64,
}

/// What a rewind came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reconciliation {
    /// The header of the snapshot applied.
    pub header: SnapshotHeader,
    /// Steps run again on top of it, at most [`SendQueue::CAPACITY`].
    pub replayed: u32,
    /// Farthest an object moved against its prediction, studs, teleports included.
    pub correction: f32,
    /// Whether the picture snapped.
    pub snapped: bool,
}

/// How a frame begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameStart {
    /// Steps due in this frame.
    pub steps: u32,
    /// The rewind it began with, if a snapshot had come.
    pub reconciliation: Option<Reconciliation>,
}

/// A step that is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DueStep {
    /// The step it will be.
    pub tick: Tick,
    /// When its slice of time ends, milliseconds; `None` for everything so far (S-2).
    pub cutoff_ms: Option<f64>,
}

/// What a session decided silently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounters {
    /// Snapshots applied.
    pub applied: u64,
    /// Snapshots not newer than one received or applied before.
    pub stale: u64,
    /// Snapshots replaced by a newer one before they were applied.
    pub superseded: u64,
    /// Steps run for the first time.
    pub steps: u64,
    /// Steps run again.
    pub replayed: u64,
    /// Rewinds that lacked inputs, because more than [`SendQueue::CAPACITY`] were unacknowledged.
    pub gaps: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    steps: u32,
    taken: u32,
    now_ms: f64,
    scale: f64,
}

/// Predicts a whole game between the server's snapshots (S-33). Make a new one on reconnect.
///
/// Its memory is bounded: one snapshot waits, one is kept, at most [`SendQueue::CAPACITY`] inputs are. Nothing allocates
/// per step once lists have grown to the number of objects and events.
#[derive(Debug)]
pub struct PredictedSession<S: PredictedSimulation> {
    simulation: S,
    clock: FixedStepClock,
    queue: SendQueue<S::Input>,
    pacer: InputPacer,
    smoother: CorrectionSmoother,
    ledger: EventLedger,
    pending: Option<S::Snapshot>,
    applied: Option<S::Snapshot>,
    tick: Tick,
    frame: Frame,
    poses: StepPoses,
    before: Vec<SmoothedPose>,
    initial_lead: u32,
    events: Vec<SurfacedEvent<S::Event>>,
    cancelled: Vec<EventIdentity>,
    counters: SessionCounters,
}

impl<S: PredictedSimulation> PredictedSession<S> {
    /// A session that waits for its first snapshot; until then no step is due.
    ///
    /// # Errors
    ///
    /// When the clock's configuration is impossible.
    pub fn new(simulation: S, config: PredictedSessionConfig) -> Result<Self, ClockConfigError> {
        Ok(Self {
            simulation,
            clock: FixedStepClock::new(config.clock)?,
            queue: SendQueue::new(config.redundancy),
            pacer: InputPacer::new(),
            smoother: CorrectionSmoother::new(config.smoother),
            ledger: EventLedger::new(config.events),
            pending: None,
            applied: None,
            tick: Tick(0),
            frame: Frame::default(),
            poses: StepPoses::default(),
            before: Vec::new(),
            initial_lead: config.initial_lead,
            events: Vec::new(),
            cancelled: Vec::new(),
            counters: SessionCounters::default(),
        })
    }

    /// Takes in a snapshot, to be applied when the next frame begins. One that is not newer than the newest received or
    /// applied is ignored, and `false` comes back.
    pub fn receive(&mut self, snapshot: S::Snapshot) -> bool {
        let tick = S::header(&snapshot).tick;
        let known = self.pending.as_ref().or(self.applied.as_ref()).map(|known| S::header(known).tick);
        if known.is_some_and(|known| tick <= known) {
            self.counters.stale += 1;
            return false;
        }
        self.counters.superseded += u64::from(self.pending.replace(snapshot).is_some());
        true
    }

    /// Begins a frame: applies the newest snapshot, replays what the server has not seen, and counts the steps due.
    /// Steps of the frame before that were not taken are dropped.
    pub fn begin_frame(&mut self, frame: SessionFrame) -> FrameStart {
        let reconciliation = self.pending.take().map(|next| self.reconcile(next));
        if self.applied.is_none() {
            return FrameStart::default();
        }
        let scale = frame.scale * self.pacer.pace();
        let advance = self.clock.advance(frame.seconds, scale);
        // A correction shows in full in the frame it comes in.
        if reconciliation.is_none() {
            self.smoother.decay(advance.clamped as f32);
        }
        let lead = std::mem::take(&mut self.initial_lead);
        self.frame = Frame { steps: lead.saturating_add(advance.steps), taken: 0, now_ms: frame.now_ms, scale };
        FrameStart { steps: self.frame.steps, reconciliation }
    }

    /// The next step due in this frame; `None` when all are taken.
    #[must_use]
    pub fn next_step(&self) -> Option<DueStep> {
        let Frame { steps, taken, now_ms, scale } = self.frame;
        let cutoff_ms = self.clock.step_cutoff_ms(taken, steps, now_ms, scale);
        (taken < steps).then_some(DueStep { tick: self.tick.next(), cutoff_ms })
    }

    /// Numbers `input`, steps with it, and returns what to send. Meant for each step [`PredictedSession::next_step`]
    /// announces, but works at any time after the first snapshot.
    pub fn step(&mut self, input: S::Input) -> InputPacket<'_, S::Input> {
        self.frame.taken = self.frame.taken.saturating_add(1);
        self.counters.steps += 1;
        let sequence = self.queue.push(input);
        self.run(&input, sequence, false);
        let poses = self.poses.advance();
        self.simulation.poses(poses);
        self.queue.packet().unwrap_or(InputPacket { last: sequence, inputs: &[] })
    }

    /// Appends all objects to `out` as they are drawn now: between the last two steps, with what is left of corrections.
    pub fn draw(&self, out: &mut Vec<DrawnObject>) {
        let alpha = self.clock.alpha() as f32;
        let objects = self.poses.current.iter().enumerate();
        out.extend(objects.filter_map(|(index, pose)| self.poses.draw(index, alpha, self.smoother.offset(pose.id))));
    }

    /// The events surfaced since the last call, oldest first.
    pub fn drain_events(&mut self) -> impl Iterator<Item = SurfacedEvent<S::Event>> + '_ {
        self.events.drain(..)
    }

    /// The surfaced events that a replay since the last call did not bear out.
    pub fn drain_cancelled(&mut self) -> impl Iterator<Item = EventIdentity> + '_ {
        self.cancelled.drain(..)
    }

    /// The game as predicted now.
    #[must_use]
    pub fn simulation(&self) -> &S {
        &self.simulation
    }

    /// The game as predicted now, to tell it what is in no snapshot: the ground it stands on, its settings.
    pub fn simulation_mut(&mut self) -> &mut S {
        &mut self.simulation
    }

    /// The newest step predicted.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The snapshot the prediction rests on.
    #[must_use]
    pub fn applied(&self) -> Option<&S::Snapshot> {
        self.applied.as_ref()
    }

    /// How far drawing stands between the last step and the next, 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.clock.alpha()
    }

    /// Inputs the server has not acknowledged.
    #[must_use]
    pub fn unacknowledged(&self) -> usize {
        self.queue.len()
    }

    /// How the clock is steered.
    #[must_use]
    pub fn pacing(&self) -> PacerReport {
        self.pacer.state()
    }

    /// What was decided silently so far.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        self.counters
    }

    /// How events fared so far.
    #[must_use]
    pub fn event_counters(&self) -> EventCounters {
        self.ledger.counters()
    }

    fn run(&mut self, input: &S::Input, sequence: Sequence, replaying: bool) {
        self.tick = self.tick.next();
        self.ledger.begin_step(self.tick);
        let (ledger, events) = (&mut self.ledger, &mut self.events);
        let mut context = StepContext { tick: self.tick, sequence, replaying, ledger, events };
        self.simulation.step(input, &mut context);
    }

    fn reconcile(&mut self, next: S::Snapshot) -> Reconciliation {
        let header = S::header(&next);
        self.pacer.report(header.depth, header.target);
        self.simulation.observe(self.applied.as_ref(), &next);
        let snapped = self.applied.as_ref().is_none_or(|previous| S::is_teleport(previous, &next));
        self.before.clone_from(&self.poses.current);
        self.ledger.begin_replay(header.tick, self.tick);
        self.simulation.restore(&next);
        self.tick = header.tick;
        let replayed = self.replay(header.acknowledged);
        let cancelled = &mut self.cancelled;
        self.ledger.end_replay(|identity| cancelled.push(identity));
        let correction = self.smoother.correct(&self.before, &self.poses.current, snapped);
        if snapped {
            self.poses.snap();
        } else if replayed == 0 {
            self.poses.carry(&self.before);
        }
        self.applied = Some(next);
        self.counters.applied += 1;
        Reconciliation { header, replayed, correction, snapped }
    }

    /// Runs what the server has not acknowledged, and captures the poses of the last two steps.
    fn replay(&mut self, acknowledged: Sequence) -> u32 {
        self.queue.acknowledge(acknowledged);
        let left = self.queue.len();
        if left == 0 {
            self.poses.current.clear();
            self.simulation.poses(&mut self.poses.current);
            return 0;
        }
        for index in 0..left {
            let Some((sequence, input)) = self.queue.unacknowledged().nth(index) else { break };
            self.counters.gaps += u64::from(index == 0 && sequence != acknowledged.next());
            if index + 1 == left {
                let poses = self.poses.advance();
                self.simulation.poses(poses);
            }
            self.run(&input, sequence, true);
        }
        let poses = self.poses.advance();
        self.simulation.poses(poses);
        self.counters.replayed += left as u64;
        left as u32
    }
}
