//! One character's shared simulation: module and motor together, as client and server both run it (S-10, S-14).

use crate::collision::CollisionWorld;
use crate::module::{CustomState, ModuleState, ModuleStep, SimulationModule};
use crate::motor::{CharacterState, InputFrame, MotorResult, MotorSettings, MotorSnapshot, run_frame};
use crate::time::{SimSpan, SimTime};

/// Everything that decides a character's next frame besides input, settings and world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CharacterSim {
    /// The motor's state.
    pub motor: MotorSnapshot,
    /// The simulation module's state.
    pub custom: CustomState,
}

/// What a frame is run with.
#[derive(Clone, Copy)]
pub struct SimulationRun<'a> {
    /// Mover time at which the frame begins: its motor tick `i` happens at `start + 256 * (i + 1)` units.
    pub start: SimTime,
    /// The character's settings, before the module adjusts them.
    pub settings: &'a MotorSettings,
    /// The module both sides run.
    pub module: &'a dyn SimulationModule,
    /// Whether this is a replay after a correction.
    pub replaying: bool,
}

impl std::fmt::Debug for SimulationRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulationRun")
            .field("start", &self.start)
            .field("settings", self.settings)
            .field("module", &self.module.name())
            .field("replaying", &self.replaying)
            .finish()
    }
}

/// What came of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameOutcome {
    /// Motor ticks the frame covered.
    pub ticks: u32,
    /// What the motor did.
    pub motor: MotorResult,
    /// Mover time of the frame's last motor tick, the `start` of the next frame; `start` itself when it held no tick.
    pub end: SimTime,
}

/// Runs one frame: the module prepares the settings, the motor runs as many ticks as accumulator and duration hold, the
/// module steps once, and what it returns replaces position, velocity, yaw and custom state. For a seated character only
/// the time passes.
pub fn simulate_frame(
    state: &mut CharacterSim,
    frame: &InputFrame,
    run: &SimulationRun<'_>,
    world: &mut CollisionWorld<'_>,
) -> FrameOutcome {
    if state.motor.state == CharacterState::Seated {
        let motor = run_frame(&mut state.motor, frame, run.start, run.settings, world);
        return FrameOutcome::new(motor, run.start);
    }
    let mut settings = *run.settings;
    let before = state.module_state();
    run.module.prepare(&before, frame, &mut settings);
    let motor = run_frame(&mut state.motor, frame, run.start, &settings, world);
    let accepted = run.module.step(&ModuleStep {
        before,
        state: state.module_state(),
        frame,
        motor: &motor,
        ticks: motor.ticks,
        settings: &settings,
        replaying: run.replaying,
    });
    state.motor.position = accepted.position;
    state.motor.velocity = accepted.velocity;
    state.motor.yaw = accepted.yaw;
    state.custom = accepted.custom;
    FrameOutcome::new(motor, run.start)
}

impl FrameOutcome {
    fn new(motor: MotorResult, start: SimTime) -> Self {
        let end = start + SimSpan(motor.ticks.saturating_mul(SimSpan::MOTOR_TICK.0));
        Self { ticks: motor.ticks, motor, end }
    }
}

impl CharacterSim {
    /// A character that has just been created: `motor` as given, the module's state at its beginning.
    #[must_use]
    pub fn new(motor: MotorSnapshot, module: &dyn SimulationModule) -> Self {
        Self { motor, custom: module.initial() }
    }

    fn module_state(&self) -> ModuleState {
        ModuleState {
            position: self.motor.position,
            velocity: self.motor.velocity,
            yaw: self.motor.yaw,
            custom: self.custom,
        }
    }
}
