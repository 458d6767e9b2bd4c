//! Reference vectors of the remote timeline and of the tracks.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::timeline::{RemoteTimeline, RemoteTimelineConfig};
use tidelock_sim::tracks::{CharacterPose, CharacterTrack, PartPose, PartTrack};
use vectors::{File, number, quat, vec3};

// S-40
#[test]
fn remote_timeline() {
    let file = File::read("remote-timeline");
    for case in file.cases() {
        let config = &case["config"];
        let mut timeline = RemoteTimeline::new(RemoteTimelineConfig {
            initial_interval: number(&config["initial_interval"]),
            jitter_weight: number(&config["jitter_weight"]),
            rate_gain: number(&config["rate_gain"]),
        });
        for (step, op) in case["ops"].as_array().unwrap().iter().enumerate() {
            let what = format!("{} {step}", case["name"]);
            let expect = &op["expect"];
            if op["op"] == "sample" {
                timeline.sample(number(&op["server"]), number(&op["arrival"]));
                file.close(timeline.floor(), &expect["floor"], &format!("{what} floor"));
                file.close(timeline.jitter(), &expect["jitter"], &format!("{what} jitter"));
                file.close(timeline.interval(), &expect["interval"], &format!("{what} interval"));
                file.close(timeline.delay(), &expect["delay"], &format!("{what} delay"));
            } else {
                let playback = timeline.advance(number(&op["now"]), number(&op["dt"])).unwrap();
                file.close(playback, &expect["playback"], &format!("{what} playback"));
                file.close(timeline.rate(), &expect["rate"], &format!("{what} rate"));
            }
        }
    }
}

fn ops(case: &Value) -> impl Iterator<Item = (String, &Value)> {
    let name = case["name"].as_str().unwrap();
    case["ops"].as_array().unwrap().iter().enumerate().map(move |(step, op)| (format!("{name} {step}"), op))
}

// S-42
#[test]
fn part_track() {
    let file = File::read("part-track");
    for case in file.cases() {
        let mut track = PartTrack::new();
        for (what, op) in ops(case) {
            let push = &op["push"];
            let accepted = track.push(PartPose {
                time: number(&push["t"]),
                position: vec3(&push["pos"]),
                rotation: quat(&push["rot"]),
                velocity: vec3(&push["vel"]),
                angular: vec3(&push["ang"]),
            });
            assert_eq!(op["accepted"], accepted, "{what}");
            assert_eq!(op["retained"], track.len(), "{what}");
            for sample in op["samples"].as_array().unwrap() {
                let got = track.sample(number(&sample["t"])).unwrap();
                let (expect, what) = (&sample["expect"], format!("{what} at {}", sample["t"]));
                file.close_vec3(got.position, &expect["pos"], &what);
                file.close_quat(got.rotation, &expect["rot"], &what);
                file.close_vec3(got.velocity, &expect["vel"], &what);
                file.close_vec3(got.angular, &expect["ang"], &what);
            }
        }
    }
}

// S-43
#[test]
fn character_track() {
    let file = File::read("character-track");
    for case in file.cases() {
        let mut track = CharacterTrack::new();
        for (what, op) in ops(case) {
            let push = &op["push"];
            let accepted = track.push(CharacterPose {
                time: number(&push["t"]),
                position: vec3(&push["pos"]),
                velocity: vec3(&push["vel"]),
                yaw: number(&push["yaw"]) as f32,
                ..CharacterPose::default()
            });
            assert_eq!(op["accepted"], accepted, "{what}");
            assert_eq!(op["retained"], track.len(), "{what}");
            for sample in op["samples"].as_array().unwrap() {
                let got = track.sample(number(&sample["t"])).unwrap();
                let what = format!("{what} at {}", sample["t"]);
                file.close_vec3(got.position, &sample["expect"]["pos"], &what);
                file.close(f64::from(got.yaw), &sample["expect"]["yaw"], &what);
            }
        }
    }
}
