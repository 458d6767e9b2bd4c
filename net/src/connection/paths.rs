//! The paths of a connection: whether the peer moved to another, and how long the datagrams are that its own passes.

use std::net::SocketAddr;
use std::time::Duration;

use super::{CHALLENGE_DATAGRAM_BYTES, Connection, Verdict};
use crate::counters::Fault;
use crate::extension::{MtuProbe, MtuSearch, PathProbe};
use crate::netcode::TAG_BYTES;
use crate::netcode::packet::PacketKind;
use crate::session::Desk;

impl Connection {
    /// Notes that a packet came from another address, and whether it shows that the peer moved there.
    pub(super) fn try_path(
        &mut self,
        now: Duration,
        (from, bytes): (SocketAddr, usize),
        is_newest: bool,
        desk: &mut Desk,
    ) {
        if is_newest && self.path.as_ref().is_none_or(|path| path.yields_to(now, from)) {
            self.path = Some(Box::new(PathProbe::new(now, from, desk.random())));
        }
        if let Some(path) = &mut self.path {
            path.receive(from, bytes);
        }
    }

    pub(super) fn take_path_answer(
        &mut self,
        now: Duration,
        from: SocketAddr,
        answer: &[u8],
        desk: &mut Desk,
    ) -> Verdict {
        if !self.path.as_ref().is_some_and(|path| path.is_answer(from, answer)) {
            desk.counters.count(Fault::Path);
            return Verdict::Alive;
        }
        self.path = None;
        let before = std::mem::replace(&mut self.address, from);
        desk.counters.moved += 1;
        // A NAT that chose another port leaves the path as it was.
        if let Some(session) = self.session.as_mut().filter(|_| before.ip() != from.ip()) {
            session.change_path();
            if let Some(mtu) = &mut self.mtu {
                **mtu = MtuSearch::new(now);
            }
            self.fit_payloads();
        }
        Verdict::Moved(before)
    }

    /// Challenges a new path and answers the peer's challenge.
    pub(super) fn send_path(&mut self, now: Duration, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        if let Some(answer) = self.path_answer.take() {
            let body = self.sealer.begin(PacketKind::PathAnswer, &mut desk.datagram);
            desk.datagram.extend_from_slice(&answer);
            self.finish(now, body, desk, out);
        }
        let Some(path) = &mut self.path else { return };
        if path.due(CHALLENGE_DATAGRAM_BYTES).is_some_and(|due| due <= now) {
            let challenge = path.send(now, CHALLENGE_DATAGRAM_BYTES);
            let to = path.address();
            let body = self.sealer.begin(PacketKind::PathChallenge, &mut desk.datagram);
            desk.datagram.extend_from_slice(&challenge);
            self.finish_to(now, (to, body), desk, out);
        }
    }

    /// Takes the answer to a probe of the path's length.
    pub(super) fn take_mtu_answer(&mut self, now: Duration, answer: &[u8]) {
        let number = answer.first_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes));
        if self.mtu.as_mut().is_some_and(|mtu| mtu.on_answer(now, number)) {
            self.fit_payloads();
        }
    }

    /// Lets the session make payloads as long as is known to pass.
    fn fit_payloads(&mut self) {
        let headers = self.ip_headers() + self.sealer.overhead();
        let Some(session) = &mut self.session else { return };
        let passes = self.mtu.as_ref().and_then(|mtu| mtu.validated());
        session.set_payload_bytes(passes.map(|length| length - headers));
    }

    /// Answers the peer's probe of the path's length and sends those due.
    pub(super) fn send_mtu(&mut self, now: Duration, desk: &mut Desk, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        if let Some(answer) = self.mtu_answer.take() {
            let body = self.sealer.begin(PacketKind::MtuAnswer, &mut desk.datagram);
            desk.datagram.extend_from_slice(&answer);
            self.finish(now, body, desk, out);
        }
        let (leads, headers) = (self.sealer.leads(), self.ip_headers() + TAG_BYTES);
        let (Some(mtu), Some(session)) = (self.mtu.as_mut().filter(|_| leads), &self.session) else { return };
        if session.doubts_length() {
            mtu.doubt(now);
        } else {
            mtu.trust(now);
        }
        let falls = mtu.falls();
        let probes = mtu.probe(now, session.answer_timeout());
        if mtu.falls() != falls {
            self.fit_payloads();
        }
        for MtuProbe { length, number } in probes.into_iter().flatten() {
            let body = self.sealer.begin(PacketKind::MtuProbe, &mut desk.datagram);
            desk.datagram.extend_from_slice(&number.to_le_bytes());
            let bytes = length.map_or(0, |length| length - headers).max(desk.datagram.len());
            desk.datagram.resize(bytes, 0);
            self.finish(now, body, desk, out);
        }
    }

    /// Bytes of the headers of IP and UDP.
    fn ip_headers(&self) -> usize {
        if self.address.is_ipv4() { 28 } else { 48 }
    }
}
