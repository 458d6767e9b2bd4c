use std::collections::VecDeque;

use glam::Vec3;

use super::drawn::{DrawnPose, Stride};
use super::history::ReportHistory;
use super::slicer::FrameSlicer;
use super::smoother::{CorrectionOffset, CorrectionSmootherConfig, SmoothedPose};
use crate::angle::wrap_angle;
use crate::collision::CollisionWorld;
use crate::module::SimulationModule;
use crate::motor::{CharacterState, InputFrame, MotorResult, MotorSettings, MotorSnapshot};
use crate::report::{Correction, CorrectionCause, Report};
use crate::sequence::Sequence;
use crate::simulation::{CharacterSim, SimulationRun, simulate_frame};
use crate::time::{SimSpan, SimTime};

/// How a client predicts its own character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionConfig {
    /// Motor time from report to report, default 1/20 s.
    pub report_interval: SimSpan,
    /// How corrections fade from the picture.
    pub smoother: CorrectionSmootherConfig,
}

impl Default for PredictionConfig {
    fn default() -> Self {
        Self { report_interval: SimSpan(3_072), smoother: CorrectionSmootherConfig::default() }
    }
}

/// What prediction needs besides input and world.
#[derive(Clone, Copy)]
pub struct PredictionEnvironment<'a> {
    /// The character's movement settings as the client knows them.
    pub settings: &'a MotorSettings,
    /// The module both sides run.
    pub module: &'a dyn SimulationModule,
}

/// What one advance did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionStep {
    /// Input frames run.
    pub frames: u32,
    /// Motor ticks run, and what happened in any of them.
    pub motor: MotorResult,
}

/// What prediction decided silently.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionCounters {
    /// Wall time dropped because a frame lasted longer than 0.25 s, seconds.
    pub dropped_seconds: f64,
    /// Input frames not run because nobody took the reports away.
    pub unreported_frames: u64,
    /// Corrections whose report is no longer, or was never, in the history.
    pub unknown_corrections: u64,
    /// Corrections with nonfinite numbers, of an older epoch, or for a character that does not replay.
    pub ignored_corrections: u64,
    /// Corrections equal to what the client held already.
    pub empty_corrections: u64,
    /// Corrections applied.
    pub corrections: u64,
    /// Motor ticks run again in corrections.
    pub replayed_ticks: u64,
    /// Jumps of the mover time.
    pub jumps: u64,
}

/// A correction that changed something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionEvent {
    /// Why the server sent it.
    pub reason: CorrectionCause,
    /// From where the character was to where it is now, studs.
    pub offset: Vec3,
    /// Change of facing, radians.
    pub angle: f32,
    /// Motor ticks run again.
    pub replayed_ticks: u32,
}

/// The client's own character: runs at once on what the player holds, tells the server in reports, and takes its
/// corrections (S-10, S-20, S-30). Time is motor time, steered by [`super::PredictionClock`].
///
/// Nothing allocates after the first seconds, provided reports are handed back to [`Self::recycle`].
#[derive(Clone, Debug)]
pub struct Prediction {
    config: PredictionConfig,
    sim: CharacterSim,
    epoch: u32,
    time: SimTime,
    slicer: FrameSlicer,
    next_sequence: Sequence,
    unreported: Vec<InputFrame>,
    unreported_start: SimTime,
    /// Units run since the last report was due.
    since_report: i64,
    /// Mover time at which the next advance has to end.
    landing: Option<SimTime>,
    /// Reports closed early and not polled yet.
    ready: VecDeque<Report>,
    history: ReportHistory,
    spare: Vec<Vec<InputFrame>>,
    stride: Stride,
    offset: CorrectionOffset,
    counters: PredictionCounters,
}

