//! The accepting shard.

mod datagrams;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use crate::connection::{Connection, ConnectionSetup, Verdict};
use crate::counters::{Counters, Fault};
use crate::disconnect::{DisconnectCode, DisconnectReason};
use crate::entropy::{Entropy, SeedEntropy};
use crate::event::{Egress, Ingress, Refusal};
use crate::extension::{Upgrade, is_extended};
use crate::id::{ConnectionId, LaneId};
use crate::parcel::Parcel;
use crate::prefetch::prefetch;
use crate::server::admission::{Admission, Admitted, Calendar};
use crate::server::config::ServerConfig;
use crate::server::registry::{Holder, Registry};
use crate::server::timers::Timers;
use crate::session::{Desk, Reassembly};
use crate::shard::Shard;
use crate::stats::ConnectionStats;

/// Replies to handshakes that wait to be sent at most; more are dropped, and asked for again.
const MAX_REPLIES: usize = 1_024;
/// Most shards of a set: a connection id has eight bits for them.
const MAX_SHARDS: usize = 256;
/// Wishes between one that is carried out and one whose connection is looked at.
const AHEAD: usize = 4;
/// Connections from which on that pays: fewer stay in the nearer caches.
const MANY: usize = 256;

/// Every connection accepted behind one socket, alone or as one of a set that shares its address.
pub struct ServerShard {
    config: ServerConfig,
    desk: Desk,
    admission: Admission,
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_address: HashMap<SocketAddr, u32>,
    registry: Registry,
    connected: usize,
    timers: Timers,
    /// Slots with something to send or time to reckon.
    ready: VecDeque<u32>,
    /// Slots with something queued since their last flush.
    dirty: Vec<u32>,
    replies: VecDeque<(SocketAddr, Vec<u8>)>,
    /// What belongs to other shards of the set.
    parcels: VecDeque<(u8, Parcel)>,
    /// A datagram of another shard while it is opened.
    forwarded: Vec<u8>,
}

#[derive(Default)]
struct Slot {
    generation: u64,
    /// Whether it is among the dirty ones.
    is_dirty: bool,
    /// Whether it is among the ready ones, and whether what was queued before is to be released in its turn.
    is_ready: bool,
    is_flushed: bool,
    /// Earliest time it is entered for in the timers.
    timer: Option<Duration>,
    client: Option<Box<Client>>,
}

struct Client {
    connection: Connection,
    client_id: u64,
}

impl Slot {
    /// Enters its connection for a time, unless it is for an earlier one.
    fn wake_at(&mut self, at: Duration, connection: ConnectionId, timers: &mut Timers) {
        if self.timer.is_none_or(|timer| at < timer) {
            self.timer = Some(at);
            timers.enter(at, connection);
        }
    }
}

impl ServerShard {
    /// A shard without connections. `now` is on the caller's clock, `unix` is the time since the unix epoch at that moment, and
    /// `seed` is unpredictable.
    #[must_use]
    pub fn new(config: ServerConfig, now: Duration, unix: Duration, seed: [u8; 32]) -> Self {
        let registry = Registry::new(1, config.max_clients, config.limits.max_tokens);
        Self::join(config, registry, Calendar { started: now, started_unix: unix }, seed)
    }

