//! Reports of character movement: what a client claims, and how the server checks it by running it again (S-20 to S-24a).

mod adoption;
mod agreement;
mod budget;
mod checks;
mod correction;
mod desync;
mod limits;
mod rate;
mod refusal;
mod replay;
mod sample_clock;
mod sanitise;
mod truth;
mod wire_frame;

use glam::Vec3;

use crate::module::CustomState;
use crate::motor::{CharacterState, InputFrame};
use crate::sequence::Sequence;
use crate::time::SimTime;

pub use adoption::AdoptionBudget;
pub use agreement::Difference;
pub use budget::{Admission, AdmissionVerdict, ReplayBudget};
pub use checks::{check_claim, check_frames, duration_is_valid};
pub use correction::{Correction, CorrectionCause};
pub use desync::{Desync, DesyncAlarm, DesyncField};
pub use limits::ReplayLimits;
pub use rate::TokenBucket;
pub use refusal::{ReportCounters, ReportRefusal};
pub use replay::{ReplayEnvironment, ReplayOutcome, ReplayVerdict, replay_report};
pub use sample_clock::SampleClock;
pub use sanitise::sanitised;
pub use truth::{CharacterTruth, ReportAck};
pub use wire_frame::WireFrame;

/// What a client says its character did since its last report: a claim until [`replay_report`] has run it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Number of this report, one more than the one before, wrapping.
    pub sequence: Sequence,
    /// Mover time at the beginning: the first motor tick happens one motor tick later.
    pub start: SimTime,
    /// Mover time at the end, which is the sample time of the pose.
    pub end: SimTime,
    /// Centre of the capsule at the end, studs.
    pub position: Vec3,
    /// Velocity at the end, studs/s.
    pub velocity: Vec3,
    /// Facing at the end, radians.
    pub yaw: f32,
    /// What the character is doing at the end.
    pub state: CharacterState,
    /// The simulation module's state at the end.
    pub custom: CustomState,
    /// Epoch of the last game command the client knew of; a report of an older epoch is stale.
    pub epoch: u32,
    /// The input frames it covers, oldest first, at most [`Report::MAX_FRAMES`].
    pub frames: Vec<InputFrame>,
}

impl Report {
    /// The most input frames one report can carry.
    pub const MAX_FRAMES: usize = 96;
}
