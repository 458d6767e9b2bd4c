//! The stock simulation module: sprint, dash and double jump.

use crate::bytes::{ReadError, Reader};
use crate::module::{CustomState, ModuleState, ModuleStep, SimulationModule};
use crate::motor::{Drive, InputFrame, MotorSettings, facing, wanted_direction, yaw_towards};

/// Sprint, dash and double jump; the module a server runs when the game names none (S-14).
///
/// It reads the first controller byte: bit 0 held sprints, a press of bit 1 dashes. Its state is 9 bytes, its timers
/// whole motor ticks, so that slicing time finer gains nothing.
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
        Dash::default().encode()
    }

    fn prepare(&self, state: &ModuleState, frame: &InputFrame, settings: &mut MotorSettings) {
        let dash = self.begin(state, frame, settings);
        settings.air_jumps = self.air_jumps;
        if dash.held & Self::SPRINT != 0 {
            settings.walk_speed *= self.sprint_factor;
        }
        if dash.left > 0 {
            let velocity = facing(dash.yaw, settings.up) * self.dash_speed;
            settings.drive = Some(Drive { velocity, ticks: u32::from(dash.left) });
        }
    }

    fn step(&self, step: &ModuleStep<'_>) -> ModuleState {
        let dash = self.begin(&step.before, step.frame, step.settings);
        let spent = u16::try_from(step.ticks).unwrap_or(u16::MAX);
        let left = dash.left.saturating_sub(spent);
        let cooldown = dash.cooldown.saturating_sub(spent);
        ModuleState { custom: Dash { left, cooldown, ..dash }.encode(), ..step.state }
    }
}

impl StockModule {
    /// The dash as it is once a frame's presses have counted.
    fn begin(&self, state: &ModuleState, frame: &InputFrame, settings: &MotorSettings) -> Dash {
        let dash = Dash::decode(&state.custom).unwrap_or_default();
        let held = frame.controller.as_slice().first().copied().unwrap_or(0);
        let pressed = held & !dash.held & Self::DASH != 0;
        if !pressed || dash.cooldown > 0 || dash.left > 0 {
            return Dash { held, ..dash };
        }
        let yaw = yaw_towards(wanted_direction(frame, settings.up), settings.up).unwrap_or(state.yaw);
        Dash { held, left: self.dash_ticks, cooldown: self.dash_cooldown_ticks, yaw }
    }
}

/// What the module keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Dash {
    /// The controller byte of the last frame.
    held: u8,
    /// Motor ticks left of the dash.
    left: u16,
    /// Motor ticks until the next may start.
    cooldown: u16,
    /// Where it goes, radians.
    yaw: f32,
}

impl Dash {
    const SIZE: usize = 9;

    fn encode(self) -> CustomState {
        let mut bytes = [0; Self::SIZE];
        bytes[0] = self.held;
        bytes[1..3].copy_from_slice(&self.left.to_le_bytes());
        bytes[3..5].copy_from_slice(&self.cooldown.to_le_bytes());
        bytes[5..9].copy_from_slice(&self.yaw.to_le_bytes());
        CustomState::new(&bytes).unwrap_or_default()
    }

    fn decode(state: &CustomState) -> Result<Self, ReadError> {
        let mut reader = Reader::new(state.as_slice());
        let dash = Self { held: reader.u8()?, left: reader.u16()?, cooldown: reader.u16()?, yaw: reader.f32()? };
        reader.finish()?;
        if dash.yaw.is_finite() { Ok(dash) } else { Err(ReadError::Value) }
    }
}
