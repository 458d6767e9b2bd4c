use glam::Vec3;
use serde_json::{Value, json};
use tidelock::sim::allowance::{
    AllowanceEnvironment, AllowanceLimits, AllowanceOutcome, AllowanceValidator, AllowanceVerdict, Support,
    ValidationReason, ValidationSignal,
};
use tidelock::sim::motor::MotorSettings;
use tidelock::sim::report::{ReplayLimits, Report};
use tidelock::sim::{Sequence, SimTime};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut judge = Judge::new(case)?;
    for (step, given) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let got = judge.judge(step, given)?;
        let expect = given.get("expect")?;
        check.same("verdict", word(got.verdict), expect.get("verdict")?.text()?)?;
        check.vector("accepted", judge.validator.state().position, expect.get("accepted")?)?;
        check.same("correction", got.correction, expect.get("correction")?.boolean()?)?;
        check.same("streak", u64::from(judge.validator.streak()), expect.get("streak")?.integer()?)?;
        let put_back = judge.signals.iter().any(|signal| signal.reason == ValidationReason::Teleport);
        check.same("teleport signal", put_back, got.verdict == AllowanceVerdict::PutBack)?;
    }
    Ok(())
}

/// A character judged by a case's settings: the horizontal rule alone, neither guards nor credit, and no envelope.
struct Judge {
    settings: MotorSettings,
    limits: AllowanceLimits,
    envelope: ReplayLimits,
    validator: AllowanceValidator,
    signals: Vec<ValidationSignal>,
}

impl Judge {
    fn new(case: Node<'_>) -> Result<Self, String> {
        let (limits, envelope) = (AllowanceLimits::bare(), ReplayLimits::default());
        let config = case.get("config")?;
        let walk_speed = config.number_or("walk_speed", 16.0)? as f32;
        let settings = MotorSettings { walk_speed, ..MotorSettings::default() };
        let start = case.get("start")?;
        let now = SimTime::from_seconds(start.get("t")?.number()?);
        let env = AllowanceEnvironment { now, settings: &settings, limits: &limits, envelope: &envelope };
        let mut validator = AllowanceValidator::new(start.get("pos")?.vector()?, 0.0, &env);
        validator.grants.grant_burst(config.number_or("burst_speed", 0.0)? as f32, SimTime(u64::MAX));
        Ok(Self { settings, limits, envelope, validator, signals: Vec::new() })
    }

    fn judge(&mut self, step: usize, given: Node<'_>) -> Result<AllowanceOutcome, String> {
        let position = given.get("pos")?.vector()?;
        let report = Report { sequence: Sequence(step as u32), position, ..Report::default() };
        let now = SimTime::from_seconds(given.get("t")?.number()?);
        let Self { settings, limits, envelope, validator, signals } = self;
        let env = AllowanceEnvironment { now, settings, limits, envelope };
        signals.clear();
        Ok(validator.judge(&report, &env, &mut |_: Vec3, _: f32| Support::default(), signals))
    }
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..8).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let (walk, burst) = (draws.pick(&[8.0, 16.0, 25.0]), draws.pick(&[0.0, 8.0, 40.0]));
    let [x, _, z] = draws.vector(10.0);
    let (mut time, mut reports) = (10.0, Vec::new());
    let mut case = json!({
        "name": format!("walk-{index}"), "config": { "walk_speed": walk, "burst_speed": burst },
        "start": { "t": time, "pos": [x, 3.0, z] },
    });
    let mut judge = Judge::new(Node::new(&case))?;
    for step in 0..60 {
        let elapsed = draws.pick(&[0.05, 0.05, 0.05, 0.08, 0.12, 0.001, 0.7]);
        time += elapsed;
        // Shares of the allowance away from its edges, so that rounding decides nothing.
        let share = draws.pick(&[0.2, 0.5, 0.9, 0.9, 1.2, 1.5, 2.5, 3.5, 23.7]);
        let allowed = f64::max(walk, burst) * 1.35 * f64::clamp(elapsed, 1.0 / 240.0, 0.5) + 0.3;
        let way = draws.number(0.0, std::f64::consts::TAU);
        let from = judge.validator.state().position.as_dvec3();
        let rise = draws.pick(&[0.0, 0.0, 0.5, -0.5]);
        let pos = [from.x + way.cos() * share * allowed, from.y + rise, from.z + way.sin() * share * allowed];
        let mut report = json!({ "t": time, "pos": pos });
        let got = judge.judge(step, Node::new(&report))?;
        report["expect"] = json!({
            "verdict": word(got.verdict), "accepted": judge.validator.state().position.to_array(),
            "correction": got.correction, "streak": judge.validator.streak(),
        });
        reports.push(report);
    }
    case["reports"] = json!(reports);
    Ok(case)
}

fn word(verdict: AllowanceVerdict) -> &'static str {
    match verdict {
        AllowanceVerdict::Accepted => "accept",
        AllowanceVerdict::Clamped => "clamp",
        AllowanceVerdict::PutBack => "teleport",
        AllowanceVerdict::Seated => "seated",
        AllowanceVerdict::Refused(_) => "refuse",
    }
}
