use glam::Vec3;
use rayon::prelude::*;
use tidelock_replication::wire::{OwnSnapshot, TickedInputs};
use tidelock_sim::Tick;
use tidelock_sim::collision::CollisionWorld;
use tidelock_sim::input::{
    ConsumedInput, HeldControls, InputBuffer, InputBufferConfig, InputBufferStats, InputGate, InputGateConfig,
    InputGateCounters, InputPacer, PressActions, StepInput,
};
use tidelock_sim::motor::MotorSnapshot;
use tidelock_sim::report::{CharacterTruth, Correction, CorrectionCause};
use tidelock_sim::session::SnapshotHeader;
use tidelock_sim::simulation::SimulationRun;
use tidelock_sim::{SimSpan, SimTime};

use super::Server;
use super::body::CharacterBody;
use super::replay::PlayerSlot;
use super::sessions::Sessions;
use super::truth::{BodyCommand, Obeyed, Rules, Truth};
use super::workers::{CHARACTERS_PER_JOB, Workers};
use crate::control::ControlInput;
use crate::controller::Controller;

/// The most inputs one server tick takes, when ticks before it were skipped.
const MAX_STEPS: u64 = 8;

/// What the server keeps of a character whose owner sends an input for each tick (S-6, S-31 to S-33).
#[derive(Clone, Debug)]
pub(crate) struct InputTruth {
    truth: CharacterTruth,
    /// Whether motor and module move it here, or the game does.
    simulated: bool,
    /// Epoch at which it came under this controller.
    began: u32,
    gate: InputGate,
    buffer: InputBuffer<HeldControls>,
    /// What was counted before this tick.
    counted: (InputGateCounters, InputBufferStats),
}

/// What a character was given to do in this tick: a component of every character whose owner sends inputs of ticks, for systems
/// that run after replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterInputs {
    /// An input for each tick that has passed, oldest first: one, or more after ticks a late server skipped. Each says whether it is
    /// present, guessed or absent, and what it presses.
    pub steps: Vec<ConsumedInput<HeldControls>>,
}

/// How inputs of ticks fared at a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounters {
    /// Messages at the gates.
    pub gate: InputGateCounters,
    /// Inputs in the buffers.
    pub buffer: InputBufferStats,
}

/// A character's columns.
struct Row<'a> {
    truth: &'a mut InputTruth,
    inputs: &'a mut CharacterInputs,
    body: &'a mut CharacterBody,
    controls: &'a mut ControlInput,
}

