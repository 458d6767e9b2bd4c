use tidelock_replication::ids::InstanceId;
use tidelock_sim::client::{Prediction, PredictionClock, PredictionClockConfig, PredictionConfig};
use tidelock_sim::motor::MotorSnapshot;
use tidelock_sim::report::Correction;

/// The client's own character: which one it is, its prediction, and the clock that steers it.
#[derive(Debug)]
pub(crate) struct OwnCharacter {
    config: PredictionConfig,
    pub(crate) clock: PredictionClock,
    id: Option<InstanceId>,
    pub(crate) prediction: Option<Prediction>,
    /// The server's words not applied yet.
    pub(crate) corrections: Vec<Correction>,
}

impl OwnCharacter {
    pub(crate) fn new(config: PredictionConfig) -> Self {
        let clock = PredictionClock::new(PredictionClockConfig::default());
        Self { config, clock, id: None, prediction: None, corrections: Vec::new() }
    }

    /// From now on it is this one; it lives from the next correction on.
    pub(crate) fn assign(&mut self, id: InstanceId) {
        self.id = Some(id);
        self.prediction = None;
        self.corrections.clear();
    }

    /// Which one, once assigned.
    pub(crate) fn id(&self) -> Option<InstanceId> {
        self.id
    }

    /// Its predicted state.
    pub(crate) fn motor(&self) -> Option<&MotorSnapshot> {
        self.prediction.as_ref().map(|prediction| &prediction.sim().motor)
    }

    /// Begins to predict from the server's first word.
    pub(crate) fn begin(&mut self, first: &Correction) {
        self.prediction = Some(Prediction::new(first.sim, first.epoch, first.time, self.config));
    }
}
