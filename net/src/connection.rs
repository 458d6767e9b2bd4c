//! One established connection: its tunnel, its session or raw payloads, keep-alives, timeout and farewell.

mod paths;

use std::net::SocketAddr;
use std::time::Duration;

use crate::counters::Fault;
use crate::disconnect::{DisconnectCode, DisconnectReason};
use crate::event::{Egress, Ingress, Refusal};
use crate::extension::{
    Answered, ExtendedTunnel, MtuSearch, Notice, PATH_BYTES, PROBE_BYTES, PathProbe, Secrets, Upgrade, Way,
};
use crate::id::{ConnectionId, LaneId};
use crate::lane::LaneSet;
use crate::netcode::TAG_BYTES;
use crate::netcode::packet::PacketKind;
use crate::netcode::tunnel::Tunnel;
use crate::raw::RawQueue;
use crate::sealer::Sealer;
use crate::session::{Desk, Session, SessionConfig};
use crate::stats::ConnectionStats;

/// When the farewell is said, after the connection's end.
const FAREWELLS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(150), Duration::from_millis(300)];
/// Copies of the first farewell.
const FIRST_FAREWELLS: usize = 2;
/// Datagrams sent to one connection before others have their turn.
const TURN_DATAGRAMS: usize = 64;
/// Length of a datagram with a path challenge.
const CHALLENGE_DATAGRAM_BYTES: usize = 1 + 4 + PATH_BYTES + TAG_BYTES;
/// Least time between keep-alives sent in answer to something.
const MIN_GREETING: Duration = Duration::from_millis(50);

/// What a connection is made from.
pub(crate) struct ConnectionSetup {
    pub(crate) id: ConnectionId,
    pub(crate) address: SocketAddr,
    /// `None` exchanges raw payloads.
    pub(crate) lanes: Option<LaneSet>,
    pub(crate) session: SessionConfig,
    /// The token's timeout, in seconds; zero or less means never.
    pub(crate) timeout_s: i32,
    /// Body of the keep-alives we send.
    pub(crate) greeting: [u8; 8],
    /// Whether the peer is known to consider itself connected.
    pub(crate) confirmed: bool,
    /// Where it stands between the standard and the extension.
    pub(crate) upgrade: Upgrade,
}

/// What became of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Alive,
    /// It ended and its farewell is being said.
    Closing(DisconnectReason),
    /// It ended and is to be forgotten.
    Gone(DisconnectReason),
    /// Its farewell is said; it is to be forgotten.
    Finished,
    /// Its peer was followed to another address from this one.
    Moved(SocketAddr),
}

struct Farewells {
    code: DisconnectCode,
    text: String,
    since: Duration,
    said: usize,
}

/// An established connection.
pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    pub(crate) address: SocketAddr,
    sealer: Sealer,
    upgrade: Upgrade,
    /// A path the peer may have moved to.
    path: Option<Box<PathProbe>>,
    /// The peer's path challenge, to be answered.
    path_answer: Option<[u8; PATH_BYTES]>,
    session: Option<Session>,
    raw: RawQueue,
    /// Search for longer datagrams, if wanted.
    mtu: Option<Box<MtuSearch>>,
    /// The number of the peer's probe, to be answered.
    mtu_answer: Option<[u8; PROBE_BYTES]>,
    timeout: Option<Duration>,
    keep_alive: Duration,
    greeting: [u8; 8],
    confirmed: bool,
    greeting_due: bool,
    last_greeting: Duration,
    last_received: Duration,
    last_sent: Duration,
    closing: Option<Box<Farewells>>,
    packets_in: u64,
    bytes_in: u64,
    packets_out: u64,
    bytes_out: u64,
}

