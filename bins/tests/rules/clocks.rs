use serde_json::Value;

use crate::expectation::{Expectation, items, number, number_or};

/// S-1.
struct Clock {
    dt: f64,
    longest: f64,
    most: u64,
    overrun: String,
    held: f64,
}

impl Clock {
    fn new(config: &Value) -> Self {
        Self {
            dt: f64::from((1.0 / number_or(&config["hz"], 60.0)) as f32),
            longest: number_or(&config["max_frame_delta"], 0.25),
            most: config["max_steps_per_frame"].as_u64().unwrap_or(8),
            overrun: config["overrun"].as_str().unwrap_or("drop").to_owned(),
            held: 0.0,
        }
    }

    fn advance(&mut self, frame: f64, scale: f64) -> (u64, f64, bool) {
        let frame = if frame.is_finite() { frame.clamp(0.0, self.longest) } else { 0.0 };
        let added = if scale == 1.0 { frame } else { frame * scale };
        self.held += if self.overrun == "slow-motion" { added.min(self.dt * self.most as f64) } else { added };
        let mut steps = 0;
        while steps < self.most && self.held >= self.dt {
            self.held -= self.dt;
            steps += 1;
        }
        if steps == self.most {
            self.held = match self.overrun.as_str() {
                "carry" => self.held.min(self.longest),
                "slow-motion" => self.held % self.dt,
                _ => 0.0,
            };
        }
        (steps, frame, steps == self.most)
    }
}

pub(crate) fn clock(case: &Value, expectation: &mut Expectation) {
    let mut clock = Clock::new(&case["config"]);
    expectation.number("dt", clock.dt, &case["dt"]);
    for (step, row) in items(&case["frames"]).iter().enumerate() {
        expectation.enter_step(step);
        let (steps, clamped, overrun) = clock.advance(number(&row[0]), 1.0);
        expectation.same("steps", steps, &row[1]);
        expectation.number("clamped", clamped, &row[2]);
        expectation.same("overrun", u8::from(overrun), &row[3]);
        expectation.number("accumulator", clock.held, &row[4]);
    }
}

/// S-2.
pub(crate) fn cutoffs(case: &Value, expectation: &mut Expectation) {
    let (mut clock, scale) = (Clock::new(&case["config"]), number(&case["config"]["scale"]));
    for (step, frame) in items(&case["frames"]).iter().enumerate() {
        expectation.enter_step(step);
        let (steps, ..) = clock.advance(number(&frame["frame"]), scale);
        let stated = items(&frame["expect"]);
        expectation.same("steps", steps, &Value::from(stated.len()));
        for (index, stated) in stated.iter().enumerate() {
            let after = clock.held + (steps - 1 - index as u64) as f64 * clock.dt;
            let none = index as u64 + 1 == clock.most || after < clock.dt || scale <= 0.0;
            if none || stated.is_null() {
                expectation.that(none && stated.is_null(), || format!("cutoff {index}: {stated} stated"));
            } else {
                expectation.number("cutoff", number(&frame["now_ms"]) - after / scale * 1000.0, stated);
            }
        }
    }
}
