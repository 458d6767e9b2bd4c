//! Reference vectors of the server's input buffer and of the client's pacer.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::Sequence;
use tidelock_sim::input::{InputBuffer, InputBufferConfig, InputBufferStats, InputPacer, PressActions, StepInput};
use vectors::{File, number};

fn config(config: &Value) -> InputBufferConfig {
    let default = InputBufferConfig::default();
    let or = |key: &str, default: u32| config.get(key).map_or(default, |value| number(value) as u32);
    InputBufferConfig {
        max_queued: or("max_queued", default.max_queued),
        min_target: or("min_target", default.min_target),
        max_target: or("max_target", default.max_target),
        jitter_window: or("jitter_window", default.jitter_window),
        drain_window: or("drain_window", default.drain_window),
        catch_up: config.get("catch_up").map_or(default.catch_up, |value| value.as_bool().unwrap()),
        max_speculation: or("max_speculation", default.max_speculation),
        // The vectors state the buffer alone; letting go of a silent player is put on top.
        neutral_after: None,
    }
}

fn input(value: &Value) -> StepInput<i32> {
    StepInput { buttons: number(&value[0]) as u32, held: number(&value[1]) as i32 }
}

fn stats(stats: &InputBufferStats) -> [(&'static str, u64); 14] {
    [
        ("offered", stats.offered),
        ("stale", stats.stale),
        ("duplicates", stats.duplicates),
        ("applied", stats.applied),
        ("starved", stats.starved),
        ("speculated", stats.speculated),
        ("speculation_hits", stats.speculation_hits),
        ("merged", stats.merged),
        ("dropped", stats.dropped),
        ("presses_offered", stats.presses.offered),
        ("presses_applied", stats.presses.applied),
        ("presses_lost", stats.presses.lost),
        ("presses_reordered", stats.presses.reordered),
        ("presses_extra", stats.presses.extra),
    ]
}

// S-3, S-6: beginning at 0, and so that sequences wrap.
#[test]
fn input_buffer() {
    for before in [0, u32::MAX - 70] {
        for case in File::read("input-buffer").cases() {
            let name = &case["name"];
            let pairs = case["actions"].as_array().unwrap().iter();
            let actions: Vec<_> = pairs.map(|pair| (number(&pair[0]) as u32, number(&pair[1]) as u8)).collect();
            let actions = PressActions::new(&actions).unwrap();
            let buffer = InputBuffer::new(config(&case["config"]), actions, input(&case["neutral"])).unwrap();
            let mut buffer = buffer.starting_after(Sequence(before));
            for (step, op) in case["ops"].as_array().unwrap().iter().enumerate() {
                let expect = &op["expect"];
                let what = format!("{name} op {step}");
                if op["op"] == "consume" {
                    let got = buffer.consume();
                    assert_eq!(got.input, input(&expect["input"]), "{what}");
                    assert_eq!(got.acknowledged.0.wrapping_sub(before), number(&expect["ack"]) as u32, "{what}");
                    assert_eq!(f64::from(got.depth), number(&expect["depth"]), "{what}");
                    assert_eq!(f64::from(got.target), number(&expect["target"]), "{what}");
                } else {
                    let inputs: Vec<_> = op["inputs"].as_array().unwrap().iter().map(input).collect();
                    let last = Sequence(before.wrapping_add(number(&op["last_seq"]) as u32));
                    assert_eq!(buffer.offer_range(last, &inputs) as f64, number(expect), "{what}");
                }
            }
            for (field, got) in stats(&buffer.stats()) {
                assert_eq!(got as f64, number(&case["stats"][field]), "{name} {field}");
            }
        }
    }
}

// S-7
#[test]
fn input_pacer() {
    let file = File::read("input-pacer");
    for case in file.cases() {
        let mut pacer = InputPacer::new();
        for (step, report) in case["reports"].as_array().unwrap().iter().enumerate() {
            let target = report["target"].as_u64().map(|target| target as u32);
            let got = pacer.report(number(&report["depth"]) as u32, target);
            let what = format!("{} {step}", case["name"]);
            let fields = [("average", got.average), ("jitter", got.jitter), ("aim", got.aim), ("pace", got.pace)];
            for (field, got) in fields {
                file.close(got, &report["expect"][field], &format!("{what} {field}"));
            }
        }
    }
}
