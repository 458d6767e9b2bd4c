use tidelock::sim::clock::{FixedStepClock, FixedStepClockConfig, Overrun};

use super::check::{Check, Outcome};
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
