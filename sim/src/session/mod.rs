//! A game predicted as a whole: rewound to each server snapshot, replayed with the inputs the server has not seen (S-33).
//!
//! The game implements [`PredictedSimulation`]; [`PredictedSession`] owns timing, numbering, rewind, replay and drawing.
//! A frame goes so:
//!
//! ```
//! use tidelock_sim::session::{PredictedSession, PredictedSimulation, SessionFrame};
//!
//! fn frame<S: PredictedSimulation>(
//!     session: &mut PredictedSession<S>,
//!     frame: SessionFrame,
//!     mut sample: impl FnMut(Option<f64>) -> S::Input,
//!     mut send: impl FnMut(tidelock_sim::input::InputPacket<'_, S::Input>),
//! ) {
//!     session.begin_frame(frame);
//!     while let Some(due) = session.next_step() {
//!         let input = sample(due.cutoff_ms);
//!         send(session.step(input));
//!     }
//! }
//! ```

mod drawing;
mod predicted;
mod simulation;

pub use drawing::DrawnObject;
pub use predicted::{
    DueStep, FrameStart, PredictedSession, PredictedSessionConfig, Reconciliation, SessionCounters, SessionFrame,
};
pub use simulation::{PredictedSimulation, SnapshotHeader, StepContext};
