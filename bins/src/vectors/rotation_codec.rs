use serde_json::{Value, json};
use tidelock::replication::motion::PackedRotation;

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let packed = PackedRotation::pack(case.get("rotation")?.rotation()?);
    let [x, y, z] = packed.axis;
    let got = [i64::from(x), i64::from(y), i64::from(z), i64::from(packed.angle)];
    let wanted = case.get("encoded")?.numbers::<4>()?;
    // The reference rounds in f64, the wire in f32: one step apart is agreement. An angle of π points both ways.
    let apart = |sign: i64| {
        got.iter().zip(wanted).enumerate().any(|(at, (got, want))| {
            let got = if at < 3 { got * sign } else { *got };
            (got - want as i64).abs() > 1
        })
    };
    let half_turn = i64::from(packed.angle) >= i64::from(u16::MAX) - 1;
    check
        .same("encoded", !apart(1) || (half_turn && !apart(-1)), true)
        .map_err(|_| format!("encoded: wanted {wanted:?}, got {got:?}"))?;
    check.rotation("decoded", packed.unpack(), case.get("decoded")?)
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let corner = |parts: [Value; 4]| Value::from(parts.to_vec());
    let mut rotations = vec![
        corner([json!(0), json!(0), json!(0), json!(-1)]),
        corner([json!(0), json!(0), json!(0), json!(0)]),
        corner([json!("nan"), json!(0), json!(0), json!(1)]),
        corner([json!(0), json!("-inf"), json!(0), json!(1)]),
        corner([json!(0), json!(2), json!(0), json!(-2)]),
        corner([json!(1e-9), json!(0), json!(0), json!(1)]),
        corner([json!(0), json!(0), json!(1), json!(0)]),
    ];
    rotations.extend((0..60).map(|_| {
        let scale = draws.pick(&[1.0, 1.0, 0.01, 40.0]);
        json!(draws.rotation().map(|part| part * scale))
    }));
    let case = |rotation: Value| {
        let packed = PackedRotation::pack(Node::new(&rotation).rotation()?);
        let ([x, y, z], decoded) = (packed.axis, packed.unpack().to_array().map(f64::from));
        Ok(
            json!({ "rotation": rotation, "encoded": [i32::from(x), i32::from(y), i32::from(z), i32::from(packed.angle)], "decoded": decoded }),
        )
    };
    rotations.into_iter().map(case).collect()
}
