use std::sync::Arc;

use glam::Vec3;
use tidelock_replication::wire::{OwnSnapshot, write_inputs};
use tidelock_sim::client::{CorrectionSmootherConfig, DrawnPose, SmoothedPose};
use tidelock_sim::clock::FixedStepClockConfig;
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::input::{HeldControls, PressActions, StepInput};
use tidelock_sim::module::SimulationModule;
use tidelock_sim::motor::MotorSnapshot;
use tidelock_sim::report::Correction;
use tidelock_sim::session::{
    DrawnObject, PredictedSession, PredictedSessionConfig, PredictedSimulation, Reconciliation, SessionFrame,
    SnapshotHeader, StepContext,
};
use tidelock_sim::simulation::{CharacterSim, SimulationRun, simulate_frame};
use tidelock_sim::{Sequence, SimTime, Tick};

use super::devices::Devices;
use super::own::TickedTime;
use crate::scene::Scene;

/// The own character under ticked inputs: predicted tick by tick as the server will run it, and rewound to what the server says
/// (S-33).
#[derive(Debug)]
pub(crate) struct TickedCharacter {
    pub(crate) devices: Devices,
    session: PredictedSession<OwnWorld>,
    /// Epoch at which it came under this controller.
    began: u32,
    outgoing: Vec<u8>,
    drawn: Vec<DrawnObject>,
}

/// What is lent to a prediction for the length of a frame: the ground, and a scratch for it.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) scene: Arc<Scene>,
    /// Colliders, where they differ from the scene's.
    pub(crate) colliders: Option<CollisionIndex>,
    pub(crate) nearby: Nearby,
}

/// The game as one client predicts it: its own character.
struct OwnWorld {
    sim: CharacterSim,
    module: Arc<dyn SimulationModule>,
    lent: Option<Lent>,
}

impl std::fmt::Debug for OwnWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnWorld").field("sim", &self.sim).finish_non_exhaustive()
    }
}

impl PredictedSimulation for OwnWorld {
    type Input = StepInput<HeldControls>;
    type Snapshot = OwnSnapshot;
    type Event = ();

    fn header(snapshot: &OwnSnapshot) -> SnapshotHeader {
        snapshot.header
    }

    /// Commands of the game put it elsewhere; and until the first input was heard of, nobody knew in which tick it would act.
    fn is_teleport(previous: &OwnSnapshot, next: &OwnSnapshot) -> bool {
        previous.epoch != next.epoch || previous.header.acknowledged == Sequence(0)
    }

    fn restore(&mut self, snapshot: &OwnSnapshot) {
        self.sim = snapshot.sim;
    }

    fn step(&mut self, input: &Self::Input, context: &mut StepContext<'_, ()>) {
        let Some(lent) = &mut self.lent else { return };
        let Lent { scene, colliders, nearby } = lent;
        let mut world = CollisionWorld { index: colliders.as_ref().unwrap_or(&scene.colliders), nearby };
        let start = Tick(context.tick().0.saturating_sub(1)).time();
        let replaying = context.replaying();
        let run = SimulationRun { start, settings: &scene.settings, module: &*self.module, replaying };
        simulate_frame(&mut self.sim, &input.frame(), &run, &mut world);
    }

    fn poses(&self, out: &mut Vec<SmoothedPose>) {
        let MotorSnapshot { position, yaw, .. } = self.sim.motor;
        out.push(SmoothedPose { position, angle: yaw, ..SmoothedPose::default() });
    }
}

impl TickedCharacter {
    /// A character of which the server has said this first.
    pub(crate) fn new(
        first: &Correction,
        module: Arc<dyn SimulationModule>,
        actions: &PressActions,
        smoother: CorrectionSmootherConfig,
    ) -> Self {
        let config = PredictedSessionConfig {
            clock: FixedStepClockConfig { hz: Tick::HZ, ..FixedStepClockConfig::default() },
            smoother,
            ..PredictedSessionConfig::default()
        };
        let world = OwnWorld { sim: first.sim, module, lent: None };
        let mut session = PredictedSession::new(world, config).expect("the server's tick rate is above 0");
        let tick = Tick(first.time.0 / SimTime::UNITS_PER_TICK);
        let header = SnapshotHeader { tick, depth: 2, ..SnapshotHeader::default() };
        session.receive(OwnSnapshot { header, guessed: 0, epoch: first.epoch, sim: first.sim });
        Self {
            devices: Devices::new(actions),
            session,
            began: first.epoch,
            outgoing: Vec::new(),
            drawn: Vec::with_capacity(1),
        }
    }

    /// Takes in the server's newest state.
    pub(crate) fn receive(&mut self, snapshot: OwnSnapshot) -> bool {
        // One of before it came under this controller has nothing to say.
        snapshot.epoch >= self.began && self.session.receive(snapshot)
    }

    /// Runs one frame on what the devices say; what a rewind came to, if the server had spoken.
    pub(crate) fn advance(&mut self, frame: SessionFrame, lent: Lent) -> (Option<Reconciliation>, Lent) {
        self.session.simulation_mut().lent = Some(lent);
        let start = self.session.begin_frame(frame);
        while let Some(due) = self.session.next_step() {
            let input = self.devices.next(frame.now_ms, due.cutoff_ms);
            let packet = self.session.step(input);
            self.outgoing.clear();
            write_inputs(&mut self.outgoing, self.began, &packet);
        }
        self.session.drain_cancelled().for_each(drop);
        let lent = self.session.simulation_mut().lent.take().expect("it was lent just now");
        self.drawn.clear();
        self.session.draw(&mut self.drawn);
        (start.reconciliation, lent)
    }

    /// Inputs to send, if a tick has passed.
    pub(crate) fn take_inputs(&mut self) -> Option<Vec<u8>> {
        (!self.outgoing.is_empty()).then(|| std::mem::take(&mut self.outgoing))
    }

    /// Puts a character that sits on its seat.
    pub(crate) fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        let motor = &mut self.session.simulation_mut().sim.motor;
        (motor.position, motor.velocity, motor.yaw) = (position, velocity, yaw);
        self.drawn.iter_mut().for_each(|drawn| (drawn.position, drawn.angle) = (position, yaw));
    }

    pub(crate) fn motor(&self) -> &MotorSnapshot {
        &self.session.simulation().sim.motor
    }

    /// Where to draw it: between the last two ticks, with what is left of corrections.
    pub(crate) fn drawn(&self) -> DrawnPose {
        let MotorSnapshot { position, yaw, .. } = *self.motor();
        self.drawn
            .first()
            .map_or(DrawnPose { position, yaw }, |drawn| DrawnPose { position: drawn.position, yaw: drawn.angle })
    }

    pub(crate) fn time(&self) -> TickedTime {
        let passed = self.session.alpha() / f64::from(Tick::HZ);
        let reached = self.session.tick().seconds() + passed;
        TickedTime { reached, drawn: (reached - 1.0 / f64::from(Tick::HZ)).max(0.0) }
    }
}
