use tidelock::sim::collision::ColliderId;
use tidelock::sim::ownership::{OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipTable, PlayerId};
use tidelock::sim::{PartState, Sequence, SimTime};

use super::check::{Check, Outcome};
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let mut table = table(case)?;
    let mut accepted = Vec::new();
    for (step, given) in case.get("reports")?.items()?.into_iter().enumerate() {
        check.enter_step(step);
        let now = SimTime::from_seconds(given.get("t")?.number()?);
        let player = PlayerId(given.get("player")?.integer()?);
        table.insert_player(player);
        let snapshots = given.get("snapshots")?.items()?;
        let snapshots = snapshots.into_iter().map(|node| snapshot(node, &table)).collect::<Result<_, _>>()?;
        let sequence = Sequence(given.get("seq")?.integer()? as u32);
        accepted.clear();
        let report = OwnedReport { sequence, time: now, snapshots };
        let outcome = table.judge(player, &report, (now, now.tick()), &mut accepted);
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
