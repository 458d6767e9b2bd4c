/// Seconds over which the lowest transit is taken, twice in a row.
const WINDOW_S: f64 = 1.0;
/// How far above the floor the lowest transit of both windows must lie before the path counts as longer, seconds: more than
/// jitter leaves by chance.
const MARGIN_S: f64 = 0.04;

/// Notices that the path from the server has become longer, as after a change of network: the floor of transits, a minimum, follows
/// a shorter path at once and a longer one only slowly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathWatch {
    current: f64,
    previous: f64,
    ends: f64,
}

impl Default for PathWatch {
    fn default() -> Self {
        Self { current: f64::INFINITY, previous: f64::NEG_INFINITY, ends: f64::NEG_INFINITY }
    }
}

impl PathWatch {
    /// Takes in a transit at local time `now`, and the floor; returns the new floor when the path has become longer.
    pub(crate) fn sample(&mut self, transit: f64, now: f64, floor: f64) -> Option<f64> {
        let mut raised = None;
        if now >= self.ends {
            // A window without a sample, and the one before the first, say nothing: their lowest is not finite.
            let lowest = self.previous.min(self.current);
            raised = Some(lowest).filter(|lowest| lowest.is_finite() && *lowest > floor + MARGIN_S);
            self.previous = if self.current.is_finite() { self.current } else { f64::NEG_INFINITY };
            self.current = f64::INFINITY;
            self.ends = now + WINDOW_S;
        }
        self.current = self.current.min(transit);
        raised
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_path_is_noticed_within_three_seconds_and_jitter_is_not() {
        let mut watch = PathWatch::default();
        for step in 0..100 {
            let jitter = f64::from(step % 7) * 0.02;
            assert_eq!(watch.sample(0.1 + jitter, f64::from(step) * 0.05, 0.1), None);
        }
        let raised = (100..160).find_map(|step| {
            let (now, jitter) = (f64::from(step) * 0.05, f64::from(step % 7) * 0.004);
            Some((now, watch.sample(0.2 + jitter, now, 0.1)?))
        });
        let (at, floor) = raised.unwrap();
        assert!(at <= 8.0 && (floor - 0.2).abs() < 1e-9, "{floor} at {at}");
    }
}
