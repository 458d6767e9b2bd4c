use serde_json::{Value, json};
use tidelock::sim::timeline::{RemoteTimeline, RemoteTimelineConfig};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut timeline = timeline(case.get("config")?)?;
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

fn timeline(config: Node<'_>) -> Result<RemoteTimeline, String> {
    let default = RemoteTimelineConfig::default();
    Ok(RemoteTimeline::new(RemoteTimelineConfig {
        initial_interval: config.number_or("initial_interval", default.initial_interval)?,
        jitter_weight: config.number_or("jitter_weight", default.jitter_weight)?,
        rate_gain: config.number_or("rate_gain", default.rate_gain)?,
    }))
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..6).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let config = json!({
        "initial_interval": draws.pick(&[0.05, 0.1]),
        "jitter_weight": draws.pick(&[0.1, 0.05]),
        "rate_gain": draws.pick(&[1.0, 0.5]),
    });
    let mut timeline = timeline(Node::new(&config))?;
    let (offset, spread) = (draws.number(-500.0, 500.0), draws.pick(&[0.005, 0.02, 0.1]));
    let (mut server, mut now, mut ops) = (draws.number(0.0, 5000.0), 0.0, Vec::new());
    for _ in 0..60 {
        server += draws.pick(&[0.05, 0.05, 0.05, 0.1, 0.4, 0.0]);
        let arrival = (server + offset + draws.number(0.0, spread)).max(now);
        timeline.sample(server, arrival);
        let expect = json!({
            "floor": timeline.floor(), "jitter": timeline.jitter(),
            "interval": timeline.interval(), "delay": timeline.delay(),
        });
        ops.push(json!({ "op": "sample", "server": server, "arrival": arrival, "expect": expect }));
        now = arrival;
        for _ in 0..draws.whole(1, 5) {
            let dt = draws.pick(&[1.0 / 60.0, 1.0 / 144.0, 0.01]);
            now += dt;
            let playback = timeline.advance(now, dt).ok_or("nothing is played")?;
            let expect = json!({ "playback": playback, "rate": timeline.rate() });
            ops.push(json!({ "op": "advance", "now": now, "dt": dt, "expect": expect }));
        }
    }
    Ok(json!({ "name": format!("timeline-{index}"), "config": config, "ops": ops }))
}
