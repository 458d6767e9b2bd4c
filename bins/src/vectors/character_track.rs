use std::f64::consts::TAU;

use serde_json::{Value, json};
use tidelock::sim::motor::CharacterState;
use tidelock::sim::tracks::{CharacterPose, CharacterTrack};

use super::check::{Check, Outcome};
use super::course::Course;
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut track = CharacterTrack::new();
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
            let yaw = want.get("yaw")?.number()?;
            check.number("yaw", near(f64::from(got.yaw), yaw), yaw)?;
        }
    }
    Ok(())
}

/// The angle equal to `got` that is nearest to `want`: at the seam, π and -π are the same facing.
fn near(got: f64, want: f64) -> f64 {
    got + ((want - got) / TAU).round() * TAU
}

fn pose(push: Node<'_>) -> Result<CharacterPose, String> {
    Ok(CharacterPose {
        time: push.get("t")?.number()?,
        position: push.get("pos")?.vector()?,
        velocity: push.get("vel")?.vector()?,
        yaw: push.get("yaw")?.number()? as f32,
        state: CharacterState::Grounded,
    })
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..6).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let (mut track, mut course, mut ops) = (CharacterTrack::new(), Course::new(50.0), Vec::new());
    for _ in 0..40 {
        let (time, position, velocity) = course.proceed(draws);
        let push = json!({ "t": time, "pos": position, "vel": velocity, "yaw": draws.number(-3.1, 3.1) });
        let accepted = track.push(pose(Node::new(&push))?);
        let mut samples = Vec::new();
        for _ in 0..4 {
            let time = time + draws.number(-0.4, 0.4);
            let got = track.sample(time).ok_or("the track holds nothing")?;
            let expect = json!({ "pos": got.position.to_array(), "yaw": got.yaw });
            samples.push(json!({ "t": time, "expect": expect }));
        }
        ops.push(json!({ "push": push, "accepted": accepted, "retained": track.len(), "samples": samples }));
    }
    Ok(json!({ "name": format!("character-{index}"), "ops": ops }))
}
