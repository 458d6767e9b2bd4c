use glam::{Quat, Vec3};
use serde_json::{Value, json};
use tidelock::sim::collision::ColliderId;
use tidelock::sim::ownership::{
    AcceptedState, OwnedOutcome, OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipTable, PlayerId,
};
use tidelock::sim::{PartState, Sequence, SimTime};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut table = table(case)?;
    let mut accepted = Vec::new();
    for (step, given) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let outcome = judge(&mut table, given, &mut accepted)?;
        let expect = given.get("expect")?;
        check.same("verdict", word(outcome.verdict), expect.get("verdict")?.text()?)?;
        let wanted = expect.get("accepted")?.items()?;
        check.same("accepted", accepted.len(), wanted.len())?;
        for (got, want) in accepted.iter().zip(wanted) {
            check.same("accepted id", got.part.0, want.integer()?)?;
        }
    }
    Ok(())
}

fn judge(
    table: &mut OwnershipTable,
    given: Node<'_>,
    accepted: &mut Vec<AcceptedState>,
) -> Result<OwnedOutcome, String> {
    let now = SimTime::from_seconds(given.get("t")?.number()?);
    let player = PlayerId(given.get("player")?.integer()?);
    table.insert_player(player);
    let snapshots = given.get("snapshots")?.items()?;
    let snapshots = snapshots.into_iter().map(|node| snapshot(node, table)).collect::<Result<_, _>>()?;
    let sequence = Sequence(given.get("seq")?.integer()? as u32);
    accepted.clear();
    let report = OwnedReport { sequence, time: now, snapshots };
    Ok(table.judge(player, &report, (now, now.tick()), accepted))
}

fn table(case: Node<'_>) -> Result<OwnershipTable, String> {
    let defaults = OwnershipLimits::default();
    let slack = |key, default: f32| match case.find("config") {
        Some(config) => config.number_or(key, f64::from(default)).map(|slack| slack as f32),
        None => Ok(default),
    };
    // The rule of single steps: the bucket around it is apart, and so is the rate.
    let mut table = OwnershipTable::new(OwnershipLimits {
        slack_position: slack("slack_position", defaults.slack_position)?,
        slack_rotation: slack("slack_rotation", defaults.slack_rotation)?,
        window_slack: f32::INFINITY,
        reports_per_second: 1_000,
        report_burst: 1_000,
        ..defaults
    });
    for part in case.get("parts")?.items()? {
        let id = ColliderId(part.get("id")?.integer()?);
        let now = SimTime::from_seconds(part.get("t")?.number()?);
        let state = PartState::resting(part.get("pos")?.vector()?, part.get("rot")?.rotation()?);
        table.insert_part(id, state, now);
        let owner = PlayerId(part.get("owner")?.integer()?);
        table.insert_player(owner);
        table.give(id, Some(owner), now);
    }
    Ok(table)
}

fn snapshot(node: Node<'_>, table: &OwnershipTable) -> Result<OwnedSnapshot, String> {
    let part = ColliderId(node.get("id")?.integer()?);
    let state = PartState {
        position: node.get("pos")?.vector()?,
        rotation: node.get("rot")?.rotation()?,
        velocity: node.get("vel")?.vector()?,
        angular: node.get("ang")?.vector()?,
    };
    Ok(OwnedSnapshot { part, epoch: table.epoch(part).unwrap_or_default(), state })
}

fn word(verdict: OwnedVerdict) -> &'static str {
    match verdict {
        OwnedVerdict::Processed => "processed",
        OwnedVerdict::Stale => "stale",
        OwnedVerdict::Malformed => "malformed",
        OwnedVerdict::Rate => "rate",
    }
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..6).map(|index| write_case(index, draws)).collect()
}

fn write_case(index: usize, draws: &mut Draws) -> Result<Value, String> {
    let parts: Vec<Value> = (0..8)
        .map(|id| {
            let (pos, rot) = (draws.vector(20.0), draws.rotation());
            json!({ "id": id, "owner": draws.whole(1, 3), "pos": pos, "rot": rot, "t": 0.0 })
        })
        .collect();
    let slack = json!({ "slack_position": draws.pick(&[2.0, 0.5]), "slack_rotation": draws.pick(&[0.5, 0.1]) });
    let mut case = json!({ "name": format!("owned-{index}"), "config": slack, "parts": parts });
    let mut table = table(Node::new(&case))?;
    let (mut time, mut sequence, mut reports, mut accepted) = (0.0, 0, Vec::new(), Vec::new());
    for _ in 0..60 {
        time += draws.pick(&[0.05, 0.05, 0.05, 0.02, 0.2]);
        sequence += draws.pick(&[1, 1, 1, 2, 0]);
        let mut report = json!({
            "player": draws.whole(1, 3), "seq": sequence, "t": time, "snapshots": draw_snapshots(draws, &table),
        });
        let outcome = judge(&mut table, Node::new(&report), &mut accepted)?;
        let ids: Vec<u64> = accepted.iter().map(|got| got.part.0).collect();
        report["expect"] = json!({ "verdict": word(outcome.verdict), "accepted": ids });
        reports.push(report);
    }
    case["reports"] = json!(reports);
    Ok(case)
}

/// A few parts, some moved soundly and some not; now and then what makes the whole report void.
fn draw_snapshots(draws: &mut Draws, table: &OwnershipTable) -> Vec<Value> {
    let ids: Vec<u64> = (0..9).filter(|_| draws.strikes(0.35)).collect();
    let mut snapshots: Vec<Value> = ids.into_iter().map(|id| draw_snapshot(id, draws, table)).collect();
    let spare = json!({ "id": 50, "pos": [0, 0, 0], "rot": [0, 0, 0, 1], "vel": [0, 0, 0], "ang": [0, 0, 0] });
    match draws.whole(0, 16) {
        0 => snapshots.extend([spare.clone(), spare]),
        1 => {
            snapshots.push(spare);
            let last = snapshots.len() - 1;
            snapshots[last][draws.pick(&["pos", "rot", "vel", "ang"])][1] = json!("nan");
        }
        2 => {
            snapshots.push(spare);
            let last = snapshots.len() - 1;
            snapshots[last]["rot"] = json!([0, 0, 0, 0]);
        }
        3 => snapshots.extend((0..65).map(|id| {
            let mut one = spare.clone();
            one["id"] = json!(100 + id);
            one
        })),
        _ => {}
    }
    snapshots
}

fn draw_snapshot(id: u64, draws: &mut Draws, table: &OwnershipTable) -> Value {
    let held = table.state(ColliderId(id)).copied().unwrap_or(PartState::resting(Vec3::ZERO, Quat::IDENTITY));
    let far = draws.pick(&[1.0, 4.0, 4.0, 90.0]);
    let step = draws.vector(far);
    let from = held.position.as_dvec3().to_array();
    let pos: [f64; 3] = std::array::from_fn(|axis| from[axis] + step[axis]);
    let rot = if draws.strikes(0.7) { held.rotation.to_array().map(f64::from) } else { draws.rotation() };
    let (fast, quick) = (draws.pick(&[10.0, 200.0, 600.0]), draws.pick(&[5.0, 40.0, 150.0]));
    json!({ "id": id, "pos": pos, "rot": rot, "vel": draws.vector(fast), "ang": draws.vector(quick) })
}
