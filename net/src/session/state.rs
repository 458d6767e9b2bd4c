//! A session: everything one connection's lanes need.

use std::time::Duration;

use crate::arena::Span;
use crate::counters::Fault;
use crate::disconnect::DisconnectCode;
use crate::event::{Feedback, Ingress, Refusal};
use crate::id::{ConnectionId, LaneId, ReceiptKey};
use crate::lane::{LaneSet, MAX_LANES};
use crate::prefetch::prefetch;
use crate::session::checks::Checks;
use crate::session::config::SessionConfig;
use crate::session::desk::Desk;
use crate::session::frame::{AckFrame, Frame, FrameReader, LaneFrame, PAYLOAD_BYTES};
use crate::session::inbound::{Inbound, Taken};
use crate::session::outbound::Outbound;
use crate::session::packing::Packing;
use crate::session::received::{Received, Urgency};
use crate::session::recovery::Recovery;
use crate::session::varint::widen;
use crate::stats::{ConnectionStats, LaneStats};

/// Least time between two feedbacks.
const FEEDBACK_INTERVAL: Duration = Duration::from_millis(100);
/// Time a budget is for.
const BUDGETS_PER_S: u64 = 60;

/// The peer's disconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Farewell {
    pub(crate) code: DisconnectCode,
    pub(crate) text: String,
}

/// The lanes of a connection, its packets in flight and those received.
pub(crate) struct Session {
    pub(super) connection: ConnectionId,
    pub(super) config: SessionConfig,
    pub(super) lanes: LaneSet,
    pub(super) outbound: Box<[Outbound]>,
    /// Lanes with messages since the last flush, those with something to send, and those with something sent that is not known
    /// to have arrived, as bits.
    unreleased: u16,
    pub(super) pending: u16,
    pub(super) unacknowledged: u16,
    inbound: Box<[Inbound]>,
    /// Lanes of the newest payload, as bits: the next one is likely to be of the same.
    heard: u16,
    /// Lanes that hold unfinished or waiting messages, as bits.
    holding: u16,
    pub(super) received: Received,
    pub(super) recovery: Recovery,
    pub(super) packing: Packing,
    faults: u32,
    total_faults: u64,
    faults_since: Duration,
    feedback_at: Duration,
}

impl Session {
    pub(crate) fn new(connection: ConnectionId, lanes: LaneSet, config: SessionConfig, now: Duration) -> Self {
        let first = config.first_packet;
        Self {
            connection,
            outbound: lanes.lanes().iter().map(|lane| Outbound::new(lane, first)).collect(),
            unreleased: 0,
            pending: 0,
            unacknowledged: 0,
            inbound: lanes.lanes().iter().map(|lane| Inbound::new(lane, first)).collect(),
            heard: 0,
            holding: 0,
            received: Received::default(),
            recovery: Recovery::new(first, config.congestion.controller(), now),
            packing: Packing::new(lanes.plan()),
            faults: 0,
            total_faults: 0,
            faults_since: now,
            feedback_at: now,
            lanes,
            config,
        }
    }

    /// Asks for the memory, beside its own, that receiving reads.
    pub(crate) fn prefetch_received(&self) {
        self.received.prefetch();
        self.recovery.prefetch();
        bits(self.heard).for_each(|lane| prefetch(&self.inbound[usize::from(lane)]));
    }

    /// Asks for the memory, beside its own, that sending reads.
    pub(crate) fn prefetch_sent(&self) {
        self.received.prefetch();
        self.recovery.prefetch();
        self.packing.prefetch();
        self.busy_lanes().for_each(prefetch);
    }

    /// Asks for the messages that wait to be sent, where the lanes' own memory is there.
    pub(crate) fn prefetch_queued(&self) {
        self.busy_lanes().for_each(Outbound::prefetch_queued);
    }

    /// Lanes with something to send, now or once it is released.
    fn busy_lanes(&self) -> impl Iterator<Item = &Outbound> {
        bits(self.pending | self.unreleased).map(|lane| &self.outbound[usize::from(lane)])
    }

    /// Asks for the memory, beside its own, that queueing a message reads.
    pub(crate) fn prefetch_lane(&self, lane: LaneId) {
        self.outbound.get(usize::from(lane.0)).into_iter().for_each(prefetch);
    }

