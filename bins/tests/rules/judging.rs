use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

use serde_json::Value;

use crate::expectation::{Expectation, items, length, minus, number, number_or, numbers};

/// S-22, and S-21's bounds of a duration.
pub(crate) fn budget(case: &Value, expectation: &mut Expectation) {
    let (mut available, mut last) = (0.25_f64, None);
    for (step, report) in items(&case["reports"]).iter().enumerate() {
        expectation.enter_step(step);
        let (now, durations) = (number(&report["t"]), items(&report["durations"]));
        let sound = |duration: &Value| {
            let duration = number(duration);
            duration.is_finite() && (1.0 / 240.0 - 1e-6..=1.0 / 30.0 + 1e-6).contains(&duration)
        };
        available = (available + (now - last.unwrap_or(now))).min(0.25);
        last = Some(now);
        let (mut verdict, mut replayed) = ("malformed", 0);
        if durations.len() <= 96 && durations.iter().all(sound) {
            verdict = "complete";
            for duration in durations.iter().map(number) {
                if duration > available + 1e-9 {
                    verdict = "exhausted";
                    break;
                }
                available = (available - duration).max(0.0);
                replayed += 1;
            }
        }
        expectation.same("verdict", verdict, &report["expect"]["verdict"]);
        expectation.same("replayed", replayed, &report["expect"]["replayed"]);
        expectation.number("available", available, &report["expect"]["available"]);
    }
}

/// S-25, across the ground.
pub(crate) fn allowance(case: &Value, expectation: &mut Expectation) {
    let config = &case["config"];
    let speed = number_or(&config["walk_speed"], 16.0).max(number_or(&config["burst_speed"], 0.0));
    let (mut last, mut at) = (number(&case["start"]["t"]), numbers::<3>(&case["start"]["pos"]));
    let mut streak = 0;
    for (step, report) in items(&case["reports"]).iter().enumerate() {
        expectation.enter_step(step);
        let (now, wanted) = (number(&report["t"]), numbers::<3>(&report["pos"]));
        let dt = (now - last).clamp(1.0 / 240.0, 0.5);
        last = now;
        let moved = minus(wanted, at);
        let (across, allowed) = (moved[0].hypot(moved[2]), speed * 1.35 * dt + 0.3);
        let before = at;
        let mut verdict = "accept";
        if across + moved[1].abs() > f64::max(60.0, speed * dt * 2.0) {
            (verdict, streak) = ("teleport", 0);
        } else if across > allowed {
            streak += 1;
            at = wanted;
            if across > 3.0 * allowed || streak == 5 {
                (verdict, streak) = ("clamp", 0);
                let share = allowed / across;
                at = [before[0] + moved[0] * share, wanted[1], before[2] + moved[2] * share];
            }
        } else {
            (at, streak) = (wanted, 0);
        }
        expectation.same("verdict", verdict, &report["expect"]["verdict"]);
        expectation.vector("accepted", at, &report["expect"]["accepted"]);
        // S-26.
        expectation.same("correction", length(minus(at, wanted)) > 0.5, &report["expect"]["correction"]);
        expectation.same("streak", streak, &report["expect"]["streak"]);
    }
}

struct Owned {
    owner: u64,
    position: [f64; 3],
    rotation: [f64; 4],
    time: f64,
    tick: Option<u64>,
}

/// S-51. Epochs are the standing ones throughout.
pub(crate) fn owned(case: &Value, expectation: &mut Expectation) {
    let slack = |key: &str, default| number_or(&case["config"][key], default);
    let slack = (slack("slack_position", 2.0), slack("slack_rotation", 0.5));
    let mut parts: BTreeMap<u64, Owned> = items(&case["parts"])
        .iter()
        .map(|part| {
            let (owner, position) = (part["owner"].as_u64().expect("an owner"), numbers(&part["pos"]));
            let rotation = normalised(numbers(&part["rot"]));
            let owned = Owned { owner, position, rotation, time: number(&part["t"]), tick: None };
            (part["id"].as_u64().expect("an id"), owned)
        })
        .collect();
    let mut newest: BTreeMap<u64, i64> = BTreeMap::new();
    for (step, report) in items(&case["reports"]).iter().enumerate() {
        expectation.enter_step(step);
        let (player, sequence) = (report["player"].as_u64().expect("who"), report["seq"].as_i64().expect("which"));
        let snapshots = items(&report["snapshots"]);
        let (mut verdict, mut accepted) = ("processed", Vec::new());
        if newest.get(&player).is_some_and(|newest| !newer(sequence, *newest)) {
            verdict = "stale";
        } else if malformed(snapshots) {
            verdict = "malformed";
        } else {
            newest.insert(player, sequence);
            let now = number(&report["t"]);
            let fits = |one: &&Value| {
                let part = parts.get_mut(&one["id"].as_u64().expect("an id"));
                part.is_some_and(|part| part.owner == player && part.take(one, now, slack))
            };
            accepted = snapshots.iter().filter(fits).map(|one| one["id"].clone()).collect();
        }
        expectation.same("verdict", verdict, &report["expect"]["verdict"]);
        expectation.same("accepted", accepted, &report["expect"]["accepted"]);
    }
}

/// By wrapping distance.
fn newer(a: i64, b: i64) -> bool {
    (1..1 << 31).contains(&(a - b).rem_euclid(1 << 32))
}

fn malformed(snapshots: &[Value]) -> bool {
    let finite = |value: &Value| items(value).iter().all(|part| number(part).is_finite());
    let sound = |one: &Value| {
        ["pos", "rot", "vel", "ang"].iter().all(|key| finite(&one[*key])) && length(numbers::<4>(&one["rot"])) >= 1e-6
    };
    let ids: BTreeSet<_> = snapshots.iter().map(|one| one["id"].as_u64()).collect();
    snapshots.len() > 64 || ids.len() < snapshots.len() || !snapshots.iter().all(sound)
}

impl Owned {
    fn take(&mut self, one: &Value, now: f64, slack: (f64, f64)) -> bool {
        let (position, rotation) = (numbers(&one["pos"]), normalised(numbers(&one["rot"])));
        let dt = (now - self.time).clamp(1.0 / 240.0, 0.5);
        let dot: f64 = rotation.iter().zip(self.rotation).map(|(a, b)| a * b).sum();
        let turned = 2.0 * dot.abs().min(1.0).acos();
        // One accepted state per part and tick of 1/60 s; the little keeps what is written as a whole tick whole.
        let tick = (now * 60.0 + 1e-6) as u64;
        let fits = length(numbers::<3>(&one["vel"])) <= 500.0
            && length(numbers::<3>(&one["ang"])) <= 100.0
            && length(minus(position, self.position)) <= f64::min(60.0, 500.0 * dt + slack.0)
            && turned <= f64::min(PI, 100.0 * dt + slack.1)
            && self.tick != Some(tick);
        if fits {
            (self.position, self.rotation, self.time, self.tick) = (position, rotation, now, Some(tick));
        }
        fits
    }
}

fn normalised(rotation: [f64; 4]) -> [f64; 4] {
    let norm = length(rotation);
    rotation.map(|part| part / norm)
}
