//! Loss detection and delivery measurement, after RFC 9002.

use std::time::Duration;

use crate::congestion::{AckEvent, Controller, Delivery, LossEvent, PACKET_BYTES};
use crate::id::ReceiptKey;
use crate::prefetch::prefetch;
use crate::session::frame::AckFrame;
use crate::session::moment::Moment;
use crate::session::received::{EAGER_DELAY, LAZY_DELAY, Urgency};
use crate::session::rtt::{GRANULARITY, Rtt};
use crate::session::sent::{Carried, DeliveryMark, Fate, SentLog, SentPacket, Told};

/// Packets acknowledged beyond one before it is given up, at first.
const REORDER_PACKETS: u64 = 3;
/// At most, after acknowledgements of packets given up.
const MAX_REORDER_PACKETS: u64 = 512;
/// Eighths of a round trip before a packet is given up, at first and at most.
const REORDER_EIGHTHS: u32 = 9;
const MAX_REORDER_EIGHTHS: u32 = 16;
/// Probes are never further apart than this, or one probe timeout if that is longer.
const MAX_PROBE_INTERVAL: Duration = Duration::from_millis(400);
/// Probes in a row that a path's usual losses excuse at most, and how improbable it is that they do from which they no longer do.
const MAX_EXCUSED: u32 = 4;
const UNLIKELY: f32 = 0.06;
/// Long packets lost in a row, and probes unanswered, after which the length is in doubt.
const LONG_LOST: u32 = 6;
const PROBES_IN_DOUBT: u32 = 2;
/// How long packets given up are remembered for a late acknowledgement.
const LOST_MEMORY: Duration = Duration::from_secs(1);

/// What happened to frames, collected for the lanes.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Arrived, for the first time we know of.
    pub(crate) acked: Vec<Carried>,
    /// Given up, with the packet's number.
    pub(crate) lost: Vec<(u64, Carried)>,
    /// Worth sending again though not given up.
    pub(crate) probe: Vec<Carried>,
}

/// The acknowledgement names a packet that was never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeverSent;

/// Packets in flight and what is concluded about them.
pub(crate) struct Recovery {
    log: SentLog,
    pub(crate) rtt: Rtt,
    pub(crate) controller: Box<dyn Controller>,
    in_flight: u64,
    newest_acked: Option<u64>,
    newest_told: Option<Told>,
    loss_at: Option<Duration>,
    last_ask: Option<(Duration, Urgency)>,
    probes_unanswered: u32,
    probe_due: bool,
    reorder_packets: u64,
    reorder_eighths: u32,
    delivered: u64,
    delivered_at: Moment,
    first_sent_at: Moment,
    app_limited_until: u64,
    /// Packets lost since the last one acknowledged, of those longer than every path passes.
    long_lost: u32,
    pub(crate) lost_packets: u64,
    pub(crate) loss: f32,
}

impl Recovery {
    pub(crate) fn new(first_number: u64, controller: Box<dyn Controller>, now: Duration) -> Self {
        Self {
            log: SentLog::new(first_number),
            rtt: Rtt::new(),
            controller,
            in_flight: 0,
            newest_acked: None,
            newest_told: None,
            loss_at: None,
            last_ask: None,
            probes_unanswered: 0,
            probe_due: false,
            reorder_packets: REORDER_PACKETS,
            reorder_eighths: REORDER_EIGHTHS,
            delivered: 0,
            delivered_at: now.into(),
            first_sent_at: now.into(),
            app_limited_until: 0,
            long_lost: 0,
            lost_packets: 0,
            loss: 0.0,
        }
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.log.next_number()
    }

    /// Asks for the memory, beside its own, that sending and acknowledgements read.
    pub(crate) fn prefetch(&self) {
        self.log.prefetch();
        prefetch(&*self.controller);
    }