impl Prediction {
    /// A character in state `sim` of the given epoch, at mover time `time`. Its first report is sequence 1.
    #[must_use]
    pub fn new(sim: CharacterSim, epoch: u32, time: SimTime, config: PredictionConfig) -> Self {
        Self {
            config,
            sim,
            epoch,
            time,
            slicer: FrameSlicer::default(),
            next_sequence: Sequence(1),
            unreported: Vec::with_capacity(Report::MAX_FRAMES),
            unreported_start: time,
            since_report: 0,
            landing: None,
            ready: VecDeque::new(),
            history: ReportHistory::new(),
            spare: Vec::new(),
            stride: Stride::at(&sim.motor),
            offset: CorrectionOffset::default(),
            counters: PredictionCounters::default(),
        }
    }

    /// The same with another first sequence, so that tests can begin near the wrap.
    #[must_use]
    pub fn with_first_sequence(mut self, sequence: Sequence) -> Self {
        self.next_sequence = sequence;
        self
    }

    /// Takes in a drawn frame of `dt` seconds (wall time times [`super::Steering::rate`]) during which `input` was held
    /// and runs it at once; the duration in `input` is ignored. A dead character does not move; a seated one stays where
    /// [`Self::carry`] puts it, and its reports tell what its owner holds.
    pub fn advance(
        &mut self,
        dt: f64,
        input: &InputFrame,
        env: &PredictionEnvironment<'_>,
        world: &mut CollisionWorld<'_>,
    ) -> PredictionStep {
        let decayed = if dt.is_finite() { dt as f32 } else { 0.0 };
        self.offset.decay(decayed, self.config.smoother.rate, &self.config.smoother);
        let mut step = PredictionStep::default();
        if self.sim.motor.state == CharacterState::Dead {
            self.hold(dt);
            return step;
        }
        let (slices, dropped) = self.slicer.advance(dt, input);
        self.counters.dropped_seconds += dropped;
        if let Some(landing) = self.landing.take() {
            self.time = landing - slices.duration();
            self.unreported_start = self.time;
        }
        for frame in slices {
            if self.unreported.len() == Report::MAX_FRAMES {
                self.counters.unreported_frames += 1;
                continue;
            }
            let before = self.sim.motor;
            let run = SimulationRun { start: self.time, settings: env.settings, module: env.module, replaying: false };
            let outcome = simulate_frame(&mut self.sim, &frame, &run, world);
            self.time = outcome.end;
            self.stride = Stride::new(&before, outcome.ticks);
            self.unreported.push(frame);
            self.since_report += i64::from(frame.duration.0);
            step.frames += 1;
            step.motor.ticks += outcome.ticks;
            step.motor.jumped |= outcome.motor.jumped;
            step.motor.air_jumped |= outcome.motor.air_jumped;
            step.motor.landed |= outcome.motor.landed;
            step.motor.blocked |= outcome.motor.blocked;
        }
        step
    }

