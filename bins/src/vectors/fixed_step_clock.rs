use serde_json::{Value, json};
use tidelock::sim::clock::{FixedStepClock, FixedStepClockConfig, Overrun};

use super::check::{Check, Outcome};
use super::draws::{Draws, number};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut clock = clock(case.get("config")?)?;
    check.number("dt", clock.dt(), case.get("dt")?.number()?)?;
    for (step, row) in case.get("frames")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let [frame, steps, clamped, overrun, accumulator] = row.numbers::<5>()?;
        let advance = clock.advance(frame, 1.0);
        check.number("steps", f64::from(advance.steps), steps)?;
        check.number("clamped", advance.clamped, clamped)?;
        check.number("overrun", f64::from(u8::from(advance.overrun)), overrun)?;
        check.number("accumulator", clock.accumulator(), accumulator)?;
    }
    Ok(())
}

/// The clock a case's `config` describes.
pub(super) fn clock(config: Node<'_>) -> Result<FixedStepClock, String> {
    let default = FixedStepClockConfig::default();
    let overrun = match config.find("overrun").map(Node::text).transpose()? {
        None | Some("drop") => Overrun::Drop,
        Some("carry") => Overrun::Carry,
        Some("slow-motion") => Overrun::SlowMotion,
        Some(other) => return Err(format!("overrun is `{other}`")),
    };
    let config = FixedStepClockConfig {
        hz: config.number_or("hz", f64::from(default.hz))? as u32,
        max_frame_delta: config.number_or("max_frame_delta", default.max_frame_delta)?,
        max_steps_per_frame: config.number_or("max_steps_per_frame", f64::from(default.max_steps_per_frame))? as u32,
        overrun,
    };
    FixedStepClock::new(config).map_err(|why| why.to_string())
}

/// A clock's settings, drawn.
pub(super) fn draw_config(draws: &mut Draws) -> Value {
    json!({
        "hz": draws.pick(&[7, 20, 30, 60, 90, 144, 240]),
        "max_frame_delta": draws.pick(&[0.25, 0.1, 0.05, 1.0]),
        "max_steps_per_frame": draws.pick(&[1, 2, 8, 30]),
        "overrun": draws.pick(&["drop", "carry", "slow-motion"]),
    })
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let case = |index: usize| {
        let config = draw_config(draws);
        let mut clock = clock(Node::new(&config))?;
        let dt = clock.dt();
        let rows: Vec<Value> = (0..200)
            .map(|_| {
                let frame = match draws.whole(0, 12) {
                    0 => draws.pick(&[0.0, -0.01, f64::NAN, f64::INFINITY, 3.0]),
                    1 => draws.number(0.0, 0.5),
                    2..5 => draws.number(0.0, 0.04),
                    _ => draws.pick(&[1.0 / 60.0, 1.0 / 30.0, 1.0 / 144.0]),
                };
                let advance = clock.advance(frame, 1.0);
                let overrun = u8::from(advance.overrun);
                json!([number(frame), advance.steps, advance.clamped, overrun, clock.accumulator()])
            })
            .collect();
        Ok(json!({ "name": format!("clock-{index}"), "config": config, "dt": dt, "frames": rows }))
    };
    (0..8).map(case).collect()
}
