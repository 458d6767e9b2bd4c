use glam::Vec3;
use tidelock::sim::allowance::{
    AllowanceEnvironment, AllowanceLimits, AllowanceValidator, AllowanceVerdict, Support, ValidationReason,
};
use tidelock::sim::motor::MotorSettings;
use tidelock::sim::report::{ReplayLimits, Report};
use tidelock::sim::{Sequence, SimTime};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    // The horizontal rule alone: neither guards nor credit, and no envelope of positions.
    let (limits, envelope) = (AllowanceLimits::bare(), ReplayLimits::default());
    let config = case.get("config")?;
    let walk_speed = config.number_or("walk_speed", 16.0)? as f32;
    let settings = MotorSettings { walk_speed, ..MotorSettings::default() };
    let start = case.get("start")?;
    let now = SimTime::from_seconds(start.get("t")?.number()?);
    let env = AllowanceEnvironment { now, settings: &settings, limits: &limits, envelope: &envelope };
    let mut validator = AllowanceValidator::new(start.get("pos")?.vector()?, 0.0, &env);
    validator.grants.grant_burst(config.number_or("burst_speed", 0.0)? as f32, SimTime(u64::MAX));
    let mut signals = Vec::new();
    for (step, given) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let position = given.get("pos")?.vector()?;
        let report = Report { sequence: Sequence(step as u32), position, ..Report::default() };
        let env = AllowanceEnvironment { now: SimTime::from_seconds(given.get("t")?.number()?), ..env };
        signals.clear();
        let outcome = validator.judge(&report, &env, &mut |_: Vec3, _: f32| Support::default(), &mut signals);
        let expect = given.get("expect")?;
        check.same("verdict", word(outcome.verdict), expect.get("verdict")?.text()?)?;
        check.vector("accepted", validator.state().position, expect.get("accepted")?)?;
        check.same("correction", outcome.correction, expect.get("correction")?.boolean()?)?;
        check.same("streak", u64::from(validator.streak()), expect.get("streak")?.integer()?)?;
        let put_back = signals.iter().any(|signal| signal.reason == ValidationReason::Teleport);
        check.same("teleport signal", put_back, outcome.verdict == AllowanceVerdict::PutBack)?;
    }
    Ok(())
}

fn word(verdict: AllowanceVerdict) -> &'static str {
    match verdict {
        AllowanceVerdict::Accepted => "accept",
        AllowanceVerdict::Clamped => "clamp",
        AllowanceVerdict::PutBack => "teleport",
        AllowanceVerdict::Refused(_) => "refuse",
    }
}