    /// `count` shards (1 to 256) that are one server: clients, identities, tokens and the client limit are common, each
    /// connection belongs to one shard. Their numbers are 0 to `count` minus 1, whatever `config.shard` says;
    /// `config.max_reassembly_bytes` is divided among them. Each has a socket of its own on the common address (see
    /// [`Driver::bind_set`](crate::io::Driver::bind_set)); what comes to one and belongs to another passes between them as a
    /// [`Parcel`].
    ///
    /// # Panics
    /// If `count` is 0 or above 256.
    #[must_use]
    pub fn set(config: &ServerConfig, count: usize, now: Duration, unix: Duration, seed: [u8; 32]) -> Vec<Self> {
        assert!((1..=MAX_SHARDS).contains(&count), "a set has 1 to {MAX_SHARDS} shards");
        let registry = Registry::new(count as u16, config.max_clients, config.limits.max_tokens);
        let mut entropy = SeedEntropy::new(seed);
        let mut shard = |shard: usize| {
            let mut seed = [0; 32];
            entropy.fill(&mut seed);
            let max_reassembly_bytes = config.max_reassembly_bytes / count;
            let config = ServerConfig { shard: shard as u8, max_reassembly_bytes, ..config.clone() };
            Self::join(config, registry.clone(), Calendar { started: now, started_unix: unix }, seed)
        };
        (0..count).map(&mut shard).collect()
    }

    fn join(config: ServerConfig, registry: Registry, calendar: Calendar, seed: [u8; 32]) -> Self {
        // The challenge key is the seed's first block.
        let mut entropy = SeedEntropy::new(seed);
        entropy.fill(&mut [0; 32]);
        Self {
            desk: Desk::new(Reassembly::shared(config.max_reassembly_bytes), entropy),
            admission: Admission::new(&config, registry.clone(), calendar, seed),
            slots: Vec::new(),
            free: Vec::new(),
            by_address: HashMap::new(),
            registry,
            connected: 0,
            timers: Timers::default(),
            ready: VecDeque::new(),
            dirty: Vec::new(),
            replies: VecDeque::new(),
            parcels: VecDeque::new(),
            forwarded: Vec::new(),
            config,
        }
    }