    /// Moves a seated character with its seat; others are left alone.
    pub fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        let motor = &mut self.sim.motor;
        if motor.state == CharacterState::Seated {
            (motor.position, motor.velocity, motor.yaw) = (position, velocity, wrap_angle(yaw));
            self.stride = Stride::at(motor);
        }
    }

    /// Lets mover time pass without movement.
    fn hold(&mut self, dt: f64) {
        self.slicer.clear();
        self.time = self.landing.take().unwrap_or(self.time + SimSpan::from_seconds(dt));
        self.unreported_start = self.time;
        self.stride = Stride::at(&self.sim.motor);
    }

    /// Makes the next advance end at another mover time, when [`super::Steering::jump`] says so. Frames not yet reported
    /// become a report of their own, so that each report is one stretch of time.
    pub fn jump(&mut self, time: SimTime) {
        self.counters.jumps += 1;
        if !self.unreported.is_empty() {
            let report = self.close_report();
            self.ready.push_back(report);
            self.since_report = 0;
        }
        self.landing = Some(time);
    }

    /// The next report when one is due: every 1/20 s of motor time. Hand it back to [`Self::recycle`] when it is
    /// encoded.
    pub fn poll_report(&mut self) -> Option<Report> {
        if let Some(report) = self.ready.pop_front() {
            return Some(report);
        }
        // At the end of the frame that is nearest: whether this one or the next.
        let last = self.unreported.last()?.duration.0;
        let interval = self.config.report_interval.0.max(1);
        if self.since_report + i64::from(last / 2) < i64::from(interval) {
            return None;
        }
        // What is over or missing counts towards the next, so that the rate is kept whatever the frame rate.
        self.since_report = (self.since_report - i64::from(interval)).min(i64::from(interval) / 2);
        Some(self.close_report())
    }

    fn close_report(&mut self) -> Report {
        let mut frames = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(16));
        frames.clear();
        frames.extend_from_slice(&self.unreported);
        let sequence = self.next_sequence;
        self.next_sequence = sequence.next();
        let (start, end) = (self.unreported_start, self.time);
        self.history.push(sequence, start, self.sim, &mut self.unreported);
        self.unreported_start = end;
        let MotorSnapshot { position, velocity, yaw, state, .. } = self.sim.motor;
        let (custom, epoch) = (self.sim.custom, self.epoch);
        Report { sequence, start, end, position, velocity, yaw, state, custom, epoch, frames }
    }

    /// Takes a report back for its vector.
    pub fn recycle(&mut self, report: Report) {
        if self.spare.len() < 8 {
            self.spare.push(report.frames);
        }
    }

    /// Applies the server's word (S-30). `None` when it changes nothing: it names a report no longer known, is older
    /// than a game command already followed, is not finite, comes while dead or seated, or says what was known.
    pub fn correct(
        &mut self,
        correction: &Correction,
        env: &PredictionEnvironment<'_>,
        world: &mut CollisionWorld<'_>,
    ) -> Option<CorrectionEvent> {
        let motor = &correction.sim.motor;
        let finite = motor.position.is_finite() && motor.velocity.is_finite() && motor.yaw.is_finite();
        if !finite || !motor.ground_velocity.is_finite() || correction.epoch < self.epoch {
            self.counters.ignored_corrections += 1;
            return None;
        }
        if correction.epoch > self.epoch {
            return Some(self.follow(correction));
        }
        if !replays(self.sim.motor.state) {
            self.counters.ignored_corrections += 1;
            return None;
        }
        let Some(index) = self.history.find(correction.sequence) else {
            self.counters.unknown_corrections += 1;
            return None;
        };
        let known = self.history.get(index).map_or(correction.sim, |known| known.sim);
        let sim = corrected_sim(&known, correction);
        if known == sim {
            self.counters.empty_corrections += 1;
            return None;
        }
        let before = self.sim.motor;
        let replayed_ticks = self.replay_from(index, sim, env, world);
        Some(self.corrected(correction.cause, &before, replayed_ticks))
    }

    /// A game command: the state is the server's, and whatever was predicted meanwhile never happened.
    fn follow(&mut self, correction: &Correction) -> CorrectionEvent {
        let before = self.sim.motor;
        self.epoch = correction.epoch;
        self.sim = correction.sim;
        self.history.clear();
        self.unreported.clear();
        self.unreported_start = self.time;
        self.since_report = 0;
        self.ready.clear();
        self.slicer.clear();
        self.stride = Stride::at(&self.sim.motor);
        self.offset = CorrectionOffset::default();
        self.counters.corrections += 1;
        event(correction.cause, &before, &self.sim.motor, 0)
    }

    /// Runs everything after report `index` again, beginning with `sim` at its end.
    fn replay_from(
        &mut self,
        index: usize,
        sim: CharacterSim,
        env: &PredictionEnvironment<'_>,
        world: &mut CollisionWorld<'_>,
    ) -> u32 {
        self.sim = sim;
        let mut run = SimulationRun { start: self.time, settings: env.settings, module: env.module, replaying: true };
        let mut ticks = 0;
        if let Some(known) = self.history.get_mut(index) {
            known.sim = sim;
        }
        let mut next = index + 1;
        while let Some(later) = self.history.get_mut(next) {
            // The report has gone out with this start, so the server replays it there.
            run.start = later.start;
            for frame in &later.frames {
                let outcome = simulate_frame(&mut self.sim, frame, &run, world);
                run.start = outcome.end;
                ticks += outcome.ticks;
            }
            later.sim = self.sim;
            next += 1;
        }
        run.start = self.unreported_start;
        for frame in &self.unreported {
            let outcome = simulate_frame(&mut self.sim, frame, &run, world);
            run.start = outcome.end;
            ticks += outcome.ticks;
        }
        if !self.unreported.is_empty() {
            self.time = run.start;
        }
        ticks
    }

    fn corrected(&mut self, cause: CorrectionCause, before: &MotorSnapshot, ticks: u32) -> CorrectionEvent {
        let event = event(cause, before, &self.sim.motor, ticks);
        self.stride.shift(event.offset, event.angle);
        let pose = |motor: &MotorSnapshot| SmoothedPose {
            position: motor.position,
            angle: motor.yaw,
            ..SmoothedPose::default()
        };
        self.offset.absorb(&pose(before), &pose(&self.sim.motor), false, &self.config.smoother);
        self.counters.corrections += 1;
        self.counters.replayed_ticks += u64::from(ticks);
        event
    }

    /// The simulation state reached.
    #[must_use]
    pub fn sim(&self) -> &CharacterSim {
        &self.sim
    }

    /// Number of game commands followed.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Motor time reached in seconds, with what has not made a motor tick yet; what [`super::PredictionClock::steer`]
    /// compares.
    #[must_use]
    pub fn predicted_seconds(&self) -> f64 {
        self.time.seconds() + self.pending() / SimTime::UNITS_PER_SECOND as f64
    }

    /// Mover time at which the character is drawn, seconds: draw scripted movers where they are then.
    #[must_use]
    pub fn drawn_seconds(&self) -> f64 {
        self.predicted_seconds() - SimSpan::MOTOR_TICK.seconds()
    }

    /// Where to draw the character: between the last two motor states, so that it moves evenly at any frame rate, and
    /// with what is left of past corrections.
    #[must_use]
    pub fn drawn(&self) -> DrawnPose {
        let pose = self.stride.pose(&self.sim.motor, self.pending());
        DrawnPose { position: pose.position + self.offset.position, yaw: wrap_angle(pose.yaw + self.offset.angle) }
    }

    /// What is left of past corrections in the picture.
    #[must_use]
    pub fn offset(&self) -> CorrectionOffset {
        self.offset
    }

    /// What was decided silently so far.
    #[must_use]
    pub fn counters(&self) -> &PredictionCounters {
        &self.counters
    }

    /// Time taken in since the last motor tick, units.
    fn pending(&self) -> f64 {
        f64::from(self.sim.motor.accumulator.0) + self.slicer.pending()
    }
}

/// The state a correction means: the server's own where it ran the frames, else what it knows put into the client's (S-26).
fn corrected_sim(known: &CharacterSim, correction: &Correction) -> CharacterSim {
    if correction.cause != CorrectionCause::Allowance {
        return correction.sim;
    }
    let MotorSnapshot { position, velocity, yaw, .. } = correction.sim.motor;
    CharacterSim { motor: MotorSnapshot { position, velocity, yaw, ..known.motor }, custom: known.custom }
}

fn replays(state: CharacterState) -> bool {
    !matches!(state, CharacterState::Seated | CharacterState::Dead)
}

fn event(reason: CorrectionCause, before: &MotorSnapshot, after: &MotorSnapshot, ticks: u32) -> CorrectionEvent {
    CorrectionEvent {
        reason,
        offset: after.position - before.position,
        angle: wrap_angle(after.yaw - before.yaw),
        replayed_ticks: ticks,
    }
}
