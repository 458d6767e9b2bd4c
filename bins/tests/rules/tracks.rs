use serde_json::Value;

use crate::expectation::{Expectation, items, length, minus, number, numbers, plus};
use crate::smoothing::wrapped;

#[derive(Clone, Default)]
struct Sample {
    time: f64,
    position: [f64; 3],
    velocity: [f64; 3],
    rotation: [f64; 4],
    angular: [f64; 3],
    yaw: f64,
}

/// A window of samples with its bounds: how far is a teleport, and how long is quiet.
struct Track {
    teleport: f64,
    quiet: f64,
    held: Vec<Sample>,
}

impl Track {
    fn push(&mut self, mut push: Sample) -> bool {
        if let Some(newest) = self.held.last() {
            if push.time <= newest.time {
                return false;
            }
            if length(minus(push.position, newest.position)) > self.teleport {
                self.held.clear();
            } else if push.time - newest.time > self.quiet {
                let bridge = Sample { time: push.time - 0.1, ..newest.clone() };
                self.held = vec![bridge];
            }
        }
        let norm = length(push.rotation);
        push.rotation = push.rotation.map(|part| part / norm);
        self.held.push(push);
        if self.held.len() > 16 {
            self.held.remove(0);
        }
        true
    }

    /// The sample at or before, the one after, and the share of the way; no way beyond the ends.
    fn around(&self, time: f64) -> (&Sample, &Sample, f64) {
        let (first, last) = (&self.held[0], &self.held[self.held.len() - 1]);
        if time <= first.time {
            return (first, first, 0.0);
        }
        match self.held.iter().position(|sample| sample.time > time) {
            None => (last, last, 0.0),
            Some(later) => {
                let (a, b) = (&self.held[later - 1], &self.held[later]);
                (a, b, (time - a.time) / (b.time - a.time))
            }
        }
    }
}

/// S-42.
pub(crate) fn part(case: &Value, expectation: &mut Expectation) {
    let mut track = Track { teleport: 20.0, quiet: 0.15, held: Vec::new() };
    for (step, op) in items(&case["ops"]).iter().enumerate() {
        expectation.enter_step(step);
        let push = &op["push"];
        let accepted = track.push(Sample {
            time: number(&push["t"]),
            position: numbers(&push["pos"]),
            velocity: numbers(&push["vel"]),
            rotation: numbers(&push["rot"]),
            angular: numbers(&push["ang"]),
            yaw: 0.0,
        });
        expectation.same("accepted", accepted, &op["accepted"]);
        expectation.same("retained", track.held.len(), &op["retained"]);
        for stated in items(&op["samples"]) {
            let time = number(&stated["t"]);
            let (a, b, share) = track.around(time);
            let lerp = |a: [f64; 3], b| plus(a, minus(b, a), share);
            let mut velocities = [lerp(a.velocity, b.velocity), lerp(a.angular, b.angular)];
            let (mut position, mut rotation) = (lerp(a.position, b.position), slerp(a.rotation, b.rotation, share));
            let beyond = time - track.held[track.held.len() - 1].time;
            if beyond > 0.0 {
                let on = beyond.min(0.25);
                position = plus(a.position, a.velocity, on);
                rotation = product(turned(a.angular, on), a.rotation);
                if beyond > 0.25 {
                    velocities = [[0.0; 3]; 2];
                }
            }
            let stated = &stated["expect"];
            expectation.vector("pos", position, &stated["pos"]);
            expectation.rotation("rot", rotation, &stated["rot"]);
            expectation.vector("vel", velocities[0], &stated["vel"]);
            expectation.vector("ang", velocities[1], &stated["ang"]);
        }
    }
}

/// S-43.
pub(crate) fn character(case: &Value, expectation: &mut Expectation) {
    let mut track = Track { teleport: 25.0, quiet: 0.3, held: Vec::new() };
    for (step, op) in items(&case["ops"]).iter().enumerate() {
        expectation.enter_step(step);
        let push = &op["push"];
        let accepted = track.push(Sample {
            time: number(&push["t"]),
            position: numbers(&push["pos"]),
            velocity: numbers(&push["vel"]),
            rotation: [0.0, 0.0, 0.0, 1.0],
            angular: [0.0; 3],
            yaw: number(&push["yaw"]),
        });
        expectation.same("accepted", accepted, &op["accepted"]);
        expectation.same("retained", track.held.len(), &op["retained"]);
        for stated in items(&op["samples"]) {
            let time = number(&stated["t"]);
            let (a, b, share) = track.around(time);
            let beyond = (time - track.held[track.held.len() - 1].time).clamp(0.0, 0.25);
            let position = plus(plus(a.position, minus(b.position, a.position), share), a.velocity, beyond);
            let yaw = wrapped(a.yaw + wrapped(b.yaw - a.yaw) * share);
            expectation.vector("pos", position, &stated["expect"]["pos"]);
            let apart = wrapped(yaw - number(&stated["expect"]["yaw"]));
            expectation.that(apart.abs() < 1e-3, || format!("yaw: {yaw} by the rule, {stated} stated"));
        }
    }
}

fn slerp(a: [f64; 4], b: [f64; 4], share: f64) -> [f64; 4] {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let (b, dot) = if dot < 0.0 { (b.map(|part| -part), -dot) } else { (b, dot) };
    if dot > 0.999_999_5 {
        return if share == 0.0 { a } else { b };
    }
    let angle = dot.acos();
    let (of_a, of_b) = (((1.0 - share) * angle).sin() / angle.sin(), (share * angle).sin() / angle.sin());
    plus(a.map(|part| part * of_a), b, of_b)
}

/// Turned about the world's axes for a while.
fn turned(angular: [f64; 3], seconds: f64) -> [f64; 4] {
    let speed = length(angular);
    if speed == 0.0 {
        return [0.0, 0.0, 0.0, 1.0];
    }
    let half = speed * seconds * 0.5;
    let [x, y, z] = angular.map(|part| part / speed * half.sin());
    [x, y, z, half.cos()]
}

fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
