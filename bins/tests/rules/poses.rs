use std::f64::consts::PI;

use serde_json::Value;

use crate::expectation::{Expectation, items, length, minus, number, numbers};

/// S-44.
pub(crate) fn rig(case: &Value, expectation: &mut Expectation) {
    let samples = items(&case["samples"]);
    let times: Vec<f64> = samples.iter().map(|sample| number(&sample["t"])).collect();
    for (step, at) in items(&case["at"]).iter().enumerate() {
        expectation.enter_step(step);
        let time = number(&at["t"]);
        for (joint, stated) in items(&at["expect"]).iter().enumerate() {
            let places: Vec<[f64; 3]> = samples.iter().map(|sample| numbers(&sample["joints"][joint]["pos"])).collect();
            let turns: Vec<[f64; 4]> = samples.iter().map(|sample| numbers(&sample["joints"][joint]["rot"])).collect();
            expectation.vector("pos", hermite(&times, &places, time), &stated["pos"]);
            let turn = hermite(&times, &aligned(&times, &turns, time), time);
            let norm = length(turn);
            expectation.rotation("rot", turn.map(|part| part / norm), &stated["rot"]);
        }
    }
}

/// Each quaternion in the hemisphere of the one before, beginning with the first of the four that matter.
fn aligned(times: &[f64], turns: &[[f64; 4]], time: f64) -> Vec<[f64; 4]> {
    let first = times.iter().rposition(|at| *at <= time).unwrap_or(0).saturating_sub(1);
    let mut turns = turns.to_vec();
    for at in first + 1..turns.len() {
        let dot: f64 = turns[at].iter().zip(turns[at - 1]).map(|(a, b)| a * b).sum();
        if dot < 0.0 {
            turns[at] = turns[at].map(|part| -part);
        }
    }
    turns
}

fn hermite<const N: usize>(times: &[f64], values: &[[f64; N]], time: f64) -> [f64; N] {
    let last = times.len() - 1;
    if time <= times[0] {
        return values[0];
    }
    if time >= times[last] {
        return values[last];
    }
    let i = times.iter().rposition(|at| *at <= time).expect("one before");
    let tangent = |at: usize| -> [f64; N] {
        let (a, b) = (at.saturating_sub(1), (at + 1).min(last));
        minus(values[b], values[a]).map(|part| part / (times[b] - times[a]))
    };
    let (gap, from, to) = (times[i + 1] - times[i], tangent(i), tangent(i + 1));
    let s = (time - times[i]) / gap;
    let (s2, s3) = (s * s, s * s * s);
    std::array::from_fn(|k| {
        values[i][k] * (2.0 * s3 - 3.0 * s2 + 1.0)
            + from[k] * gap * (s3 - 2.0 * s2 + s)
            + values[i + 1][k] * (3.0 * s2 - 2.0 * s3)
            + to[k] * gap * (s3 - s2)
    })
}

///
pub(crate) fn codec(case: &Value, expectation: &mut Expectation) {
    let rotation = numbers::<4>(&case["rotation"]);
    let norm = length(rotation);
    let mut unit = rotation.map(|part| part / norm);
    if unit[3] < 0.0 {
        unit = unit.map(|part| -part);
    }
    let around = length([unit[0], unit[1], unit[2]]);
    let nothing = !norm.is_finite() || norm < 1e-6 || around < 1e-6;
    let angle = if nothing { 0.0 } else { 2.0 * around.atan2(unit[3]) };
    let axis = [0, 1, 2].map(|at| if nothing { 0.0 } else { unit[at] / around });
    let stated = numbers::<4>(&case["encoded"]);
    let apart = |sign: f64| {
        (0..3).all(|at| (stated[at] - (axis[at] * sign * 32_767.0).round()).abs() <= 1.0)
            && (stated[3] - (angle / PI * 65_535.0).round()).abs() <= 1.0
    };
    // A half turn goes both ways round.
    let fits = apart(1.0) || (stated[3] >= 65_534.0 && apart(-1.0));
    expectation.that(fits, || format!("axis {axis:?} and angle {angle} by the rule, {stated:?} stated"));
    let [x, y, z, angle] = stated;
    let (length, half) = (length([x, y, z]), angle / 65_535.0 * PI * 0.5);
    let decoded = if length == 0.0 {
        [0.0, 0.0, 0.0, 1.0]
    } else {
        let scale = half.sin() / length;
        [x * scale, y * scale, z * scale, half.cos()]
    };
    expectation.rotation("decoded", decoded, &case["decoded"]);
}
