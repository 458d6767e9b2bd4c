use glam::Vec3;
use tidelock_sim::allowance::{
    AllowanceEnvironment, AllowanceLimits, AllowanceValidator, AllowanceVerdict, Support, ValidationReason,
};
use tidelock_sim::motor::MotorSettings;
use tidelock_sim::report::{ReplayLimits, Report};
use tidelock_sim::{Sequence, SimTime};

use crate::vectors::{File, number, vec3};

// S-25, S-26
#[test]
fn movement_allowance() {
    let file = File::read("movement-allowance");
    let (limits, envelope) = (AllowanceLimits::bare(), ReplayLimits::default());
    for case in file.cases() {
        let settings =
            MotorSettings { walk_speed: number(&case["config"]["walk_speed"]) as f32, ..MotorSettings::default() };
        let now = SimTime::from_seconds(number(&case["start"]["t"]));
        let env = AllowanceEnvironment { now, settings: &settings, limits: &limits, envelope: &envelope };
        let mut validator = AllowanceValidator::new(vec3(&case["start"]["pos"]), 0.0, &env);
        validator.grants.grant_burst(number(&case["config"]["burst_speed"]) as f32, SimTime(u64::MAX));
        let mut signals = Vec::new();
        for (step, given) in case["reports"].as_array().unwrap().iter().enumerate() {
            let what = format!("{} {step}", case["name"]);
            let report = Report { sequence: Sequence(step as u32), position: vec3(&given["pos"]), ..Report::default() };
            let env = AllowanceEnvironment { now: SimTime::from_seconds(number(&given["t"])), ..env };
            let outcome = validator.judge(&report, &env, &mut |_: Vec3, _: f32| Support::default(), &mut signals);
            let verdict = match outcome.verdict {
                AllowanceVerdict::Accepted => "accept",
                AllowanceVerdict::Clamped => "clamp",
                AllowanceVerdict::PutBack => "teleport",
                AllowanceVerdict::Seated => "seated",
                AllowanceVerdict::Refused(_) => "refuse",
            };
            let expect = &given["expect"];
            assert_eq!(expect["verdict"], verdict, "{what}");
            assert_eq!(expect["correction"], outcome.correction, "{what}");
            assert_eq!(expect["streak"], validator.streak(), "{what}");
            file.close_vec3(validator.state().position, &expect["accepted"], &what);
            let reason = signals.drain(..).next().map(|signal| signal.reason);
            assert_eq!(reason.is_some(), verdict != "accept", "{what}");
            assert_eq!(reason == Some(ValidationReason::Teleport), verdict == "teleport", "{what}");
        }
    }
}
