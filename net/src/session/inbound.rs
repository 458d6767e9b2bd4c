//! The receiving half of a lane.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::counters::Fault;
use crate::lane::{LaneConfig, LaneKind, MESSAGE_OVERHEAD_BYTES};
use crate::session::blocks::Blocks;
use crate::session::checks::Checks;
use crate::session::frame::{ID_BITS, LaneFrame, WireId};
use crate::session::outbound::MAX_AHEAD;
use crate::session::varint::widen;

/// Longest an unfinished message may go without a new part.
pub(crate) const MAX_STALL: Duration = Duration::from_secs(30);

enum Waiting {
    Whole(Vec<u8>),
    Parts { bytes: Vec<u8>, blocks: Blocks, touched: Duration },
}

impl Waiting {
    fn cost(&self) -> usize {
        let (Self::Whole(bytes) | Self::Parts { bytes, .. }) = self;
        bytes.len() + MESSAGE_OVERHEAD_BYTES
    }
}

/// What a lane holds of what it received.
pub(crate) struct Inbound {
    kind: LaneKind,
    /// Ordered: next to deliver. Unordered: below it all were delivered. Sequenced: one above the newest delivered.
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// Unordered: delivered at or above `next`.
    delivered: BTreeSet<u64>,
    held_bytes: usize,
    /// Messages delivered to the owner, and their bytes.
    messages: u64,
    bytes: u64,
}

/// A message that may go to the owner.
#[derive(Debug)]
pub(crate) enum Delivery<'a> {
    /// It lies in the payload that is being taken.
    Fresh(&'a [u8]),
    /// It waited, or came in parts.
    Held(Vec<u8>),
}

impl Delivery<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fresh(bytes) => bytes.len(),
            Self::Held(bytes) => bytes.len(),
        }
    }
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// New, whether or not something was delivered.
    New,
    Duplicate,
    /// Older than one already delivered on its sequenced lane.
    Stale,
}