    /// Queues a message until the next flush.
    pub(crate) fn send(
        &mut self,
        lane: LaneId,
        bytes: Span,
        receipt: Option<ReceiptKey>,
        desk: &mut Desk,
    ) -> Result<(), Refusal> {
        let config = self.lanes.get(lane).ok_or(Refusal::NoLane)?;
        let outcome = self.outbound[usize::from(lane.0)].push(config, bytes, receipt, &mut desk.lost);
        self.unreleased |= 1 << lane.0;
        self.look_at(lane.0);
        desk.counters.overflowed += outcome?;
        Ok(())
    }

    /// Releases what was queued. Repeating lanes get their datagram even when nothing new was: a flush is the tick in which
    /// the owner may send one.
    pub(crate) fn flush(&mut self) {
        for lane in bits(std::mem::take(&mut self.unreleased)) {
            self.outbound[usize::from(lane)].release();
            self.look_at(lane);
        }
        self.packing.repeat = self.unacknowledged & self.lanes.plan().repeating != 0;
    }

    /// Notes whether a lane has something to send, and something sent that is not known to have arrived.
    pub(super) fn look_at(&mut self, lane: u8) {
        let outbound = &self.outbound[usize::from(lane)];
        set_bit(&mut self.pending, lane, outbound.is_pending());
        set_bit(&mut self.unacknowledged, lane, outbound.has_unacknowledged());
    }

    /// How urgently a frame of `lane` asks to be acknowledged.
    fn urgency(&self, lane: u8) -> Urgency {
        if self.lanes.plan().lazy >> lane & 1 == 1 { Urgency::Lazy } else { Urgency::Eager }
    }

