use tidelock::sim::reconcile::{Correction, ReconcileConfig, ReconcileInput, SnapReason, reconcile};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let given = case.get("input")?;
    let forced = given.find("force_snap").map(Node::text).transpose()?;
    let correction = reconcile(&input(given)?, &config(case.get("config")?)?, |_| forced);
    let expect = case.get("expect")?;
    let kind = match correction {
        Correction::None => "none",
        Correction::Blend { .. } => "blend",
        Correction::Shift { .. } => "shift",
        Correction::Snap { .. } => "snap",
        Correction::Wait { .. } => "wait",
    };
    check.same("kind", kind, expect.get("kind")?.text()?)?;
    match correction {
        Correction::None => Ok(()),
        Correction::Blend { drift } | Correction::Shift { drift } => check.vector("drift", drift, expect.get("drift")?),
        Correction::Snap { to, reason } => {
            let reason = match reason {
                SnapReason::Game(reason) => reason,
                SnapReason::Lost => "lost",
                SnapReason::Far => "far",
            };
            check.same("reason", reason, expect.get("reason")?.text()?)?;
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
