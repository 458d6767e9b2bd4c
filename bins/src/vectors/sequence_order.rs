use tidelock::sim::Sequence;

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let [a, b] = [sequence(case.get("a")?)?, sequence(case.get("b")?)?];
    check.same("newer", a.is_newer_than(b), case.get("newer")?.boolean()?)
}

fn sequence(node: Node<'_>) -> Result<Sequence, String> {
    u32::try_from(node.integer()?).map(Sequence).map_err(|why| why.to_string())
}
