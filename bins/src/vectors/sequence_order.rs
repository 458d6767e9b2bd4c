use serde_json::{Value, json};
use tidelock::sim::Sequence;

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let [a, b] = [sequence(case.get("a")?)?, sequence(case.get("b")?)?];
    check.same("newer", a.is_newer_than(b), case.get("newer")?.boolean()?)
}

fn sequence(node: Node<'_>) -> Result<Sequence, String> {
    u32::try_from(node.integer()?).map(Sequence).map_err(|why| why.to_string())
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let far = draws.word();
    let distances = [0, 1, 2, 9, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX, far];
    let case = |_| {
        let any = draws.word();
        let b = draws.pick(&[0, 1, u32::MAX, any]);
        let a = b.wrapping_add(draws.pick(&distances));
        json!({ "a": a, "b": b, "newer": Sequence(a).is_newer_than(Sequence(b)) })
    };
    Ok((0..60).map(case).collect())
}
