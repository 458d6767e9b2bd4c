use tidelock::replication::motion::PackedRotation;

use super::check::{Check, Outcome};
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