/// Hands every character its input of this tick, and runs those that motor and module move, in parallel over column slices against
/// one read-only collision index. Each row writes only itself; [`merge`] then walks players in slot order.
pub(super) fn run(server: &mut Server) {
    if !server.protocol.controllers().iter().any(|controller| controller.takes_inputs()) {
        return;
    }
    let steps = server.due.min(MAX_STEPS);
    let now = server.time();
    let Server { place, sessions, workers, protocol, config, .. } = server;
    let (world, index, settings) = place.replay_parts();
    let (replay, allowance) = (&config.replay_limits, &config.allowance_limits);
    let rules = Rules { now, settings, module: protocol.module_of(Controller::Ticked), replay, allowance };
    let (sessions, workers): (&Sessions, &Workers) = (sessions, workers);
    workers.run(|| {
        for archetype in world.archetypes() {
            let Some(mut truths) = archetype.get::<&mut InputTruth>() else { continue };
            let Some(mut inputs) = archetype.get::<&mut CharacterInputs>() else { continue };
            let Some(mut bodies) = archetype.get::<&mut CharacterBody>() else { continue };
            let Some(mut controls) = archetype.get::<&mut ControlInput>() else { continue };
            let Some(owners) = archetype.get::<&PlayerSlot>() else { continue };
            let rows = truths
                .par_chunks_mut(CHARACTERS_PER_JOB)
                .zip(inputs.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(bodies.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(controls.par_chunks_mut(CHARACTERS_PER_JOB))
                .zip(owners.par_chunks(CHARACTERS_PER_JOB));
            rows.for_each(|((((truths, inputs), bodies), controls), owners)| {
                let mut nearby = workers.nearby();
                let mut world = CollisionWorld { index, nearby: &mut nearby };
                let columns = truths.iter_mut().zip(inputs).zip(bodies).zip(controls).zip(owners);
                for ((((truth, inputs), body), controls), owner) in columns {
                    let sent = sessions.get(owner.0).map_or(&[][..], |session| session.inbox.inputs());
                    let row = Row { truth, inputs, body, controls };
                    consume(row, (sent, steps), &rules, &mut world);
                }
            });
        }
    });
    merge(server);
}

fn consume(row: Row<'_>, (sent, steps): (&[TickedInputs], u64), rules: &Rules<'_>, world: &mut CollisionWorld<'_>) {
    let Row { truth, inputs, body, controls } = row;
    for message in sent {
        // What was meant for a controller the character had before is no longer its owner's to say.
        let owned = message.began == truth.began;
        if truth.gate.admit(&message.packet(), owned, rules.now).is_ok() {
            truth.buffer.offer_range(message.last, &message.inputs);
        }
    }
    inputs.steps.clear();
    for step in (0..steps).rev() {
        let consumed = truth.buffer.consume();
        inputs.steps.push(consumed);
        if truth.simulated {
            let start = rules.now - SimSpan(((step + 1) * SimTime::UNITS_PER_TICK) as u32);
            let run = SimulationRun { start, settings: rules.settings, module: rules.module, replaying: false };
            truth.truth.run(&consumed.input.frame(), &run, world);
        }
    }
    let Some(last) = inputs.steps.last() else { return };
    *controls = ControlInput::of_step(&last.input);
    // Who sits is moved by its seat, and who is moved by the game by the game.
    let moved = body.moved || truth.simulated && truth.truth.replays();
    *body = CharacterBody { moved, ..truth.body(rules) };
}

/// Counts, in player-slot order.
fn merge(server: &mut Server) {
    let Server { place, sessions, metrics, .. } = server;
    for (_, session) in sessions.iter() {
        let Some(character) = session.character() else { continue };
        let Ok(mut truth) = place.world().get::<&mut InputTruth>(character.entity) else { continue };
        let (gate, buffer) = (*truth.gate.counters(), truth.buffer.stats());
        metrics.inputs.gate.add(&gate.since(&truth.counted.0));
        metrics.inputs.buffer.add(&buffer.since(&truth.counted.1));
        truth.counted = (gate, buffer);
    }
}

impl InputTruth {
    /// A character that comes under a controller which takes inputs, `simulated` here or moved by the game.
    pub(crate) fn new(truth: CharacterTruth, simulated: bool, actions: &PressActions) -> Self {
        let config = InputBufferConfig { max_target: InputPacer::MAX_DEPTH, ..InputBufferConfig::default() };
        let buffer = InputBuffer::new(config, *actions, StepInput::default()).expect("numbers in range");
        let gate = InputGate::new(InputGateConfig::for_rate(Tick::HZ));
        let counted = (*gate.counters(), buffer.stats());
        Self { began: truth.epoch(), truth, simulated, gate, buffer, counted }
    }

    /// Puts a character where the game's own movement has it; false when another controller moves it, it is dead or seated, or a
    /// number is not finite.
    pub(super) fn put(&mut self, motor: MotorSnapshot, now: SimTime) -> bool {
        !self.simulated && self.truth.put(motor, now)
    }

    /// What its owner is told after tick `tick`, in which it was given `last`.
    pub(super) fn snapshot(&self, tick: Tick, last: &ConsumedInput<HeldControls>) -> OwnSnapshot {
        let ConsumedInput { acknowledged, guessed, depth, target, .. } = *last;
        OwnSnapshot {
            header: SnapshotHeader { tick, acknowledged, depth, target: Some(target) },
            guessed,
            epoch: self.truth.epoch(),
            sim: *self.truth.sim(),
        }
    }

    /// The truth that motor and module, or the game, move.
    pub(super) fn truth(&self) -> &CharacterTruth {
        &self.truth
    }
}

impl Truth for InputTruth {
    fn obey(&mut self, command: &BodyCommand, rules: &Rules<'_>) -> Obeyed {
        let obeyed = self.truth.obey(command, rules);
        match obeyed {
            Obeyed::Moved(correction) => Obeyed::Moved(Correction { time: rules.now, ..correction }),
            other => other,
        }
    }

    fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        self.truth.carry(position, velocity, yaw);
    }

    fn word(&self, cause: CorrectionCause) -> Correction {
        self.truth.correction(cause)
    }

    fn body(&self, rules: &Rules<'_>) -> CharacterBody {
        CharacterBody { sample: rules.now, ack: None, ..self.truth.body(rules) }
    }
}
