use glam::Vec3;
use tidelock_replication::wire::{OwnSnapshot, write_inputs};
use tidelock_sim::client::DrawnPose;
use tidelock_sim::clock::{FixedStepClock, FixedStepClockConfig};
use tidelock_sim::input::{HeldControls, InputPacer, PressActions, SendQueue, StepInput};
use tidelock_sim::motor::{CharacterState, MotorSnapshot};
use tidelock_sim::reconcile::{
    Correction, PosePredictor, PosePredictorConfig, PoseSnapshot, PredictedMove, ReconcileInput,
};
use tidelock_sim::report::Correction as Word;
use tidelock_sim::session::SessionFrame;
use tidelock_sim::{Sequence, SimTime, Tick, wrap_angle};

use super::devices::Devices;
use super::own::TickedTime;

/// Inputs in a message: a quarter of a second.
const REDUNDANCY: usize = 15;
/// Steps taken ahead of the first answer, so that no input is late (S-6a).
const INITIAL_LEAD: u32 = InputPacer::MIN_DEPTH as u32;

/// One tick of a character the game moves by itself, as its code on the client sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseStep {
    /// Length of the tick, seconds: 1/60.
    pub dt: f32,
    /// Where the character is: centre of its capsule, studs.
    pub position: Vec3,
    /// Velocity after the last tick, studs/s.
    pub velocity: Vec3,
    /// Facing after the last tick, radians.
    pub yaw: f32,
    /// What it was doing after the last tick.
    pub state: CharacterState,
    /// What the player holds, exactly as the server's game will see it; while the server hears nothing, the direction shrinks.
    pub input: StepInput<HeldControls>,
    /// Buttons that act in this tick, among those the protocol's actions name.
    pub pressed: u32,
    /// Share of full speed to move at, 0 to 1: below 1 while the server has heard nothing for long. Already in the direction of
    /// `input`; for what else drives the character.
    pub speed_scale: f32,
}

/// Where the game's code on the client has moved its character in one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoseMove {
    /// Centre of the capsule, studs. Nonfinite leaves the character where it was.
    pub position: Vec3,
    /// Velocity, studs/s.
    pub velocity: Vec3,
    /// Facing, radians.
    pub yaw: f32,
    /// What it is doing, for whoever draws it; seated and dead are the server's to say.
    pub state: CharacterState,
    /// How much of the way was not the character's own doing: what a platform, a blow or a gate did, studs. Differences to the
    /// server are made good while a character moves by itself.
    pub carried: Vec3,
}

impl PoseMove {
    fn is_finite(&self) -> bool {
        let Self { position, velocity, yaw, carried, .. } = self;
        position.is_finite() && velocity.is_finite() && yaw.is_finite() && carried.is_finite()
    }
}

/// The game's code that moves its own character.
pub(crate) type Mover = Box<dyn FnMut(&PoseStep) -> PoseMove + Send>;
/// The game's rule of when its character has to be where the server has it.
pub(crate) type SnapRule = Box<dyn FnMut(&ReconcileInput) -> bool + Send>;

/// The game's code for its own character on the client, once a tick.
#[derive(Default)]
pub(crate) struct GameCode {
    pub(crate) mover: Option<Mover>,
    pub(crate) rule: Option<SnapRule>,
}

/// The own character where the game moves it by itself: it moves at once, and follows the server gently (S-32).
#[derive(Debug)]
pub(crate) struct PosedCharacter {
    pub(crate) devices: Devices,
    config: PosePredictorConfig,
    actions: u32,
    predictor: PosePredictor,
    queue: SendQueue<StepInput<HeldControls>>,
    pacer: InputPacer,
    clock: FixedStepClock,
    /// The tick reached.
    tick: Tick,
    motor: MotorSnapshot,
    /// Position and facing before the last tick.
    before: (Vec3, f32),
    /// Buttons of the last tick.
    buttons: u32,
    lead: u32,
    began: u32,
    epoch: u32,
    newest: Option<Tick>,
    outgoing: Vec<u8>,
}

impl PosedCharacter {
    /// A character of which the server has said this first.
    pub(crate) fn new(first: &Word, actions: &PressActions, config: PosePredictorConfig) -> Self {
        let clock = FixedStepClockConfig { hz: Tick::HZ, ..FixedStepClockConfig::default() };
        let motor = first.sim.motor;
        Self {
            devices: Devices::new(actions),
            config,
            actions: actions.mask(),
            predictor: PosePredictor::new(config, motor.position),
            queue: SendQueue::new(REDUNDANCY),
            pacer: InputPacer::new(),
            clock: FixedStepClock::new(clock).expect("the server's tick rate is above 0"),
            tick: Tick(first.time.0 / SimTime::UNITS_PER_TICK),
            motor,
            before: (motor.position, motor.yaw),
            buttons: 0,
            lead: INITIAL_LEAD,
            began: first.epoch,
            epoch: first.epoch,
            newest: None,
            outgoing: Vec::new(),
        }
    }

    /// Follows a command of the game; false when it is an old one.
    pub(crate) fn follow(&mut self, word: &Word, now_s: f64) -> bool {
        if word.epoch <= self.epoch {
            return false;
        }
        self.epoch = word.epoch;
        self.motor = word.sim.motor;
        let position = self.motor.position;
        self.before = (position, self.motor.yaw);
        // What is under way moves the character from there on the server: each input begins anew there here, too.
        let heard = Sequence(self.queue.last().0.wrapping_sub(self.queue.len() as u32));
        self.predictor = PosePredictor::starting_after(heard, self.config, position);
        for (sequence, _) in self.queue.unacknowledged() {
            self.predictor.record(PredictedMove { sequence, position, self_directed: 0.0, at_s: now_s });
        }
        true
    }

