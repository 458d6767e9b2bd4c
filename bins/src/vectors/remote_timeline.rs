use tidelock::sim::timeline::{RemoteTimeline, RemoteTimelineConfig};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let config = case.get("config")?;
    let default = RemoteTimelineConfig::default();
    let mut timeline = RemoteTimeline::new(RemoteTimelineConfig {
        initial_interval: config.number_or("initial_interval", default.initial_interval)?,
        jitter_weight: config.number_or("jitter_weight", default.jitter_weight)?,
        rate_gain: config.number_or("rate_gain", default.rate_gain)?,
    });
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let expect = op.get("expect")?;
        let want = |field| expect.get(field).and_then(Node::number);
        match op.get("op")?.text()? {
            "sample" => {
                timeline.sample(op.get("server")?.number()?, op.get("arrival")?.number()?);
                check.number("floor", timeline.floor(), want("floor")?)?;
                check.number("jitter", timeline.jitter(), want("jitter")?)?;
                check.number("interval", timeline.interval(), want("interval")?)?;
                check.number("delay", timeline.delay(), want("delay")?)?;
            }
            "advance" => {
                let playback = timeline.advance(op.get("now")?.number()?, op.get("dt")?.number()?);
                check.number("playback", playback.unwrap_or(f64::NAN), want("playback")?)?;
                check.number("rate", timeline.rate(), want("rate")?)?;
            }
            other => return Err(format!("op is `{other}`")),
        }
    }
    Ok(())
}
