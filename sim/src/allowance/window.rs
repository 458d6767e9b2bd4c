use crate::time::{SimSpan, SimTime};

/// Entries kept: more reports than the rate lets through in a second.
const ENTRIES: usize = 64;
/// Length of the window.
const LENGTH: SimSpan = SimSpan(61_440);

/// What a character, or a part, moved within the last second, as shares of what a second may hold (S-25a). Shares of
/// different speeds add up, so a speed may change in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DistanceWindow {
    entries: [(SimTime, f32); ENTRIES],
    start: u8,
    len: u8,
}

impl Default for DistanceWindow {
    fn default() -> Self {
        Self { entries: [(SimTime(0), 0.0); ENTRIES], start: 0, len: 0 }
    }
}

impl DistanceWindow {
    /// Share of a second's distance still free at `now`, 0 to 1.
    pub(crate) fn free(&mut self, now: SimTime) -> f32 {
        while self.len > 0 && now.since(self.entries[usize::from(self.start)].0) > LENGTH {
            self.start = (self.start + 1) % ENTRIES as u8;
            self.len -= 1;
        }
        let used: f32 = (0..self.len).map(|index| self.entries[self.slot(index)].1).sum();
        (1.0 - used).max(0.0)
    }

    /// Notes that `share` was moved at `now`. When it is full, the two oldest entries become one of the younger's time.
    pub(crate) fn push(&mut self, now: SimTime, share: f32) {
        if share <= 0.0 {
            return;
        }
        if usize::from(self.len) == ENTRIES {
            let (oldest, next) = (self.slot(0), self.slot(1));
            self.entries[next].1 += self.entries[oldest].1;
            self.start = (self.start + 1) % ENTRIES as u8;
            self.len -= 1;
        }
        let end = self.slot(self.len);
        self.entries[end] = (now, share);
        self.len += 1;
    }

    fn slot(&self, index: u8) -> usize {
        (usize::from(self.start) + usize::from(index)) % ENTRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-25a
        #[test]
        fn no_second_holds_more_than_its_share(
            moves in prop::collection::vec((0_u64..20_000, 0_f32..1.5), 1..300),
            origin in prop::sample::select(vec![0_u64, 1 << 40]),
        ) {
            let mut window = DistanceWindow::default();
            let mut now = SimTime(origin);
            let mut moved: Vec<(SimTime, f32)> = Vec::new();
            for (wait, wanted) in moves {
                now.0 += wait;
                let model: f32 = moved.iter().filter(|(at, _)| now.since(*at) <= LENGTH).map(|(_, share)| share).sum();
                let free = window.free(now);
                prop_assert!(free <= (1.0 - model).max(0.0) + 1e-4);
                if moved.len() < ENTRIES {
                    prop_assert!(free >= 1.0 - model - 1e-4);
                }
                let share = wanted.min(free);
                window.push(now, share);
                if share > 0.0 {
                    moved.push((now, share));
                }
            }
        }
    }
}
