use serde_json::{Value, json};
use tidelock::replication::collection::{ListDelta, MapDelta, apply_list, apply_map, list_delta, map_delta};

use super::check::{Check, Outcome};
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
    Ok(match delta {
        ListDelta::None => json!({ "kind": "none" }),
        ListDelta::Edits { replace, truncate } => json!({ "kind": "edits", "replace": replace, "truncate": truncate }),
        ListDelta::Whole(value) => json!({ "kind": "whole", "value": value }),
    })
}

/// The same for a map.
fn map(before: &[(String, u64)], after: &[(String, u64)], check: &mut Check) -> Result<Value, String> {
    let delta = map_delta(before, after);
    let mut applied = before.to_vec();
    apply_map(&mut applied, &delta);
    check.same("applied", applied == after, true)?;
    Ok(match delta {
        MapDelta::None => json!({ "kind": "none" }),
        MapDelta::Edits { remove, replace } => json!({ "kind": "edits", "replace": replace, "remove": remove }),
        MapDelta::Whole(value) => json!({ "kind": "whole", "value": value }),
    })
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
