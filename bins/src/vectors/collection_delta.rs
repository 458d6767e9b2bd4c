use serde_json::{Value, json};
use tidelock::replication::collection::{ListDelta, MapDelta, apply_list, apply_map, list_delta, map_delta};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let [before, after] = [case.get("before")?, case.get("after")?];
    let got = match case.get("type")?.text()? {
        "list" => list(&numbers(before)?, &numbers(after)?, check)?,
        "map" => map(&pairs(before)?, &pairs(after)?, check)?,
        other => return Err(format!("type is `{other}`")),
    };
    check.same("delta", &got, case.get("expect")?.value())
}

/// The change as the file writes it; applied, it must give the later list.
fn list(before: &[u64], after: &[u64], check: &mut Check) -> Result<Value, String> {
    let delta = list_delta(before, after);
    let mut applied = before.to_vec();
    apply_list(&mut applied, &delta).map_err(|why| format!("{why:?}"))?;
    check.same("applied", applied == after, true)?;
    Ok(list_json(delta))
}

fn list_json(delta: ListDelta<u64>) -> Value {
    match delta {
        ListDelta::None => json!({ "kind": "none" }),
        ListDelta::Edits { replace, truncate } => json!({ "kind": "edits", "replace": replace, "truncate": truncate }),
        ListDelta::Whole(value) => json!({ "kind": "whole", "value": value }),
    }
}

/// The same for a map.
fn map(before: &[(String, u64)], after: &[(String, u64)], check: &mut Check) -> Result<Value, String> {
    let delta = map_delta(before, after);
    let mut applied = before.to_vec();
    apply_map(&mut applied, &delta);
    check.same("applied", applied == after, true)?;
    Ok(map_json(delta))
}

fn map_json(delta: MapDelta<String, u64>) -> Value {
    match delta {
        MapDelta::None => json!({ "kind": "none" }),
        MapDelta::Edits { remove, replace } => json!({ "kind": "edits", "replace": replace, "remove": remove }),
        MapDelta::Whole(value) => json!({ "kind": "whole", "value": value }),
    }
}

fn numbers(node: Node<'_>) -> Result<Vec<u64>, String> {
    node.items()?.into_iter().map(Node::integer).collect()
}

fn pairs(node: Node<'_>) -> Result<Vec<(String, u64)>, String> {
    let pair = |node: Node<'_>| match node.items()?[..] {
        [key, value] => Ok((key.text()?.to_owned(), value.integer()?)),
        _ => Err("an entry is not a key and a value".to_owned()),
    };
    node.items()?.into_iter().map(pair).collect()
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let case = |index: u64| {
        if index.is_multiple_of(2) {
            let before: Vec<u64> = (0..draws.whole(0, 9)).map(|_| draws.whole(0, 10)).collect();
            let mut after = before.clone();
            for value in &mut after {
                if draws.strikes(0.2) {
                    *value = draws.whole(0, 10);
                }
            }
            let keep = draws.whole(0, 12) as usize;
            after.truncate(keep);
            after.extend((0..draws.whole(0, 3)).map(|value| value + 20));
            json!({ "type": "list", "before": before, "after": after, "expect": list_json(list_delta(&before, &after)) })
        } else {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for key in (0..8).map(|key| format!("k{key}")) {
                let value = draws.whole(0, 10);
                let kept = draws.strikes(0.7);
                let later = if draws.strikes(0.2) { value + 1 } else { value };
                before.extend(draws.strikes(0.7).then(|| (key.clone(), value)));
                after.extend(kept.then_some((key, later)));
            }
            json!({ "type": "map", "before": before, "after": after, "expect": map_json(map_delta(&before, &after)) })
        }
    };
    Ok((0..120).map(case).collect())
}
