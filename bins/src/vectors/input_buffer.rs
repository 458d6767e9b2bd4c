use tidelock::sim::Sequence;
use tidelock::sim::input::{InputBuffer, InputBufferConfig, InputBufferStats, PressActions, StepInput};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let actions = case.get("actions")?.items()?.into_iter().map(action).collect::<Result<Vec<_>, _>>()?;
    let actions = PressActions::new(&actions).map_err(|why| format!("actions: {why:?}"))?;
    let buffer = InputBuffer::new(config(case.get("config")?)?, actions, input(case.get("neutral")?)?);
    let mut buffer = buffer.map_err(|why| format!("config: {why:?}"))?;
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let expect = op.get("expect")?;
        match op.get("op")?.text()? {
            "offer_range" => {
                let inputs = op.get("inputs")?.items()?.into_iter().map(input).collect::<Result<Vec<_>, _>>()?;
                let last = Sequence(op.get("last_seq")?.integer()? as u32);
                check.same("new", buffer.offer_range(last, &inputs) as u64, expect.integer()?)?;
            }
            "consume" => {
                let got = buffer.consume();
                let want = input(expect.get("input")?)?;
                check.same("input.buttons", got.input.buttons, want.buttons)?;
                check.same("input.axis", got.input.held, want.held)?;
                check.same("ack", u64::from(got.acknowledged.0), expect.get("ack")?.integer()?)?;
                check.same("depth", u64::from(got.depth), expect.get("depth")?.integer()?)?;
                check.same("target", u64::from(got.target), expect.get("target")?.integer()?)?;
            }
            other => return Err(format!("op is `{other}`")),
        }
    }
    check.enter_step("at the end");
    for (field, got) in counts(&buffer.stats()) {
        check.same(field, got, case.get("stats")?.get(field)?.integer()?)?;
    }
    Ok(())
}

fn config(node: Node<'_>) -> Result<InputBufferConfig, String> {
    let default = InputBufferConfig::default();
    let or = |key, default: u32| node.number_or(key, f64::from(default)).map(|value| value as u32);
    Ok(InputBufferConfig {
        max_queued: or("max_queued", default.max_queued)?,
        min_target: or("min_target", default.min_target)?,
        max_target: or("max_target", default.max_target)?,
        jitter_window: or("jitter_window", default.jitter_window)?,
        drain_window: or("drain_window", default.drain_window)?,
        catch_up: node.find("catch_up").map_or(Ok(default.catch_up), Node::boolean)?,
        max_speculation: or("max_speculation", default.max_speculation)?,
        // The vectors state the buffer alone; letting go of a silent player is put on top.
        neutral_after: None,
    })
}

fn action(node: Node<'_>) -> Result<(u32, u8), String> {
    let [mask, stage] = node.numbers::<2>()?;
    Ok((mask as u32, stage as u8))
}

fn input(node: Node<'_>) -> Result<StepInput<i32>, String> {
    let [buttons, axis] = node.numbers::<2>()?;
    Ok(StepInput { buttons: buttons as u32, held: axis as i32 })
}

fn counts(stats: &InputBufferStats) -> [(&'static str, u64); 14] {
    [
        ("offered", stats.offered),
        ("stale", stats.stale),
        ("duplicates", stats.duplicates),
        ("applied", stats.applied),
        ("starved", stats.starved),
        ("speculated", stats.speculated),
        ("speculation_hits", stats.speculation_hits),
        ("merged", stats.merged),
        ("dropped", stats.dropped),
        ("presses_offered", stats.presses.offered),
        ("presses_applied", stats.presses.applied),
        ("presses_lost", stats.presses.lost),
        ("presses_reordered", stats.presses.reordered),
        ("presses_extra", stats.presses.extra),
    ]
}
