//! Reference vectors of reconciliation and of the interpolation buffer.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::interpolation::{InterpolationBuffer, InterpolationBufferConfig};
use tidelock_sim::reconcile::{Correction, ReconcileConfig, ReconcileInput, SnapReason, reconcile};
use vectors::{File, number, vec3};

fn config(config: &Value) -> ReconcileConfig {
    ReconcileConfig {
        correct_m: number(&config["correct_m"]) as f32,
        far_m: number(&config["far_m"]) as f32,
        trusted_guessed_ticks: number(&config["trusted_guessed_ticks"]) as u32,
        server_guess_window_s: number(&config["server_guess_window_s"]),
        cap_ease_s: number(&config["cap_ease_s"]),
        prediction_cap_s: config["prediction_cap_s"].as_f64(),
        planar: config["planar"].as_bool().unwrap(),
        ..ReconcileConfig::default()
    }
}

fn input(input: &Value) -> ReconcileInput {
    let given = |key: &str| Some(&input[key]).filter(|value| !value.is_null());
    ReconcileInput {
        ack_fresh: input["ack_fresh"].as_bool().unwrap(),
        ack_unread: input["ack_unread"].as_bool().unwrap(),
        guessed_ticks: number(&input["guessed_ticks"]) as u32,
        server: vec3(&input["server"]),
        recorded: given("recorded").map(vec3),
        drawn: vec3(&input["server"]),
        history_empty: input["history_empty"].as_bool().unwrap(),
        oldest_unheard_age: given("oldest_unheard_age").map(number),
    }
}

// S-31
#[test]
fn reconcile_decides_as_the_vectors() {
    let file = File::read("reconcile");
    for (index, case) in file.cases().iter().enumerate() {
        let forced = case["input"]["force_snap"].as_str();
        let expect = &case["expect"];
        let what = format!("case {index}");
        let kind = match reconcile(&input(&case["input"]), &config(&case["config"]), |_| forced) {
            Correction::None => "none",
            Correction::Blend { drift } => {
                file.close_vec3(drift, &expect["drift"], &what);
                "blend"
            }
            Correction::Shift { drift } => {
                file.close_vec3(drift, &expect["drift"], &what);
                "shift"
            }
            Correction::Snap { to, reason } => {
                file.close_vec3(to, &expect["to"], &what);
                let reason = match reason {
                    SnapReason::Game(reason) => reason,
                    SnapReason::Lost => "lost",
                    SnapReason::Far => "far",
                };
                assert_eq!(expect["reason"], reason, "{what}");
                "snap"
            }
            Correction::Wait { speed_scale } => {
                file.close(f64::from(speed_scale), &expect["speed_scale"], &what);
                "wait"
            }
        };
        assert_eq!(expect["kind"], kind, "{what}");
    }
}

// S-35
#[test]
fn interpolation_buffer() {
    let file = File::read("interpolation-buffer");
    for case in file.cases() {
        let config = &case["config"];
        let mut buffer = InterpolationBuffer::new(InterpolationBufferConfig {
            capacity: number(&config["capacity"]) as usize,
            max_extrapolation: number(&config["max_extrapolation"]),
        });
        for (step, op) in case["ops"].as_array().unwrap().iter().enumerate() {
            buffer.push(number(&op["push"][0]), number(&op["push"][1]));
            let got = buffer.sample_with(number(&op["sample"]), |a, b, share| a + (b - a) * share).unwrap();
            file.close(got, &op["expect"], &format!("{} {step}", case["name"]));
        }
    }
}
