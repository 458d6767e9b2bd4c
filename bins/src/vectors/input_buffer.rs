use serde_json::{Value, json};
use tidelock::sim::Sequence;
use tidelock::sim::input::{InputBuffer, InputBufferConfig, InputBufferStats, PressActions, StepInput};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut buffer = buffer(case)?;
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

fn buffer(case: Node<'_>) -> Result<InputBuffer<i32>, String> {
    let actions = case.get("actions")?.items()?.into_iter().map(action).collect::<Result<Vec<_>, _>>()?;
    let actions = PressActions::new(&actions).map_err(|why| format!("actions: {why:?}"))?;
    let buffer = InputBuffer::new(config(case.get("config")?)?, actions, input(case.get("neutral")?)?);
    buffer.map_err(|why| format!("config: {why:?}"))
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..8).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let config = draws.pick(&[
        json!({}),
        json!({ "catch_up": false }),
        json!({ "max_target": 1, "drain_window": 5 }),
        json!({ "min_target": 1, "max_target": 4, "jitter_window": 10 }),
        json!({ "max_queued": 4, "max_speculation": 2 }),
    ]);
    let mut case = json!({
        "name": format!("link-{index}"), "config": config, "actions": [[1, 0], [6, 1], [8, 2]], "neutral": [0, 0],
    });
    let (mut buffer, mut ops, mut sent) = (buffer(Node::new(&case))?, Vec::new(), Vec::new());
    let (loss, crowd) = (draws.pick(&[0.1, 0.3]), draws.pick(&[0.3, 0.5]));
    for _ in 0..200 {
        let held = draws.pick(&[0, 0, 0, 1, 2, 3, 8, 12]);
        let last = sent.last().copied().unwrap_or([0, 0]);
        sent.push(if draws.strikes(0.5) { last } else { [held, draws.whole(0, 3) as i64 - 1] });
        if !draws.strikes(loss) {
            let end = sent.len() - if draws.strikes(0.1) { draws.whole(0, 3) as usize } else { 0 }.min(sent.len() - 1);
            let inputs = json!(sent[end.saturating_sub(3)..end]);
            let parsed = Node::new(&inputs).items()?.into_iter().map(input).collect::<Result<Vec<_>, _>>()?;
            let new = buffer.offer_range(Sequence(end as u32), &parsed);
            ops.push(json!({ "op": "offer_range", "last_seq": end, "inputs": inputs, "expect": new }));
        }
        let steps = if draws.strikes(crowd) { draws.pick(&[0, 2, 2]) } else { 1 };
        for _ in 0..steps {
            let got = buffer.consume();
            let expect = json!({
                "input": [i64::from(got.input.buttons), i64::from(got.input.held)], "ack": got.acknowledged.0,
                "depth": got.depth, "target": got.target,
            });
            ops.push(json!({ "op": "consume", "expect": expect }));
        }
    }
    case["ops"] = json!(ops);
    case["stats"] =
        counts(&buffer.stats()).into_iter().map(|(field, count)| (field.to_owned(), json!(count))).collect();
    Ok(case)
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