    /// What was counted since the shard was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.desk.counters
    }

    /// Statistics of one connection, if it exists.
    #[must_use]
    pub fn stats(&self, connection: ConnectionId) -> Option<ConnectionStats> {
        self.client(connection).map(|client| client.connection.stats())
    }

    /// Where a connection's peer is, if the connection exists.
    #[must_use]
    pub fn address(&self, connection: ConnectionId) -> Option<SocketAddr> {
        self.client(connection).map(|client| client.connection.address)
    }

    /// Connected clients of this shard.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.connected
    }

    /// The connection in a slot.
    fn there(&self, index: u32) -> Option<&Connection> {
        self.slots.get(index as usize)?.client.as_ref().map(|client| &client.connection)
    }

    fn client(&self, connection: ConnectionId) -> Option<&Client> {
        let slot = self.slots.get(connection.index() as usize)?;
        slot.client.as_deref().filter(|client| client.connection.id == connection)
    }

    fn reply(&mut self, to: SocketAddr, reply: Vec<u8>) {
        if self.replies.len() < MAX_REPLIES {
            self.replies.push_back((to, reply));
        }
    }

    /// Gives an admitted client a slot, ending the connection that held its identity or address before.
    fn admit(&mut self, now: Duration, from: SocketAddr, admitted: Admitted, ingress: &mut Vec<Ingress>) {
        let Some(index) = self.take_slot() else {
            self.desk.counters.count(Fault::ServerFull);
            return self.reply(from, Admission::deny(admitted));
        };
        let connection = ConnectionId::new(self.config.shard, index, self.slots[index as usize].generation);
        let pending = &admitted.pending;
        let holder = Holder { expire_s: pending.expire_s, tag: pending.tag, connection };
        let claimed = self.registry.lock().claim(pending.client_id, holder);
        let before = match claimed {
            Ok(before) => before,
            Err(fault) => {
                self.free.push(index);
                self.desk.counters.count(fault);
                if fault == Fault::ServerFull {
                    self.reply(from, Admission::deny(admitted));
                }
                return;
            }
        };
        if let Some(before) = before {
            self.desk.counters.taken_over += 1;
            if before.shard() == self.config.shard {
                self.take_over(now, before, ingress);
            } else {
                self.parcels.push_back((before.shard(), Parcel::TakenOver { connection: before }));
            }
        }
        if let Some(index) = self.by_address.get(&from).copied() {
            self.close(now, index, (DisconnectCode::TakenOver, String::new()), ingress);
            self.forget(index);
        }
        self.connect(now, from, (connection, admitted), ingress);
    }

    fn connect(
        &mut self,
        now: Duration,
        address: SocketAddr,
        (id, admitted): (ConnectionId, Admitted),
        ingress: &mut Vec<Ingress>,
    ) {
        let Admitted { pending, user_data, tunnel } = admitted;
        let lanes = (pending.protocol_id == self.config.protocol_id).then(|| self.config.lanes.clone());
        let upgrade = match lanes {
            Some(_) if self.config.extension => Upgrade::Waiting(Box::new(pending.keys())),
            _ => Upgrade::None,
        };
        let mut greeting = [0; 8];
        greeting[..4].copy_from_slice(&id.index().to_le_bytes());
        greeting[4..].copy_from_slice(&(self.config.max_clients as u32).to_le_bytes());
        let setup = ConnectionSetup {
            id,
            address,
            lanes,
            session: self.config.session,
            timeout_s: pending.timeout_s,
            greeting,
            confirmed: false,
            upgrade,
        };
        let connection = Connection::new(setup, tunnel, now);
        self.desk.counters.connected += 1;
        self.connected += 1;
        ingress.push(Ingress::Connected {
            connection: id,
            client_id: pending.client_id,
            user_data,
            address,
            lanes: connection.has_lanes(),
        });
        let client = Client { connection, client_id: pending.client_id };
        self.slots[id.index() as usize].client = Some(Box::new(client));
        self.by_address.insert(address, id.index());
        self.registry.settle(address, self.config.shard);
        self.mark_ready(id.index());
    }

    /// Ends a connection whose identity connected anew.
    fn take_over(&mut self, now: Duration, connection: ConnectionId, ingress: &mut Vec<Ingress>) {
        if self.client(connection).is_some() {
            self.close(now, connection.index(), (DisconnectCode::TakenOver, String::new()), ingress);
        }
    }

    fn take_slot(&mut self) -> Option<u32> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < ConnectionId::MAX_SLOTS => {
                self.slots.push(Slot::default());
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        let slot = &mut self.slots[index as usize];
        (slot.generation, slot.is_flushed, slot.timer) = (slot.generation + 1, false, None);
        Some(index)
    }

    /// Ends a connection from this side.
    fn close(&mut self, now: Duration, index: u32, (code, text): (DisconnectCode, String), ingress: &mut Vec<Ingress>) {
        let Some(client) = &mut self.slots[index as usize].client else { return };
        if client.connection.is_closing() {
            return;
        }
        client.connection.close(now, (code, text), &mut self.desk, ingress);
        self.conclude(now, index, Verdict::Closing(DisconnectReason::Local { code }), ingress);
    }

    /// Draws the consequences of a verdict.
    fn conclude(&mut self, now: Duration, index: u32, verdict: Verdict, ingress: &mut Vec<Ingress>) {
        let (reason, gone) = match verdict {
            Verdict::Alive => return self.schedule(now, index),
            Verdict::Finished => return self.forget(index),
            Verdict::Moved(before) => return self.move_from(index, before),
            Verdict::Closing(reason) => (reason, false),
            Verdict::Gone(reason) => (reason, true),
        };
        let Some(client) = &self.slots[index as usize].client else { return };
        self.desk.counters.disconnected += 1;
        ingress.push(Ingress::Disconnected { connection: client.connection.id, reason });
        self.connected -= 1;
        self.registry.lock().release(client.client_id, client.connection.id);
        if gone { self.forget(index) } else { self.mark_ready(index) }
    }

    /// Follows a connection from one address to another.
    fn move_from(&mut self, index: u32, before: SocketAddr) {
        let Some(client) = &self.slots[index as usize].client else { return };
        let address = client.connection.address;
        if self.by_address.get(&before) == Some(&index) {
            self.by_address.remove(&before);
            self.registry.leave(before, self.config.shard);
        }
        // Whoever was there before keeps the address for packets of the standard; ours name their connection.
        if let Entry::Vacant(entry) = self.by_address.entry(address) {
            entry.insert(index);
            self.registry.settle(address, self.config.shard);
        }
        self.mark_ready(index);
    }

    /// Frees a slot.
    fn forget(&mut self, index: u32) {
        let Some(client) = self.slots[index as usize].client.take() else { return };
        self.registry.lock().raise_sequence(client.connection.next_sequence());
        let address = client.connection.address;
        if self.by_address.get(&address) == Some(&index) {
            self.by_address.remove(&address);
            self.registry.leave(address, self.config.shard);
        }
        self.free.push(index);
    }

    fn mark_ready(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if !std::mem::replace(&mut slot.is_ready, true) {
            self.ready.push_back(index);
        }
    }

    /// Gives a connection its turn if it has something to do now, and otherwise enters it for when it has.
    fn schedule(&mut self, now: Duration, index: u32) {
        let slot = &mut self.slots[index as usize];
        let Some(client) = slot.client.as_ref().filter(|_| !slot.is_ready) else { return };
        let next = client.connection.next_timeout(now);
        if next <= now {
            return self.mark_ready(index);
        }
        let id = client.connection.id;
        slot.wake_at(next, id, &mut self.timers);
    }

    /// Releases what was queued for a connection, in its turn: until then its memory is not touched.
    fn flush(&mut self, index: u32) {
        self.slots[index as usize].is_flushed = true;
        self.mark_ready(index);
    }

    fn flush_all(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for index in dirty.drain(..) {
            self.slots[index as usize].is_dirty = false;
            self.flush(index);
        }
        self.dirty = dirty;
    }

    fn send(&mut self, connection: ConnectionId, egress: Egress, ingress: &mut Vec<Ingress>) {
        if let Some(slot) = self.slots.get_mut(connection.index() as usize)
            && let Some(client) = slot.client.as_mut().filter(|client| client.connection.id == connection)
        {
            if std::mem::take(&mut slot.is_flushed) {
                client.connection.flush();
            }
            client.connection.apply(egress, &mut self.desk, ingress);
            if !std::mem::replace(&mut slot.is_dirty, true) {
                self.dirty.push(connection.index());
            }
            return;
        }
        self.desk.counters.refused += 1;
        let (lane, receipt) = match egress {
            Egress::Send { lane, receipt, .. } => (lane, receipt),
            _ => (LaneId(0), None),
        };
        ingress.push(Ingress::Blocked { connection, lane, refusal: Refusal::NotConnected, receipt });
    }
}

