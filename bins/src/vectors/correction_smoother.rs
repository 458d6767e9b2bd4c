use tidelock::sim::client::{CorrectionSmoother, CorrectionSmootherConfig, SmoothedPose};

use super::check::{Check, Outcome};
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