impl Connection {
    pub(crate) fn new(setup: ConnectionSetup, tunnel: Tunnel, now: Duration) -> Self {
        let session = setup.lanes.map(|lanes| Session::new(setup.id, lanes, setup.session, now));
        Self {
            id: setup.id,
            address: setup.address,
            sealer: Sealer::new(tunnel),
            upgrade: setup.upgrade,
            path: None,
            path_answer: None,
            session,
            raw: RawQueue::default(),
            mtu: setup.session.probe_mtu.then(|| Box::new(MtuSearch::new(now))),
            mtu_answer: None,
            timeout: u64::try_from(setup.timeout_s).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs),
            keep_alive: setup.session.keep_alive,
            greeting: setup.greeting,
            confirmed: setup.confirmed,
            greeting_due: !setup.confirmed,
            last_greeting: Duration::ZERO,
            last_received: now,
            last_sent: now,
            closing: None,
            packets_in: 0,
            bytes_in: 0,
            packets_out: 0,
            bytes_out: 0,
        }
    }

    /// Asks for the memory, beside the connection's own, that taking a datagram reads.
    pub(crate) fn prefetch_received(&self) {
        self.sealer.prefetch_received();
        self.session.iter().for_each(Session::prefetch_received);
    }

    /// Asks for the memory, beside the connection's own, that sending reads.
    pub(crate) fn prefetch_sent(&self) {
        self.sealer.prefetch_sent();
        self.session.iter().for_each(Session::prefetch_sent);
    }

    /// Asks for the messages that wait to be sent.
    pub(crate) fn prefetch_queued(&self) {
        self.session.iter().for_each(Session::prefetch_queued);
    }

    /// Asks for the memory, beside the connection's own, that queueing a message reads.
    pub(crate) fn prefetch_lane(&self, lane: LaneId) {
        self.session.iter().for_each(|session| session.prefetch_lane(lane));
    }

    pub(crate) fn has_lanes(&self) -> bool {
        self.session.is_some()
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_some()
    }

    /// First sequence number of the standard not used for sealing.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.sealer.next_sequence()
    }

    /// Takes a datagram. Only packets of the extension may come from another address than the connection's.
    pub(crate) fn handle(
        &mut self,
        now: Duration,
        (from, datagram): (SocketAddr, &mut [u8]),
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) -> Verdict {
        let bytes = datagram.len();
        self.sealer.advance(now);
        let opened = match self.sealer.open(now, datagram) {
            Ok(opened) => opened,
            Err(fault) => {
                desk.counters.count(fault);
                return Verdict::Alive;
            }
        };
        if self.is_closing() {
            return Verdict::Alive;
        }
        let (kind, body, is_newest) = (opened.kind, opened.body, opened.is_newest);
        if opened.is_extended && self.sealer.lead() {
            self.upgrade = Upgrade::None;
            desk.counters.extended += 1;
        }
        if kind.is_replay_protected() {
            self.last_received = now;
            self.confirmed = true;
            self.packets_in += 1;
            self.bytes_in += bytes as u64;
        }
        if from != self.address {
            self.try_path(now, (from, bytes), is_newest, desk);
        }
        match kind {
            PacketKind::PathChallenge => {
                self.path_answer = body.first_chunk().copied();
                Verdict::Alive
            }
            PacketKind::PathAnswer => self.take_path_answer(now, from, body, desk),
            PacketKind::MtuProbe => {
                self.mtu_answer = body.first_chunk().copied();
                Verdict::Alive
            }
            PacketKind::MtuAnswer => {
                self.take_mtu_answer(now, body);
                Verdict::Alive
            }
            // A peer that sends one is quiet.
            PacketKind::KeepAlive => {
                self.sealer.rest();
                Verdict::Alive
            }
            PacketKind::Payload => self.take_payload(now, body, desk, ingress),
            PacketKind::Disconnect => {
                self.abandon(desk, ingress);
                Verdict::Gone(DisconnectReason::RemoteClosed)
            }
            // Its first keep-alive was lost: the peer still answers the challenge.
            PacketKind::Response => {
                self.greeting_due |= now >= self.last_greeting + MIN_GREETING;
                Verdict::Alive
            }
            _ => {
                desk.counters.count(Fault::Unexpected);
                Verdict::Alive
            }
        }
    }

    /// Carries out a wish that is not a disconnect.
    pub(crate) fn apply(&mut self, egress: Egress, desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        let (lane, receipt, outcome) = match (egress, self.session.as_mut()) {
            (Egress::Send { lane, receipt, .. }, _) if self.closing.is_some() => {
                (lane, receipt, Err(Refusal::NotConnected))
            }
            (Egress::Send { lane, bytes, receipt, .. }, Some(session)) => {
                (lane, receipt, session.send(lane, bytes, receipt, desk))
            }
            (Egress::Send { lane, receipt, .. }, None) => (lane, receipt, Err(Refusal::NoLane)),
            (Egress::Raw { bytes, .. }, session) => {
                (LaneId(0), None, { if session.is_some() { Err(Refusal::NoLane) } else { self.raw.push(bytes) } })
            }
            _ => return self.flush(),
        };
        desk.report_receipts(self.id, ingress);
        if let Err(refusal) = outcome {
            desk.counters.refused += 1;
            ingress.push(Ingress::Blocked { connection: self.id, lane, refusal, receipt });
        }
    }

    /// Releases what was queued.
    pub(crate) fn flush(&mut self) {
        if let Some(session) = &mut self.session {
            session.flush();
        }
        self.raw.release();
    }

    /// Ends the connection from this side.
    pub(crate) fn close(
        &mut self,
        now: Duration,
        (code, text): (DisconnectCode, String),
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) {
        if self.is_closing() {
            return;
        }
        self.abandon(desk, ingress);
        self.closing = Some(Box::new(Farewells { code, text, since: now, said: 0 }));
    }

    /// Lets time pass.
    pub(crate) fn advance(&mut self, now: Duration, desk: &mut Desk, ingress: &mut Vec<Ingress>) -> Verdict {
        if let Some(closing) = &self.closing {
            return if closing.said == FAREWELLS.len() { Verdict::Finished } else { Verdict::Alive };
        }
        if self.times_out().is_some_and(|at| at <= now) {
            self.close(now, (DisconnectCode::Timeout, String::new()), desk, ingress);
            return Verdict::Closing(DisconnectReason::TimedOut);
        }
        match self.session.as_mut().map(|session| session.advance(now, desk, ingress)) {
            Some(Err(fault)) => {
                desk.counters.count(fault);
                self.expel(now, desk, ingress)
            }
            _ => Verdict::Alive,
        }
    }

    /// Hands out what may be sent.
    pub(crate) fn transmit(&mut self, now: Duration, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        if self.is_closing() {
            return self.say_farewell(now, desk, out);
        }
        self.sealer.advance(now);
        self.send_notices(now, desk, out);
        self.send_path(now, desk, out);
        self.send_mtu(now, desk, out);
        if self.greeting_due {
            self.send_greeting(now, desk, out);
        }
        for _ in 0..TURN_DATAGRAMS {
            let body = self.sealer.begin(PacketKind::Payload, &mut desk.datagram);
            if !self.write_payload(now, desk) {
                break;
            }
            if !self.confirmed && now >= self.last_greeting + MIN_GREETING {
                let payload = desk.datagram.split_off(body);
                self.send_greeting(now, desk, out);
                let body = self.sealer.begin(PacketKind::Payload, &mut desk.datagram);
                desk.datagram.extend_from_slice(&payload);
                self.finish(now, body, desk, out);
                continue;
            }
            self.finish(now, body, desk, out);
        }
        if now >= self.last_sent + self.keep_alive {
            self.send_greeting(now, desk, out);
            self.sealer.rest();
            if let Some(session) = &mut self.session {
                session.rest(now);
            }
        }
    }

    /// When the connection next has something to do by itself.
    pub(crate) fn next_timeout(&self, now: Duration) -> Duration {
        if let Some(closing) = &self.closing {
            return FAREWELLS.get(closing.said).map_or(now, |&after| closing.since + after);
        }
        let mut next = self.last_sent + self.keep_alive;
        if let Some(at) = self.times_out() {
            next = next.min(at);
        }
        if let Some(due) = self.session.as_ref().and_then(|session| session.next_timeout(now)) {
            next = next.min(due);
        }
        match &self.upgrade {
            Upgrade::Announcing(announcing) => next = announcing.due().map_or(next, |due| next.min(due)),
            Upgrade::Answered(answered) if answered.due => next = now,
            _ => {}
        }
        if let Some(mtu) = self.mtu.as_ref().filter(|_| self.sealer.leads()) {
            next = next.min(mtu.due());
        }
        if let Some(due) = self.path.as_ref().and_then(|path| path.due(CHALLENGE_DATAGRAM_BYTES)) {
            next = next.min(due);
        }
        if self.greeting_due || self.raw.is_pending() || self.path_answer.is_some() || self.mtu_answer.is_some() {
            now
        } else {
            next
        }
    }

    /// When the peer will have said nothing, or acknowledged nothing of what waits for it, for as long as it may.
    fn times_out(&self) -> Option<Duration> {
        let unanswered = self.session.as_ref().and_then(Session::unanswered_since);
        Some(unanswered.map_or(self.last_received, |since| since.min(self.last_received)) + self.timeout?)
    }

    pub(crate) fn stats(&self) -> ConnectionStats {
        let mut stats = ConnectionStats {
            packets_in: self.packets_in,
            bytes_in: self.bytes_in,
            packets_out: self.packets_out,
            bytes_out: self.bytes_out,
            ..ConnectionStats::default()
        };
        if let Some(session) = &self.session {
            session.describe(&mut stats);
        }
        stats.mtu_falls = self.mtu.as_ref().map_or(0, |mtu| mtu.falls());
        stats
    }

    /// Takes an opened payload.
    pub(crate) fn take_payload(
        &mut self,
        now: Duration,
        payload: &[u8],
        desk: &mut Desk,
        ingress: &mut Vec<Ingress>,
    ) -> Verdict {
        if self.session.is_some() && Notice::is_notice(payload) {
            return self.take_notice(now, payload, desk, ingress);
        }
        let Some(session) = &mut self.session else {
            desk.inbox.deliver_raw(self.id, payload, ingress);
            return Verdict::Alive;
        };
        match session.receive(now, payload, desk, ingress) {
            Ok(None) => Verdict::Alive,
            Ok(Some(farewell)) => {
                self.abandon(desk, ingress);
                Verdict::Gone(DisconnectReason::Remote { code: farewell.code, text: farewell.text })
            }
            Err(fault) => self.take_fault(now, fault, desk, ingress),
        }
    }

    fn take_fault(&mut self, now: Duration, fault: Fault, desk: &mut Desk, ingress: &mut Vec<Ingress>) -> Verdict {
        desk.counters.count(fault);
        let expelled = fault.is_peers() && self.session.as_mut().is_some_and(|session| session.count_fault(now));
        if expelled { self.expel(now, desk, ingress) } else { Verdict::Alive }
    }

    /// Takes what the peer says about the extension.
    fn take_notice(&mut self, now: Duration, payload: &[u8], desk: &mut Desk, ingress: &mut Vec<Ingress>) -> Verdict {
        match (Notice::read(payload), &mut self.upgrade) {
            (Ok(Notice::Announcement(client)), Upgrade::Waiting(keys)) => {
                let server = desk.random();
                let secrets = Secrets::derive(keys, &client, &server);
                self.sealer.extend(ExtendedTunnel::new(Way::Server, &secrets, 0));
                let answer = Notice::Answer(server, self.id);
                self.upgrade = Upgrade::Answered(Box::new(Answered { announced: client, answer, due: true }));
            }
            (Ok(Notice::Announcement(client)), Upgrade::Answered(answered)) if client == answered.announced => {
                answered.due = true;
            }
            (Ok(Notice::Answer(server, name)), Upgrade::Announcing(announcing)) => {
                let secrets = announcing.secrets(&server);
                self.sealer.extend(ExtendedTunnel::new(Way::Client(name), &secrets, 0));
                self.sealer.lead();
                desk.counters.extended += 1;
                self.upgrade = Upgrade::None;
                // Shows the server that the answer came.
                self.greeting_due = true;
            }
            // One that came twice, or after all was said.
            (Ok(_), _) => {}
            (Err(_), _) => return self.take_fault(now, Fault::Frame, desk, ingress),
        }
        Verdict::Alive
    }

    fn expel(&mut self, now: Duration, desk: &mut Desk, ingress: &mut Vec<Ingress>) -> Verdict {
        desk.counters.expelled += 1;
        let code = DisconnectCode::Faults;
        self.close(now, (code, String::new()), desk, ingress);
        Verdict::Closing(DisconnectReason::Local { code })
    }

    fn abandon(&mut self, desk: &mut Desk, ingress: &mut Vec<Ingress>) {
        if let Some(session) = &mut self.session {
            session.abandon(desk, ingress);
        }
        self.raw.clear();
    }

    /// Appends the next payload to the datagram begun; whether there was one.
    fn write_payload(&mut self, now: Duration, desk: &mut Desk) -> bool {
        if let Some(session) = &mut self.session {
            return session.transmit(now, desk);
        }
        self.raw.pop().inspect(|bytes| desk.datagram.extend_from_slice(bytes)).is_some()
    }

    /// Says what there is to say about the extension.
    fn send_notices(&mut self, now: Duration, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        let notice = match &mut self.upgrade {
            Upgrade::Announcing(announcing) if announcing.due().is_some_and(|due| due <= now) => {
                announcing.announce(now)
            }
            Upgrade::Answered(answered) if answered.due => {
                answered.due = false;
                answered.answer
            }
            _ => return,
        };
        let body = self.sealer.begin(PacketKind::Payload, &mut desk.datagram);
        notice.write(&mut desk.datagram);
        self.finish(now, body, desk, out);
    }

    fn send_greeting(&mut self, now: Duration, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        let body = self.sealer.begin(PacketKind::KeepAlive, &mut desk.datagram);
        desk.datagram.extend_from_slice(&self.greeting);
        self.finish(now, body, desk, out);
        self.greeting_due = false;
        self.last_greeting = now;
    }

    fn say_farewell(&mut self, now: Duration, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        while let Some(closing) = &mut self.closing {
            let due = FAREWELLS.get(closing.said).is_some_and(|&after| closing.since + after <= now);
            if !due {
                break;
            }
            let copies = if closing.said == 0 { FIRST_FAREWELLS } else { 1 };
            closing.said += 1;
            let last = closing.said == FAREWELLS.len();
            let (code, text) = (closing.code, std::mem::take(&mut closing.text));
            for _ in 0..copies {
                let Some(session) = &mut self.session else { break };
                let body = self.sealer.begin(PacketKind::Payload, &mut desk.datagram);
                session.write_farewell(now, code, &text, desk);
                self.finish(now, body, desk, out);
            }
            if let Some(closing) = &mut self.closing {
                closing.text = text;
            }
            let plain = if self.session.is_none() { copies } else { usize::from(last) };
            for _ in 0..plain {
                let body = self.sealer.begin(PacketKind::Disconnect, &mut desk.datagram);
                self.finish(now, body, desk, out);
            }
        }
    }

    fn finish(&mut self, now: Duration, body: usize, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.finish_to(now, (self.address, body), desk, out);
    }

    fn finish_to(
        &mut self,
        now: Duration,
        (to, body): (SocketAddr, usize),
        desk: &mut Desk,
        out: &mut dyn FnMut(SocketAddr, &[u8]),
    ) {
        self.sealer.finish(body, &mut desk.datagram);
        self.last_sent = now;
        self.packets_out += 1;
        self.bytes_out += desk.datagram.len() as u64;
        desk.counters.datagrams_out += 1;
        desk.counters.bytes_out += desk.datagram.len() as u64;
        out(to, &desk.datagram);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SeedEntropy;
    use crate::netcode::cipher::PacketCipher;
    use crate::session::Reassembly;

    // N-13: a peer that keeps sending faults inside its session is disconnected with the reason.
    #[test]
    fn a_peer_full_of_faults_is_expelled() {
        let cipher = |key| PacketCipher::new(&[key; 32], 1);
        let setup = ConnectionSetup {
            id: ConnectionId::new(0, 0, 1),
            address: SocketAddr::from(([1, 1, 1, 1], 1)),
            lanes: Some(LaneSet::standard()),
            session: SessionConfig::default(),
            timeout_s: 10,
            greeting: [0; 8],
            confirmed: true,
            upgrade: Upgrade::None,
        };
        let mut connection = Connection::new(setup, Tunnel::new(cipher(1), cipher(2), 0), Duration::ZERO);
        let mut peer = Tunnel::new(cipher(2), cipher(1), 0);
        let (mut desk, mut ingress, mut datagram) =
            (Desk::new(Reassembly::of_one(1 << 20), SeedEntropy::from_number(1)), vec![], vec![]);
        let mut fault = |second: u64, connection: &mut Connection, desk: &mut Desk| {
            peer.write(PacketKind::Payload, &[0x7F; 30], &mut datagram);
            let from = connection.address;
            connection.handle(Duration::from_secs(second), (from, &mut datagram), desk, &mut ingress)
        };
        // One a second is forgiven for ever.
        (0..100).for_each(|second| assert_eq!(fault(second, &mut connection, &mut desk), Verdict::Alive));
        (0..16).for_each(|_| assert_eq!(fault(100, &mut connection, &mut desk), Verdict::Alive));
        let code = DisconnectCode::Faults;
        assert_eq!(fault(100, &mut connection, &mut desk), Verdict::Closing(DisconnectReason::Local { code }));
        assert_eq!((desk.counters.fault(Fault::Frame), desk.counters.expelled), (117, 1));
        let mut farewells = 0;
        connection.transmit(Duration::from_secs(100), &mut desk, &mut |_, _| farewells += 1);
        assert_eq!(farewells, FIRST_FAREWELLS);
    }
}
