use tidelock::sim::interpolation::{InterpolationBuffer, InterpolationBufferConfig};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let config = case.get("config")?;
    let default = InterpolationBufferConfig::default();
    let mut buffer = InterpolationBuffer::new(InterpolationBufferConfig {
        capacity: config.number_or("capacity", default.capacity as f64)? as usize,
        max_extrapolation: config.number_or("max_extrapolation", default.max_extrapolation)?,
    });
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let [time, value] = op.get("push")?.numbers::<2>()?;
        buffer.push(time, value);
        let got = buffer.sample_with(op.get("sample")?.number()?, |a, b, share| a + (b - a) * share);
        check.number("sample", got.ok_or("the buffer holds nothing")?, op.get("expect")?.number()?)?;
    }
    Ok(())
}
