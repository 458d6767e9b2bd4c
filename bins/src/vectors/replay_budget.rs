use tidelock::sim::report::{AdmissionVerdict, ReplayBudget};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut budget = ReplayBudget::default();
    for (step, report) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let durations = report.get("durations")?.items()?;
        let durations: Vec<f64> = durations.into_iter().map(Node::number).collect::<Result<_, _>>()?;
        let admission = budget.admit(report.get("t")?.number()?, durations.into_iter());
        let verdict = match admission.verdict {
            AdmissionVerdict::Complete => "complete",
            AdmissionVerdict::Exhausted => "exhausted",
            AdmissionVerdict::Malformed => "malformed",
        };
        let expect = report.get("expect")?;
        check.same("verdict", verdict, expect.get("verdict")?.text()?)?;
        check.same("replayed", admission.frames as u64, expect.get("replayed")?.integer()?)?;
        check.number("available", budget.available(), expect.get("available")?.number()?)?;
    }
    Ok(())
}
