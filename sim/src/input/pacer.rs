/// What one depth report made of an [`InputPacer`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacerReport {
    /// Average depth of the server's queue, inputs.
    pub average: f64,
    /// Average distance of a report from the average, inputs.
    pub jitter: f64,
    /// The depth aimed at, 2 to 5 inputs.
    pub aim: f64,
    /// How fast the client's clock should run, 0.95 to 1.05.
    pub pace: f64,
}

/// Keeps the server's queue of this client's inputs as short as its jitter allows, by running the client's clock a little
/// faster or slower (S-7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputPacer {
    average: f64,
    jitter: f64,
    aim: f64,
    pace: f64,
}

impl Default for InputPacer {
    fn default() -> Self {
        Self::new()
    }
}

impl InputPacer {
    /// The shortest queue aimed at, inputs: one in use and one to spare, right without any round trip too.
    pub const MIN_DEPTH: f64 = 2.0;
    /// The longest queue aimed at, inputs. A server's `max_target` should be this.
    pub const MAX_DEPTH: u32 = 5;
    /// Farthest the pace leaves 1.
    pub const MAX_SLEW: f64 = 0.05;

    const WEIGHT: f64 = 0.1;
    const GAIN: f64 = 0.02;

    /// A pacer that has heard nothing: average depth 2, jitter 0, pace 1.
    #[must_use]
    pub fn new() -> Self {
        Self { average: 2.0, jitter: 0.0, aim: Self::MIN_DEPTH, pace: 1.0 }
    }

    /// Takes in a report of `depth` inputs queued after the server's step, and the `target` the server asks for.
    pub fn report(&mut self, depth: u32, target: Option<u32>) -> PacerReport {
        let depth = f64::from(depth);
        self.jitter += Self::WEIGHT * ((depth - self.average).abs() - self.jitter);
        self.average += Self::WEIGHT * (depth - self.average);
        let wanted = Self::MIN_DEPTH.max(f64::from(target.unwrap_or(0))).max(1.0 + 2.0 * self.jitter);
        self.aim = wanted.min(f64::from(Self::MAX_DEPTH));
        self.pace = 1.0 + ((self.aim - self.average) * Self::GAIN).clamp(-Self::MAX_SLEW, Self::MAX_SLEW);
        self.state()
    }

    /// How fast the client's clock should run now.
    #[must_use]
    pub fn pace(&self) -> f64 {
        self.pace
    }

    /// The state after the last report.
    #[must_use]
    pub fn state(&self) -> PacerReport {
        PacerReport { average: self.average, jitter: self.jitter, aim: self.aim, pace: self.pace }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-7
        #[test]
        fn no_report_leaves_the_bounds(reports: Vec<(u32, Option<u32>)>) {
            let mut pacer = InputPacer::new();
            prop_assert_eq!(pacer.pace(), 1.0);
            for (depth, target) in reports {
                let state = pacer.report(depth, target);
                prop_assert!((0.95..=1.05).contains(&state.pace) && (2.0..=5.0).contains(&state.aim), "{state:?}");
            }
        }
    }
}
