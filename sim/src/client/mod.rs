//! A client's own character: predicted at once, corrected when the server says otherwise (S-20b, S-30, S-34).

mod drawn;
mod history;
mod prediction;
mod prediction_clock;
mod slicer;
mod smoother;

pub use drawn::DrawnPose;
pub use prediction::{
    CorrectionEvent, Prediction, PredictionConfig, PredictionCounters, PredictionEnvironment, PredictionStep,
};
pub use prediction_clock::{PredictionClock, PredictionClockConfig, Steering};
pub use smoother::{CorrectionOffset, CorrectionSmoother, CorrectionSmootherConfig, SmoothedPose};