    /// Takes in the server's newest state; false when it says nothing new.
    pub(crate) fn receive(&mut self, snapshot: &OwnSnapshot) -> bool {
        let header = snapshot.header;
        if snapshot.epoch != self.epoch || self.newest.is_some_and(|newest| newest >= header.tick) {
            return false;
        }
        self.newest = Some(header.tick);
        self.pacer.report(header.depth, header.target);
        self.queue.acknowledge(header.acknowledged);
        self.tick = Tick(header.tick.0 + self.queue.len() as u64);
        let (acknowledged, guessed_ticks) = (header.acknowledged, snapshot.guessed);
        self.predictor.receive(PoseSnapshot { acknowledged, guessed_ticks, position: snapshot.sim.motor.position })
    }

    /// Runs one frame: the game moves its character once for each tick that is due. Returns how far it was corrected at once.
    pub(crate) fn advance(&mut self, frame: SessionFrame, game: &mut GameCode) -> Vec3 {
        let scale = frame.scale * self.pacer.pace();
        let advance = self.clock.advance(frame.seconds, scale);
        self.predictor.fade(advance.clamped as f32);
        let steps = advance.steps + std::mem::take(&mut self.lead);
        let mut corrected = Vec3::ZERO;
        for index in 0..steps {
            let cutoff = self.clock.step_cutoff_ms(index, steps, frame.now_ms, scale);
            let input = self.devices.next(frame.now_ms, cutoff);
            corrected += self.step(input, frame.now_ms / 1e3, game);
        }
        corrected
    }

    /// Numbers an input, and moves by it what lives and does not sit, in the order reconcile, move, record.
    fn step(&mut self, input: StepInput<HeldControls>, now_s: f64, game: &mut GameCode) -> Vec3 {
        let pressed = input.buttons & !self.buttons & self.actions;
        self.buttons = input.buttons;
        self.tick = self.tick.next();
        let lives = !matches!(self.motor.state, CharacterState::Dead | CharacterState::Seated);
        let corrected = if lives { self.reconcile(now_s, game) } else { Vec3::ZERO };
        let speed_scale = if lives { self.predictor.speed_scale() } else { 1.0 };
        let input = StepInput { held: input.held.scaled(speed_scale), ..input };
        let MotorSnapshot { position, velocity, yaw, state, .. } = self.motor;
        let dt = 1.0 / Tick::HZ as f32;
        let step = PoseStep { dt, position, velocity, yaw, state, input, pressed, speed_scale };
        let moved = game.mover.as_mut().filter(|_| lives).map(|mover| mover(&step)).filter(PoseMove::is_finite);
        let moved = moved.unwrap_or(PoseMove { position, yaw, state: self.motor.state, ..PoseMove::default() });
        self.before = (position, yaw);
        let sequence = self.queue.push(input);
        let self_directed = (moved.position - position - moved.carried).length();
        let step = PredictedMove { sequence, position: moved.position, self_directed, at_s: now_s };
        self.motor.position = self.predictor.record(step);
        (self.motor.velocity, self.motor.yaw) = (moved.velocity, wrap_angle(moved.yaw));
        if lives && !matches!(moved.state, CharacterState::Dead | CharacterState::Seated) {
            self.motor.state = moved.state;
        }
        self.outgoing.clear();
        if let Some(packet) = self.queue.packet() {
            write_inputs(&mut self.outgoing, self.began, &packet);
        }
        corrected
    }

    /// Follows the server's newest state; how far at once.
    fn reconcile(&mut self, now_s: f64, game: &mut GameCode) -> Vec3 {
        let start = self.predictor.position();
        let correction =
            self.predictor.reconcile(now_s, |input| game.rule.as_mut().is_some_and(|rule| rule(input)).then_some(()));
        let at_once = matches!(correction, Correction::Shift { .. } | Correction::Snap { .. });
        let corrected = if at_once { self.predictor.position() - start } else { Vec3::ZERO };
        self.motor.position += corrected;
        corrected
    }

    /// Inputs to send, if a tick has passed.
    pub(crate) fn take_inputs(&mut self) -> Option<Vec<u8>> {
        (!self.outgoing.is_empty()).then(|| std::mem::take(&mut self.outgoing))
    }

    /// Puts a character that sits on its seat.
    pub(crate) fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        (self.motor.position, self.motor.velocity, self.motor.yaw) = (position, velocity, yaw);
        self.before = (position, yaw);
    }

    pub(crate) fn motor(&self) -> &MotorSnapshot {
        &self.motor
    }

    /// How it was corrected so far.
    pub(crate) fn counters(&self) -> tidelock_sim::reconcile::PosePredictorCounters {
        self.predictor.counters()
    }

    /// Where to draw it: between the last two ticks, with what is left of a shift.
    pub(crate) fn drawn(&self) -> DrawnPose {
        let (alpha, (position, yaw)) = (self.clock.alpha() as f32, self.before);
        let glide = self.predictor.drawn() - self.predictor.position();
        let turned = wrap_angle(self.motor.yaw - yaw);
        DrawnPose {
            position: position + (self.motor.position - position) * alpha + glide,
            yaw: wrap_angle(yaw + turned * alpha),
        }
    }

    pub(crate) fn time(&self) -> TickedTime {
        let passed = self.clock.alpha() / f64::from(Tick::HZ);
        let reached = self.tick.seconds() + passed;
        TickedTime { reached, drawn: (reached - 1.0 / f64::from(Tick::HZ)).max(0.0) }
    }
}
