//! Reference vectors of the movement budget and of the correction smoother.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::client::{CorrectionSmoother, CorrectionSmootherConfig, SmoothedPose};
use tidelock_sim::report::{AdmissionVerdict, ReplayBudget};
use vectors::{File, number, vec3};

// S-22
#[test]
fn replay_budget() {
    let file = File::read("replay-budget");
    for case in file.cases() {
        let name = &case["name"];
        let mut budget = ReplayBudget::default();
        for (step, report) in case["reports"].as_array().unwrap().iter().enumerate() {
            let durations: Vec<f64> = report["durations"].as_array().unwrap().iter().map(number).collect();
            let admission = budget.admit(number(&report["t"]), durations.into_iter());
            let verdict = match admission.verdict {
                AdmissionVerdict::Complete => "complete",
                AdmissionVerdict::Exhausted => "exhausted",
                AdmissionVerdict::Malformed => "malformed",
            };
            let expect = &report["expect"];
            assert_eq!(expect["verdict"], verdict, "{name} {step}");
            assert_eq!(expect["replayed"], admission.frames, "{name} {step}");
            file.close(budget.available(), &expect["available"], &format!("{name} {step} available"));
        }
    }
}

fn poses(value: &Value) -> Vec<SmoothedPose> {
    let pose = |value: &Value| SmoothedPose {
        id: value["id"].as_u64().unwrap(),
        position: vec3(&value["pos"]),
        angle: number(&value["angle"]) as f32,
        snap: value["snap"].as_bool().unwrap(),
        rate: None,
    };
    value.as_array().unwrap().iter().map(pose).collect()
}

// S-34
#[test]
fn correction_smoother() {
    let file = File::read("correction-smoother");
    for case in file.cases() {
        let defaults = CorrectionSmootherConfig::default();
        let key = |key: &str, default: f32| case["config"].get(key).map_or(default, |value| number(value) as f32);
        let mut smoother = CorrectionSmoother::new(CorrectionSmootherConfig {
            rate: key("rate", defaults.rate),
            max_speed: key("max_speed", defaults.max_speed),
            min_rate: key("min_rate", defaults.min_rate),
            max_offset: key("max_offset", defaults.max_offset),
        });
        for (step, op) in case["ops"].as_array().unwrap().iter().enumerate() {
            let what = format!("{} {step}", case["name"]);
            let largest =
                smoother.correct(&poses(&op["before"]), &poses(&op["after"]), op["teleport"].as_bool().unwrap());
            for dt in op["decay"].as_array().unwrap() {
                smoother.decay(number(dt) as f32);
            }
            let expect = &op["expect"];
            file.close(f64::from(largest), &expect["largest"], &format!("{what} largest"));
            let wanted = expect["offsets"].as_array().unwrap();
            assert_eq!(smoother.offsets().count(), wanted.len(), "{what}");
            for ((id, offset), want) in smoother.offsets().zip(wanted) {
                assert_eq!(want["id"], id, "{what}");
                file.close_vec3(offset.position, &want["pos"], &format!("{what} id {id} position"));
                file.close(f64::from(offset.angle), &want["angle"], &format!("{what} id {id} angle"));
            }
        }
    }
}
