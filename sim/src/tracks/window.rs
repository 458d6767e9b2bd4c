/// How many samples a track keeps.
pub(super) const CAPACITY: usize = 16;

/// What a track keeps: anything with a time.
pub trait Timed: Copy {
    /// Server time in seconds.
    fn time(&self) -> f64;
}

/// The newest [`CAPACITY`] samples, oldest first, in place; a new one pushes the oldest out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<T> {
    samples: [T; CAPACITY],
    start: u8,
    len: u8,
}

/// Where a time falls in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place<T> {
    /// At or before the first sample.
    Before(T),
    /// Between two neighbours, with the share of the way, above 0 and at most 1.
    Between(T, T, f64),
    /// After the last sample, by so many seconds.
    After(T, f64),
}

impl<T: Timed + Default> Window<T> {
    pub(super) fn new() -> Self {
        Self { samples: [T::default(); CAPACITY], start: 0, len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Drops samples at or after `time`.
    pub(super) fn rewind(&mut self, time: f64) {
        while self.newest().is_some_and(|newest| newest.time() >= time) {
            self.len -= 1;
        }
    }

    pub(super) fn push(&mut self, sample: T) {
        if self.len() == CAPACITY {
            self.start = (self.start + 1) % CAPACITY as u8;
            self.len -= 1;
        }
        let end = (usize::from(self.start) + self.len()) % CAPACITY;
        self.samples[end] = sample;
        self.len += 1;
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        (index < self.len()).then(|| &self.samples[(usize::from(self.start) + index) % CAPACITY])
    }

    pub(super) fn newest(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    pub(super) fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// Finds the neighbours of `time`, from the newest backwards: playback is usually among the last.
    pub(super) fn place(&self, time: f64) -> Option<Place<T>> {
        let last = *self.newest()?;
        if time > last.time() {
            return Some(Place::After(last, time - last.time()));
        }
        for index in (1..self.len()).rev() {
            let (earlier, later) = (*self.get(index - 1)?, *self.get(index)?);
            if time > earlier.time() {
                let share = (time - earlier.time()) / (later.time() - earlier.time());
                return Some(Place::Between(earlier, later, share));
            }
        }
        self.first().map(|first| Place::Before(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    impl Timed for f64 {
        fn time(&self) -> f64 {
            *self
        }
    }

    proptest! {
        // B30
        #[test]
        fn a_window_is_the_tail_of_what_was_pushed(steps in prop::collection::vec(0.001_f64..1.0, 0..80), at in -1.0_f64..60.0) {
            let mut window = Window::<f64>::new();
            let mut model = VecDeque::new();
            let mut time = 0.0;
            for step in steps {
                time += step;
                window.push(time);
                model.push_back(time);
                if model.len() > CAPACITY {
                    model.pop_front();
                }
            }
            prop_assert_eq!(window.len(), model.len());
            for (index, want) in model.iter().enumerate() {
                prop_assert_eq!(window.get(index), Some(want));
            }
            let later = model.iter().position(|sample| *sample >= at);
            match (window.place(at), later) {
                (None, _) => prop_assert!(model.is_empty()),
                (Some(Place::Before(first)), Some(0)) => prop_assert_eq!(first, model[0]),
                (Some(Place::Between(a, b, share)), Some(index)) => {
                    prop_assert_eq!((a, b), (model[index - 1], model[index]));
                    prop_assert!(share > 0.0 && share <= 1.0);
                }
                (Some(Place::After(last, by)), None) => prop_assert_eq!((last, by), (model[model.len() - 1], at - last)),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
