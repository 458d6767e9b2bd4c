//! Lag compensation (S-60): where everyone was when the shooter saw them, without touching the live world.
//!
//! Scripted movers need no history: they are functions of time, so ask the collision world at the view's time.

mod clamp;
mod history;
mod view;

pub use clamp::{RewindCounters, RewindLimits, clamp_view};
pub use history::{RewindHistory, RewindPose, RewindShape};
pub use view::{RewindHit, RewindView};