    /// The oldest packet number the peer may be waiting for.
    pub(crate) fn peer_expects(&self) -> u64 {
        self.newest_acked.map_or(self.log.first_number(), |newest| newest + 1)
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Since when the peer has acknowledged nothing though something waits for it.
    pub(crate) fn unanswered_since(&self) -> Option<Duration> {
        (self.in_flight > 0).then(|| self.delivered_at.into())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.log.is_full()
    }

    /// Whether even those that only acknowledge find no room among the packets remembered.
    pub(crate) fn is_overfull(&self) -> bool {
        self.log.is_overfull()
    }

    /// Forgets settled packets if many are remembered: those that only acknowledge are settled when they leave, and nothing else
    /// may ever come to forget them.
    pub(crate) fn make_room(&mut self) {
        if self.log.is_full() {
            self.log.trim(Duration::ZERO.into());
        }
    }

    /// Packets remembered.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        (self.log.next_number() - self.log.first_number()) as usize
    }

    /// Whether a probe should leave, whatever the window.
    pub(crate) fn is_probe_due(&self) -> bool {
        self.probe_due
    }

    pub(crate) fn carry(&mut self, carried: Carried) {
        self.log.carry(carried);
    }

    /// Notes a packet sent, which carries the newest `carried` notes.
    pub(crate) fn on_sent(&mut self, now: Duration, mut packet: SentPacket, carried: usize) {
        if packet.fate == Fate::Open {
            if self.in_flight == 0 {
                self.first_sent_at = packet.sent_at;
                self.delivered_at = packet.sent_at;
            }
            packet.delivery = DeliveryMark {
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                first_sent_at: self.first_sent_at,
            };
            packet.app_limited = self.app_limited_until > self.delivered;
            self.in_flight += packet.bytes();
            self.last_ask = Some((now, packet.urgency));
            self.probe_due = false;
            self.controller.on_sent(now, packet.bytes(), self.in_flight);
        }
        self.log.push(packet, carried);
    }

    /// Notes that the sender had nothing more to send though it might have.
    pub(crate) fn on_idle(&mut self) {
        if self.in_flight < self.controller.window_bytes() {
            self.app_limited_until = (self.delivered + self.in_flight).max(1);
        }
    }

    /// Whether every number of an acknowledgement was sent.
    pub(crate) fn check(&self, ack: &AckFrame) -> Result<(), NeverSent> {
        if ack.newest < self.log.next_number() { Ok(()) } else { Err(NeverSent) }
    }

    /// Takes an acknowledgement that was checked, from the payload it came in. Returns the newest number of ours whose telling
    /// the peer has seen.
    pub(crate) fn on_ack(
        &mut self,
        now: Duration,
        (ack, payload): (&AckFrame, &[u8]),
        settled: &mut Settled,
    ) -> Option<u64> {
        let before = self.in_flight;
        let mut batch = AckBatch::default();
        for range in ack.ranges(payload) {
            let start = (*range.start()).max(self.log.first_number());
            for number in start..=*range.end() {
                self.ack_one(number, &mut batch);
            }
        }
        let Some((newest, packet)) = batch.newest else { return self.newest_told.map(Told::number) };
        self.newest_acked = self.newest_acked.max(Some(newest));
        self.collect_acked(ack.newest, settled);
        let sample = (newest == ack.newest).then(|| Moment::from(now).since(packet.sent_at));
        if let Some(latest) = sample {
            self.rtt.sample(latest, ack.delay.min(LAZY_DELAY));
        }
        self.probes_unanswered = 0;
        let delivery = self.measure(now.into(), &packet);
        self.controller.on_ack(&AckEvent {
            now,
            acked_bytes: batch.bytes,
            in_flight_before: before,
            in_flight: self.in_flight,
            sent_at: packet.sent_at.into(),
            ack_delay: ack.delay,
            rtt: sample,
            smoothed_rtt: self.rtt.smoothed,
            jitter: self.rtt.jitter,
            min_rtt: self.rtt.min,
            delivery,
        });
        self.detect_losses(now, settled);
        self.log.trim(now.saturating_sub(LOST_MEMORY).into());
        self.newest_told.map(Told::number)
    }

    /// Lets time pass: gives packets up whose time has come, asks for a probe when nothing was heard.
    pub(crate) fn advance(&mut self, now: Duration, settled: &mut Settled) {
        if self.loss_at.is_some_and(|at| at <= now) {
            self.detect_losses(now, settled);
            self.log.trim(now.saturating_sub(LOST_MEMORY).into());
        }
        if self.probe_at().is_some_and(|at| at <= now) {
            self.probes_unanswered = (self.probes_unanswered + 1).min(16);
            self.last_ask = self.last_ask.map(|(_, urgency)| (now, urgency));
            self.probe_due = true;
            self.collect_probe(settled);
        }
    }

