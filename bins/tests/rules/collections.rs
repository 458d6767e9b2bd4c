use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::expectation::{Expectation, items, length, minus, number, numbers};

/// Sequences compare by wrapping distance.
pub(crate) fn order(case: &Value, expectation: &mut Expectation) {
    let (a, b) = (case["a"].as_i64().expect("a"), case["b"].as_i64().expect("b"));
    let ahead = (a - b).rem_euclid(1 << 32);
    expectation.same("newer", (1..=(1_i64 << 31) - 1).contains(&ahead), &case["newer"]);
}

///
pub(crate) fn delta(case: &Value, expectation: &mut Expectation) {
    let (before, after) = (items(&case["before"]), items(&case["after"]));
    let (edits, form) = if case["type"] == "list" { list(before, after) } else { map(before, after) };
    let expect = if edits == 0 {
        json!({ "kind": "none" })
    } else if 2 * edits <= after.len().max(1) {
        form
    } else {
        json!({ "kind": "whole", "value": after })
    };
    expectation.same("delta", expect, &case["expect"]);
}

fn list(before: &[Value], after: &[Value]) -> (usize, Value) {
    let changed = (0..after.len()).filter(|at| before.get(*at) != Some(&after[*at]));
    let replace: Vec<Value> = changed.map(|at| json!([at, after[at]])).collect();
    let truncate = (after.len() < before.len()).then_some(after.len());
    let edits = replace.len() + usize::from(truncate.is_some());
    (edits, json!({ "kind": "edits", "replace": replace, "truncate": truncate }))
}

fn map(before: &[Value], after: &[Value]) -> (usize, Value) {
    let keyed = |entries: &[Value]| -> BTreeMap<String, Value> {
        entries.iter().map(|entry| (entry[0].as_str().expect("a key").to_owned(), entry[1].clone())).collect()
    };
    let (before, after) = (keyed(before), keyed(after));
    let replace: Vec<_> = after.iter().filter(|(key, value)| before.get(*key) != Some(value)).collect();
    let remove: Vec<_> = before.keys().filter(|key| !after.contains_key(*key)).collect();
    (replace.len() + remove.len(), json!({ "kind": "edits", "replace": replace, "remove": remove }))
}

/// R-41, first sight.
pub(crate) fn interest(case: &Value, expectation: &mut Expectation) {
    let player = &case["player"];
    let origins = items(&player["origins"]);
    for (step, (part, stated)) in items(&case["parts"]).iter().zip(items(&case["expect"])).enumerate() {
        expectation.enter_step(step);
        let audience = &part["audience"];
        let admitted = match audience["kind"].as_str() {
            Some("owner") => audience["player"] == player["id"],
            Some("group") => items(&player["groups"]).contains(&audience["group"]),
            _ => true,
        };
        let near = origins.iter().any(|origin| {
            let radius = if origin["radius"].is_null() { 256.0 } else { number(&origin["radius"]) };
            length(minus(numbers::<3>(&part["pos"]), numbers(&origin["pos"]))) <= radius
        });
        let always = part["always"] == true || origins.is_empty();
        let sees = part["character_of"] == player["id"] || (admitted && (always || near));
        expectation.same("visible", sees, stated);
    }
}
