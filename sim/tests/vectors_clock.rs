//! Reference vectors of the fixed-step clock and of wrapping sequences.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod vectors;

use serde_json::Value;
use tidelock_sim::Sequence;
use tidelock_sim::clock::{FixedStepClock, FixedStepClockConfig, Overrun};
use vectors::{File, number};

fn clock(config: &Value) -> FixedStepClock {
    FixedStepClock::new(FixedStepClockConfig {
        hz: number(&config["hz"]) as u32,
        max_frame_delta: number(&config["max_frame_delta"]),
        max_steps_per_frame: number(&config["max_steps_per_frame"]) as u32,
        overrun: match config["overrun"].as_str().unwrap() {
            "drop" => Overrun::Drop,
            "carry" => Overrun::Carry,
            "slow-motion" => Overrun::SlowMotion,
            other => panic!("overrun {other}"),
        },
    })
    .unwrap()
}

// S-1
#[test]
fn fixed_step_clock_to_the_bit() {
    let file = File::read("fixed-step-clock");
    for case in file.cases() {
        let name = &case["name"];
        let mut clock = clock(&case["config"]);
        assert_eq!(clock.dt().to_bits(), number(&case["dt"]).to_bits(), "{name}");
        for (step, row) in case["frames"].as_array().unwrap().iter().enumerate() {
            let advance = clock.advance(number(&row[0]), 1.0);
            assert_eq!(f64::from(advance.steps), number(&row[1]), "{name} {step} steps");
            assert_eq!(advance.clamped.to_bits(), number(&row[2]).to_bits(), "{name} {step} clamped");
            assert_eq!(f64::from(u8::from(advance.overrun)), number(&row[3]), "{name} {step} overrun");
            assert_eq!(clock.accumulator().to_bits(), number(&row[4]).to_bits(), "{name} {step} accumulator");
            assert!((0.0..=1.0).contains(&clock.alpha()));
        }
    }
}

// S-2
#[test]
fn step_cutoffs() {
    let file = File::read("step-cutoffs");
    for case in file.cases() {
        let name = &case["name"];
        let mut clock = clock(&case["config"]);
        let scale = number(&case["config"]["scale"]);
        for (step, frame) in case["frames"].as_array().unwrap().iter().enumerate() {
            let advance = clock.advance(number(&frame["frame"]), scale);
            let wanted = frame["expect"].as_array().unwrap();
            assert_eq!(advance.steps as usize, wanted.len(), "{name} {step} steps");
            for (index, want) in wanted.iter().enumerate() {
                let got = clock.step_cutoff_ms(index as u32, advance.steps, number(&frame["now_ms"]), scale);
                assert_eq!(got.is_none(), want.is_null(), "{name} {step} cutoff {index}");
                if let Some(got) = got {
                    file.close(got, want, &format!("{name} {step} cutoff {index}"));
                }
            }
        }
    }
}

#[test]
fn sequence_order() {
    for case in File::read("sequence-order").cases() {
        let (a, b) = (number(&case["a"]) as u32, number(&case["b"]) as u32);
        assert_eq!(Sequence(a).is_newer_than(Sequence(b)), case["newer"].as_bool().unwrap(), "{a} {b}");
    }
}
