use super::{
    AdmissionVerdict, CharacterTruth, Correction, CorrectionCause, Desync, Difference, ReplayLimits, Report,
    ReportRefusal, check_claim, check_frames, sanitised,
};
use crate::collision::CollisionWorld;
use crate::module::SimulationModule;
use crate::motor::{CharacterState, MotorSettings};
use crate::simulation::{SimulationRun, simulate_frame};
use crate::time::SimTime;

/// What a replay needs besides the character, the report and the world.
#[derive(Clone, Copy)]
pub struct ReplayEnvironment<'a> {
    /// Server time.
    pub now: SimTime,
    /// The character's movement settings in the server's world.
    pub settings: &'a MotorSettings,
    /// The module both sides run.
    pub module: &'a dyn SimulationModule,
    /// The numbers to judge by.
    pub limits: &'a ReplayLimits,
}

/// What came of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOutcome {
    /// The judgement.
    pub verdict: ReplayVerdict,
    /// Input frames run.
    pub frames: u32,
    /// Motor ticks run.
    pub ticks: u32,
    /// How client and server came to part, when they had agreed until then.
    pub desync: Option<Desync>,
}

/// The judgement on a report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack for one report")]
pub enum ReplayVerdict {
    /// It was refused whole; nothing changed.
    Refused(ReportRefusal),
    /// The character is where the client says.
    Adopted {
        /// Whether the replay gave the same to the bit.
        exact: bool,
    },
    /// The character sits: it follows its seat, no frame was run, and the report counts for its controls alone.
    Seated,
    /// The server keeps its own result.
    Corrected {
        /// What to send to the owner, reliably.
        correction: Correction,
        /// In what report and replay differed.
        difference: Difference,
    },
}

/// Seconds a gain in velocity is assumed to last when it is charged to the adoption budget as distance.
const VELOCITY_HORIZON: f32 = 0.75;

/// Checks a report, runs its frames from the server's own state and decides what holds (S-21 to S-24a). A refused report
/// changes nothing. That the sender owns the character is the caller's to check.
pub fn replay_report(
    truth: &mut CharacterTruth,
    report: &Report,
    env: &ReplayEnvironment<'_>,
    world: &mut CollisionWorld<'_>,
) -> ReplayOutcome {
    if let Err(refusal) = check_report(truth, report, env) {
        // One that comes twice changes nothing; of others the server never runs the frames.
        if refusal != ReportRefusal::StaleSequence {
            truth.alarm.reset();
        }
        return ReplayOutcome { verdict: ReplayVerdict::Refused(refusal), frames: 0, ticks: 0, desync: None };
    }
    if truth.sim.motor.state == CharacterState::Seated {
        truth.last_sequence = Some(report.sequence);
        return ReplayOutcome { verdict: ReplayVerdict::Seated, frames: 0, ticks: 0, desync: None };
    }
    let durations = report.frames.iter().map(|frame| frame.duration.seconds());
    let admission = truth.budget.admit(env.now.seconds(), durations);
    let (start, moved) = truth.place_start(report.start, env.now, env.limits);
    let mut run = SimulationRun { start, settings: env.settings, module: env.module, replaying: false };
    let mut ticks = 0;
    for frame in &report.frames[..admission.frames] {
        let outcome = simulate_frame(&mut truth.sim, &sanitised(frame), &run, world);
        ticks += outcome.ticks;
        run.start = outcome.end;
    }
    truth.last_sequence = Some(report.sequence);
    truth.mover_end = run.start;
    truth.clock.observe(run.start, env.now);
    let frames = admission.frames as u32;
    let whole = admission.verdict == AdmissionVerdict::Complete;
    let desync = truth.alarm.compare(&truth.sim, report, (whole, !moved));
    let verdict = if whole {
        judge(truth, report, moved, env, world)
    } else {
        let difference = Difference::Frames { ran: frames, sent: report.frames.len() as u32 };
        ReplayVerdict::Corrected { correction: truth.correction(CorrectionCause::Budget), difference }
    };
    ReplayOutcome { verdict, frames, ticks, desync }
}

fn check_report(truth: &mut CharacterTruth, report: &Report, env: &ReplayEnvironment<'_>) -> Result<(), ReportRefusal> {
    if truth.last_sequence.is_some_and(|last| !report.sequence.is_newer_than(last)) {
        return Err(ReportRefusal::StaleSequence);
    }
    match report.epoch.cmp(&truth.epoch) {
        std::cmp::Ordering::Less => return Err(ReportRefusal::StaleEpoch),
        std::cmp::Ordering::Greater => return Err(ReportRefusal::UnknownEpoch),
        std::cmp::Ordering::Equal => {}
    }
    if truth.sim.motor.state == CharacterState::Dead {
        return Err(ReportRefusal::NotReplayed);
    }
    check_claim(report, env.limits)?;
    check_frames(&report.frames)?;
    if truth.rate.take(env.now) { Ok(()) } else { Err(ReportRefusal::Rate) }
}

fn judge(
    truth: &mut CharacterTruth,
    report: &Report,
    moved: bool,
    env: &ReplayEnvironment<'_>,
    world: &mut CollisionWorld<'_>,
) -> ReplayVerdict {
    let difference = Difference::beyond(env.limits, &truth.sim, report);
    if difference != Difference::None {
        let cause = if moved { CorrectionCause::MoverTime } else { CorrectionCause::Disagreement };
        return ReplayVerdict::Corrected { correction: truth.correction(cause), difference };
    }
    let difference = Difference::any(&truth.sim, report);
    if difference == Difference::None {
        return ReplayVerdict::Adopted { exact: true };
    }
    let motor = &truth.sim.motor;
    let offset = motor.position.distance(report.position);
    let residual = offset + VELOCITY_HORIZON * motor.velocity.distance(report.velocity);
    let clear = offset == 0.0 || world.path_is_clear(motor.position, report.position, env.settings, truth.mover_end);
    if clear && truth.adoption.spend(residual, env.now) {
        truth.sim.motor.position = report.position;
        truth.sim.motor.velocity = report.velocity;
        truth.sim.motor.yaw = report.yaw;
        return ReplayVerdict::Adopted { exact: false };
    }
    let cause = match (moved, clear) {
        (true, _) => CorrectionCause::MoverTime,
        (false, false) => CorrectionCause::AdoptionPath,
        (false, true) => CorrectionCause::AdoptionBudget,
    };
    ReplayVerdict::Corrected { correction: truth.correction(cause), difference }
}
