use serde_json::{Value, json};
use tidelock::sim::client::{CorrectionSmoother, CorrectionSmootherConfig, SmoothedPose};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut smoother = CorrectionSmoother::new(config(case.get("config")?)?);
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let [before, after] = [poses(op.get("before")?)?, poses(op.get("after")?)?];
        let largest = smoother.correct(&before, &after, op.get("teleport")?.boolean()?);
        for dt in op.get("decay")?.items()? {
            smoother.decay(dt.number()? as f32);
        }
        let expect = op.get("expect")?;
        check.number("largest", f64::from(largest), expect.get("largest")?.number()?)?;
        for want in expect.get("offsets")?.items()? {
            let id = want.get("id")?.integer()?;
            let got = smoother.offset(id);
            check.vector(&format!("offset of {id}"), got.position, want.get("pos")?)?;
            check.number(&format!("angle of {id}"), f64::from(got.angle), want.get("angle")?.number()?)?;
        }
    }
    Ok(())
}

fn config(node: Node<'_>) -> Result<CorrectionSmootherConfig, String> {
    let default = CorrectionSmootherConfig::default();
    Ok(CorrectionSmootherConfig {
        rate: node.number_or("rate", f64::from(default.rate))? as f32,
        max_speed: node.number_or("max_speed", f64::from(default.max_speed))? as f32,
        min_rate: node.number_or("min_rate", f64::from(default.min_rate))? as f32,
        max_offset: node.number_or("max_offset", f64::from(default.max_offset))? as f32,
    })
}

fn poses(node: Node<'_>) -> Result<Vec<SmoothedPose>, String> {
    let pose = |node: Node<'_>| {
        Ok(SmoothedPose {
            id: node.get("id")?.integer()?,
            position: node.get("pos")?.vector()?,
            angle: node.get("angle")?.number()? as f32,
            snap: node.get("snap")?.boolean()?,
            rate: None,
        })
    };
    node.items()?.into_iter().map(pose).collect()
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..6).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let settings = draws.pick(&[
        json!({}),
        json!({ "rate": 30.0, "min_rate": 1.0, "max_speed": 0.5 }),
        json!({ "max_offset": 2.0 }),
        json!({ "max_offset": 10.0, "max_speed": 3.0 }),
    ]);
    let mut smoother = CorrectionSmoother::new(config(Node::new(&settings))?);
    let mut ops = Vec::new();
    for _ in 0..30 {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for id in 0..4 {
            if draws.strikes(0.2) {
                continue;
            }
            let at = draws.vector(20.0);
            let moved = draws.vector(1.0);
            let angle = draws.number(-6.0, 6.0);
            let to: [f64; 3] = std::array::from_fn(|axis| at[axis] + moved[axis]);
            let turned = angle + draws.number(-1.0, 1.0);
            before.push(json!({ "id": id, "pos": at, "angle": angle, "snap": draws.strikes(0.05) }));
            after.push(json!({ "id": id, "pos": to, "angle": turned, "snap": draws.strikes(0.05) }));
        }
        let (before, after, teleport) = (json!(before), json!(after), draws.strikes(0.05));
        let largest = smoother.correct(&poses(Node::new(&before))?, &poses(Node::new(&after))?, teleport);
        let decay: Vec<f64> = (0..draws.whole(0, 5)).map(|_| draws.number(0.001, 0.04)).collect();
        decay.iter().for_each(|dt| smoother.decay(*dt as f32));
        let offsets: Vec<Value> = (0..4)
            .map(|id| (id, smoother.offset(id)))
            .map(|(id, got)| json!({ "id": id, "pos": got.position.to_array(), "angle": got.angle }))
            .collect();
        let expect = json!({ "largest": largest, "offsets": offsets });
        ops.push(json!({ "before": before, "after": after, "teleport": teleport, "decay": decay, "expect": expect }));
    }
    Ok(json!({ "name": format!("smoother-{index}"), "config": settings, "ops": ops }))
}
