use serde_json::{Value, json};
use tidelock::sim::input::InputPacer;

use super::check::{Check, Outcome};
use super::draws::Draws;
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

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    let case = |index: usize| {
        let (mut pacer, rough) = (InputPacer::new(), draws.pick(&[2, 4, 9]));
        let reports: Vec<Value> = (0..100)
            .map(|_| {
                let (depth, target) = (draws.whole(0, rough) as u32, draws.whole(0, 7) as u32);
                let target = draws.strikes(0.7).then_some(target);
                let got = pacer.report(depth, target);
                let expect = json!({ "average": got.average, "jitter": got.jitter, "aim": got.aim, "pace": got.pace });
                json!({ "depth": depth, "target": target, "expect": expect })
            })
            .collect();
        json!({ "name": format!("pacer-{index}"), "reports": reports })
    };
    Ok((0..4).map(case).collect())
}
