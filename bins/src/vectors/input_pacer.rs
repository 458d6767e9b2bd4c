use tidelock::sim::input::InputPacer;

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut pacer = InputPacer::new();
    for (step, report) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let target = report.find("target").map(Node::integer).transpose()?.map(|target| target as u32);
        let got = pacer.report(report.get("depth")?.integer()? as u32, target);
        let expect = report.get("expect")?;
        for (field, got) in [("average", got.average), ("jitter", got.jitter), ("aim", got.aim), ("pace", got.pace)] {
            check.number(field, got, expect.get(field)?.number()?)?;
        }
    }
    Ok(())
}