    /// Takes a payload. Nothing of it has any effect unless all of it is as it must be.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        payload: &[u8],
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) -> Result<Option<Farewell>, Fault> {
        let (low, bits, reader) = FrameReader::open(payload, self.lanes.plan().with_ids).ok_or(Fault::Frame)?;
        let expected = self.received.newest().map_or(self.config.first_packet, |newest| newest + 1);
        let number = widen(low, bits, expected);
        if self.received.contains(number) || self.received.is_forgotten(number) {
            return Err(Fault::Replayed);
        }
        let mut frames = std::mem::take(&mut desk.frames);
        frames.clear();
        let read = reader.read_all(&mut frames).map_err(|_| Fault::Frame);
        let outcome = read.and_then(|()| self.check(&frames, &mut desk.checks)).and_then(|extra| {
            if extra > 0 && !desk.reassembly.admits(self.held_bytes(), extra) {
                return Err(Fault::ReassemblyFull);
            }
            let (urgency, farewell) = self.take(now, (payload, &frames), desk, ingress);
            self.received.take(now, number, urgency);
            self.heard = desk.checks.seen();
            Ok(farewell)
        });
        desk.frames = frames;
        outcome
    }

    /// Counts a fault of the peer; whether it has committed too many.
    pub(crate) fn count_fault(&mut self, now: Duration) -> bool {
        let forgiven = now.saturating_sub(self.faults_since).as_secs();
        self.faults = self.faults.saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX)) + 1;
        self.faults_since += Duration::from_secs(forgiven);
        self.total_faults += 1;
        self.faults > self.config.max_faults
    }

    /// Lets time pass. An error means the peer left a message unfinished for too long.
    pub(crate) fn advance(&mut self, now: Duration, desk: &mut Desk, ingress: &mut Vec<Ingress>) -> Result<(), Fault> {
        self.recovery.advance(now, &mut desk.settled);
        self.settle(desk, ingress);
        if self.stalls_at().is_some_and(|at| at <= now) { Err(Fault::WindowBytes) } else { Ok(()) }
    }

    /// When the peer will have left a message unfinished for too long.
    pub(super) fn stalls_at(&self) -> Option<Duration> {
        bits(self.holding).filter_map(|lane| self.inbound[usize::from(lane)].stalls_at()).min()
    }

    /// Forgets what is known of the path, for it is another now.
    pub(crate) fn change_path(&mut self) {
        self.recovery.change_path(self.config.congestion.controller());
    }

    /// Makes payloads of up to `bytes` from now on, or of as many as every path passes.
    pub(crate) fn set_payload_bytes(&mut self, bytes: Option<usize>) {
        self.packing.set_payload_bytes(bytes.unwrap_or(PAYLOAD_BYTES));
        self.recovery.renew_length();
    }

    /// Whether packets longer than every path passes seem to get lost for their length.
    pub(crate) fn doubts_length(&self) -> bool {
        self.recovery.doubts_length()
    }

    /// Since when the peer has acknowledged nothing though something waits for it.
    pub(crate) fn unanswered_since(&self) -> Option<Duration> {
        self.recovery.unanswered_since()
    }

    /// How long an answer may take.
    pub(crate) fn answer_timeout(&self) -> Duration {
        self.recovery.rtt.probe_timeout(Duration::ZERO)
    }

    /// Gives memory back that a quiet session does not need.
    pub(crate) fn rest(&mut self, now: Duration) {
        self.recovery.rest(now);
        self.outbound.iter_mut().for_each(Outbound::rest);
    }

    /// Bytes held in unfinished and waiting messages.
    pub(crate) fn held_bytes(&self) -> usize {
        self.inbound.iter().map(Inbound::held_bytes).sum()
    }

    /// Gives everything up: receipts not answered yet are answered as lost.
    pub(crate) fn abandon(&mut self, desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        self.recovery.abandon(&mut desk.lost);
        self.outbound.iter_mut().for_each(|lane| lane.abandon(&mut desk.lost));
        (self.unreleased, self.pending, self.unacknowledged) = (0, 0, 0);
        desk.reassembly.used -= self.held_bytes();
        self.inbound.iter_mut().for_each(Inbound::abandon);
        self.holding = 0;
        desk.report_receipts(self.connection, ingress);
    }

    /// Adds what the session knows to `stats`.
    pub(crate) fn describe(&self, stats: &mut ConnectionStats) {
        let rtt = &self.recovery.rtt;
        (stats.rtt, stats.rtt_min, stats.rtt_var, stats.jitter) = (rtt.smoothed, rtt.min, rtt.deviation, rtt.jitter);
        (stats.lost_out, stats.loss_out) = (self.recovery.lost_packets, self.recovery.loss);
        stats.loss_in = self.received.loss();
        stats.window_bytes = self.recovery.controller.window_bytes();
        stats.in_flight_bytes = self.recovery.in_flight();
        stats.rate_bytes_s = self.rate_bytes_s();
        (stats.faults, stats.payload_bytes) = (self.total_faults, self.packing.payload_bytes());
        let lanes = self.outbound.iter().zip(&self.inbound).map(|(outbound, inbound)| {
            let (sent, (messages_in, bytes_in)) = (outbound.sent(), inbound.delivered());
            LaneStats {
                messages_out: sent.messages,
                bytes_out: sent.bytes,
                resent_bytes: sent.resent_bytes,
                messages_in,
                bytes_in,
                queued_bytes: outbound.queued_bytes() as u64,
            }
        });
        stats.lanes = lanes.collect();
    }

    /// Checks that each of a payload's frames may be taken. Returns the bytes they would add to what is held.
    fn check(&self, frames: &[Frame], checks: &mut Checks) -> Result<usize, Fault> {
        checks.clear();
        let (mut extra, mut has_ack) = (0, false);
        for frame in frames {
            match frame {
                Frame::Padding | Frame::Ping | Frame::Disconnect { .. } => {}
                Frame::Ack(_) if std::mem::replace(&mut has_ack, true) => return Err(Fault::Frame),
                Frame::Ack(ack) => self.recovery.check(ack).map_err(|_| Fault::AckUnsent)?,
                Frame::Lane(frame) => {
                    let config = self.lanes.get(LaneId(frame.lane)).ok_or(Fault::Lane)?;
                    let inbound = &self.inbound[usize::from(frame.lane)];
                    let id = inbound.id(frame, checks.previous(frame.lane)).ok_or(Fault::Frame)?;
                    let cost = inbound.check(config, (frame, id), checks)?;
                    checks.note(frame, id, cost);
                    extra += cost;
                }
            }
        }
        Ok(extra)
    }

    fn take(
        &mut self,
        now: Duration,
        (payload, frames): (&[u8], &[Frame]),
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) -> (Urgency, Option<Farewell>) {
        let (mut urgency, mut farewell) = (Urgency::None, None);
        let mut lane_frames = 0;
        for frame in frames {
            match frame {
                Frame::Padding => {}
                Frame::Ping => urgency = Urgency::Eager,
                Frame::Ack(ack) => self.take_ack(now, (ack, payload), desk, ingress),
                Frame::Disconnect { code, text } => {
                    farewell =
                        Some(Farewell { code: *code, text: String::from_utf8_lossy(text.of(payload)).into_owned() });
                }
                Frame::Lane(frame) => {
                    urgency = urgency.max(self.urgency(frame.lane));
                    let id = desk.checks.id(lane_frames).expect("each was checked");
                    lane_frames += 1;
                    self.take_lane(now, (frame, id, payload), (desk, ingress));
                }
            }
        }
        (urgency, farewell)
    }

    /// Takes a message or a part of one.
    fn take_lane(
        &mut self,
        now: Duration,
        (frame, id, payload): (&LaneFrame, u64, &[u8]),
        (desk, ingress): (&mut Desk, &mut Vec<Ingress>),
    ) {
        let lane = usize::from(frame.lane);
        let (connection, inbox) = (self.connection, &mut desk.inbox);
        let before = self.inbound[lane].held_bytes();
        let taken = self.inbound[lane].take(now, id, (frame, payload), &mut |message| {
            inbox.deliver(connection, LaneId(frame.lane), message, ingress);
        });
        let held = self.inbound[lane].held_bytes();
        set_bit(&mut self.holding, frame.lane, held > 0);
        desk.reassembly.used = desk.reassembly.used + held - before;
        match taken {
            Taken::New => {}
            Taken::Duplicate => desk.counters.duplicates += 1,
            Taken::Stale => desk.counters.stale += 1,
        }
    }

    fn take_ack(&mut self, now: Duration, ack: (&AckFrame, &[u8]), desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        if let Some(told) = self.recovery.on_ack(now, ack, &mut desk.settled) {
            self.received.forget(told);
        }
        self.settle(desk, ingress);
        if now >= self.feedback_at && self.recovery.rtt.is_measured() {
            self.feedback_at = now + FEEDBACK_INTERVAL;
            ingress.push(Ingress::Feedback { connection: self.connection, feedback: Box::new(self.feedback()) });
        }
    }

    /// Tells the lanes what became of their messages.
    fn settle(&mut self, desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        let reliable = self.lanes.plan().reliable;
        let is_reliable = |lane: u8| reliable >> lane & 1 == 1;
        for carried in desk.settled.acked.drain(..) {
            if is_reliable(carried.lane) {
                self.outbound[usize::from(carried.lane)].on_acked(&carried, &mut desk.delivered);
                self.look_at(carried.lane);
            } else {
                desk.delivered.extend(carried.receipt);
            }
        }
        for (number, carried) in desk.settled.lost.drain(..) {
            if is_reliable(carried.lane) {
                self.outbound[usize::from(carried.lane)].on_lost(number, &carried);
                self.look_at(carried.lane);
            } else {
                desk.lost.extend(carried.receipt);
            }
        }
        for carried in desk.settled.probe.drain(..).rev().filter(|carried| is_reliable(carried.lane)) {
            self.outbound[usize::from(carried.lane)].on_probe(&carried);
            self.look_at(carried.lane);
        }
        desk.report_receipts(self.connection, ingress);
    }

    fn feedback(&self) -> Feedback {
        let rtt = &self.recovery.rtt;
        let mut queued_bytes = [0; MAX_LANES];
        queued_bytes.iter_mut().zip(&self.outbound).for_each(|(bytes, lane)| *bytes = lane.queued_bytes() as u32);
        Feedback {
            rtt: rtt.smoothed,
            rtt_min: rtt.min,
            rtt_var: rtt.deviation,
            loss_in: self.received.loss(),
            loss_out: self.recovery.loss,
            budget_bytes: u32::try_from(self.rate_bytes_s() / BUDGETS_PER_S).unwrap_or(u32::MAX),
            queued_bytes,
        }
    }
}

/// Sets or clears the bit of a lane.
fn set_bit(bits: &mut u16, lane: u8, on: bool) {
    *bits = *bits & !(1 << lane) | u16::from(on) << lane;
}

/// The places of the bits that are set, lowest first.
fn bits(mut of: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = of.trailing_zeros() as u8;
        (of != 0).then(|| {
            of &= of - 1;
            lowest
        })
    })
}
