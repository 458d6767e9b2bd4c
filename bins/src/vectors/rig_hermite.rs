use serde_json::{Value, json};
use tidelock::sim::tracks::{JointPose, RigTrack};

use super::check::{Check, Outcome};
use super::draws::Draws;
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

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..6).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let (count, mut time) = (draws.whole(1, 4) as usize, 0.0);
    let mut track = RigTrack::new(count);
    let mut samples = Vec::new();
    for _ in 0..draws.whole(2, 7) {
        time += draws.pick(&[0.02, 0.05, 0.1]);
        let joints: Vec<Value> =
            (0..count).map(|_| json!({ "pos": draws.vector(2.0), "rot": draws.rotation() })).collect();
        let poses = joints.iter().map(|node| joint(Node::new(node))).collect::<Result<Vec<_>, _>>()?;
        track.push(time, &poses);
        samples.push(json!({ "t": time, "joints": joints }));
    }
    let mut out = vec![JointPose::default(); count];
    let mut at = Vec::new();
    for _ in 0..30 {
        let time = draws.number(-0.05, time + 0.1);
        track.sample(time, &mut out);
        let joints: Vec<Value> = out
            .iter()
            .map(|pose| json!({ "pos": pose.position.to_array(), "rot": pose.rotation.to_array() }))
            .collect();
        at.push(json!({ "t": time, "expect": joints }));
    }
    Ok(json!({ "name": format!("rig-{index}"), "samples": samples, "at": at }))
}
