//! Times that are kept by the thousand.

use std::num::NonZeroU64;
use std::ops::Add;
use std::time::Duration;

/// A time on the caller's clock, to the nanosecond, in half of what a [`Duration`] takes; after 584 years it stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    /// How long after `earlier` it is; zero if it is before.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.get().saturating_sub(earlier.0.get()))
    }
}

impl From<Duration> for Moment {
    fn from(time: Duration) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nanos(time)))
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
}

impl From<Moment> for Duration {
    fn from(moment: Moment) -> Self {
        Self::from_nanos(moment.0.get() - 1)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(nanos(time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reckons_as_durations_do(a in 0..1u64 << 62, b in 0..1u64 << 62) {
            let (first, second) = (Duration::from_nanos(a), Duration::from_nanos(b));
            prop_assert_eq!(Duration::from(Moment::from(first)), first);
            prop_assert_eq!(Moment::from(first).cmp(&Moment::from(second)), first.cmp(&second));
            prop_assert_eq!(Moment::from(first).since(Moment::from(second)), first.saturating_sub(second));
            prop_assert_eq!(Duration::from(Moment::from(first) + second), first + second);
        }
    }

    #[test]
    fn the_end_of_its_range_is_no_overflow() {
        let last = Moment::from(Duration::MAX);
        assert_eq!(last + Duration::MAX, last);
        assert_eq!(size_of::<Option<Moment>>(), 8);
    }
}
