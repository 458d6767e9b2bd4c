use std::collections::VecDeque;

/// How unevenly inputs arrive: the spread of (step - sequence) over the last so many of them.
///
/// Two monotonic queues hold the candidates for the largest and the smallest, so that both are read at once.
#[derive(Clone, Debug)]
pub(super) struct ArrivalSpread {
    largest: VecDeque<(u64, i64)>,
    smallest: VecDeque<(u64, i64)>,
    count: u64,
    window: u64,
}

impl ArrivalSpread {
    pub(super) fn new(window: u32) -> Self {
        let candidates = || VecDeque::with_capacity(window as usize + 1);
        Self { largest: candidates(), smallest: candidates(), count: 0, window: u64::from(window) }
    }

    pub(super) fn push(&mut self, value: i64) {
        while self.largest.back().is_some_and(|(_, other)| *other <= value) {
            self.largest.pop_back();
        }
        while self.smallest.back().is_some_and(|(_, other)| *other >= value) {
            self.smallest.pop_back();
        }
        self.count += 1;
        for candidates in [&mut self.largest, &mut self.smallest] {
            candidates.push_back((self.count, value));
            while candidates.front().is_some_and(|(at, _)| at + self.window <= self.count) {
                candidates.pop_front();
            }
        }
    }

    /// The largest less the smallest, 0 without any.
    pub(super) fn spread(&self) -> i64 {
        match (self.largest.front(), self.smallest.front()) {
            (Some((_, largest)), Some((_, smallest))) => largest - smallest,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-6
        #[test]
        fn the_spread_is_that_of_the_last_window(window in 1_u32..30, values in prop::collection::vec(-20_i64..20, 0..200)) {
            let mut arrivals = ArrivalSpread::new(window);
            prop_assert_eq!(arrivals.spread(), 0);
            for end in 1..=values.len() {
                arrivals.push(values[end - 1]);
                let last = &values[end.saturating_sub(window as usize)..end];
                prop_assert_eq!(arrivals.spread(), last.iter().max().unwrap() - last.iter().min().unwrap());
            }
        }
    }
}
