//! Reference vectors of rigs between samples.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::tracks::{JointPose, RigTrack};
use vectors::{File, number, quat, vec3};

fn joints(value: &Value) -> Vec<JointPose> {
    let joint = |joint: &Value| JointPose { position: vec3(&joint["pos"]), rotation: quat(&joint["rot"]) };
    value.as_array().unwrap().iter().map(joint).collect()
}

// S-44
#[test]
fn rig_hermite() {
    let file = File::read("rig-hermite");
    for case in file.cases() {
        let samples = case["samples"].as_array().unwrap();
        let count = joints(&samples[0]["joints"]).len();
        let mut track = RigTrack::new(count);
        for sample in samples {
            assert!(track.push(number(&sample["t"]), &joints(&sample["joints"])));
        }
        for at in case["at"].as_array().unwrap() {
            let what = format!("{} at {}", case["name"], at["t"]);
            let mut out = vec![JointPose::default(); count];
            assert!(track.sample(number(&at["t"]), &mut out), "{what}");
            for (got, want) in out.iter().zip(at["expect"].as_array().unwrap()) {
                file.close_vec3(got.position, &want["pos"], &what);
                file.close_quat(got.rotation, &want["rot"], &what);
            }
        }
    }
}
