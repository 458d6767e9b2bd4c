//! The sending half of a lane.

use std::collections::VecDeque;
use std::time::Duration;

use crate::arena::Span;
use crate::event::Refusal;
use crate::id::ReceiptKey;
use crate::lane::{LaneConfig, LaneKind, MAX_WHOLE_MESSAGE_BYTES, MESSAGE_OVERHEAD_BYTES, Overflow};
use crate::prefetch::prefetch;
use crate::session::blocks::Blocks;
use crate::session::frame::{BLOCK_BYTES, ID_BITS, LaneHead, WireId};
use crate::session::sent::Carried;

/// Furthest the newest sent message may be ahead of the oldest unacknowledged one.
pub(crate) const MAX_AHEAD: u64 = 1 << 14;
/// No part of a message is cut shorter than this to fill a packet, unless it is the message's end.
const MIN_PART_BYTES: u32 = 128;

struct OutMessage {
    bytes: Span,
    receipt: Option<ReceiptKey>,
    first_sent: Option<Duration>,
    last_sent: Duration,
    /// Packet with the newest copy, while it is whole.
    last_packet: u64,
    /// Bytes sent so far.
    sent_to: u32,
    acked: bool,
    parts: Option<Blocks>,
}

impl OutMessage {
    fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn is_whole(&self) -> bool {
        self.bytes.len() <= MAX_WHOLE_MESSAGE_BYTES
    }

    fn is_sent(&self) -> bool {
        self.first_sent.is_some() && self.sent_to == self.len()
    }
}

/// A message, or part of one, to send again.
#[derive(Clone, Copy, Debug)]
struct Resend {
    id: u64,
    start: u32,
    end: u32,
}

/// What a lane accepted and put into packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Messages accepted.
    pub(crate) messages: u64,
    /// Bytes put into packets, and those of them that had been before.
    pub(crate) bytes: u64,
    pub(crate) resent_bytes: u64,
}

/// Messages queued and unacknowledged on one lane.
pub(crate) struct Outbound {
    kind: LaneKind,
    queue: VecDeque<OutMessage>,
    /// Id of the front of the queue.
    front: u64,
    /// Id of the oldest message not sent to its end.
    next: u64,
    /// Messages below this id were released by a flush.
    released: u64,
    resends: VecDeque<Resend>,
    queued_bytes: usize,
    /// Bytes sent per weight, to share room among lanes of a priority.
    pub(crate) turn: u64,
    sent: Sent,
}

/// A packet being filled.
pub(crate) struct Filling<'a> {
    pub(crate) now: Duration,
    pub(crate) number: u64,
    pub(crate) out: &'a mut Vec<u8>,
    /// Length `out` must not exceed.
    pub(crate) limit: usize,
    pub(crate) carried: &'a mut Vec<Carried>,
    /// Lane and id of the newest lane frame, to shorten the next.
    pub(crate) previous: Option<(u8, u64)>,
}

impl Filling<'_> {
    fn room(&self) -> usize {
        self.limit - self.out.len()
    }

    fn head(&self, lane: u8, kind: LaneKind, id: u64, part: Option<(u32, u32)>) -> LaneHead {
        let follows = self.previous.is_some_and(|(before, previous)| before == lane && previous + 1 == id);
        let id = match kind {
            LaneKind::Unreliable => WireId::None,
            _ if follows => WireId::Follows,
            _ => WireId::Low((id & ((1 << ID_BITS) - 1)) as u32),
        };
        LaneHead { lane, id, part }
    }
}

impl Outbound {
    pub(crate) fn new(config: &LaneConfig, first: u64) -> Self {
        Self {
            kind: config.kind,
            queue: VecDeque::new(),
            front: first,
            next: first,
            released: first,
            resends: VecDeque::new(),
            queued_bytes: 0,
            turn: 0,
            sent: Sent::default(),
        }
    }

    pub(crate) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// Asks for the memory of its newest message.
    pub(crate) fn prefetch_queued(&self) {
        self.queue.back().into_iter().for_each(prefetch);
    }

    /// Queues a message. Those dropped to make room are appended to `dropped`; their number is returned.
    pub(crate) fn push(
        &mut self,
        config: &LaneConfig,
        bytes: Span,
        receipt: Option<ReceiptKey>,
        dropped: &mut Vec<ReceiptKey>,
    ) -> Result<u64, Refusal> {
        if bytes.len() > config.max_message_bytes {
            return Err(Refusal::TooLong);
        }
        let cost = bytes.len() + MESSAGE_OVERHEAD_BYTES;
        let mut count = 0;
        loop {
            let over = self.queued_bytes + cost > config.limit_bytes;
            match config.overflow {
                Overflow::WouldBlock if over => return Err(Refusal::WouldBlock),
                Overflow::Replace if !self.queue.is_empty() => {}
                Overflow::DropOldest if over => {}
                _ => break,
            }
            self.drop_front(dropped);
            count += 1;
        }
        self.queued_bytes += cost;
        self.queue.push_back(OutMessage {
            bytes,
            receipt,
            first_sent: None,
            last_sent: Duration::ZERO,
            last_packet: 0,
            sent_to: 0,
            acked: false,
            parts: None,
        });
        self.sent.messages += 1;
        Ok(count)
    }

