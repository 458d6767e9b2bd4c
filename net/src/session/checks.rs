//! What a payload's lane frames were found to say, before any of them is taken.

use crate::lane::MAX_LANES;
use crate::session::frame::LaneFrame;

/// The frames of one payload that were checked so far. Its memory is used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// Full ids of the frames' messages, in the frames' order.
    ids: Vec<u64>,
    /// Lanes with a frame, as bits; what is told of others is of an earlier payload.
    seen: u16,
    lanes: [LaneCheck; MAX_LANES],
    parts: Vec<Part>,
}

/// What the frames of one lane say together.
#[derive(Clone, Copy, Debug, Default)]
struct LaneCheck {
    /// Id of the newest frame.
    previous: u64,
    /// Bytes they would add to what is held.
    extra_bytes: usize,
}

/// A message the payload brings a part of.
#[derive(Clone, Copy, Debug)]
struct Part {
    lane: u8,
    id: u64,
    total: u32,
}

impl Checks {
    /// Forgets the payload before.
    pub(super) fn clear(&mut self) {
        self.seen = 0;
        self.ids.clear();
        self.parts.clear();
    }

    /// Full id of the payload's lane frame with that index.
    pub(super) fn id(&self, index: usize) -> Option<u64> {
        self.ids.get(index).copied()
    }

    /// Lanes with a frame, as bits.
    pub(super) fn seen(&self) -> u16 {
        self.seen
    }

    /// Id of the newest frame on a lane.
    pub(super) fn previous(&self, lane: u8) -> Option<u64> {
        self.lane(lane).map(|lane| lane.previous)
    }

    /// Bytes that the frames on a lane would add to what is held.
    pub(super) fn extra_bytes(&self, lane: u8) -> usize {
        self.lane(lane).map_or(0, |lane| lane.extra_bytes)
    }

    /// Length of a message of which there was a part.
    pub(super) fn begun(&self, lane: u8, id: u64) -> Option<usize> {
        self.parts.iter().find(|part| (part.lane, part.id) == (lane, id)).map(|part| part.total as usize)
    }

    /// Notes a good frame, which would add `extra_bytes` to what is held.
    pub(super) fn note(&mut self, frame: &LaneFrame, id: u64, extra_bytes: usize) {
        let extra_bytes = self.extra_bytes(frame.lane) + extra_bytes;
        self.seen |= 1 << frame.lane;
        self.lanes[usize::from(frame.lane)] = LaneCheck { previous: id, extra_bytes };
        self.ids.push(id);
        if let Some((_, total)) = frame.part.filter(|_| self.begun(frame.lane, id).is_none()) {
            self.parts.push(Part { lane: frame.lane, id, total });
        }
    }

    fn lane(&self, lane: u8) -> Option<&LaneCheck> {
        let lane = usize::from(lane);
        self.lanes.get(lane).filter(|_| self.seen >> lane & 1 == 1)
    }
}
