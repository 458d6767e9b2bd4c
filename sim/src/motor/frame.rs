use glam::Vec3;

use crate::time::SimSpan;

/// Custom controller input of one frame: at most 32 bytes whose meaning belongs to the simulation module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerBytes {
    bytes: [u8; Self::MAX],
    len: u8,
}

impl ControllerBytes {
    /// The most bytes one frame can carry.
    pub const MAX: usize = 32;

    /// Copies `bytes`, or `None` when there are more than [`Self::MAX`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut held = [0; Self::MAX];
        held.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { bytes: held, len: bytes.len() as u8 })
    }

    /// The bytes carried.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// What a player held during one stretch of time; the motor's only input (S-10).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputFrame {
    /// How long it was held: 1/240 s to 1/30 s once it leaves the client.
    pub duration: SimSpan,
    /// Wanted movement, length 0 to 1 as a share of full speed. In the world's axes, or in the camera's (−z forward)
    /// when `camera_relative`.
    pub direction: Vec3,
    /// Whether `direction` turns with `camera_yaw`.
    pub camera_relative: bool,
    /// Camera yaw in radians about the up direction.
    pub camera_yaw: f32,
    /// Whether jump is held.
    pub jump: bool,
    /// Whether the motor jumps by itself at obstacles too high to step on.
    pub auto_jump: bool,
    /// Input of the simulation module.
    pub controller: ControllerBytes,
}

impl Default for InputFrame {
    fn default() -> Self {
        Self {
            duration: SimSpan::TICK,
            direction: Vec3::ZERO,
            camera_relative: false,
            camera_yaw: 0.0,
            jump: false,
            auto_jump: false,
            controller: ControllerBytes::default(),
        }
    }
}