    pub(crate) fn sent(&self) -> Sent {
        self.sent
    }

    /// Lets everything queued so far be sent.
    pub(crate) fn release(&mut self) {
        self.released = self.front + self.queue.len() as u64;
    }

    /// Whether there is something to send.
    pub(crate) fn is_pending(&self) -> bool {
        !self.resends.is_empty() || (self.next < self.released && self.next - self.front < MAX_AHEAD)
    }

    /// Whether the next piece to send may be cut to fit.
    pub(crate) fn is_cut(&self) -> bool {
        let id = self.resends.front().map_or(self.next, |resend| resend.id);
        let at = id.checked_sub(self.front).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.queue.get(at)).is_none_or(|message| !message.is_whole())
    }

    /// Whether a message was sent and is not known to have arrived.
    pub(crate) fn has_unacknowledged(&self) -> bool {
        self.next > self.front
    }

    /// Writes unacknowledged messages first sent less than `window` ago again, oldest first, up to `cap` bytes.
    pub(crate) fn repeat(&mut self, lane: u8, window: Duration, cap: usize, filling: &mut Filling<'_>) {
        let cap = filling.limit.min(filling.out.len() + cap);
        for id in self.front..self.next {
            let message = &self.queue[(id - self.front) as usize];
            let fresh =
                message.first_sent.is_some_and(|sent| sent + window > filling.now) && message.last_sent < filling.now;
            if message.acked || !fresh || !message.is_whole() {
                continue;
            }
            let head = filling.head(lane, self.kind, id, None);
            if filling.out.len() + head.bytes(message.bytes.len()) + message.bytes.len() > cap {
                break;
            }
            self.write_whole(lane, id, filling);
            self.sent.resent_bytes += u64::from(self.queue[(id - self.front) as usize].len());
        }
    }

    /// Writes the next piece if it fits; returns whether it did.
    pub(crate) fn fill(&mut self, lane: u8, filling: &mut Filling<'_>) -> bool {
        while let Some(resend) = self.resends.front().copied() {
            match self.resend(lane, resend, filling) {
                Some(written) => return written,
                None => drop(self.resends.pop_front()),
            }
        }
        if !self.is_pending() {
            return false;
        }
        let id = self.next;
        let message = &self.queue[(id - self.front) as usize];
        if !message.is_whole() {
            let (start, end) = (message.sent_to, message.len());
            return self.write_part(lane, id, (start, end), filling);
        }
        let head = filling.head(lane, self.kind, id, None);
        if head.bytes(message.bytes.len()) + message.bytes.len() > filling.room() {
            return false;
        }
        self.write_whole(lane, id, filling);
        self.next += 1;
        if !self.kind.is_reliable() {
            self.forget_front();
        }
        true
    }

    /// Notes that bytes arrived. Receipts of messages that thereby arrived whole are appended.
    pub(crate) fn on_acked(&mut self, carried: &Carried, delivered: &mut Vec<ReceiptKey>) {
        let Some(message) = Self::find(&mut self.queue, self.front, carried.id) else { return };
        if message.acked {
            return;
        }
        if let Some(parts) = &mut message.parts {
            parts.insert(carried.start, carried.end);
            if !parts.is_full() {
                return;
            }
        }
        message.acked = true;
        message.parts = None;
        delivered.extend(message.receipt.take());
        while self.queue.front().is_some_and(|message| message.acked) {
            self.forget_front();
        }
    }

    /// Notes that bytes are believed lost, having ridden in packet `number`.
    pub(crate) fn on_lost(&mut self, number: u64, carried: &Carried) {
        let Some(message) = Self::find(&mut self.queue, self.front, carried.id) else { return };
        if message.acked || (carried.whole && message.last_packet > number) {
            return;
        }
        self.resends.push_back(Resend { id: carried.id, start: carried.start, end: carried.end });
    }

    /// Sends bytes again that are not believed lost.
    pub(crate) fn on_probe(&mut self, carried: &Carried) {
        let Some(message) = Self::find(&mut self.queue, self.front, carried.id) else { return };
        if !message.acked {
            self.resends.push_front(Resend { id: carried.id, start: carried.start, end: carried.end });
        }
    }

    /// Gives memory back when nothing is queued.
    pub(crate) fn rest(&mut self) {
        if self.queue.is_empty() {
            (self.queue, self.resends) = (VecDeque::new(), VecDeque::new());
        }
    }

    /// Forgets everything; receipts not answered yet are appended.
    pub(crate) fn abandon(&mut self, lost: &mut Vec<ReceiptKey>) {
        lost.extend(self.queue.drain(..).filter_map(|message| message.receipt));
        self.resends.clear();
        self.queued_bytes = 0;
        self.front = self.released.max(self.next);
        (self.next, self.released) = (self.front, self.front);
    }

    fn find(queue: &mut VecDeque<OutMessage>, front: u64, id: u64) -> Option<&mut OutMessage> {
        queue.get_mut(usize::try_from(id.checked_sub(front)?).ok()?)
    }

    fn drop_front(&mut self, dropped: &mut Vec<ReceiptKey>) {
        dropped.extend(self.queue.front_mut().and_then(|message| message.receipt.take()));
        self.forget_front();
    }

    fn forget_front(&mut self) {
        if let Some(message) = self.queue.pop_front() {
            self.queued_bytes -= message.bytes.len() + MESSAGE_OVERHEAD_BYTES;
            self.front += 1;
            self.next = self.next.max(self.front);
            self.released = self.released.max(self.front);
        }
    }

    /// Writes a piece of what is to be resent; `None` if nothing of it is needed any more.
    fn resend(&mut self, lane: u8, resend: Resend, filling: &mut Filling<'_>) -> Option<bool> {
        let message = Self::find(&mut self.queue, self.front, resend.id).filter(|message| !message.acked)?;
        let before = filling.out.len();
        let written = match message.parts.as_ref() {
            None => {
                let head = filling.head(lane, self.kind, resend.id, None);
                let bytes = message.bytes.len();
                let fits = head.bytes(bytes) + bytes <= filling.room();
                if fits {
                    self.write_whole(lane, resend.id, filling);
                    self.resends.pop_front();
                }
                fits
            }
            Some(parts) => {
                let gap = parts.first_gap(resend.start, resend.end)?;
                let written = self.write_part(lane, resend.id, gap, filling);
                if let (true, Some(sent)) = (written, filling.carried.last()) {
                    self.resends[0].start = sent.end;
                    if sent.end >= resend.end {
                        self.resends.pop_front();
                    }
                }
                written
            }
        };
        self.sent.resent_bytes += (filling.out.len() - before) as u64;
        Some(written)
    }

    fn write_whole(&mut self, lane: u8, id: u64, filling: &mut Filling<'_>) {
        let message = &mut self.queue[(id - self.front) as usize];
        let head = filling.head(lane, self.kind, id, None);
        head.write(&message.bytes, filling.out);
        filling.previous = Some((lane, id));
        message.first_sent.get_or_insert(filling.now);
        (message.last_sent, message.last_packet, message.sent_to) = (filling.now, filling.number, message.len());
        self.sent.bytes += message.bytes.len() as u64;
        let receipt = if self.kind.is_reliable() { None } else { message.receipt.take() };
        if self.kind.is_reliable() || receipt.is_some() {
            filling.carried.push(Carried { lane, whole: true, id, start: 0, end: message.len(), receipt });
        }
    }

    fn write_part(&mut self, lane: u8, id: u64, (start, end): (u32, u32), filling: &mut Filling<'_>) -> bool {
        let message = &mut self.queue[(id - self.front) as usize];
        let total = message.len();
        let head = filling.head(lane, self.kind, id, Some((start, total)));
        let room = filling.room().saturating_sub(head.bytes(MAX_WHOLE_MESSAGE_BYTES)) as u32;
        let bytes = if end - start <= room { end - start } else { room - room % BLOCK_BYTES as u32 };
        if bytes == 0 || (bytes < MIN_PART_BYTES && start + bytes < end) {
            return false;
        }
        let stop = start + bytes;
        head.write(&message.bytes[start as usize..stop as usize], filling.out);
        filling.previous = Some((lane, id));
        filling.carried.push(Carried { lane, whole: false, id, start, end: stop, receipt: None });
        message.first_sent.get_or_insert(filling.now);
        message.last_sent = filling.now;
        message.parts.get_or_insert_with(|| Blocks::new(total));
        message.sent_to = message.sent_to.max(stop);
        let sent = message.is_sent();
        self.sent.bytes += u64::from(bytes);
        if sent && id == self.next {
            self.next += 1;
        }
        true
    }
}
