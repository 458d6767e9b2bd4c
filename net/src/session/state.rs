//! A session: everything one connection's lanes need.

use std::time::Duration;

use crate::arena::Span;
use crate::counters::Fault;
use crate::disconnect::DisconnectCode;
use crate::event::{Feedback, Ingress, Refusal};
use crate::id::{ConnectionId, LaneId, ReceiptKey};
use crate::lane::{LaneKind, LaneSet, MAX_LANES};
use crate::session::config::SessionConfig;
use crate::session::desk::Desk;
use crate::session::frame::{AckFrame, Frame, FrameReader, LaneFrame, PAYLOAD_BYTES};
use crate::session::inbound::{Check, Inbound, Taken, count_delivery};
use crate::session::outbound::Outbound;
use crate::session::packing::Packing;
use crate::session::received::{Received, Urgency};
use crate::session::recovery::Recovery;
use crate::session::varint::widen;
use crate::stats::ConnectionStats;

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
    /// Lanes whose messages have ids on the wire.
    with_ids: u16,
    pub(super) outbound: Box<[Outbound]>,
    inbound: Box<[Inbound]>,
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
        let with_ids = lanes.lanes().iter().enumerate().filter(|(_, lane)| lane.kind != LaneKind::Unreliable);
        Self {
            connection,
            with_ids: with_ids.fold(0, |ids, (index, _)| ids | 1 << index),
            outbound: lanes.lanes().iter().map(|lane| Outbound::new(lane, first)).collect(),
            inbound: lanes.lanes().iter().map(|lane| Inbound::new(lane, first)).collect(),
            received: Received::default(),
            recovery: Recovery::new(first, config.congestion.controller(), now),
            packing: Packing::new(&lanes),
            faults: 0,
            total_faults: 0,
            faults_since: now,
            feedback_at: now,
            lanes,
            config,
        }
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
        let dropped = self.outbound[usize::from(lane.0)].push(config, bytes, receipt, &mut desk.lost)?;
        desk.counters.overflowed += dropped;
        Ok(())
    }

    /// Takes a payload. Nothing of it has any effect unless all of it is as it must be.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        payload: &[u8],
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) -> Result<Option<Farewell>, Fault> {
        let (low, bits, _) = FrameReader::open(payload, self.with_ids).ok_or(Fault::Frame)?;
        let expected = self.received.newest().map_or(self.config.first_packet, |newest| newest + 1);
        let number = widen(low, bits, expected);
        if self.received.contains(number) || self.received.is_forgotten(number) {
            return Err(Fault::Replayed);
        }
        let extra = self.check(payload)?;
        if desk.reassembly.used + extra > desk.reassembly.max {
            return Err(Fault::ReassemblyFull);
        }
        let (urgency, farewell) = self.take(now, payload, desk, ingress);
        self.received.take(now, number, urgency);
        Ok(farewell)
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
        if self.inbound.iter().any(|lane| lane.is_stalled(now)) { Err(Fault::WindowBytes) } else { Ok(()) }
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
        desk.reassembly.used -= self.held_bytes();
        self.inbound = Box::default();
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
        stats.lanes = self.outbound.iter().map(|lane| lane.stats).collect();
        for (stats, lane) in stats.lanes.iter_mut().zip(&self.outbound) {
            stats.queued_bytes = lane.queued_bytes() as u64;
        }
    }

    fn check(&self, payload: &[u8]) -> Result<usize, Fault> {
        let (_, _, frames) = FrameReader::open(payload, self.with_ids).ok_or(Fault::Frame)?;
        let mut checks = [Check::default(); MAX_LANES];
        let mut extra = 0;
        for frame in frames {
            match frame.map_err(|_| Fault::Frame)? {
                Frame::Ping | Frame::Disconnect { .. } => {}
                Frame::Ack(ack) => self.recovery.check(&ack).map_err(|_| Fault::AckUnsent)?,
                Frame::Lane(frame) => {
                    let config = self.lanes.get(LaneId(frame.lane)).ok_or(Fault::Lane)?;
                    let lane = usize::from(frame.lane);
                    extra += self.inbound[lane].check(config, &frame, &mut checks[lane])?;
                }
            }
        }
        Ok(extra)
    }

    fn take(
        &mut self,
        now: Duration,
        payload: &[u8],
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) -> (Urgency, Option<Farewell>) {
        let (mut urgency, mut farewell) = (Urgency::None, None);
        let mut intake = Intake { payload, datagram: None, previous: [None; MAX_LANES] };
        let frames = FrameReader::open(payload, self.with_ids).map(|(_, _, frames)| frames);
        for frame in frames.into_iter().flatten().flatten() {
            match frame {
                Frame::Ping => urgency = Urgency::Eager,
                Frame::Ack(ack) => self.take_ack(now, &ack, desk, ingress),
                Frame::Disconnect { code, text } => {
                    farewell = Some(Farewell { code, text: String::from_utf8_lossy(text).into_owned() });
                }
                Frame::Lane(frame) => {
                    urgency = urgency.max(self.packing.urgency(frame.lane));
                    self.take_lane(now, &frame, &mut intake, (desk, ingress));
                }
            }
        }
        (urgency, farewell)
    }

    fn take_lane(
        &mut self,
        now: Duration,
        frame: &LaneFrame<'_>,
        intake: &mut Intake<'_>,
        (desk, ingress): (&mut Desk, &mut Vec<Ingress>),
    ) {
        let lane = usize::from(frame.lane);
        let Some(id) = self.inbound[lane].id(frame, intake.previous[lane]) else { return };
        intake.previous[lane] = Some(id);
        let (connection, stats) = (self.connection, &mut self.outbound[lane].stats);
        let arena = &mut desk.arena;
        let span = || {
            let datagram = intake.datagram.get_or_insert_with(|| arena.copy(intake.payload));
            datagram.slice(frame.at..frame.at + frame.content.len())
        };
        let before = self.inbound[lane].held_bytes();
        let taken = self.inbound[lane].take(now, id, (frame, span), &mut |bytes| {
            count_delivery(stats, &bytes);
            ingress.push(Ingress::Message { connection, lane: LaneId(frame.lane), bytes });
        });
        desk.reassembly.used = desk.reassembly.used + self.inbound[lane].held_bytes() - before;
        match taken {
            Taken::New => {}
            Taken::Duplicate => desk.counters.duplicates += 1,
            Taken::Stale => desk.counters.stale += 1,
        }
    }

    fn take_ack(&mut self, now: Duration, ack: &AckFrame<'_>, desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        if let Some(told) = self.recovery.on_ack(now, ack, &mut desk.settled) {
            self.received.forget(told);
        }
        self.settle(desk, ingress);
        if now >= self.feedback_at && self.recovery.rtt.is_measured() {
            self.feedback_at = now + FEEDBACK_INTERVAL;
            ingress.push(Ingress::Feedback { connection: self.connection, feedback: self.feedback() });
        }
    }

    /// Tells the lanes what became of their messages.
    fn settle(&mut self, desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        let reliable = |lanes: &LaneSet, lane: u8| lanes.get(LaneId(lane)).is_some_and(|lane| lane.kind.is_reliable());
        for carried in desk.settled.acked.drain(..) {
            match reliable(&self.lanes, carried.lane) {
                true => self.outbound[usize::from(carried.lane)].on_acked(&carried, &mut desk.delivered),
                false => desk.delivered.extend(carried.receipt),
            }
        }
        for (number, carried) in desk.settled.lost.drain(..) {
            match reliable(&self.lanes, carried.lane) {
                true => self.outbound[usize::from(carried.lane)].on_lost(number, &carried),
                false => desk.lost.extend(carried.receipt),
            }
        }
        for carried in desk.settled.probe.drain(..).rev() {
            if reliable(&self.lanes, carried.lane) {
                self.outbound[usize::from(carried.lane)].on_probe(&carried);
            }
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

/// A payload while its frames are taken.
struct Intake<'a> {
    payload: &'a [u8],
    /// The payload as shared bytes, once a message needs it.
    datagram: Option<Span>,
    /// Id of the newest frame per lane.
    previous: [Option<u64>; MAX_LANES],
}
