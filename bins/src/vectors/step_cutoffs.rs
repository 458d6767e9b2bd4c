use super::check::{Check, Outcome};
use super::fixed_step_clock::clock;
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
