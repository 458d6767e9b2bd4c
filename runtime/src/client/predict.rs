use std::time::Duration;

use tidelock_sim::client::PredictionEnvironment;
use tidelock_sim::collision::CollisionWorld;

use super::{Client, ClientEvent};
use crate::control::ControlInput;

/// Runs the own character on what the player holds, then on what the server said of it (S-30).
///
/// Corrections come first: what this frame adds then stands on the server's word.
pub(super) fn run(client: &mut Client, input: &ControlInput) {
    let Some(scene) = client.scene.clone() else { return };
    let env = PredictionEnvironment { settings: &scene.settings, module: client.protocol.module() };
    let mut events = Vec::new();
    let Client { own, replica, nearby, stats, now, dt, .. } = client;
    let index = replica.colliders(&scene);
    let mut world = CollisionWorld { index, nearby };
    for correction in std::mem::take(&mut own.corrections) {
        let Some(prediction) = &mut own.prediction else {
            own.begin(&correction);
            continue;
        };
        if let Some(event) = prediction.correct(&correction, &env, &mut world) {
            stats.count_correction(event.reason, event.offset.length());
            events.push(ClientEvent::Corrected {
                cause: event.reason,
                offset: event.offset,
                replayed_ticks: event.replayed_ticks,
            });
        }
    }
    // Before a round trip was measured nobody knows at which server time a report would arrive.
    if let Some(prediction) = &mut own.prediction
        && stats.rtt_min > Duration::ZERO
    {
        own.clock.set_round_trip(stats.rtt_min.as_secs_f64());
        let steering = own.clock.steer(*now, prediction.predicted_seconds());
        if let Some(time) = steering.jump {
            prediction.jump(time);
        }
        prediction.advance(*dt * steering.rate, &input.frame(), &env, &mut world);
    }
    for event in events {
        client.event(event);
    }
}
