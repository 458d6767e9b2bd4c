use serde_json::{Value, json};
use tidelock::sim::tracks::{PartPose, PartTrack};

use super::check::{Check, Outcome};
use super::course::Course;
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut track = PartTrack::new();
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let push = op.get("push")?;
        let accepted = track.push(pose(push)?);
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

fn pose(push: Node<'_>) -> Result<PartPose, String> {
    Ok(PartPose {
        time: push.get("t")?.number()?,
        position: push.get("pos")?.vector()?,
        rotation: push.get("rot")?.rotation()?,
        velocity: push.get("vel")?.vector()?,
        angular: push.get("ang")?.vector()?,
    })
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..6).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let (mut track, mut course, mut ops) = (PartTrack::new(), Course::new(100.0), Vec::new());
    for _ in 0..40 {
        let (time, position, velocity) = course.proceed(draws);
        let angular = if draws.strikes(0.3) { [0.0; 3] } else { draws.vector(8.0) };
        let push = json!({ "t": time, "pos": position, "rot": draws.rotation(), "vel": velocity, "ang": angular });
        let accepted = track.push(pose(Node::new(&push))?);
        let mut samples = Vec::new();
        for _ in 0..4 {
            let time = time + draws.number(-0.4, 0.4);
            let got = track.sample(time).ok_or("the track holds nothing")?;
            let expect = json!({
                "pos": got.position.to_array(), "rot": got.rotation.to_array(),
                "vel": got.velocity.to_array(), "ang": got.angular.to_array(),
            });
            samples.push(json!({ "t": time, "expect": expect }));
        }
        ops.push(json!({ "push": push, "accepted": accepted, "retained": track.len(), "samples": samples }));
    }
    Ok(json!({ "name": format!("part-{index}"), "ops": ops }))
}