impl Shard for ServerShard {
    fn handle(&mut self, now: Duration, from: SocketAddr, datagram: &mut [u8], ingress: &mut Vec<Ingress>) {
        self.take(now, (from, datagram), ingress);
        self.desk.inbox.seal(ingress);
    }

    fn handle_batch(
        &mut self,
        now: Duration,
        batch: &mut dyn Iterator<Item = (SocketAddr, &mut [u8])>,
        ingress: &mut Vec<Ingress>,
    ) {
        self.take_many(now, batch, ingress);
        batch.for_each(|datagram| self.take(now, datagram, ingress));
        self.desk.inbox.seal(ingress);
    }

    fn apply(&mut self, now: Duration, egress: Egress, ingress: &mut Vec<Ingress>) {
        match egress {
            Egress::Send { connection, .. } | Egress::Raw { connection, .. } => self.send(connection, egress, ingress),
            Egress::Flush { connection } => {
                if self.client(connection).is_some() {
                    self.flush(connection.index());
                }
            }
            Egress::FlushAll => self.flush_all(),
            Egress::Disconnect { connection, code, text } => {
                if self.client(connection).is_some() {
                    self.close(now, connection.index(), (code, text), ingress);
                }
            }
        }
    }

    fn apply_all(&mut self, now: Duration, egress: &mut Vec<Egress>, ingress: &mut Vec<Ingress>) {
        let mut wishes = egress.drain(..);
        while let Some(wish) = wishes.next() {
            if self.connected >= MANY {
                let sent = |ahead: usize| match wishes.as_slice().get(ahead) {
                    Some(Egress::Send { connection, lane, .. }) => Some((self.there(connection.index())?, *lane)),
                    _ => None,
                };
                sent(4 * AHEAD).into_iter().for_each(|(one, _)| prefetch(one));
                sent(2 * AHEAD).into_iter().for_each(|(one, lane)| one.prefetch_lane(lane));
            }
            self.apply(now, wish, ingress);
        }
    }

