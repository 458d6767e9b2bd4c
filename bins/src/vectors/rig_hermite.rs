use tidelock::sim::tracks::{JointPose, RigTrack};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let samples = case.get("samples")?.items()?;
    let first = samples.first().ok_or("the case has no samples")?;
    let count = first.get("joints")?.items()?.len();
    let mut track = RigTrack::new(count);
    for sample in samples {
        let joints = sample.get("joints")?.items()?;
        let joints = joints.into_iter().map(joint).collect::<Result<Vec<_>, _>>()?;
        let taken = track.push(sample.get("t")?.number()?, &joints);
        check.same("taken", taken, true)?;
    }
    let mut out = vec![JointPose::default(); count];
    for at in case.get("at")?.items()? {
        let time = at.get("t")?.number()?;
        check.enter_step(time);
        check.same("drawn", track.sample(time, &mut out), true)?;
        let expect = at.get("expect")?.items()?;
        check.same("joints", out.len(), expect.len())?;
        for (got, want) in out.iter().zip(expect) {
            check.vector("pos", got.position, want.get("pos")?)?;
            check.rotation("rot", got.rotation, want.get("rot")?)?;
        }
    }
    Ok(())
}

fn joint(node: Node<'_>) -> Result<JointPose, String> {
    Ok(JointPose { position: node.get("pos")?.vector()?, rotation: node.get("rot")?.rotation()? })
}
