//! Reference vectors of owned parts' reports.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::{OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipTable, PlayerId};
use tidelock_sim::{PartState, Sequence, SimTime};
use vectors::{File, number, quat, vec3};

fn table(case: &Value) -> OwnershipTable {
    let config = &case["config"];
    let mut table = OwnershipTable::new(OwnershipLimits {
        slack_position: number(&config["slack_position"]) as f32,
        slack_rotation: number(&config["slack_rotation"]) as f32,
        window_slack: f32::INFINITY,
        ..OwnershipLimits::default()
    });
    for part in case["parts"].as_array().unwrap() {
        let id = ColliderId(part["id"].as_u64().unwrap());
        let now = SimTime::from_seconds(number(&part["t"]));
        table.insert_part(id, PartState::resting(vec3(&part["pos"]), quat(&part["rot"])), now);
        let owner = PlayerId(part["owner"].as_u64().unwrap());
        table.insert_player(owner);
        table.give(id, Some(owner), now);
    }
    table
}

// S-51
#[test]
fn owned_physics() {
    let file = File::read("owned-physics");
    for case in file.cases() {
        let mut table = table(case);
        let mut accepted = Vec::new();
        for (step, given) in case["reports"].as_array().unwrap().iter().enumerate() {
            let snapshot = |snapshot: &Value| {
                let part = ColliderId(snapshot["id"].as_u64().unwrap());
                let state = PartState {
                    position: vec3(&snapshot["pos"]),
                    rotation: quat(&snapshot["rot"]),
                    velocity: vec3(&snapshot["vel"]),
                    angular: vec3(&snapshot["ang"]),
                };
                OwnedSnapshot { part, epoch: table.epoch(part).unwrap_or(0), state }
            };
            let report = OwnedReport {
                sequence: Sequence(given["seq"].as_u64().unwrap() as u32),
                time: SimTime::from_seconds(number(&given["t"])),
                snapshots: given["snapshots"].as_array().unwrap().iter().map(snapshot).collect(),
            };
            let player = PlayerId(given["player"].as_u64().unwrap());
            table.insert_player(player);
            let now = SimTime::from_seconds(number(&given["t"]));
            accepted.clear();
            let outcome = table.judge(player, &report, (now, now.tick()), &mut accepted);
            let verdict = match outcome.verdict {
                OwnedVerdict::Processed => "processed",
                OwnedVerdict::Stale => "stale",
                OwnedVerdict::Malformed => "malformed",
                OwnedVerdict::Rate => "rate",
            };
            let (what, expect) = (format!("{} {step}", case["name"]), &given["expect"]);
            assert_eq!(expect["verdict"], verdict, "{what}");
            let got: Vec<u64> = accepted.iter().map(|accepted| accepted.part.0).collect();
            let wanted: Vec<u64> =
                expect["accepted"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
            assert_eq!(got, wanted, "{what}");
            assert!(accepted.iter().all(|accepted| (accepted.state.rotation.length() - 1.0).abs() < 1e-5));
        }
    }
}
