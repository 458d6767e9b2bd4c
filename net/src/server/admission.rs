//! From a stranger's request to an answered challenge.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use crate::counters::Fault;
use crate::entropy::{Entropy, SeedEntropy};
use crate::extension::TokenKeys;
use crate::netcode::cipher::{ChallengeCipher, PacketCipher};
use crate::netcode::packet::{ChallengeBody, PacketKind, Request};
use crate::netcode::private_token::{PRIVATE_TOKEN_BYTES, PrivateToken, PrivateTokenError};
use crate::netcode::tunnel::Tunnel;
use crate::netcode::{KEY_BYTES, TAG_BYTES, USER_DATA_BYTES};
use crate::server::config::ServerConfig;
use crate::server::gate::Gate;
use crate::server::registry::Registry;
use crate::server::tokens::TokenTag;

/// Room for handshakes that is kept while there are none.
const IDLE_PENDING: usize = 128;
/// How long a handshake may take.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);

/// Where the server stands in calendar time and on the caller's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    pub(super) started: Duration,
    pub(super) started_unix: Duration,
}

impl Calendar {
    pub(super) fn unix(&self, now: Duration) -> Duration {
        self.started_unix + now.saturating_sub(self.started)
    }

    /// Sequence numbers from here on are above every one used before, also by a server of the same keys that ran earlier: they
    /// begin at the unix time in milliseconds times 2^20.
    fn first_sequence(&self, now: Duration) -> u64 {
        (self.unix(now).as_millis() as u64) << 20
    }
}

/// A handshake under way: a valid token, not yet an answered challenge.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) client_id: u64,
    pub(super) protocol_id: u64,
    pub(super) timeout_s: i32,
    pub(super) expire_s: u64,
    pub(super) tag: TokenTag,
    client_to_server_key: [u8; KEY_BYTES],
    server_to_client_key: [u8; KEY_BYTES],
    /// Numbers of the challenges sent.
    challenges: (u64, u64),
    since: Duration,
}

impl Pending {
    /// The keys of the token.
    pub(super) fn keys(&self) -> TokenKeys {
        TokenKeys {
            protocol_id: self.protocol_id,
            client_to_server: self.client_to_server_key,
            server_to_client: self.server_to_client_key,
        }
    }
}

/// An answered challenge.
pub(super) struct Admitted {
    pub(super) pending: Pending,
    pub(super) user_data: Box<[u8; USER_DATA_BYTES]>,
    pub(super) tunnel: Tunnel,
}

/// The answer to a connection request that deserves one.
pub(super) enum Answer {
    Challenge(Vec<u8>),
    /// The server is full.
    Denial(Vec<u8>),
}

/// Everything that happens before a connection.
pub(super) struct Admission {
    private_key: [u8; KEY_BYTES],
    protocols: Vec<u64>,
    addresses: Vec<SocketAddr>,
    calendar: Calendar,
    token_lifetime_s: u64,
    challenge_cipher: ChallengeCipher,
    gate: Gate,
    registry: Registry,
    pending: HashMap<SocketAddr, Pending>,
    /// Handshakes in order of their beginning.
    order: VecDeque<(Duration, SocketAddr)>,
    max_pending: usize,
}

impl Admission {
    pub(super) fn new(config: &ServerConfig, registry: Registry, calendar: Calendar, seed: [u8; 32]) -> Self {
        let mut challenge_key = [0; KEY_BYTES];
        SeedEntropy::new(seed).fill(&mut challenge_key);
        let mut protocols = vec![config.protocol_id];
        protocols.extend_from_slice(&config.foreign_protocol_ids);
        Self {
            private_key: config.private_key,
            protocols,
            addresses: config.addresses.clone(),
            calendar,
            token_lifetime_s: config.token_lifetime_s,
            challenge_cipher: ChallengeCipher::new(&challenge_key),
            gate: Gate::new(&config.limits),
            registry,
            pending: HashMap::new(),
            order: VecDeque::new(),
            max_pending: config.limits.max_pending,
        }
    }

    pub(super) fn is_pending(&self, address: &SocketAddr) -> bool {
        self.pending.contains_key(address)
    }

    /// Judges a connection request.
    pub(super) fn request(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) -> Result<Answer, Fault> {
        self.expire(now);
        let request = Request::read(datagram)?;
        let token = self.judge(now, from, &request)?;
        let tag = tag(request.private);
        let mut shared = self.registry.lock();
        let holder = shared.holder(token.client_id);
        match holder {
            Some(holder) if holder.tag == tag => return Err(Fault::Unexpected),
            Some(holder) if holder.expire_s >= request.expire_s => return Err(Fault::IdentityHeld),
            _ => {}
        }
        shared.tokens.present(self.calendar.unix(now).as_secs(), tag, request.expire_s, from)?;
        let sequence = shared.take_sequence(self.calendar.first_sequence(now));
        let is_full = shared.is_full() && holder.is_none();
        drop(shared);
        let send = PacketCipher::new(&token.server_to_client_key, request.protocol_id);
        let receive = PacketCipher::new(&token.client_to_server_key, request.protocol_id);
        let mut tunnel = Tunnel::new(send, receive, sequence);
        let mut reply = Vec::new();
        if is_full {
            tunnel.write(PacketKind::Denied, &[], &mut reply);
            return Ok(Answer::Denial(reply));
        }
        self.note_pending(now, from, (&request, &token, tag), sequence)?;
        let sealed = self.challenge_cipher.seal(sequence, token.client_id, &token.user_data);
        let body = tunnel.begin(PacketKind::Challenge, &mut reply);
        ChallengeBody { sequence, sealed }.write(&mut reply);
        tunnel.finish(body, &mut reply);
        Ok(Answer::Challenge(reply))
    }

