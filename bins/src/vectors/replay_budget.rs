use serde_json::{Value, json};
use tidelock::sim::report::{AdmissionVerdict, ReplayBudget};

use super::check::{Check, Outcome};
use super::draws::{Draws, number};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut budget = ReplayBudget::default();
    for (step, report) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let durations = report.get("durations")?.items()?;
        let durations: Vec<f64> = durations.into_iter().map(Node::number).collect::<Result<_, _>>()?;
        let admission = budget.admit(report.get("t")?.number()?, durations.into_iter());
        let expect = report.get("expect")?;
        check.same("verdict", word(admission.verdict), expect.get("verdict")?.text()?)?;
        check.same("replayed", admission.frames as u64, expect.get("replayed")?.integer()?)?;
        check.number("available", budget.available(), expect.get("available")?.number()?)?;
    }
    Ok(())
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let case = |index: usize| {
        let (mut budget, mut time) = (ReplayBudget::default(), 5.0);
        let rush = draws.pick(&[0.6, 1.0, 2.0]);
        let reports: Vec<Value> = (0..80)
            .map(|_| {
                time += draws.number(0.0, 0.1) + if draws.strikes(0.05) { 0.4 } else { 0.0 };
                let lengths = [1.0 / 240.0, 1.0 / 144.0, 1.0 / 60.0, 1.0 / 30.0];
                let count = (draws.number(0.0, 6.0) * rush) as usize;
                let mut durations: Vec<f64> = (0..count).map(|_| draws.pick(&lengths)).collect();
                if draws.strikes(0.05) {
                    durations.push(draws.pick(&[0.05, 0.001, f64::NAN, -1.0, f64::INFINITY]));
                }
                let admission = budget.admit(time, durations.iter().copied());
                let expect = json!({
                    "verdict": word(admission.verdict), "replayed": admission.frames, "available": budget.available(),
                });
                let durations: Vec<Value> = durations.into_iter().map(number).collect();
                json!({ "t": time, "durations": durations, "expect": expect })
            })
            .collect();
        json!({ "name": format!("budget-{index}"), "reports": reports })
    };
    Ok((0..8).map(case).collect())
}

fn word(verdict: AdmissionVerdict) -> &'static str {
    match verdict {
        AdmissionVerdict::Complete => "complete",
        AdmissionVerdict::Exhausted => "exhausted",
        AdmissionVerdict::Malformed => "malformed",
    }
}
