use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use serde_json::Value;

use crate::expectation::{Expectation, items, length, minus, number, number_or, numbers, plus};

/// S-34.
pub(crate) fn smoother(case: &Value, expectation: &mut Expectation) {
    let config = &case["config"];
    let (rate, max_speed) = (number_or(&config["rate"], 14.0), number_or(&config["max_speed"], f64::INFINITY));
    let (min_rate, max_offset) = (number_or(&config["min_rate"], 4.0), number_or(&config["max_offset"], f64::INFINITY));
    let mut offsets: BTreeMap<u64, ([f64; 3], f64)> = BTreeMap::new();
    for (step, op) in items(&case["ops"]).iter().enumerate() {
        expectation.enter_step(step);
        let largest = correct(&mut offsets, op, max_offset);
        for dt in items(&op["decay"]).iter().map(number) {
            for (offset, angle) in offsets.values_mut() {
                *angle *= (-rate * dt).exp();
                let far = length(*offset);
                if far >= 1e-6 {
                    let slowed = (far * (-rate * dt).exp()).max(far - max_speed * dt);
                    let left = slowed.min(far * (-min_rate * dt).exp());
                    *offset = offset.map(|part| part * left / far);
                }
            }
        }
        expectation.number("largest", largest, &op["expect"]["largest"]);
        for stated in items(&op["expect"]["offsets"]) {
            let id = stated["id"].as_u64().expect("an id");
            let (offset, angle) = offsets.get(&id).copied().unwrap_or_default();
            expectation.vector("offset", offset, &stated["pos"]);
            expectation.number("angle", angle, &stated["angle"]);
        }
    }
}

fn correct(offsets: &mut BTreeMap<u64, ([f64; 3], f64)>, op: &Value, max_offset: f64) -> f64 {
    let mut largest: f64 = 0.0;
    let (before, after) = (items(&op["before"]), items(&op["after"]));
    offsets.retain(|id, _| after.iter().any(|pose| pose["id"] == *id));
    for new in after {
        let Some(old) = before.iter().find(|old| old["id"] == new["id"]) else { continue };
        let id = new["id"].as_u64().expect("an id");
        let moved = minus(numbers::<3>(&old["pos"]), numbers(&new["pos"]));
        largest = largest.max(length(moved));
        let (offset, angle) = offsets.get(&id).copied().unwrap_or_default();
        let offset = plus(offset, moved, 1.0);
        let angle = wrapped(angle + number(&old["angle"]) - number(&new["angle"]));
        let snaps = op["teleport"] == true || old["snap"] == true || new["snap"] == true;
        let cut = (max_offset / length(offset)).min(1.0);
        let kept = if snaps { ([0.0; 3], 0.0) } else { (offset.map(|part| part * cut), angle) };
        offsets.insert(id, kept);
    }
    largest
}

/// In (-π, π].
pub(crate) fn wrapped(angle: f64) -> f64 {
    PI - (PI - angle).rem_euclid(TAU)
}

/// S-35.
pub(crate) fn buffer(case: &Value, expectation: &mut Expectation) {
    let capacity = number_or(&case["config"]["capacity"], 32.0) as usize;
    let beyond = number_or(&case["config"]["max_extrapolation"], 0.0);
    let mut held: Vec<[f64; 2]> = Vec::new();
    for (step, op) in items(&case["ops"]).iter().enumerate() {
        expectation.enter_step(step);
        let [time, value] = numbers::<2>(&op["push"]);
        held.retain(|sample| sample[0] != time);
        held.push([time, value]);
        held.sort_by(|a, b| a[0].total_cmp(&b[0]));
        if held.len() > capacity {
            held.remove(0);
        }
        let at = number(&op["sample"]);
        let last = held[held.len() - 1];
        let expect = if at <= held[0][0] || held.len() == 1 {
            if at <= held[0][0] { held[0][1] } else { last[1] }
        } else if at >= last[0] {
            let previous = held[held.len() - 2];
            let share = ((at - last[0]) / (last[0] - previous[0])).min(beyond);
            last[1] + (last[1] - previous[1]) * share
        } else {
            let later = held.iter().position(|sample| sample[0] > at).expect("a later one");
            let (a, b) = (held[later - 1], held[later]);
            a[1] + (b[1] - a[1]) * (at - a[0]) / (b[0] - a[0])
        };
        expectation.number("sample", expect, &op["expect"]);
    }
}