impl Inbound {
    pub(crate) fn new(config: &LaneConfig, first: u64) -> Self {
        Self {
            kind: config.kind,
            next: first,
            waiting: BTreeMap::new(),
            delivered: BTreeSet::new(),
            held_bytes: 0,
            messages: 0,
            bytes: 0,
        }
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Messages delivered to the owner, and their bytes.
    pub(crate) fn delivered(&self) -> (u64, u64) {
        (self.messages, self.bytes)
    }

    /// Forgets what is held.
    pub(crate) fn abandon(&mut self) {
        (self.waiting, self.delivered, self.held_bytes) = (BTreeMap::new(), BTreeSet::new(), 0);
    }

    /// The full id of a frame, given the one before on the lane in this payload.
    pub(crate) fn id(&self, frame: &LaneFrame, previous: Option<u64>) -> Option<u64> {
        match frame.id {
            WireId::Low(low) => Some(widen(u64::from(low), ID_BITS, self.next)),
            WireId::Follows => previous?.checked_add(1),
            WireId::None => Some(0),
        }
    }

    /// Checks a frame of message `id` against the lane's rules and limits, and against what its payload said before. Returns the
    /// bytes it would add to what is held.
    pub(crate) fn check(
        &self,
        config: &LaneConfig,
        (frame, id): (&LaneFrame, u64),
        checks: &Checks,
    ) -> Result<usize, Fault> {
        let total = frame.part.map_or(frame.content.len(), |(_, total)| total as usize);
        if total > config.max_message_bytes {
            return Err(Fault::MessageBytes);
        }
        if !self.kind.is_reliable() {
            return if frame.part.is_some() { Err(Fault::Lane) } else { Ok(0) };
        }
        if id >= self.next + MAX_AHEAD {
            return Err(Fault::WindowIds);
        }
        let waiting = self.waiting.get(&id);
        let begun = match waiting {
            Some(Waiting::Parts { bytes, .. }) => Some(bytes.len()),
            _ => checks.begun(frame.lane, id),
        };
        if let Some(begun) = begun {
            return if frame.part.is_some() && begun == total { Ok(0) } else { Err(Fault::MessageBytes) };
        }
        if let (Some(Waiting::Whole(bytes)), None) = (waiting, frame.part) {
            return if bytes.len() == total { Ok(0) } else { Err(Fault::MessageBytes) };
        }
        let waits = self.kind == LaneKind::ReliableOrdered && id != self.next;
        if id < self.next || self.delivered.contains(&id) || !(waits || frame.part.is_some()) {
            return Ok(0);
        }
        let cost = total + MESSAGE_OVERHEAD_BYTES;
        let held_bytes = self.held_bytes + checks.extra_bytes(frame.lane) + cost;
        if held_bytes > config.limit_bytes + config.max_message_bytes + MESSAGE_OVERHEAD_BYTES {
            return Err(Fault::WindowBytes);
        }
        Ok(cost)
    }

    /// Takes a checked frame of message `id`, from the payload it came in; messages that thereby may be delivered go to `deliver`.
    pub(crate) fn take(
        &mut self,
        now: Duration,
        id: u64,
        (frame, payload): (&LaneFrame, &[u8]),
        deliver: &mut dyn FnMut(Delivery<'_>),
    ) -> Taken {
        let content = frame.content.of(payload);
        let (mut messages, mut bytes) = (0, 0);
        let deliver = &mut |message: Delivery<'_>| {
            messages += 1;
            bytes += message.len() as u64;
            deliver(message);
        };
        let taken = self.take_by_kind(now, id, (frame.part, content), deliver);
        (self.messages, self.bytes) = (self.messages + messages, self.bytes + bytes);
        taken
    }

    fn take_by_kind(
        &mut self,
        now: Duration,
        id: u64,
        (part, content): (Option<(u32, u32)>, &[u8]),
        deliver: &mut dyn FnMut(Delivery<'_>),
    ) -> Taken {
        match self.kind {
            LaneKind::Unreliable => deliver(Delivery::Fresh(content)),
            LaneKind::Sequenced if id < self.next => return Taken::Stale,
            LaneKind::Sequenced => {
                self.next = id + 1;
                deliver(Delivery::Fresh(content));
            }
            _ if id < self.next || self.delivered.contains(&id) => return Taken::Duplicate,
            _ => {
                let message = match part {
                    Some(part) => match self.take_part(now, id, part, content) {
                        Some(message) => Delivery::Held(message),
                        None => return Taken::New,
                    },
                    None if matches!(self.waiting.get(&id), Some(Waiting::Whole(_))) => return Taken::Duplicate,
                    None if self.kind == LaneKind::ReliableOrdered && id != self.next => {
                        self.hold(id, Waiting::Whole(content.to_vec()));
                        return Taken::New;
                    }
                    None => Delivery::Fresh(content),
                };
                self.complete(id, message, deliver);
            }
        }
        Taken::New
    }

    /// When the oldest message held, if it is unfinished, will have got no part for [`MAX_STALL`].
    pub(crate) fn stalls_at(&self) -> Option<Duration> {
        match self.waiting.first_key_value()? {
            (_, Waiting::Parts { touched, .. }) => Some(*touched + MAX_STALL),
            (_, Waiting::Whole(_)) => None,
        }
    }

    /// Adds a part; the whole message if it was the last one missing and it may be delivered now.
    fn take_part(&mut self, now: Duration, id: u64, (start, total): (u32, u32), content: &[u8]) -> Option<Vec<u8>> {
        if matches!(self.waiting.get(&id), Some(Waiting::Whole(_))) {
            return None;
        }
        if !self.waiting.contains_key(&id) {
            let (bytes, blocks) = (vec![0; total as usize], Blocks::new(total));
            self.hold(id, Waiting::Parts { bytes, blocks, touched: now });
        }
        let Some(Waiting::Parts { bytes, blocks, touched }) = self.waiting.get_mut(&id) else { return None };
        let end = start + content.len() as u32;
        bytes[start as usize..end as usize].copy_from_slice(content);
        blocks.insert(start, end);
        *touched = now;
        if !blocks.is_full() {
            return None;
        }
        let whole = std::mem::take(bytes);
        if self.kind == LaneKind::ReliableOrdered && id != self.next {
            self.waiting.insert(id, Waiting::Whole(whole));
            return None;
        }
        self.waiting.remove(&id);
        self.held_bytes -= whole.len() + MESSAGE_OVERHEAD_BYTES;
        Some(whole)
    }

    fn hold(&mut self, id: u64, waiting: Waiting) {
        self.held_bytes += waiting.cost();
        self.waiting.insert(id, waiting);
    }

    fn complete(&mut self, id: u64, message: Delivery<'_>, deliver: &mut dyn FnMut(Delivery<'_>)) {
        deliver(message);
        if self.kind == LaneKind::ReliableUnordered {
            self.delivered.insert(id);
            while self.delivered.remove(&self.next) {
                self.next += 1;
            }
            return;
        }
        self.next = id + 1;
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() != self.next || !matches!(entry.get(), Waiting::Whole(_)) {
                break;
            }
            let waiting = entry.remove();
            self.held_bytes -= waiting.cost();
            if let Waiting::Whole(bytes) = waiting {
                deliver(Delivery::Held(bytes));
            }
            self.next += 1;
        }
    }
}