    fn advance(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        self.admission.expire(now);
        while let Some((at, connection)) = self.timers.pop(now) {
            let Some(slot) = self.slots.get_mut(connection.index() as usize) else { continue };
            let Some(client) = slot.client.as_mut().filter(|_| slot.timer == Some(at)) else { continue };
            if client.connection.id != connection {
                continue;
            }
            slot.timer = None;
            if client.connection.next_timeout(now) > now {
                // What it was entered for came about before, or was put off.
                self.schedule(now, connection.index());
                continue;
            }
            let verdict = client.connection.advance(now, &mut self.desk, ingress);
            self.conclude(now, connection.index(), verdict, ingress);
        }
    }

    fn transmit(&mut self, now: Duration, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        for (to, reply) in self.replies.drain(..) {
            self.desk.counters.datagrams_out += 1;
            self.desk.counters.bytes_out += reply.len() as u64;
            out(to, &reply);
        }
        while let Some(index) = self.ready.pop_front() {
            if self.connected >= MANY {
                let ahead = |ahead: usize| self.ready.get(ahead).and_then(|index| self.there(*index));
                ahead(AHEAD).into_iter().for_each(prefetch);
                ahead(AHEAD / 2).into_iter().for_each(Connection::prefetch_sent);
                ahead(0).into_iter().for_each(Connection::prefetch_queued);
            }
            let slot = &mut self.slots[index as usize];
            slot.is_ready = false;
            let is_flushed = std::mem::take(&mut slot.is_flushed);
            let Some(client) = &mut slot.client else { continue };
            if is_flushed {
                client.connection.flush();
            }
            client.connection.transmit(now, &mut self.desk, out);
            let next = client.connection.next_timeout(now);
            let id = client.connection.id;
            slot.wake_at(next, id, &mut self.timers);
        }
    }

    fn counters(&self) -> &Counters {
        &self.desk.counters
    }

    fn next_timeout(&self) -> Option<Duration> {
        if self.ready.is_empty() && self.replies.is_empty() { self.timers.next() } else { Some(Duration::ZERO) }
    }

    fn depart(&mut self) -> Option<(u8, Parcel)> {
        self.parcels.pop_front()
    }

    fn arrive(&mut self, now: Duration, parcel: Parcel, ingress: &mut Vec<Ingress>) {
        match parcel {
            Parcel::TakenOver { connection } => self.take_over(now, connection, ingress),
            Parcel::Datagram { from, bytes } => {
                let mut datagram = std::mem::take(&mut self.forwarded);
                datagram.clear();
                datagram.extend_from_slice(&bytes);
                match self.by_address.get(&from).copied() {
                    _ if is_extended(&datagram) => self.hand_to_named(now, (from, &mut datagram), true, ingress),
                    Some(index) => self.hand_to(now, index, (from, &mut datagram), ingress),
                    None => self.desk.counters.count(Fault::UnknownAddress),
                }
                self.desk.inbox.seal(ingress);
                self.forwarded = datagram;
            }
        }
    }
}
