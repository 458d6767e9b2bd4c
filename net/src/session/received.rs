//! Which packets came, and when to say so.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::prefetch::prefetch;
use crate::session::varint::{varint_bytes, write_varint};

/// Ranges remembered; older ones are forgotten.
const MAX_RANGES: usize = 128;
/// Packets with reliable content after which an acknowledgement is due at once.
const EAGER_PACKETS: u32 = 4;
/// Longest wait before acknowledging a packet with reliable content.
pub(crate) const EAGER_DELAY: Duration = Duration::from_millis(25);
/// Longest wait before acknowledging any other packet that asks for it.
pub(crate) const LAZY_DELAY: Duration = Duration::from_millis(100);
/// Most bytes of an acknowledgement frame.
pub(crate) const MAX_ACK_BYTES: usize = 60;
/// First byte of an acknowledgement frame.
pub(crate) const ACK_FRAME: u8 = 1;

/// How urgently a packet asks to be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// Not at all: it holds acknowledgements only.
    None,
    /// Whenever a packet goes that way, or after [`LAZY_DELAY`].
    Lazy,
    /// After [`EAGER_DELAY`] at the latest.
    Eager,
}

/// Numbers of received packets as ranges, newest first, and the acknowledgement they are owed.
#[derive(Debug, Default)]
pub(crate) struct Received {
    ranges: VecDeque<RangeInclusive<u64>>,
    newest_at: Duration,
    due: Option<Duration>,
    eager_waiting: u32,
    loss: f32,
}

impl Received {
    pub(crate) fn newest(&self) -> Option<u64> {
        self.ranges.front().map(|range| *range.end())
    }

    /// Share of the peer's packets that did not come, lately.
    pub(crate) fn loss(&self) -> f32 {
        self.loss
    }

