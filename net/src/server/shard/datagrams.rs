//! Received datagrams and the connections they belong to.

use std::net::SocketAddr;
use std::time::Duration;

use crate::connection::Connection;
use crate::counters::Fault;
use crate::event::Ingress;
use crate::extension::{is_extended, named};
use crate::netcode::packet::{PacketKind, Request};
use crate::parcel::Parcel;
use crate::prefetch::prefetch;
use crate::server::admission::Answer;
use crate::server::shard::{AHEAD, MANY, ServerShard};

/// Datagrams on their way to other shards at most.
const MAX_PARCELS: usize = 1_024;

impl ServerShard {
    /// Takes a datagram; the messages it brings have no bytes until the inbox is sealed.
    pub(super) fn take(
        &mut self,
        now: Duration,
        (from, datagram): (SocketAddr, &mut [u8]),
        ingress: &mut Vec<Ingress>,
    ) {
        self.desk.counters.datagrams_in += 1;
        self.desk.counters.bytes_in += datagram.len() as u64;
        if Request::is_request(datagram) {
            return self.request(now, from, datagram);
        }
        if is_extended(datagram) {
            return self.hand_to_named(now, (from, datagram), false, ingress);
        }
        let is_response = datagram.first().is_some_and(|prefix| prefix & 15 == PacketKind::Response as u8);
        if is_response && self.admission.is_pending(&from) {
            return self.response(now, from, datagram, ingress);
        }
        if let Some(index) = self.by_address.get(&from).copied() {
            return self.hand_to(now, index, (from, datagram), ingress);
        }
        match self.registry.shard_at(from) {
            Some(shard) if shard != self.config.shard => self.forward(shard, from, datagram),
            _ => self.desk.counters.count(Fault::UnknownAddress),
        }
    }

    /// Takes the datagrams of a batch if there are so many connections that few are in the nearer caches; else they are left in it.
    /// The memory of those that come next is asked for meanwhile: of a connection first, then of what it points to.
    pub(super) fn take_many(
        &mut self,
        now: Duration,
        batch: &mut dyn Iterator<Item = (SocketAddr, &mut [u8])>,
        ingress: &mut Vec<Ingress>,
    ) {
        if self.connected < MANY {
            return;
        }
        let mut coming: [_; 2 * AHEAD] = std::array::from_fn(|_| batch.next());
        coming.iter().flatten().filter_map(|one| self.named(one)).for_each(prefetch);
        coming[..AHEAD].iter().flatten().filter_map(|one| self.named(one)).for_each(Connection::prefetch_received);
        for at in (0..coming.len()).cycle() {
            let nearer = &coming[(at + AHEAD) % coming.len()];
            nearer.iter().filter_map(|one| self.named(one)).for_each(Connection::prefetch_received);
            let Some(one) = std::mem::replace(&mut coming[at], batch.next()) else { break };
            coming[at].iter().filter_map(|one| self.named(one)).for_each(prefetch);
            self.take(now, one, ingress);
        }
    }

    /// The connection that a datagram of the extension names.
    fn named(&self, (_, datagram): &(SocketAddr, &mut [u8])) -> Option<&Connection> {
        self.there(named(datagram)?.index())
    }

    fn request(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self.admission.request(now, from, datagram) {
            Ok(Answer::Challenge(reply)) => {
                self.desk.counters.challenges += 1;
                self.reply(from, reply);
            }
            Ok(Answer::Denial(reply)) => {
                self.desk.counters.count(Fault::ServerFull);
                self.reply(from, reply);
            }
            Err(fault) => self.desk.counters.count(fault),
        }
    }

    fn response(&mut self, now: Duration, from: SocketAddr, datagram: &mut [u8], ingress: &mut Vec<Ingress>) {
        match self.admission.response(now, from, datagram) {
            Ok(admitted) => self.admit(now, from, admitted, ingress),
            Err(fault) => self.desk.counters.count(fault),
        }
    }

    /// Gives a datagram to the connection in a slot.
    pub(super) fn hand_to(
        &mut self,
        now: Duration,
        index: u32,
        (from, datagram): (SocketAddr, &mut [u8]),
        ingress: &mut Vec<Ingress>,
    ) {
        if let Some(client) = &mut self.slots[index as usize].client {
            let verdict = client.connection.handle(now, (from, datagram), &mut self.desk, ingress);
            self.conclude(now, index, verdict, ingress);
        }
    }

    /// Gives a packet of the extension to the connection it names.
    pub(super) fn hand_to_named(
        &mut self,
        now: Duration,
        (from, datagram): (SocketAddr, &mut [u8]),
        is_forwarded: bool,
        ingress: &mut Vec<Ingress>,
    ) {
        let Some(name) = named(datagram) else { return self.desk.counters.count(Fault::Truncated) };
        if name.shard() != self.config.shard {
            return if !is_forwarded && self.registry.has(name.shard()) {
                self.forward(name.shard(), from, datagram);
            } else {
                self.desk.counters.count(Fault::UnknownConnection);
            };
        }
        match self.there(name.index()) {
            Some(connection) if name.is_wire_name_of(connection.id) => {
                self.hand_to(now, name.index(), (from, datagram), ingress);
            }
            _ => self.desk.counters.count(Fault::UnknownConnection),
        }
    }

    /// Hands a datagram to the shard that owns its connection.
    fn forward(&mut self, shard: u8, from: SocketAddr, datagram: &[u8]) {
        if self.parcels.len() >= MAX_PARCELS {
            return self.desk.counters.count(Fault::ForwardFull);
        }
        self.desk.counters.forwarded += 1;
        let bytes = self.desk.arena.copy(datagram);
        self.parcels.push_back((shard, Parcel::Datagram { from, bytes }));
    }
}
