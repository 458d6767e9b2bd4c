use std::f64::consts::TAU;

use tidelock::sim::motor::CharacterState;
use tidelock::sim::tracks::{CharacterPose, CharacterTrack};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut track = CharacterTrack::new();
    for (step, op) in case.get("ops")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let push = op.get("push")?;
        let accepted = track.push(CharacterPose {
            time: push.get("t")?.number()?,
            position: push.get("pos")?.vector()?,
            velocity: push.get("vel")?.vector()?,
            yaw: push.get("yaw")?.number()? as f32,
            state: CharacterState::Grounded,
        });
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
