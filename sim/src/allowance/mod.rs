//! Movement without a shared module: reports are judged by what the arrival time and the game's grants allow (S-25, S-25a,
//! S-26). Never by the client's clock.

mod air;
mod counters;
mod grants;
mod limits;
mod signal;
mod speed;
mod split;
mod support;
mod validator;
mod velocity;
mod window;

pub(crate) use window::DistanceWindow;

pub use counters::AllowanceCounters;
pub use grants::MovementGrants;
pub use limits::{AllowanceGuards, AllowanceLimits};
pub use signal::{ValidationReason, ValidationSignal};
pub use support::{Bearing, CollisionSupport, Support, SupportQuery};
pub use validator::{AllowanceEnvironment, AllowanceOutcome, AllowanceState, AllowanceValidator, AllowanceVerdict};
