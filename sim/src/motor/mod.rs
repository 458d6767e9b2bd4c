//! The local character motor (S-10 to S-12a).

mod fall;
mod float;
mod frame;
mod ground;
mod heading;
mod plan;
mod run;
mod settings;
mod snapshot;
mod tick;
mod walk;

pub use frame::{ControllerBytes, InputFrame};
pub use heading::{facing, wanted_direction, yaw_towards};
pub use run::run_frame;
pub use settings::{Drive, MotorSettings};
pub use snapshot::{CharacterState, GroundContact, MotorSnapshot};

/// What the motor did in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MotorResult {
    /// Motor ticks run.
    pub ticks: u32,
    /// Whether a jump from ground (or within coyote time) began.
    pub jumped: bool,
    /// Whether an air jump began.
    pub air_jumped: bool,
    /// Whether it came to stand on ground.
    pub landed: bool,
    /// Whether a wall stopped part of the movement.
    pub blocked: bool,
}