    /// Gives everything up: receipts that ride on packets are appended.
    pub(crate) fn abandon(&mut self, lost: &mut Vec<ReceiptKey>) {
        self.log.settle(u64::MAX, |_, packet, carried| {
            if packet.fate != Fate::Open {
                return None;
            }
            lost.extend(carried.filter_map(|carried| carried.receipt));
            Some(Fate::Lost)
        });
        (self.in_flight, self.loss_at, self.last_ask) = (0, None, None);
    }

    /// Begins anew with what is known of the path.
    pub(crate) fn change_path(&mut self, controller: Box<dyn Controller>) {
        self.controller = controller;
        self.rtt = Rtt::new();
        self.loss = 0.0;
        (self.reorder_packets, self.reorder_eighths) = (REORDER_PACKETS, REORDER_EIGHTHS);
    }

    /// Whether packets longer than every path passes seem to get lost for their length. Loss at random may look the same.
    pub(crate) fn doubts_length(&self) -> bool {
        self.long_lost >= LONG_LOST || self.probes_unanswered >= PROBES_IN_DOUBT
    }

    /// Begins anew with what is known of the longest packets.
    pub(crate) fn renew_length(&mut self) {
        self.long_lost = 0;
    }

    /// Gives memory back when nothing is in flight.
    pub(crate) fn rest(&mut self, now: Duration) {
        self.log.trim(now.saturating_sub(LOST_MEMORY).into());
        self.log.rest();
    }

