//! Packing of messages into datagrams, and when they may leave.

use std::time::Duration;

use crate::congestion::{HEADER_BYTES, MIN_RATE_BYTES_S, PACKET_BYTES};
use crate::disconnect::DisconnectCode;
use crate::id::LaneId;
use crate::lane::Plan;
use crate::prefetch::prefetch;
use crate::session::desk::Desk;
use crate::session::frame::{PAYLOAD_BYTES, write_disconnect, write_head, write_padding, write_ping};
use crate::session::outbound::Filling;
use crate::session::pacer::Pacer;
use crate::session::received::Urgency;
use crate::session::run::Run;
use crate::session::sent::SentPacket;
use crate::session::state::Session;

/// Longest burst ahead of the pace.
const BURST: Duration = Duration::from_millis(20);
/// Packets that may always leave in a burst.
const BURST_PACKETS: u64 = 4;
/// Burst of what is sent beyond the window, at the least rate.
const FLOOR_BURST: Duration = Duration::from_millis(2 * PACKET_BYTES * 1_000 / MIN_RATE_BYTES_S);
/// Room below which no lane is asked for more.
const MIN_ROOM_BYTES: usize = 8;
/// Longest a packet of the background takes to pass the path, so that others wait no longer for it.
const BACKGROUND: Duration = Duration::from_millis(4);
/// Its payload is no shorter than this for it: headers would take too much.
const MIN_BACKGROUND_BYTES: u64 = 400;

/// Order of lanes and pace of a session's packets.
pub(super) struct Packing {
    /// Fair clock of each class: bytes per weight already served.
    clocks: Box<[u64]>,
    /// Whether a flush asked for the datagram in which unacknowledged messages of repeating lanes ride again.
    pub(super) repeat: bool,
    pacer: Pacer,
    /// Pace of the background, for which there is no least rate.
    background_pacer: Pacer,
    floor: Pacer,
    run: Run,
    /// Longest payload.
    payload_bytes: usize,
}

impl Packing {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            clocks: vec![0; plan.classes].into(),
            repeat: false,
            pacer: Pacer::default(),
            background_pacer: Pacer::default(),
            floor: Pacer::default(),
            run: Run::default(),
            payload_bytes: PAYLOAD_BYTES,
        }
    }

    /// Asks for the memory it points to.
    pub(super) fn prefetch(&self) {
        prefetch(&*self.clocks);
    }

    pub(super) fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    pub(super) fn set_payload_bytes(&mut self, bytes: usize) {
        self.payload_bytes = bytes;
    }
}

/// Whether data may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Open,
    /// For all but the background.
    Ahead,
    /// Beyond the window, at the least rate.
    Floor,
    Until(Duration),
    Closed,
}

impl Session {
    /// Bytes per second that may leave.
    pub(super) fn rate_bytes_s(&self) -> u64 {
        self.background_bytes_s().max(MIN_RATE_BYTES_S)
    }

    /// The same while only the background has something to send: there is no least rate for it.
    fn background_bytes_s(&self) -> u64 {
        self.recovery.controller.rate_bytes_s().min(self.config.max_rate_bytes_s.max(MIN_RATE_BYTES_S)).max(1)
    }

    /// Appends the payload of the next packet that may leave to `desk.datagram`; whether there was one.
    pub(crate) fn transmit(&mut self, now: Duration, desk: &mut Desk) -> bool {
        self.recovery.make_room();
        let probe = self.recovery.is_probe_due();
        let gate = if self.is_pending() { self.gate(now, 0) } else { Gate::Closed };
        let data = probe || matches!(gate, Gate::Open | Gate::Ahead | Gate::Floor);
        let owed = self.received.due();
        if !data && self.acknowledges_at().is_none_or(|due| due > now) {
            return false;
        }
        let base = desk.datagram.len();
        let number = self.recovery.next_number();
        write_head(number, self.recovery.peer_expects(), &mut desk.datagram);
        let head = desk.datagram.len();
        let told = if owed.is_some() { self.received.write(now, &mut desk.datagram) } else { None };
        let empty = desk.datagram.len();
        if data {
            self.fill(now, base, matches!(gate, Gate::Ahead | Gate::Floor), desk);
        }
        let mut urgency = desk.carried_urgency(self.lanes.plan(), desk.datagram.len() > empty);
        if probe {
            if desk.datagram.len() == empty {
                write_ping(&mut desk.datagram);
            }
            urgency = Urgency::Eager;
        }
        if desk.datagram.len() == head {
            desk.datagram.truncate(base);
            return false;
        }
        if desk.datagram.len() > empty {
            self.pad(now, base, desk);
        }
        let bytes = desk.datagram.len() - base;
        self.packing.run.note(now, bytes);
        self.note_sent(now, (SentPacket::new(now.into(), bytes, urgency, told), gate), desk);
        true
    }

