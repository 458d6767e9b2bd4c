//! The stock simulation module: sprint, dash and double jump.

use crate::module::{CustomState, ModuleState, ModuleStep, SimulationModule};
use crate::motor::{InputFrame, MotorSettings};

/// Sprint, dash and double jump; the module a server runs when the game names none (S-14).
///
/// It reads the first controller byte: bit 0 held sprints, a press of bit 1 dashes. Its state is 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StockModule {
    /// Walk speed while sprinting, as a multiple, default 1.6.
    pub sprint_factor: f32,
    /// Speed of a dash in studs/s, default 60, along the wanted direction, or the facing when none is wanted.
    pub dash_speed: f32,
    /// Length of a dash in motor ticks, default 36 (0.15 s).
    pub dash_ticks: u16,
    /// Motor ticks from the start of a dash until the next may start, default 288 (1.2 s).
    pub dash_cooldown_ticks: u16,
    /// Jumps in the air, default 1.
    pub air_jumps: u8,
}

impl StockModule {
    /// Bit of the first controller byte that sprints while held.
    pub const SPRINT: u8 = 1;
    /// Bit of the first controller byte whose press dashes.
    pub const DASH: u8 = 2;
}

impl Default for StockModule {
    fn default() -> Self {
        Self { sprint_factor: 1.6, dash_speed: 60.0, dash_ticks: 36, dash_cooldown_ticks: 288, air_jumps: 1 }
    }
}

impl SimulationModule for StockModule {
    fn name(&self) -> &'static str {
        "stock"
    }

    fn version(&self) -> u32 {
        1
    }

    fn initial(&self) -> CustomState {
        CustomState::default()
    }

    fn prepare(&self, _state: &ModuleState, _frame: &InputFrame, settings: &mut MotorSettings) {
        settings.air_jumps = self.air_jumps;
    }

    fn step(&self, step: &ModuleStep<'_>) -> ModuleState {
        step.state
    }
}
