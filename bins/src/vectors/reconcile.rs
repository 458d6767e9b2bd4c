use serde_json::{Value, json};
use tidelock::sim::reconcile::{Correction, ReconcileConfig, ReconcileInput, SnapReason, reconcile};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let given = case.get("input")?;
    let forced = given.find("force_snap").map(Node::text).transpose()?;
    let correction = reconcile(&input(given)?, &config(case.get("config")?)?, |_| forced);
    let expect = case.get("expect")?;
    check.same("kind", kind(&correction), expect.get("kind")?.text()?)?;
    match correction {
        Correction::None => Ok(()),
        Correction::Blend { drift } | Correction::Shift { drift } => check.vector("drift", drift, expect.get("drift")?),
        Correction::Snap { to, reason } => {
            check.same("reason", word(reason), expect.get("reason")?.text()?)?;
            check.vector("to", to, expect.get("to")?)
        }
        Correction::Wait { speed_scale } => {
            check.number("speed_scale", f64::from(speed_scale), expect.get("speed_scale")?.number()?)
        }
    }
}

fn config(node: Node<'_>) -> Result<ReconcileConfig, String> {
    let default = ReconcileConfig::default();
    let guessed = node.number_or("trusted_guessed_ticks", f64::from(default.trusted_guessed_ticks))?;
    Ok(ReconcileConfig {
        correct_m: node.number_or("correct_m", f64::from(default.correct_m))? as f32,
        far_m: node.number_or("far_m", f64::from(default.far_m))? as f32,
        trusted_guessed_ticks: guessed as u32,
        server_guess_window_s: node.number_or("server_guess_window_s", default.server_guess_window_s)?,
        cap_ease_s: node.number_or("cap_ease_s", default.cap_ease_s)?,
        prediction_cap_s: node.find("prediction_cap_s").map(Node::number).transpose()?,
        planar: node.find("planar").map_or(Ok(default.planar), Node::boolean)?,
        ..default
    })
}

fn input(node: Node<'_>) -> Result<ReconcileInput, String> {
    let server = node.get("server")?.vector()?;
    Ok(ReconcileInput {
        ack_fresh: node.get("ack_fresh")?.boolean()?,
        ack_unread: node.get("ack_unread")?.boolean()?,
        guessed_ticks: node.get("guessed_ticks")?.integer()? as u32,
        server,
        recorded: node.find("recorded").map(Node::vector).transpose()?,
        // Only a game's own rule looks at it, and a vector states that rule's answer.
        drawn: server,
        history_empty: node.get("history_empty")?.boolean()?,
        oldest_unheard_age: node.find("oldest_unheard_age").map(Node::number).transpose()?,
    })
}

fn kind(correction: &Correction<&str>) -> &'static str {
    match correction {
        Correction::None => "none",
        Correction::Blend { .. } => "blend",
        Correction::Shift { .. } => "shift",
        Correction::Snap { .. } => "snap",
        Correction::Wait { .. } => "wait",
    }
}

fn word(reason: SnapReason<&str>) -> &str {
    match reason {
        SnapReason::Game(reason) => reason,
        SnapReason::Lost => "lost",
        SnapReason::Far => "far",
    }
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..150).map(|_| write_case(draws)).collect()
}

fn write_case(draws: &mut Draws) -> Result<Value, String> {
    let settings = json!({
        "correct_m": draws.pick(&[1.5, 0.5]), "far_m": draws.pick(&[10.0, 4.0]),
        "trusted_guessed_ticks": draws.whole(0, 4), "server_guess_window_s": draws.pick(&[0.5, 0.25]),
        "cap_ease_s": draws.pick(&[0.25, 0.1]), "prediction_cap_s": draws.pick(&[None, None, Some(0.6)]),
        "planar": draws.strikes(0.4),
    });
    let server = draws.vector(20.0);
    let apart = draws.pick(&[0.0, 0.4, 1.0, 3.0, 9.0]);
    let recorded = draws.vector(apart);
    let recorded: [f64; 3] = std::array::from_fn(|axis| server[axis] + recorded[axis]);
    let age = draws.number(0.0, 1.2);
    let given = json!({
        "ack_fresh": draws.strikes(0.8), "ack_unread": draws.strikes(0.8), "guessed_ticks": draws.whole(0, 4),
        "server": server, "recorded": (!draws.strikes(0.1)).then_some(recorded),
        "history_empty": draws.strikes(0.1), "oldest_unheard_age": draws.strikes(0.6).then_some(age),
        "force_snap": draws.strikes(0.1).then_some("door"),
    });
    let forced = given["force_snap"].as_str();
    let correction = reconcile(&input(Node::new(&given))?, &config(Node::new(&settings))?, |_| forced);
    let mut expect = json!({ "kind": kind(&correction) });
    match correction {
        Correction::None => {}
        Correction::Blend { drift } | Correction::Shift { drift } => expect["drift"] = json!(drift.to_array()),
        Correction::Snap { to, reason } => {
            expect["reason"] = json!(word(reason));
            expect["to"] = json!(to.to_array());
        }
        Correction::Wait { speed_scale } => expect["speed_scale"] = json!(speed_scale),
    }
    Ok(json!({ "config": settings, "input": given, "expect": expect }))
}
