use serde_json::{Value, json};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::fixed_step_clock::{clock, draw_config};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let config = case.get("config")?;
    let mut clock = clock(config)?;
    let scale = config.number_or("scale", 1.0)?;
    for (step, frame) in case.get("frames")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let steps = clock.advance(frame.get("frame")?.number()?, scale).steps;
        let now_ms = frame.get("now_ms")?.number()?;
        let wanted = frame.get("expect")?.items()?;
        check.same("steps", steps as usize, wanted.len())?;
        for (index, want) in (0..steps).zip(wanted) {
            let got = clock.step_cutoff_ms(index, steps, now_ms, scale);
            check.same(&format!("cutoff {index} given"), got.is_some(), !want.is_null())?;
            if let Some(got) = got {
                check.number(&format!("cutoff {index}"), got, want.number()?)?;
            }
        }
    }
    Ok(())
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let case = |index: usize| {
        let (mut config, scale) = (draw_config(draws), draws.pick(&[1.0, 1.0, 0.5, 2.0, 0.0]));
        config["scale"] = json!(scale);
        let (mut clock, mut now_ms) = (clock(Node::new(&config))?, 1000.0);
        let mut frames = Vec::new();
        for _ in 0..120 {
            let frame = if draws.strikes(0.1) { draws.number(0.0, 0.3) } else { draws.number(0.001, 0.05) };
            now_ms += frame * 1000.0;
            let steps = clock.advance(frame, scale).steps;
            let cutoffs: Vec<_> = (0..steps).map(|index| clock.step_cutoff_ms(index, steps, now_ms, scale)).collect();
            frames.push(json!({ "frame": frame, "now_ms": now_ms, "expect": cutoffs }));
        }
        Ok(json!({ "name": format!("cutoffs-{index}"), "config": config, "frames": frames }))
    };
    (0..6).map(case).collect()
}
