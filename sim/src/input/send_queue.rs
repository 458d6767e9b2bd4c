use crate::sequence::Sequence;

/// Inputs as a packet carries them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputPacket<'a, T> {
    /// The sequence of the last input.
    pub last: Sequence,
    /// The inputs, oldest first, with consecutive sequences that end in `last`.
    pub inputs: &'a [T],
}

/// Numbers inputs and keeps them until the server has acknowledged them (S-5). Nothing allocates after construction.
#[derive(Clone, Debug)]
pub struct SendQueue<T> {
    /// Unacknowledged, oldest first, at most [`SendQueue::CAPACITY`].
    inputs: Vec<T>,
    last: Sequence,
    redundancy: usize,
    forgotten: u64,
}

impl<T: Copy> SendQueue<T> {
    /// The most inputs kept for replay.
    pub const CAPACITY: usize = 120;

    /// An empty queue whose first input has sequence 1 and whose packets hold up to `redundancy` inputs, at least one.
    /// The library's default is 1; 15 inputs are 0.25 s at 60 Hz.
    #[must_use]
    pub fn new(redundancy: usize) -> Self {
        Self::starting_after(Sequence(0), redundancy)
    }

    /// As [`SendQueue::new`], with sequences that go on after `last`.
    #[must_use]
    pub fn starting_after(last: Sequence, redundancy: usize) -> Self {
        let redundancy = redundancy.clamp(1, Self::CAPACITY);
        Self { inputs: Vec::with_capacity(Self::CAPACITY), last, redundancy, forgotten: 0 }
    }

    /// Numbers one more input and keeps it. A full queue forgets its oldest.
    pub fn push(&mut self, input: T) -> Sequence {
        if self.inputs.len() == Self::CAPACITY {
            self.inputs.remove(0);
            self.forgotten += 1;
        }
        self.inputs.push(input);
        self.last = self.last.next();
        self.last
    }

    /// The newest unacknowledged inputs, up to the redundancy; `None` when everything is acknowledged.
    #[must_use]
    pub fn packet(&self) -> Option<InputPacket<'_, T>> {
        let first = self.inputs.len().saturating_sub(self.redundancy);
        let inputs = &self.inputs[first..];
        (!inputs.is_empty()).then_some(InputPacket { last: self.last, inputs })
    }

    /// Forgets inputs up to `sequence`. Returns how many left; a sequence never sent changes nothing.
    pub fn acknowledge(&mut self, sequence: Sequence) -> usize {
        let newer = self.last.distance_from(sequence);
        let Ok(newer) = usize::try_from(newer) else { return 0 };
        let gone = self.inputs.len().saturating_sub(newer);
        self.inputs.drain(..gone);
        gone
    }

    /// Unacknowledged inputs with their sequences, oldest first.
    pub fn unacknowledged(&self) -> impl ExactSizeIterator<Item = (Sequence, T)> + '_ {
        let first = self.last.0.wrapping_sub(self.inputs.len() as u32).wrapping_add(1);
        self.inputs.iter().enumerate().map(move |(index, input)| (Sequence(first.wrapping_add(index as u32)), *input))
    }

    /// The sequence of the newest input; the one before the first when there was none.
    #[must_use]
    pub fn last(&self) -> Sequence {
        self.last
    }

    /// How many inputs wait for their acknowledgement.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Inputs forgotten unacknowledged, because the queue was full.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        // S-5, B28: across the wrap, with acknowledgements of every kind.
        #[test]
        fn the_queue_is_the_unacknowledged(
            start: u32,
            redundancy in 1_usize..20,
            ops in prop::collection::vec(prop_oneof![3 => Just(None), 1 => (-200_i32..200).prop_map(Some)], 1..500),
        ) {
            let mut queue = SendQueue::starting_after(Sequence(start), redundancy);
            let (mut model, mut last) = (VecDeque::new(), start);
            for op in ops {
                if let Some(offset) = op {
                    let acknowledged = Sequence(last.wrapping_add_signed(offset));
                    queue.acknowledge(acknowledged);
                    if offset <= 0 {
                        model.retain(|(sequence, _): &(Sequence, u32)| sequence.is_newer_than(acknowledged));
                    }
                } else {
                    last = last.wrapping_add(1);
                    model.push_back((Sequence(last), last ^ 7));
                    if model.len() > SendQueue::<u32>::CAPACITY {
                        model.pop_front();
                    }
                    prop_assert_eq!(queue.push(last ^ 7), Sequence(last));
                }
                prop_assert_eq!(queue.unacknowledged().collect::<VecDeque<_>>(), model.clone());
                let newest: Vec<_> = model.iter().rev().take(redundancy).rev().map(|(_, input)| *input).collect();
                let packet = queue.packet().map(|packet| (packet.last, packet.inputs.to_vec()));
                prop_assert_eq!(packet, (!newest.is_empty()).then_some((Sequence(last), newest)));
            }
        }
    }
}