    /// Asks for the memory of the newest ranges.
    pub(crate) fn prefetch(&self) {
        self.ranges.front().into_iter().for_each(prefetch);
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&number))
    }

    /// Notes a packet that came for the first time.
    pub(crate) fn take(&mut self, now: Duration, number: u64, urgency: Urgency) {
        let newest = self.newest();
        if newest.is_none_or(|newest| number > newest) {
            self.newest_at = now;
            let missed = newest.map_or(0, |newest| (number - newest - 1).min(64));
            (0..missed).for_each(|_| self.loss += (1.0 - self.loss) / 64.0);
            self.loss -= self.loss / 64.0;
        } else {
            self.loss = (self.loss - 1.0 / 64.0).max(0.0);
        }
        self.insert(number);
        let wait = match urgency {
            Urgency::None => return,
            Urgency::Lazy => LAZY_DELAY,
            Urgency::Eager => {
                self.eager_waiting += 1;
                let gap = newest.is_some_and(|newest| number != newest + 1);
                if self.eager_waiting >= EAGER_PACKETS || gap { Duration::ZERO } else { EAGER_DELAY }
            }
        };
        self.due = Some(self.due.map_or(now + wait, |due| due.min(now + wait)));
    }

    /// When an acknowledgement must leave, if one is owed.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Appends an acknowledgement frame and considers the debt paid. Returns the newest number it tells.
    pub(crate) fn write(&mut self, now: Duration, out: &mut Vec<u8>) -> Option<u64> {
        let newest = self.newest()?;
        let delay_us8 = now.saturating_sub(self.newest_at).as_micros() as u64 / 8;
        let start = out.len();
        out.push(ACK_FRAME);
        write_varint(newest, out);
        write_varint(delay_us8, out);
        let count_at = out.len();
        out.push(0);
        let mut below = newest;
        for (index, range) in self.ranges.iter().enumerate() {
            let gap = if index == 0 { 0 } else { below - range.end() - 2 };
            let more = range.end() - range.start();
            let bytes = varint_bytes(more) + if index == 0 { 0 } else { varint_bytes(gap) };
            if out.len() - start + bytes > MAX_ACK_BYTES {
                break;
            }
            if index > 0 {
                write_varint(gap, out);
            }
            write_varint(more, out);
            out[count_at] += 1;
            below = *range.start();
        }
        self.due = None;
        self.eager_waiting = 0;
        Some(newest)
    }

    /// Forgets what the peer knows: it has seen an acknowledgement whose newest number was `newest`.
    pub(crate) fn forget(&mut self, newest: u64) {
        while self.ranges.len() > 1 && self.ranges.back().is_some_and(|range| *range.end() < newest) {
            self.ranges.pop_back();
        }
    }

    /// Numbers below this are forgotten and count as received.
    pub(crate) fn is_forgotten(&self, number: u64) -> bool {
        self.ranges.len() == MAX_RANGES && self.ranges.back().is_some_and(|range| number < *range.start())
    }

    fn insert(&mut self, number: u64) {
        let at = self.ranges.iter().position(|range| number >= *range.start()).unwrap_or(self.ranges.len());
        if self.ranges.get(at).is_some_and(|range| range.contains(&number)) {
            return;
        }
        let joins_older = self.ranges.get(at).is_some_and(|range| range.end() + 1 == number);
        let joins_newer = at > 0 && self.ranges.get(at - 1).is_some_and(|range| *range.start() == number + 1);
        match (joins_newer, joins_older) {
            (true, true) => {
                self.ranges[at - 1] = *self.ranges[at].start()..=*self.ranges[at - 1].end();
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at - 1] = number..=*self.ranges[at - 1].end(),
            (false, true) => self.ranges[at] = *self.ranges[at].start()..=number,
            (false, false) => self.ranges.insert(at, number..=number),
        }
        self.ranges.truncate(MAX_RANGES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::frame::{Frame, FrameReader};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_agree_with_a_set_and_the_frame_tells_them(
            base in prop_oneof![Just(0u64), Just((1 << 62) - 2_000)],
            steps in prop::collection::vec(0u64..60, 1..60),
        ) {
            let mut received = Received::default();
            let mut model = BTreeSet::new();
            for step in steps {
                received.take(Duration::ZERO, base + step, Urgency::Eager);
                model.insert(base + step);
            }
            for step in 0..60 {
                prop_assert_eq!(received.contains(base + step), model.contains(&(base + step)));
            }
            let mut out = Vec::new();
            received.write(Duration::from_millis(4), &mut out);
            prop_assert!(out.len() <= MAX_ACK_BYTES);
            let mut frames = vec![];
            FrameReader::new(&out).read_all(&mut frames).unwrap();
            let [Frame::Ack(ack)] = frames[..] else { panic!("an acknowledgement") };
            prop_assert_eq!(ack.delay, Duration::from_millis(4));
            let told: BTreeSet<u64> = ack.ranges(&out).flatten().collect();
            prop_assert_eq!(told, model);
        }
    }

    #[test]
    fn loss_is_measured_and_reordering_is_no_loss() {
        let mut received = Received::default();
        (0..2_000)
            .filter(|number| number % 10 != 0)
            .for_each(|number| received.take(Duration::ZERO, number, Urgency::None));
        assert!((0.05..0.2).contains(&received.loss()), "{}", received.loss());
        let mut swapped = Received::default();
        (0..2_000).map(|number: u64| number ^ 1).for_each(|number| swapped.take(Duration::ZERO, number, Urgency::None));
        assert!(swapped.loss() < 0.03, "{}", swapped.loss());
    }

    // N-1b: one alone is due only when something asks for it.
    #[test]
    fn debts_are_due_by_urgency() {
        let mut received = Received::default();
        received.take(Duration::ZERO, 0, Urgency::None);
        assert_eq!(received.due(), None);
        received.take(Duration::ZERO, 1, Urgency::Lazy);
        assert_eq!(received.due(), Some(LAZY_DELAY));
        received.take(Duration::ZERO, 2, Urgency::Eager);
        assert_eq!(received.due(), Some(EAGER_DELAY));
        received.take(Duration::ZERO, 4, Urgency::Eager);
        assert_eq!(received.due(), Some(Duration::ZERO), "a gap");
        received.write(Duration::ZERO, &mut Vec::new());
        assert_eq!(received.due(), None);
    }
}