    /// Makes the datagram that begins at `base` as long as those it leaves with, if it lacks little and others follow at once: a
    /// shorter one is the last that the system takes in the same call. The first is often longer, for it brings the
    /// acknowledgement. What only the background follows is left as it is: it fills its datagrams anyway.
    fn pad(&self, now: Duration, base: usize, desk: &mut Desk) {
        let bytes = desk.datagram.len() - base;
        let Some(lacks) = self.packing.run.lacks(now, bytes) else { return };
        let fits = bytes + lacks <= self.packing.payload_bytes;
        let passing = bytes + lacks + HEADER_BYTES as usize;
        if fits && self.is_foreground_pending() && matches!(self.gate(now, passing), Gate::Open | Gate::Ahead) {
            write_padding(lacks, &mut desk.datagram);
        }
    }

    /// Appends the payload of a packet that ends the connection to `desk.datagram`.
    pub(crate) fn write_farewell(&mut self, now: Duration, code: DisconnectCode, text: &str, desk: &mut Desk) {
        let base = desk.datagram.len();
        write_head(self.recovery.next_number(), self.recovery.peer_expects(), &mut desk.datagram);
        write_disconnect(code, text, &mut desk.datagram);
        let bytes = desk.datagram.len() - base;
        self.recovery.on_sent(now, SentPacket::new(now.into(), bytes, Urgency::None, None), 0);
    }

    /// When something is due without new messages or datagrams.
    pub(crate) fn next_timeout(&self, now: Duration) -> Option<Duration> {
        if self.recovery.is_probe_due() {
            return Some(now);
        }
        let mut next = self.recovery.next_timeout();
        let mut sooner = |time: Duration| next = Some(next.map_or(time, |next| next.min(time)));
        self.acknowledges_at().into_iter().chain(self.stalls_at()).for_each(&mut sooner);
        if self.is_pending() {
            match self.gate(now, 0) {
                Gate::Open | Gate::Ahead | Gate::Floor => sooner(now),
                Gate::Until(time) => sooner(time),
                Gate::Closed => {}
            }
        }
        next
    }

    /// When an acknowledgement leaves, if need be by itself: it waits for a probe once too many packets are remembered, or a peer
    /// that acknowledges none could have any number of them made.
    fn acknowledges_at(&self) -> Option<Duration> {
        self.received.due().filter(|_| !self.recovery.is_overfull())
    }

    fn is_pending(&self) -> bool {
        self.packing.repeat || self.pending != 0
    }

    /// Whether other lanes than those of the background have something to send.
    fn is_foreground_pending(&self) -> bool {
        self.packing.repeat || self.pending & !self.lanes.plan().background != 0
    }

    /// Whether data may leave after another `passing` bytes have.
    fn gate(&self, now: Duration, passing: usize) -> Gate {
        if self.recovery.is_full() {
            return Gate::Closed;
        }
        let foreground = self.is_foreground_pending();
        let burst = BURST.max(Duration::from_nanos(BURST_PACKETS * PACKET_BYTES * 1_000_000_000 / self.rate_bytes_s()));
        let Packing { mut pacer, mut background_pacer, .. } = self.packing;
        if passing > 0 {
            pacer.pass(now, passing, self.rate_bytes_s());
            background_pacer.pass_regardless(now, passing, self.background_bytes_s());
        }
        let background = background_pacer.ready_at(BURST);
        // What the background was let through leaves no gap for others.
        let paced = if foreground { pacer.ready_at(burst * 2) } else { background };
        if paced > now {
            return Gate::Until(paced);
        }
        if self.recovery.in_flight() + passing as u64 + PACKET_BYTES <= self.recovery.controller.window_bytes() {
            return if background > now { Gate::Ahead } else { Gate::Open };
        }
        if !foreground {
            return Gate::Closed;
        }
        match self.packing.floor.ready_at(FLOOR_BURST) {
            ready if ready <= now => Gate::Floor,
            ready => Gate::Until(ready),
        }
    }

