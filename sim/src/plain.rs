//! The module that adds nothing: the motor alone.

use crate::module::{CustomState, ModuleState, ModuleStep, SimulationModule};
use crate::motor::{InputFrame, MotorSettings};

/// Walking and jumping as the motor does them, without sprint, dash or state of its own.
///
/// The default of games whose server does not run its clients' frames: it judges them by the motor's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainModule;

impl SimulationModule for PlainModule {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn version(&self) -> u32 {
        1
    }

    fn initial(&self) -> CustomState {
        CustomState::default()
    }

    fn prepare(&self, _: &ModuleState, _: &InputFrame, _: &mut MotorSettings) {}

    fn step(&self, step: &ModuleStep<'_>) -> ModuleState {
        step.state
    }
}