    /// Judges the answer to a challenge.
    pub(super) fn response(&mut self, now: Duration, from: SocketAddr, datagram: &mut [u8]) -> Result<Admitted, Fault> {
        self.expire(now);
        let pending = self.pending.get(&from).ok_or(Fault::UnknownAddress)?;
        let send = PacketCipher::new(&pending.server_to_client_key, pending.protocol_id);
        let receive = PacketCipher::new(&pending.client_to_server_key, pending.protocol_id);
        let mut tunnel = Tunnel::new(send, receive, 0);
        let (kind, body) = tunnel.open(datagram)?;
        if kind != PacketKind::Response {
            return Err(Fault::Unexpected);
        }
        let challenge = ChallengeBody::read(body).ok_or(Fault::Truncated)?;
        if challenge.sequence < pending.challenges.0 || challenge.sequence > pending.challenges.1 {
            return Err(Fault::Challenge);
        }
        let opened = self.challenge_cipher.open(challenge.sequence, challenge.sealed);
        let (client_id, user_data) = opened.ok_or(Fault::Challenge)?;
        if client_id != pending.client_id {
            return Err(Fault::Challenge);
        }
        let pending = self.pending.remove(&from).ok_or(Fault::UnknownAddress)?;
        tunnel.raise_sequence(self.registry.lock().take_sequence(self.calendar.first_sequence(now)));
        Ok(Admitted { pending, user_data, tunnel })
    }

    /// The denial of an admitted client for whom there is no room after all.
    pub(super) fn deny(mut admitted: Admitted) -> Vec<u8> {
        let mut reply = Vec::new();
        admitted.tunnel.write(PacketKind::Denied, &[], &mut reply);
        reply
    }

    /// Everything about a request that does not depend on who is connected, cheapest first.
    fn judge(&mut self, now: Duration, from: SocketAddr, request: &Request<'_>) -> Result<PrivateToken, Fault> {
        if !self.protocols.contains(&request.protocol_id) {
            return Err(Fault::Protocol);
        }
        if request.expire_s <= self.calendar.unix(now).as_secs() {
            return Err(Fault::TokenExpired);
        }
        // A token tells whole seconds: one of the second in which the server started may be from before.
        let started = self.calendar.started_unix;
        let first_s = started.as_secs() + u64::from(started.subsec_nanos() > 0) + self.token_lifetime_s;
        if self.token_lifetime_s > 0 && request.expire_s < first_s {
            return Err(Fault::TokenBeforeStart);
        }
        self.gate.pass(now, from)?;
        let key = &self.private_key;
        let token = PrivateToken::open(request.private, request.protocol_id, request.expire_s, &request.nonce, key)
            .map_err(|error| match error {
                PrivateTokenError::Forged => Fault::TokenForged,
                PrivateTokenError::Malformed => Fault::TokenMalformed,
            })?;
        let ours =
            |address: &SocketAddr| self.addresses.contains(address) || self.addresses.contains(&swapped(*address));
        if !self.addresses.is_empty() && !token.server_addresses.iter().any(ours) {
            return Err(Fault::TokenAddress);
        }
        Ok(token)
    }

    fn note_pending(
        &mut self,
        now: Duration,
        from: SocketAddr,
        (request, token, tag): (&Request<'_>, &PrivateToken, TokenTag),
        challenge: u64,
    ) -> Result<(), Fault> {
        if let Some(pending) = self.pending.get_mut(&from).filter(|pending| pending.tag == tag) {
            pending.challenges.1 = challenge;
            return Ok(());
        }
        if self.order.len() >= self.max_pending {
            return Err(Fault::PendingFull);
        }
        let pending = Pending {
            client_id: token.client_id,
            protocol_id: request.protocol_id,
            timeout_s: token.timeout_s,
            expire_s: request.expire_s,
            tag,
            client_to_server_key: token.client_to_server_key,
            server_to_client_key: token.server_to_client_key,
            challenges: (challenge, challenge),
            since: now,
        };
        self.pending.insert(from, pending);
        self.order.push_back((now, from));
        Ok(())
    }

    /// Forgets handshakes that took too long.
    pub(super) fn expire(&mut self, now: Duration) {
        while let Some(&(since, address)) = self.order.front() {
            if since + HANDSHAKE_TIME > now {
                break;
            }
            self.order.pop_front();
            if self.pending.get(&address).is_some_and(|pending| pending.since == since) {
                self.pending.remove(&address);
            }
        }
        if self.pending.is_empty() && self.pending.capacity() > IDLE_PENDING {
            (self.pending, self.order) = (HashMap::new(), VecDeque::new());
        }
    }
}

fn tag(private: &[u8; PRIVATE_TOKEN_BYTES]) -> TokenTag {
    let mut tag = [0; TAG_BYTES];
    tag.copy_from_slice(&private[PRIVATE_TOKEN_BYTES - TAG_BYTES..]);
    tag
}

/// An IPv6 address with the bytes of its words swapped, as some issuers write them.
fn swapped(mut address: SocketAddr) -> SocketAddr {
    if let SocketAddr::V6(v6) = &mut address {
        let words = v6.ip().segments().map(u16::swap_bytes);
        v6.set_ip(words.into());
    }
    address
}
