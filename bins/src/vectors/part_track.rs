use tidelock::sim::tracks::{PartPose, PartTrack};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut track = PartTrack::new();
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let push = op.get("push")?;
        let accepted = track.push(PartPose {
            time: push.get("t")?.number()?,
            position: push.get("pos")?.vector()?,
            rotation: push.get("rot")?.rotation()?,
            velocity: push.get("vel")?.vector()?,
            angular: push.get("ang")?.vector()?,
        });
        check.same("accepted", accepted, op.get("accepted")?.boolean()?)?;
        check.same("retained", track.len() as u64, op.get("retained")?.integer()?)?;
        for sample in op.get("samples")?.items()? {
            let time = sample.get("t")?.number()?;
            check.enter_step(format_args!("{step} at {time}"));
            let got = track.sample(time).ok_or("the track holds nothing")?;
            let want = sample.get("expect")?;
            check.vector("pos", got.position, want.get("pos")?)?;
            check.rotation("rot", got.rotation, want.get("rot")?)?;
            check.vector("vel", got.velocity, want.get("vel")?)?;
            check.vector("ang", got.angular, want.get("ang")?)?;
        }
    }
    Ok(())
}
