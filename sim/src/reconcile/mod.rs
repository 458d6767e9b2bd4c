//! Poses a client predicts by its own means and the server corrects (S-31, S-32).
//!
//! [`reconcile`] is the decision alone: numbers in, a [`Correction`] out. [`PosePredictor`] keeps the numbers and applies
//! the decision, in the order reconcile, move, record. It suits entities a game moves in its own way; entities below a
//! parent and physics bodies have owners of their own. Replace it on reconnect.

mod decision;
mod history;
mod predictor;

pub use decision::{Correction, ReconcileConfig, ReconcileInput, SnapReason, reconcile};
pub use history::PoseHistory;
pub use predictor::{PosePredictor, PosePredictorConfig, PosePredictorCounters, PoseSnapshot, PredictedMove};
