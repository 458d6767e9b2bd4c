use std::time::Duration;

use hdrhistogram::Histogram;

/// A stage of the server's tick, in the order they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Taking messages and events from the network.
    Ingress,
    /// Turning bytes into messages, in parallel.
    Decode,
    /// Joins, leaves, game commands and systems.
    Game,
    /// Running reported input, in parallel.
    Replay,
    /// Loose parts.
    Physics,
    /// Turning changes into bytes, once per audience.
    Publish,
    /// Who sees what, in parallel.
    Interest,
    /// Motion batches, in parallel.
    Batch,
    /// Handing bytes to the network.
    Egress,
}

impl Stage {
    /// How many stages there are.
    pub const COUNT: usize = 9;
    /// All stages in running order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Ingress,
        Self::Decode,
        Self::Game,
        Self::Replay,
        Self::Physics,
        Self::Publish,
        Self::Interest,
        Self::Batch,
        Self::Egress,
    ];

    /// The stage's name in lower case, as reports and metrics show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ingress => "ingress",
            Self::Decode => "decode",
            Self::Game => "game",
            Self::Replay => "replay",
            Self::Physics => "physics",
            Self::Publish => "publish",
            Self::Interest => "interest",
            Self::Batch => "batch",
            Self::Egress => "egress",
        }
    }
}

/// Times of one tick, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes([Duration; Stage::COUNT]);

impl StageTimes {
    /// Adds to a stage.
    pub(crate) fn add(&mut self, stage: Stage, time: Duration) {
        self.0[stage as usize] += time;
    }

    /// Time spent in `stage`.
    #[must_use]
    pub fn get(&self, stage: Stage) -> Duration {
        self.0[stage as usize]
    }

    /// Time of the whole tick.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.0.iter().sum()
    }

    /// The stage that took longest.
    #[must_use]
    pub fn slowest(&self) -> Stage {
        Stage::ALL.into_iter().max_by_key(|stage| self.get(*stage)).unwrap_or(Stage::Ingress)
    }
}

/// Distribution of a time: fixed memory, two significant digits, 1 µs to 60 s.
#[derive(Clone, Debug)]
pub struct TimeHistogram(Histogram<u32>);

impl Default for TimeHistogram {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, 60_000_000, 2).expect("constant bounds are valid"))
    }
}

impl TimeHistogram {
    /// Adds one reading; longer than 60 s counts as 60 s.
    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1));
    }

    /// The reading below which a share `quantile` (0 to 1) of all lie; zero without readings.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Duration {
        if self.0.is_empty() { Duration::ZERO } else { Duration::from_micros(self.0.value_at_quantile(quantile)) }
    }

    /// Number of readings.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The longest reading.
    #[must_use]
    pub fn max(&self) -> Duration {
        if self.0.is_empty() { Duration::ZERO } else { Duration::from_micros(self.0.max()) }
    }

    /// Forgets all readings and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }
}
