use std::fmt;

use super::PressCounts;

/// How an [`InputBuffer`](super::InputBuffer) queues, guesses and drains (S-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputBufferConfig {
    /// The most inputs queued, 1 to 1,024, default 16. Above it the oldest pair that can merge does, else the oldest is
    /// dropped.
    pub max_queued: u32,
    /// The smallest depth asked of the client, default 0.
    pub min_target: u32,
    /// The largest depth asked of the client, and what a queue drains down to, default 2; at least `min_target`.
    /// Beside an [`InputPacer`](super::InputPacer) it should be [`MAX_DEPTH`](super::InputPacer::MAX_DEPTH).
    pub max_target: u32,
    /// How many of the last accepted inputs jitter is measured over, 1 to 65,536, default 120.
    pub jitter_window: u32,
    /// How many steps a queue must have stayed above `max_target` before two inputs fold into one, above 0, default 30.
    pub drain_window: u32,
    /// Whether to guess and to drain, default true. Without, the queue is plain first in, first out.
    pub catch_up: bool,
    /// The most guesses that count as inputs at once, at most 1,024, default 8.
    pub max_speculation: u32,
    /// How many starved steps repeat the last input before neutral is handed out, default 30 (0.5 s at 60 Hz); `None`
    /// repeats for ever.
    pub neutral_after: Option<u32>,
}

impl Default for InputBufferConfig {
    fn default() -> Self {
        Self {
            max_queued: 16,
            min_target: 0,
            max_target: 2,
            jitter_window: 120,
            drain_window: 30,
            catch_up: true,
            max_speculation: 8,
            neutral_after: Some(30),
        }
    }
}

/// Why an [`InputBufferConfig`] makes no buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputBufferConfigError {
    /// `max_queued` is not in 1 to 1,024.
    MaxQueued,
    /// `min_target` is above `max_target`.
    Targets,
    /// `jitter_window` is not in 1 to 65,536.
    JitterWindow,
    /// `drain_window` is 0.
    DrainWindow,
    /// `max_speculation` is above 1,024.
    MaxSpeculation,
}

impl fmt::Display for InputBufferConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MaxQueued => "max_queued must be 1 to 1024",
            Self::Targets => "min_target must be at most max_target",
            Self::JitterWindow => "jitter_window must be 1 to 65536",
            Self::DrainWindow => "drain_window must be above 0",
            Self::MaxSpeculation => "max_speculation must be at most 1024",
        })
    }
}

impl std::error::Error for InputBufferConfigError {}

impl InputBufferConfig {
    /// Whether the numbers are in range.
    ///
    /// # Errors
    ///
    /// The first that is not.
    pub fn check(&self) -> Result<(), InputBufferConfigError> {
        let rules = [
            ((1..=1024).contains(&self.max_queued), InputBufferConfigError::MaxQueued),
            (self.min_target <= self.max_target, InputBufferConfigError::Targets),
            ((1..=65_536).contains(&self.jitter_window), InputBufferConfigError::JitterWindow),
            (self.drain_window > 0, InputBufferConfigError::DrainWindow),
            (self.max_speculation <= 1024, InputBufferConfigError::MaxSpeculation),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// How inputs fared in an [`InputBuffer`](super::InputBuffer). Every silent decision is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputBufferStats {
    /// Inputs taken in: queued or found equal to a guess.
    pub offered: u64,
    /// Inputs offered one by one that were at or below the applied sequence and answered no guess.
    pub stale: u64,
    /// Inputs offered one by one that were queued already.
    pub duplicates: u64,
    /// Steps that applied a queued input; a merged pair counts once.
    pub applied: u64,
    /// Steps that found nothing queued.
    pub starved: u64,
    /// Of those, steps that counted as the next sequence.
    pub speculated: u64,
    /// Inputs equal to the guess they answered.
    pub speculation_hits: u64,
    /// Pairs of inputs that became one.
    pub merged: u64,
    /// Inputs dropped from a full queue.
    pub dropped: u64,
    /// Of the starved steps, those that were handed neutral.
    pub neutral: u64,
    /// What became of presses.
    pub presses: PressCounts,
}

impl InputBufferStats {
    /// What was counted since `earlier`, an older state of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, u64::wrapping_sub)
    }

    /// Adds another set, e.g. that of another client.
    pub fn add(&mut self, other: &Self) {
        *self = self.with(other, u64::wrapping_add);
    }

    fn with(&self, other: &Self, of: fn(u64, u64) -> u64) -> Self {
        Self {
            offered: of(self.offered, other.offered),
            stale: of(self.stale, other.stale),
            duplicates: of(self.duplicates, other.duplicates),
            applied: of(self.applied, other.applied),
            starved: of(self.starved, other.starved),
            speculated: of(self.speculated, other.speculated),
            speculation_hits: of(self.speculation_hits, other.speculation_hits),
            merged: of(self.merged, other.merged),
            dropped: of(self.dropped, other.dropped),
            neutral: of(self.neutral, other.neutral),
            presses: PressCounts {
                offered: of(self.presses.offered, other.presses.offered),
                applied: of(self.presses.applied, other.presses.applied),
                lost: of(self.presses.lost, other.presses.lost),
                reordered: of(self.presses.reordered, other.presses.reordered),
                extra: of(self.presses.extra, other.presses.extra),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_since_adds_up_again() {
        let presses = PressCounts { offered: 4, applied: 3, lost: 1, reordered: 2, extra: 5 };
        let earlier = InputBufferStats { offered: 9, stale: 1, applied: 8, neutral: 2, presses, ..Default::default() };
        let later = InputBufferStats { offered: 20, merged: 3, dropped: 1, ..earlier };
        let mut sum = earlier;
        sum.add(&later.since(&earlier));
        assert_eq!(sum, later);
        assert_eq!(
            later.since(&earlier),
            InputBufferStats { offered: 11, merged: 3, dropped: 1, ..Default::default() }
        );
    }
}
