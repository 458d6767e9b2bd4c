use serde_json::{Value, json};
use tidelock::sim::interpolation::{InterpolationBuffer, InterpolationBufferConfig};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut buffer = buffer(case.get("config")?)?;
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let [time, value] = op.get("push")?.numbers::<2>()?;
        buffer.push(time, value);
        let got = buffer.sample_with(op.get("sample")?.number()?, |a, b, share| a + (b - a) * share);
        check.number("sample", got.ok_or("the buffer holds nothing")?, op.get("expect")?.number()?)?;
    }
    Ok(())
}

fn buffer(config: Node<'_>) -> Result<InterpolationBuffer<f64>, String> {
    let default = InterpolationBufferConfig::default();
    Ok(InterpolationBuffer::new(InterpolationBufferConfig {
        capacity: config.number_or("capacity", default.capacity as f64)? as usize,
        max_extrapolation: config.number_or("max_extrapolation", default.max_extrapolation)?,
    }))
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let case = |index: usize| {
        let config = json!({ "capacity": draws.pick(&[2, 4, 32]), "max_extrapolation": draws.pick(&[0.0, 0.5, 1.0]) });
        let (mut buffer, mut newest, mut ops) = (buffer(Node::new(&config))?, 0_i64, Vec::new());
        for _ in 0..60 {
            newest += draws.whole(0, 3) as i64;
            let (time, value) = ((newest - draws.whole(0, 3) as i64) as f64, draws.number(-10.0, 10.0));
            let at = time + draws.number(-6.0, 3.0);
            buffer.push(time, value);
            let got = buffer.sample_with(at, |a, b, share| a + (b - a) * share).ok_or("the buffer holds nothing")?;
            ops.push(json!({ "push": [time, value], "sample": at, "expect": got }));
        }
        Ok(json!({ "name": format!("buffer-{index}"), "config": config, "ops": ops }))
    };
    (0..6).map(case).collect()
}
