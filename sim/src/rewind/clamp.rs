use crate::time::{SimSpan, SimTime};

/// How far a claimed view time is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewindLimits {
    /// Longest rewind, default 0.5 s, which is as far as history reaches.
    pub longest: SimSpan,
    /// How far a claim may be from the server's estimate of what the shooter sees, default one send interval, 0.05 s.
    pub tolerance: SimSpan,
}

impl Default for RewindLimits {
    fn default() -> Self {
        Self { longest: SimSpan(30_720), tolerance: SimSpan(3_072) }
    }
}

/// How claims fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewindCounters {
    /// Claims believed.
    pub believed: u64,
    /// Claims moved to the nearest time that could be believed.
    pub clamped: u64,
}

/// The time to rewind to for a shooter who claims to have seen `claimed`, at `now`: within the tolerance of `estimate`, the
/// server's own estimate of the shooter's playback time if it has one, within the longest rewind, and not in the future.
pub fn clamp_view(
    claimed: SimTime,
    now: SimTime,
    estimate: Option<SimTime>,
    limits: &RewindLimits,
    counters: &mut RewindCounters,
) -> SimTime {
    let mut view = claimed;
    if let Some(estimate) = estimate {
        view = view.clamp(estimate - limits.tolerance, estimate + limits.tolerance);
    }
    view = view.clamp(now - limits.longest, now);
    if view == claimed {
        counters.believed += 1;
    } else {
        counters.clamped += 1;
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    // B106
    #[test]
    fn claims_are_clamped_to_what_can_be() {
        let (limits, mut counters) = (RewindLimits::default(), RewindCounters::default());
        let now = SimTime(10_000_000);
        let estimate = now - SimSpan::from_seconds(0.4);
        let two_seconds_ago = now - SimSpan::from_seconds(2.0);
        for (claimed, want) in [
            (two_seconds_ago, estimate - limits.tolerance),
            (SimTime::from_seconds(-3.0), estimate - limits.tolerance),
            (now + SimSpan(90_000), estimate + limits.tolerance),
            (SimTime(u64::MAX), estimate + limits.tolerance),
        ] {
            assert_eq!(clamp_view(claimed, now, Some(estimate), &limits, &mut counters), want);
        }
        assert_eq!(clamp_view(two_seconds_ago, now, None, &limits, &mut counters), now - limits.longest);
        assert_eq!(clamp_view(now + SimSpan(1), now, None, &limits, &mut counters), now);
        assert_eq!(counters, RewindCounters { believed: 0, clamped: 6 });
        // A player at 250 ms is believed.
        assert_eq!(
            clamp_view(estimate + SimSpan(900), now, Some(estimate), &limits, &mut counters),
            estimate + SimSpan(900)
        );
        assert_eq!(counters.believed, 1);
        // The server's first second.
        assert_eq!(clamp_view(SimTime(0), SimTime(20), Some(SimTime(5)), &limits, &mut counters), SimTime(0));
    }
}