    /// When [`advance`](Self::advance) has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        match (self.loss_at, self.probe_at()) {
            (Some(loss), Some(probe)) => Some(loss.min(probe)),
            (loss, probe) => loss.or(probe),
        }
    }

    fn probe_at(&self) -> Option<Duration> {
        let (asked_at, urgency) = self.last_ask.filter(|_| self.in_flight > 0)?;
        let delay = if urgency == Urgency::Eager { EAGER_DELAY } else { LAZY_DELAY };
        let timeout = self.rtt.probe_timeout(delay);
        let unexplained = self.probes_unanswered.saturating_sub(self.probes_excused());
        let interval = timeout * (1 << unexplained.min(4));
        Some(asked_at + interval.min(timeout.max(MAX_PROBE_INTERVAL)))
    }

    /// Probes in a row that may well go unanswered on a path that loses as much as this one did lately, either way: they say
    /// nothing of an outage, so the next one comes no later for them.
    fn probes_excused(&self) -> u32 {
        let unanswered = 1.0 - (1.0 - self.loss) * (1.0 - self.loss);
        let mut probability = unanswered;
        (0..MAX_EXCUSED)
            .take_while(|_| {
                let likely = probability > UNLIKELY;
                probability *= unanswered;
                likely
            })
            .count() as u32
    }

    fn ack_one(&mut self, number: u64, batch: &mut AckBatch) {
        let newest_acked = self.newest_acked.unwrap_or(0);
        let Some(packet) = self.log.get_mut(number) else { return };
        match packet.fate {
            Fate::Acked | Fate::AckedLate => return,
            Fate::Silent => {
                self.newest_told = self.newest_told.max(packet.told);
                return;
            }
            Fate::Open => {
                self.in_flight -= packet.bytes();
                self.loss -= self.loss / 64.0;
            }
            Fate::Lost => {
                let behind = newest_acked.saturating_sub(number) + 1;
                self.reorder_packets = self.reorder_packets.max(behind.min(MAX_REORDER_PACKETS));
                self.reorder_eighths = (self.reorder_eighths + 1).min(MAX_REORDER_EIGHTHS);
                self.lost_packets -= 1;
                self.loss = (self.loss - 1.0 / 64.0).max(0.0);
            }
        }
        if packet.bytes() > PACKET_BYTES {
            self.long_lost = 0;
        }
        packet.fate = if packet.fate == Fate::Lost { Fate::AckedLate } else { Fate::Acked };
        self.newest_told = self.newest_told.max(packet.told);
        self.delivered += packet.bytes();
        batch.bytes += packet.bytes();
        if batch.newest.as_ref().is_none_or(|(newest, _)| number > *newest) {
            batch.newest = Some((number, *packet));
        }
    }

    /// Collects what the packets marked by [`ack_one`](Self::ack_one) carried and marks them settled. Receipts of those given up
    /// before were answered then.
    fn collect_acked(&mut self, newest: u64, settled: &mut Settled) {
        self.log.settle(newest, |_, packet, carried| {
            match packet.fate {
                Fate::Acked => settled.acked.extend(carried),
                Fate::AckedLate => settled.acked.extend(carried.map(|carried| Carried { receipt: None, ..carried })),
                _ => return None,
            }
            Some(Fate::Silent)
        });
    }

    fn detect_losses(&mut self, now: Duration, settled: &mut Settled) {
        self.loss_at = None;
        let Some(newest_acked) = self.newest_acked else { return };
        let longest = self.rtt.smoothed.max(self.rtt.latest).as_nanos() as u64;
        let patience = Duration::from_nanos(longest * u64::from(self.reorder_eighths) / 8).max(GRANULARITY);
        let packets = self.reorder_packets;
        let (mut lost_bytes, mut lost_count, mut long) = (0, 0, 0);
        let (mut span, mut next) = (None::<(Moment, Moment)>, None::<Moment>);
        self.log.settle(newest_acked, |number, packet, carried| {
            if packet.fate != Fate::Open {
                return None;
            }
            let due = packet.sent_at + patience;
            if due > Moment::from(now) && newest_acked - number < packets {
                next = Some(next.map_or(due, |next| next.min(due)));
                return None;
            }
            lost_bytes += packet.bytes();
            lost_count += 1;
            long += u32::from(packet.bytes() > PACKET_BYTES);
            let (first, last) = span.unwrap_or((packet.sent_at, packet.sent_at));
            span = Some((first.min(packet.sent_at), last.max(packet.sent_at)));
            settled.lost.extend(carried.map(|carried| (number, carried)));
            Some(Fate::Lost)
        });
        self.loss_at = next.map(Duration::from);
        let Some((first, last)) = span else { return };
        self.in_flight -= lost_bytes;
        self.lost_packets += lost_count;
        self.long_lost = self.long_lost.saturating_add(long);
        (0..lost_count.min(256)).for_each(|_| self.loss += (1.0 - self.loss) / 64.0);
        let persistent = last.since(first) > self.rtt.probe_timeout(EAGER_DELAY) * 3;
        self.controller.on_loss(&LossEvent {
            now,
            lost_bytes,
            newest_sent_at: last.into(),
            in_flight: self.in_flight,
            persistent,
        });
    }

    /// Collects what the two oldest open packets carried.
    fn collect_probe(&mut self, settled: &mut Settled) {
        let mut packets = 0;
        self.log.settle(u64::MAX, |_, packet, carried| {
            if packet.fate == Fate::Open && packets < 2 {
                packets += 1;
                settled.probe.extend(carried);
            }
            None
        });
    }

    fn measure(&mut self, now: Moment, packet: &SentPacket) -> Option<Delivery> {
        let (sent_at, mark) = (packet.sent_at, &packet.delivery);
        self.delivered_at = now;
        self.first_sent_at = self.first_sent_at.max(sent_at);
        let sending = sent_at.since(mark.first_sent_at);
        let acking = now.since(mark.delivered_at);
        let interval = sending.max(acking);
        let bytes = self.delivered - mark.delivered;
        if interval < self.rtt.min.min(GRANULARITY) || interval.is_zero() {
            return None;
        }
        Some(Delivery {
            bytes_s: bytes.saturating_mul(1_000_000_000) / interval.as_nanos() as u64,
            app_limited: packet.app_limited,
            delivered_before: mark.delivered,
            delivered: self.delivered,
        })
    }
}

/// What one acknowledgement newly acknowledged.
#[derive(Default)]
struct AckBatch {
    bytes: u64,
    newest: Option<(u64, SentPacket)>,
}
