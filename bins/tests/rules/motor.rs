use serde_json::Value;

use crate::expectation::{Expectation, items};

/// S-10 and S-12, as far as a few lines can say them: time is cut into ticks and nothing of it is lost; in free fall gravity
/// and air control alone act; on a floor speed changes no faster than the settings allow; and no state holds a number that is none.
pub(crate) fn run(case: &Value, expectation: &mut Expectation) {
    let settings = &case["settings"];
    let (walk, gravity) = (bits(&settings["walk_speed"]), bits(&settings["gravity"]));
    let mut held = 0;
    let mut time = case["start"]["time"].as_u64().expect("a time");
    let (mut position, mut velocity) = (vector(&case["start"]["position"]), [0.0; 3]);
    let (frames, states) = (items(&case["frames"]), items(&case["states"]));
    expectation.same("states", states.len(), &Value::from(frames.len()));
    for (step, (frame, state)) in frames.iter().zip(states).enumerate() {
        expectation.enter_step(step);
        held += frame["duration"].as_u64().expect("a duration");
        let ticks = held / 256;
        held %= 256;
        time += ticks * 256;
        expectation.same("accumulator", held, &state["accumulator"]);
        expectation.same("time", time, &state["time"]);
        expectation.same(
            "jump_held",
            ticks > 0 && frame["jump"] == true,
            &Value::from(state["jump_held"] == true && ticks > 0),
        );
        let (now, moves) = (vector(&state["position"]), vector(&state["velocity"]));
        expectation.that(now.iter().chain(&moves).all(|part| part.is_finite()), || format!("{now:?} {moves:?}"));
        if case["name"] == "fall" {
            fall(&mut position, &mut velocity, ticks, gravity);
            expectation
                .that((position[1] - now[1]).abs() < 1e-4 * (1.0 + now[1].abs()), || format!("{position:?} {now:?}"));
            expectation.that((velocity[1] - moves[1]).abs() < 0.01, || format!("{velocity:?} {moves:?}"));
        }
        if case["name"] == "floor" {
            let fastest = moves[0].hypot(moves[2]);
            expectation.that(fastest <= walk * 1.001, || format!("{fastest} across"));
            expectation.that(now[1] > 2.49, || format!("{} under ground", now[1]));
            let grounded = state["state"] == 0;
            expectation.same("ground", grounded, &Value::from(state["ground"] == 0));
        }
    }
}

/// Gravity in ticks of 1/240 s, velocity first; nothing else acts up and down.
fn fall(position: &mut [f64; 3], velocity: &mut [f64; 3], ticks: u64, gravity: f64) {
    for _ in 0..ticks {
        velocity[1] = (velocity[1] - gravity / 240.0).max(-400.0);
        position[1] += velocity[1] / 240.0;
    }
}

fn bits(value: &Value) -> f64 {
    f64::from(f32::from_bits(value.as_u64().expect("bits") as u32))
}

fn vector(value: &Value) -> [f64; 3] {
    std::array::from_fn(|axis| bits(&value[axis]))
}
