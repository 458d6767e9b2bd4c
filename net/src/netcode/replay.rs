//! The replay window: every sequence number is taken at most once.

const WINDOW: u64 = 1_024;
const WORDS: usize = (WINDOW / 64) as usize;

/// Remembers which of the newest 1,024 sequence numbers were received. Numbers older than the window count as received.
#[derive(Clone, Debug)]
pub(crate) struct ReplayWindow {
    newest: Option<u64>,
    /// Ring of bits: number `n` within the window is bit `n % WINDOW`.
    seen: [u64; WORDS],
}

impl ReplayWindow {
    pub(crate) fn new() -> Self {
        Self { newest: None, seen: [0; WORDS] }
    }

    /// The newest number taken.
    pub(crate) fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Whether `sequence` must not be taken. Compares by subtraction, so numbers near the top of the range are no exception.
    pub(crate) fn is_replayed(&self, sequence: u64) -> bool {
        match self.newest {
            None => false,
            Some(newest) if sequence > newest => false,
            Some(newest) => newest - sequence >= WINDOW || self.bit(sequence),
        }
    }

    /// Marks an authenticated `sequence` as received.
    pub(crate) fn take(&mut self, sequence: u64) {
        match self.newest {
            Some(newest) if sequence <= newest => {
                if newest - sequence >= WINDOW {
                    return;
                }
            }
            Some(newest) => {
                if sequence - newest >= WINDOW {
                    self.seen = [0; WORDS];
                } else {
                    (1..=sequence - newest).for_each(|step| self.clear(newest + step));
                }
                self.newest = Some(sequence);
            }
            None => self.newest = Some(sequence),
        }
        let bit = sequence % WINDOW;
        self.seen[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    fn bit(&self, sequence: u64) -> bool {
        let bit = sequence % WINDOW;
        self.seen[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    fn clear(&mut self, sequence: u64) {
        let bit = sequence % WINDOW;
        self.seen[(bit / 64) as usize] &= !(1 << (bit % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn near_edges() -> impl Strategy<Value = u64> {
        prop_oneof![0..2_600u64, (u64::MAX - 2_600)..=u64::MAX]
    }

    proptest! {
        // B03: a model that keeps every number, over the bottom and the top of the range.
        #[test]
        fn agrees_with_a_set(numbers in prop::collection::vec(near_edges(), 1..400)) {
            let mut window = ReplayWindow::new();
            let mut model = BTreeSet::new();
            for number in numbers {
                let too_old = model.last().is_some_and(|&newest| newest > number && newest - number >= WINDOW);
                prop_assert_eq!(window.is_replayed(number), too_old || model.contains(&number), "number {}", number);
                if !window.is_replayed(number) {
                    window.take(number);
                    model.insert(number);
                }
            }
        }
    }

    #[test]
    fn unseen_numbers_inside_the_window_are_taken_once() {
        for base in [0, u64::MAX - 600] {
            let mut window = ReplayWindow::new();
            for number in (0..600).rev().map(|step| base + step) {
                assert!(!window.is_replayed(number), "{number}");
                window.take(number);
                assert!(window.is_replayed(number), "{number}");
            }
        }
    }
}
