use std::time::Duration;

use glam::Vec3;
use tidelock_sim::client::{Prediction, PredictionEnvironment};
use tidelock_sim::collision::CollisionWorld;
use tidelock_sim::motor::CharacterState;
use tidelock_sim::report::{Correction, CorrectionCause};
use tidelock_sim::session::{Reconciliation, SessionFrame};

use super::own::OwnStyle;
use super::posed::PosedCharacter;
use super::ticked::{Lent, TickedCharacter};
use super::{Client, ClientEvent};
use crate::control::ControlInput;
use crate::controller::Controller;

/// Runs the own character on what the player holds, by its controller, after what the server said of it: what this frame adds then
/// stands on the server's word.
pub(super) fn run(client: &mut Client, input: &ControlInput) {
    if client.scene.is_none() {
        return;
    }
    let corrections = std::mem::take(&mut client.own.corrections);
    for correction in &corrections {
        match client.own.style {
            None => begin(client, correction),
            Some(OwnStyle::Reports(_)) => correct(client, correction),
            Some(OwnStyle::Ticked(_) | OwnStyle::Posed(_)) => command(client, correction),
        }
    }
    match client.own.style {
        None => {}
        Some(OwnStyle::Reports(_)) => report(client, input),
        Some(OwnStyle::Ticked(_)) => tick(client, input),
        Some(OwnStyle::Posed(_)) => pose(client, input),
    }
}

/// Begins to predict from the server's first word.
fn begin(client: &mut Client, first: &Correction) {
    let Client { own, protocol, config, .. } = client;
    let controller = own.controller().unwrap_or_default();
    let actions = protocol.actions();
    own.style = Some(match controller {
        Controller::Replay | Controller::Allowances => {
            OwnStyle::Reports(Box::new(Prediction::new(first.sim, first.epoch, first.time, config.prediction)))
        }
        Controller::Ticked => {
            let (module, smoother) = (protocol.shared_module(controller), config.prediction.smoother);
            OwnStyle::Ticked(Box::new(TickedCharacter::new(first, module, actions, smoother)))
        }
        Controller::Poses => OwnStyle::Posed(Box::new(PosedCharacter::new(first, actions, config.poses))),
    });
}

/// Applies the server's word to reports (S-30).
fn correct(client: &mut Client, correction: &Correction) {
    let Some(scene) = client.scene.clone() else { return };
    let Client { own, replica, nearby, protocol, .. } = client;
    let module = protocol.module_of(own.controller().unwrap_or_default());
    let env = PredictionEnvironment { settings: &scene.settings, module };
    let mut world = CollisionWorld { index: replica.colliders(&scene), nearby };
    let Some(OwnStyle::Reports(prediction)) = &mut own.style else { return };
    if let Some(event) = prediction.correct(correction, &env, &mut world) {
        corrected(client, event.reason, event.offset, event.replayed_ticks);
    }
}

/// Notes a game's command to a character that moves by ticks; where it is then comes with the server's states.
fn command(client: &mut Client, correction: &Correction) {
    let now_s = client.now;
    let Some(style) = &mut client.own.style else { return };
    let before = style.motor().position;
    let follows = match style {
        OwnStyle::Posed(posed) => posed.follow(correction, now_s),
        OwnStyle::Ticked(_) | OwnStyle::Reports(_) => true,
    };
    if follows {
        corrected(client, correction.cause, correction.sim.motor.position - before, 0);
    }
}

fn corrected(client: &mut Client, cause: CorrectionCause, offset: Vec3, replayed_ticks: u32) {
    client.stats.count_correction(cause, offset.length());
    client.event(ClientEvent::Corrected { cause, offset, replayed_ticks });
}

/// Moves at once, for reports.
fn report(client: &mut Client, input: &ControlInput) {
    let Some(scene) = client.scene.clone() else { return };
    let Client { own, replica, nearby, stats, protocol, now, dt, .. } = client;
    let module = protocol.module_of(own.controller().unwrap_or_default());
    let env = PredictionEnvironment { settings: &scene.settings, module };
    let mut world = CollisionWorld { index: replica.colliders(&scene), nearby };
    // Before a round trip was measured nobody knows at which server time a report would arrive.
    if let Some(OwnStyle::Reports(prediction)) = &mut own.style
        && stats.rtt_min > Duration::ZERO
    {
        own.clock.set_round_trip(stats.rtt_min.as_secs_f64());
        let steering = own.clock.steer(*now, prediction.predicted_seconds());
        if let Some(time) = steering.jump {
            prediction.jump(time);
        }
        prediction.advance(*dt * steering.rate, &input.frame(), &env, &mut world);
    }
}

fn session_frame(client: &Client) -> SessionFrame {
    SessionFrame { seconds: client.dt, now_ms: client.now * 1e3, scale: 1.0 }
}

/// Moves by the ticks that are due, as the server will (S-33).
fn tick(client: &mut Client, input: &ControlInput) {
    let frame = session_frame(client);
    let Client { own, replica, nearby, scene, stats, .. } = client;
    let (Some(OwnStyle::Ticked(ticked)), Some(scene)) = (&mut own.style, scene) else { return };
    ticked.devices.hold(input, frame.now_ms - frame.seconds * 1e3);
    if let Some(snapshot) = own.snapshot.take() {
        stats.snapshots += u64::from(ticked.receive(snapshot));
    }
    let before = ticked.motor().position;
    let lent = Lent { scene: scene.clone(), colliders: replica.lend_colliders(), nearby: std::mem::take(nearby) };
    let (rewind, lent) = ticked.advance(frame, lent);
    *nearby = lent.nearby;
    replica.take_back(lent.colliders);
    if let Some(Reconciliation { correction, snapped: false, replayed, .. }) = rewind
        && correction > 0.0
        && ticked.motor().state != CharacterState::Seated
    {
        let offset = ticked.motor().position - before;
        stats.count_correction(CorrectionCause::Disagreement, correction);
        client.event(ClientEvent::Corrected {
            cause: CorrectionCause::Disagreement,
            offset: offset.clamp_length_max(correction),
            replayed_ticks: replayed * 4,
        });
    }
}

/// Lets the game move its character by the ticks that are due (S-32).
fn pose(client: &mut Client, input: &ControlInput) {
    let frame = session_frame(client);
    let Client { own, game, stats, .. } = client;
    let Some(OwnStyle::Posed(posed)) = &mut own.style else { return };
    posed.devices.hold(input, frame.now_ms - frame.seconds * 1e3);
    if let Some(snapshot) = own.snapshot.take() {
        stats.snapshots += u64::from(posed.receive(&snapshot));
    }
    let offset = posed.advance(frame, game);
    stats.poses = posed.counters();
    if offset != Vec3::ZERO {
        corrected(client, CorrectionCause::Disagreement, offset, 0);
    }
}