    /// Writes repeats, then the lanes by priority and weight, into the datagram that begins at `base`; not those of the background
    /// if it goes `ahead` of the pace.
    fn fill(&mut self, now: Duration, base: usize, ahead: bool, desk: &mut Desk) {
        let number = self.recovery.next_number();
        let (longest, short) = (base + self.packing.payload_bytes, base + self.background_bytes());
        let Desk { datagram: out, carried, written, .. } = desk;
        let mut filling = Filling { now, number, out, limit: longest, carried, previous: None };
        *written = 0;
        self.packing.repeat = false;
        let plan = self.lanes.plan();
        let repeating = plan.repeating & self.unacknowledged;
        for &(lane, _) in plan.order.iter().filter(|(lane, _)| repeating >> lane & 1 == 1) {
            if let Some(repeat) = self.lanes.get(LaneId(lane)).and_then(|lane| lane.repeat) {
                let before = filling.out.len();
                self.outbound[usize::from(lane)].repeat(lane, repeat.window, repeat.byte_cap, &mut filling);
                *written |= u16::from(filling.out.len() > before) << lane;
            }
        }
        let mut closed = if ahead { self.lanes.plan().background } else { 0 };
        while let Some((lane, class)) = self.next_lane(closed) {
            let index = usize::from(lane);
            let before = filling.out.len();
            if self.lanes.plan().background >> lane & 1 == 1 {
                // A message that is not cut may need more, and has a packet to itself then.
                filling.limit = if *written == 0 && !self.outbound[index].is_cut() { longest } else { short };
            }
            let room = filling.limit >= before + MIN_ROOM_BYTES;
            let filled = room && self.outbound[index].fill(lane, &mut filling);
            self.look_at(lane);
            if !filled {
                closed |= 1 << lane;
                continue;
            }
            *written |= 1 << lane;
            let clock = &mut self.packing.clocks[usize::from(class)];
            let outbound = &mut self.outbound[index];
            *clock = outbound.turn.max(*clock);
            let weight = self.lanes.lanes()[index].weight;
            outbound.turn = *clock + (filling.out.len() - before) as u64 * 256 / u64::from(weight);
        }
    }

    /// Longest payload that the background makes.
    fn background_bytes(&self) -> usize {
        let bytes = self.background_bytes_s() as u128 * BACKGROUND.as_nanos() / 1_000_000_000;
        let payload = (bytes as u64).saturating_sub(HEADER_BYTES).max(MIN_BACKGROUND_BYTES);
        (payload as usize).min(self.packing.payload_bytes)
    }

    /// The lane to serve next, among those not `closed`: of the first class with something to send, the one served least.
    fn next_lane(&self, closed: u16) -> Option<(u8, u8)> {
        let lanes = self.pending & !closed;
        if lanes == 0 {
            return None;
        }
        let open = |&&(lane, _): &&(u8, u8)| lanes >> lane & 1 == 1;
        let first = self.lanes.plan().order.iter().find(open)?;
        let class = self.lanes.plan().order.iter().filter(open).take_while(|(_, class)| *class == first.1);
        class.min_by_key(|(lane, _)| self.outbound[usize::from(*lane)].turn).copied()
    }

    fn note_sent(&mut self, now: Duration, (packet, gate): (SentPacket, Gate), desk: &mut Desk) {
        let count = desk.carried.len();
        desk.carried.drain(..).for_each(|carried| self.recovery.carry(carried));
        let bytes = packet.bytes() as usize;
        let asks = packet.urgency != Urgency::None;
        self.recovery.on_sent(now, packet, count);
        if asks {
            let (rate, background) = (self.rate_bytes_s(), self.background_bytes_s());
            self.packing.pacer.pass(now, bytes, rate);
            self.packing.background_pacer.pass_regardless(now, bytes, background);
        }
        if gate == Gate::Floor {
            self.packing.floor.pass(now, bytes, MIN_RATE_BYTES_S);
        }
        if !self.is_pending() {
            self.recovery.on_idle();
        }
    }
}

impl Desk {
    /// Urgency of the packet just filled.
    fn carried_urgency(&self, plan: &Plan, has_content: bool) -> Urgency {
        match (has_content, self.written & !plan.lazy != 0) {
            (false, _) => Urgency::None,
            (true, true) => Urgency::Eager,
            (true, false) => Urgency::Lazy,
        }
    }
}
