//! Shared simulation: what a game adds to the motor, run alike by client and server (S-14).

use glam::Vec3;

use crate::motor::{InputFrame, MotorSettings};

/// A module's own state: at most 64 bytes, compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomState {
    bytes: [u8; Self::MAX],
    len: u8,
}

impl CustomState {
    /// The most bytes a module can keep.
    pub const MAX: usize = 64;

    /// Copies `bytes`, or `None` when there are more than [`Self::MAX`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut held = [0; Self::MAX];
        held.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { bytes: held, len: bytes.len() as u8 })
    }

    /// The bytes kept.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl Default for CustomState {
    fn default() -> Self {
        Self { bytes: [0; Self::MAX], len: 0 }
    }
}

/// What a module may change: it replaces the character's pose, velocity and custom state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModuleState {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Velocity, studs/s.
    pub velocity: Vec3,
    /// Facing, radians.
    pub yaw: f32,
    /// The module's own state.
    pub custom: CustomState,
}

/// A movement rule both sides run. Everything it does must follow from its arguments alone.
pub trait SimulationModule: Send + Sync {
    /// Registered name; client and server refuse to pair with different ones.
    fn name(&self) -> &'static str;

    /// Registered version, compared like the name.
    fn version(&self) -> u32;

    /// State of a character that has just been created.
    fn initial(&self) -> CustomState;

    /// Adjusts the settings for one frame before its motor ticks, e.g. a faster walk while sprinting. What must end in
    /// the middle of a frame is given to the motor as a [`Drive`](crate::motor::Drive), which counts motor ticks.
    fn prepare(&self, state: &ModuleState, frame: &InputFrame, settings: &mut MotorSettings);

    /// Runs once after a frame's motor ticks and returns what replaces the character's state.
    fn step(&self, step: &ModuleStep<'_>) -> ModuleState;
}

/// Arguments of [`SimulationModule::step`].
#[derive(Debug)]
pub struct ModuleStep<'a> {
    /// State before the motor's ticks, as [`SimulationModule::prepare`] saw it.
    pub before: ModuleState,
    /// State after the motor's ticks.
    pub state: ModuleState,
    /// The frame that ran.
    pub frame: &'a InputFrame,
    /// What the motor did.
    pub motor: &'a crate::motor::MotorResult,
    /// Motor ticks the frame covered; measure time by it, never by the number of frames.
    pub ticks: u32,
    /// Settings the motor ran with.
    pub settings: &'a MotorSettings,
    /// Whether this is a replay after a correction, in which nothing may be shown or heard twice.
    pub replaying: bool,
}
