//! Packets sent and not settled yet, with what they carried.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use crate::congestion::HEADER_BYTES;
use crate::id::ReceiptKey;
use crate::prefetch::prefetch;
use crate::session::moment::Moment;
use crate::session::received::Urgency;

/// Most packets remembered; nothing is sent while so many are open.
pub(crate) const MAX_OPEN_PACKETS: usize = 4_096;
/// Most with those that only acknowledge.
pub(crate) const MAX_PACKETS: usize = 2 * MAX_OPEN_PACKETS;

/// What one frame of a sent packet carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) lane: u8,
    /// Whether it was whole, as opposed to a part.
    pub(crate) whole: bool,
    pub(crate) id: u64,
    /// Which bytes of the message.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Receipt of a message that is not sent again.
    pub(crate) receipt: Option<ReceiptKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Neither acknowledged nor given up.
    Open,
    Acked,
    /// Acknowledged after it was given up.
    AckedLate,
    /// Given up; an acknowledgement may still come.
    Lost,
    /// Asked for no acknowledgement, or settled.
    Silent,
}

/// A sent packet: less than a cache line, for every one in flight on every connection is read when it is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    pub(crate) sent_at: Moment,
    /// Newest packet number its acknowledgement frame told.
    pub(crate) told: Option<Told>,
    /// Delivery state when it was sent, for rate samples.
    pub(crate) delivery: DeliveryMark,
    /// Whether the sender had less to send than it might have.
    pub(crate) app_limited: bool,
    pub(crate) fate: Fate,
    pub(crate) urgency: Urgency,
    /// Its bytes on the path, headers included.
    bytes: u16,
    carried: u16,
}

/// What was delivered when a packet left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveryMark {
    pub(crate) delivered: u64,
    pub(crate) delivered_at: Moment,
    pub(crate) first_sent_at: Moment,
}

/// A packet number that was told to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Told(NonZeroU64);

impl Told {
    pub(crate) fn new(number: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(number))
    }

    pub(crate) fn number(self) -> u64 {
        self.0.get() - 1
    }
}

/// The packets, by number, and what they carried, in one queue each.
#[derive(Debug)]
pub(crate) struct SentLog {
    first: u64,
    packets: VecDeque<SentPacket>,
    carried: VecDeque<Carried>,
}

impl SentLog {
    pub(crate) fn new(first: u64) -> Self {
        Self { first, packets: VecDeque::new(), carried: VecDeque::new() }
    }

    /// Number of the next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Asks for the memory of the oldest packet and of the newest, and of what that carried.
    pub(crate) fn prefetch(&self) {
        self.packets.front().into_iter().chain(self.packets.back()).for_each(prefetch);
        self.carried.back().into_iter().for_each(prefetch);
    }

    /// Oldest number remembered.
    pub(crate) fn first_number(&self) -> u64 {
        self.first
    }

    pub(crate) fn is_full(&self) -> bool {
        self.packets.len() >= MAX_OPEN_PACKETS
    }

    pub(crate) fn is_overfull(&self) -> bool {
        self.packets.len() >= MAX_PACKETS
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut SentPacket> {
        self.packets.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Notes what the packet now being written carries; [`push`](Self::push) takes it.
    pub(crate) fn carry(&mut self, carried: Carried) {
        self.carried.push_back(carried);
    }

    /// Adds the packet that carries the newest `carried` notes.
    pub(crate) fn push(&mut self, mut packet: SentPacket, carried: usize) {
        packet.carried = carried as u16;
        self.packets.push_back(packet);
    }

    /// Calls `visit` with every packet from the oldest up to `newest` and what it carried. Where `visit` answers with a fate, the
    /// packet takes it.
    pub(crate) fn settle(
        &mut self,
        newest: u64,
        mut visit: impl FnMut(u64, &SentPacket, &mut dyn Iterator<Item = Carried>) -> Option<Fate>,
    ) {
        let mut at = 0;
        for (number, packet) in (self.first..=newest).zip(&mut self.packets) {
            let end = at + usize::from(packet.carried);
            let fate = match packet.carried {
                0 => visit(number, packet, &mut std::iter::empty()),
                _ => visit(number, packet, &mut self.carried.range(at..end).copied()),
            };
            packet.fate = fate.unwrap_or(packet.fate);
            at = end;
        }
    }

    /// Forgets settled packets at the old end; lost ones when they were sent before `lost_before`.
    pub(crate) fn trim(&mut self, lost_before: Moment) {
        while let Some(packet) = self.packets.front() {
            match packet.fate {
                Fate::Open => break,
                Fate::Lost if packet.sent_at >= lost_before => break,
                _ => {}
            }
            if packet.carried > 0 {
                self.carried.drain(..usize::from(packet.carried));
            }
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// Gives memory back when nothing is remembered.
    pub(crate) fn rest(&mut self) {
        if self.packets.is_empty() {
            (self.packets, self.carried) = (VecDeque::new(), VecDeque::new());
        }
    }
}

impl SentPacket {
    /// A packet with `bytes` of payload.
    pub(crate) fn new(sent_at: Moment, bytes: usize, urgency: Urgency, told: Option<u64>) -> Self {
        let fate = if urgency == Urgency::None { Fate::Silent } else { Fate::Open };
        let bytes = (bytes + HEADER_BYTES as usize) as u16;
        let delivery = DeliveryMark { delivered: 0, delivered_at: sent_at, first_sent_at: sent_at };
        Self { sent_at, told: told.map(Told::new), delivery, app_limited: false, fate, urgency, bytes, carried: 0 }
    }

    /// Its bytes on the path, headers included.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }
}
