use serde_json::Value;

use crate::expectation::{Expectation, items, length, minus, number, number_or, numbers};

/// S-31.
pub(crate) fn reconcile(case: &Value, expectation: &mut Expectation) {
    let (config, given, stated) = (&case["config"], &case["input"], &case["expect"]);
    let server = numbers::<3>(&given["server"]);
    let mut kind = "none";
    let mut drift = [0.0; 3];
    let guessed = number(&given["guessed_ticks"]);
    let trusted = guessed <= number_or(&config["trusted_guessed_ticks"], 2.0);
    let mut reason = given["force_snap"].as_str();
    let readable = given["ack_fresh"] == true && given["ack_unread"] == true && given["history_empty"] == false;
    if reason.is_none() && readable && trusted {
        if given["recorded"].is_null() {
            reason = Some("lost");
        } else {
            drift = minus(server, numbers(&given["recorded"]));
            if config["planar"] == true {
                drift[1] = 0.0;
            }
            let far = length(drift);
            if far > number_or(&config["far_m"], 10.0) {
                reason = Some("far");
            } else if far > number_or(&config["correct_m"], 1.5) {
                kind = "shift";
            } else if far > 1e-4 {
                kind = "blend";
            }
        }
    }
    let ease = number_or(&config["cap_ease_s"], 0.25);
    let cap = number_or(&config["prediction_cap_s"], number_or(&config["server_guess_window_s"], 0.5) + ease);
    let scale = ((cap - number_or(&given["oldest_unheard_age"], 0.0)) / ease).clamp(0.0, 1.0);
    if let Some(reason) = reason {
        expectation.same("kind", "snap", &stated["kind"]);
        expectation.same("reason", reason, &stated["reason"]);
        expectation.vector("to", server, &stated["to"]);
    } else if scale < 1.0 {
        expectation.same("kind", "wait", &stated["kind"]);
        expectation.number("speed_scale", scale, &stated["speed_scale"]);
    } else {
        expectation.same("kind", kind, &stated["kind"]);
        if kind != "none" {
            expectation.vector("drift", drift, &stated["drift"]);
        }
    }
}

/// S-40.
#[derive(Default)]
struct Timeline {
    floor: f64,
    jitter: f64,
    interval: f64,
    last: Option<f64>,
    playback: Option<f64>,
}

impl Timeline {
    fn delay(&self) -> f64 {
        (1.2 * self.interval + 3.0 * self.jitter).max(self.interval.max(0.03)).min(0.4)
    }

    fn sample(&mut self, server: f64, arrival: f64, weight: f64) {
        let transit = arrival - server;
        let Some(last) = self.last else {
            (self.floor, self.last) = (transit, Some(server));
            self.playback = Some(server - self.delay());
            return;
        };
        self.floor = if transit < self.floor { transit } else { self.floor + 0.002 * (transit - self.floor) };
        self.jitter += weight * (transit - self.floor - self.jitter);
        let gap = server - last;
        if gap > 0.0 {
            self.last = Some(server);
            if gap <= 0.25 {
                self.interval += 0.1 * (gap - self.interval);
            }
        }
    }
}

pub(crate) fn timeline(case: &Value, expectation: &mut Expectation) {
    let config = &case["config"];
    let (weight, gain) = (number_or(&config["jitter_weight"], 0.1), number_or(&config["rate_gain"], 1.0));
    let mut model = Timeline { interval: number_or(&config["initial_interval"], 0.05), ..Timeline::default() };
    for (step, op) in items(&case["ops"]).iter().enumerate() {
        expectation.enter_step(step);
        let stated = &op["expect"];
        if op["op"] == "sample" {
            model.sample(number(&op["server"]), number(&op["arrival"]), weight);
            expectation.number("floor", model.floor, &stated["floor"]);
            expectation.number("jitter", model.jitter, &stated["jitter"]);
            expectation.number("interval", model.interval, &stated["interval"]);
            expectation.number("delay", model.delay(), &stated["delay"]);
        } else {
            let (now, dt) = (number(&op["now"]), number(&op["dt"]));
            let target = now - model.floor - model.delay();
            let playback = model.playback.expect("it began");
            let error = target - (playback + dt);
            let rate = if error.abs() > 0.5 { 1.0 } else { 1.0 + (error * gain).clamp(-0.15, 0.15) };
            let playback = if error.abs() > 0.5 { target } else { playback + dt * rate };
            model.playback = Some(playback);
            expectation.number("playback", playback, &stated["playback"]);
            expectation.number("rate", rate, &stated["rate"]);
        }
    }
}
