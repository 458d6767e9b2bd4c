//! The connecting shard.

use std::net::SocketAddr;
use std::time::Duration;

use crate::client::config::ClientConfig;
use crate::connection::{Connection, ConnectionSetup, Verdict};
use crate::counters::{Counters, Fault};
use crate::disconnect::DisconnectReason;
use crate::entropy::SeedEntropy;
use crate::event::{Egress, Ingress, Refusal};
use crate::extension::{Announcing, TokenKeys, Upgrade};
use crate::id::{ConnectionId, LaneId};
use crate::netcode::USER_DATA_BYTES;
use crate::netcode::cipher::PacketCipher;
use crate::netcode::packet::{ChallengeBody, PacketKind, Request};
use crate::netcode::token::ConnectToken;
use crate::netcode::tunnel::Tunnel;
use crate::session::{Desk, Reassembly};
use crate::shard::Shard;
use crate::stats::ConnectionStats;

/// Time between requests, and between answers to a challenge.
const HANDSHAKE_INTERVAL: Duration = Duration::from_millis(100);
/// Most bytes held in unfinished and waiting messages.
const MAX_REASSEMBLY_BYTES: usize = 256 << 20;

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// Asking the server at this address for a connection.
    Requesting(SocketAddr),
    /// Answering the challenge of the server at this address.
    Responding(SocketAddr),
    /// Connected.
    Connected(ConnectionId),
    /// Over. Make a new shard to connect anew.
    Disconnected,
}

/// One connection to a server.
pub struct ClientShard {
    config: ClientConfig,
    token: ConnectToken,
    desk: Desk,
    stage: Stage,
    started: Duration,
    /// Index of the server tried, and since when in this stage.
    server: usize,
    since: Duration,
    last_sent: Option<Duration>,
    /// Time of the newest call.
    now: Duration,
}

enum Stage {
    Requesting(Tunnel),
    Responding(Tunnel, Box<ChallengeBody>),
    /// Connected, or saying farewell.
    Established(Box<Connection>),
    Over,
}

impl ClientShard {
    /// Starts connecting with `token`. `now` is on the caller's clock, `unix` is the time since the unix epoch at that moment; it
    /// only keeps two uses of one token from repeating a nonce, so it may be wrong but must advance.
    #[must_use]
    pub fn new(config: ClientConfig, token: ConnectToken, now: Duration, unix: Duration) -> Self {
        let send = PacketCipher::new(&token.client_to_server_key, token.protocol_id);
        let receive = PacketCipher::new(&token.server_to_client_key, token.protocol_id);
        let tunnel = Tunnel::new(send, receive, (unix.as_millis() as u64) << 20);
        let entropy = SeedEntropy::new(config.seed.unwrap_or_default());
        Self {
            config,
            token,
            desk: Desk::new(Reassembly::of_one(MAX_REASSEMBLY_BYTES), entropy),
            stage: Stage::Requesting(tunnel),
            started: now,
            server: 0,
            since: now,
            last_sent: None,
            now,
        }
    }

    /// Where the client stands.
    #[must_use]
    pub fn state(&self) -> ClientState {
        match &self.stage {
            Stage::Requesting(_) => ClientState::Requesting(self.server_address()),
            Stage::Responding(..) => ClientState::Responding(self.server_address()),
            Stage::Established(connection) if !connection.is_closing() => ClientState::Connected(connection.id),
            _ => ClientState::Disconnected,
        }
    }

    /// The id its connection has or will have.
    #[must_use]
    pub fn connection(&self) -> ConnectionId {
        ConnectionId::new(self.config.shard, 0, 1)
    }

    /// What was counted since the shard was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.desk.counters
    }

    /// Statistics of the connection, once connected.
    #[must_use]
    pub fn stats(&self, connection: ConnectionId) -> Option<ConnectionStats> {
        match &self.stage {
            Stage::Established(established) if established.id == connection => Some(established.stats()),
            _ => None,
        }
    }

    fn server_address(&self) -> SocketAddr {
        self.token.server_addresses[self.server]
    }

    /// Takes a datagram of the handshake.
    fn shake(&mut self, now: Duration, datagram: &mut [u8], ingress: &mut Vec<Ingress>) {
        let (Stage::Requesting(tunnel) | Stage::Responding(tunnel, _)) = &mut self.stage else { return };
        let (kind, body) = match tunnel.open(datagram) {
            Ok(opened) => opened,
            Err(fault) => return self.desk.counters.count(fault),
        };
        let is_responding = matches!(self.stage, Stage::Responding(..));
        match (kind, is_responding) {
            (PacketKind::Denied, _) => self.try_next(now, DisconnectReason::Denied, ingress),
            (PacketKind::Challenge, false) => {
                let Some(challenge) = ChallengeBody::read(body) else { return };
                self.enter(now, |tunnel| Stage::Responding(tunnel, Box::new(challenge)));
            }
            (PacketKind::Challenge, true) => {}
            (PacketKind::KeepAlive, true) => self.establish(now, None, ingress),
            // It authenticates, so the server has taken the answer, though its keep-alive was lost or is late.
            (PacketKind::Payload, true) => self.establish(now, Some(body), ingress),
            _ => self.desk.counters.count(Fault::Unexpected),
        }
    }

    fn enter(&mut self, now: Duration, next: impl FnOnce(Tunnel) -> Stage) {
        self.since = now;
        self.last_sent = None;
        self.stage = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Requesting(tunnel) | Stage::Responding(tunnel, _) => next(tunnel),
            stage => stage,
        };
    }

    fn establish(&mut self, now: Duration, payload: Option<&mut [u8]>, ingress: &mut Vec<Ingress>) {
        let upgrade = match self.config.seed {
            Some(_) if self.config.lanes.is_some() => self.announcing(now),
            _ => Upgrade::None,
        };
        let setup = ConnectionSetup {
            id: self.connection(),
            address: self.server_address(),
            lanes: self.config.lanes.clone(),
            session: self.config.session,
            timeout_s: self.token.timeout_s,
            greeting: [0; 8],
            confirmed: true,
            upgrade,
        };
        self.desk.counters.connected += 1;
        ingress.push(Ingress::Connected {
            connection: setup.id,
            client_id: 0,
            user_data: Box::new([0; USER_DATA_BYTES]),
            address: setup.address,
            lanes: setup.lanes.is_some(),
        });
        self.enter(now, |tunnel| Stage::Established(Box::new(Connection::new(setup, tunnel, now))));
        if let (Stage::Established(connection), Some(payload)) = (&mut self.stage, payload) {
            let verdict = connection.take_payload(now, payload, &mut self.desk, ingress);
            self.conclude(verdict, ingress);
        }
    }

    fn announcing(&mut self, now: Duration) -> Upgrade {
        let keys = TokenKeys {
            protocol_id: self.token.protocol_id,
            client_to_server: self.token.client_to_server_key,
            server_to_client: self.token.server_to_client_key,
        };
        Upgrade::Announcing(Box::new(Announcing::new(keys, self.desk.random(), now)))
    }

    /// Tries the next server of the token, or gives up for `reason`.
    fn try_next(&mut self, now: Duration, reason: DisconnectReason, ingress: &mut Vec<Ingress>) {
        if self.server + 1 < self.token.server_addresses.len() {
            self.server += 1;
            self.enter(now, Stage::Requesting);
        } else {
            self.conclude(Verdict::Gone(reason), ingress);
        }
    }

    fn conclude(&mut self, verdict: Verdict, ingress: &mut Vec<Ingress>) {
        let (reason, gone) = match verdict {
            Verdict::Alive | Verdict::Moved(_) => return,
            Verdict::Finished => return self.stage = Stage::Over,
            Verdict::Closing(reason) => (reason, false),
            Verdict::Gone(reason) => (reason, true),
        };
        self.desk.counters.disconnected += 1;
        ingress.push(Ingress::Disconnected { connection: self.connection(), reason });
        if gone {
            self.stage = Stage::Over;
        }
    }

    /// The handshake's limits: the token's life for all of it, its timeout for each stage.
    fn advance_handshake(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        let (expires, times_out) = self.handshake_ends();
        if now >= expires {
            self.conclude(Verdict::Gone(DisconnectReason::TokenExpired), ingress);
        } else if times_out.is_some_and(|at| now >= at) {
            let is_responding = matches!(self.stage, Stage::Responding(..));
            let reason =
                if is_responding { DisconnectReason::ResponseTimedOut } else { DisconnectReason::RequestTimedOut };
            self.try_next(now, reason, ingress);
        }
    }

    /// When the token expires, and when this stage times out.
    fn handshake_ends(&self) -> (Duration, Option<Duration>) {
        let life = Duration::from_secs(self.token.expire_s - self.token.create_s);
        let timeout = u64::try_from(self.token.timeout_s).ok().filter(|&seconds| seconds > 0);
        (self.started.saturating_add(life), timeout.map(|seconds| self.since + Duration::from_secs(seconds)))
    }

    fn is_handshake_due(&self, now: Duration) -> bool {
        self.last_sent.is_none_or(|sent| sent + HANDSHAKE_INTERVAL <= now)
    }
}

impl Shard for ClientShard {
    fn handle(&mut self, now: Duration, from: SocketAddr, datagram: &mut [u8], ingress: &mut Vec<Ingress>) {
        self.desk.counters.datagrams_in += 1;
        self.desk.counters.bytes_in += datagram.len() as u64;
        if from != self.server_address() {
            return self.desk.counters.count(Fault::UnknownAddress);
        }
        match &mut self.stage {
            Stage::Established(connection) => {
                let verdict = connection.handle(now, (from, datagram), &mut self.desk, ingress);
                self.conclude(verdict, ingress);
            }
            Stage::Over => self.desk.counters.count(Fault::Unexpected),
            _ => self.shake(now, datagram, ingress),
        }
        self.desk.inbox.seal(ingress);
    }

    fn apply(&mut self, now: Duration, egress: Egress, ingress: &mut Vec<Ingress>) {
        let ours = self.connection();
        match (egress, &mut self.stage) {
            (Egress::Disconnect { connection, code, text }, stage) if connection == ours => match stage {
                Stage::Established(established) if !established.is_closing() => {
                    established.close(now, (code, text), &mut self.desk, ingress);
                    self.conclude(Verdict::Closing(DisconnectReason::Local { code }), ingress);
                }
                Stage::Established(_) | Stage::Over => {}
                _ => self.conclude(Verdict::Gone(DisconnectReason::Local { code }), ingress),
            },
            (Egress::Disconnect { .. }, _) => {}
            (Egress::FlushAll, Stage::Established(established)) => {
                established.apply(Egress::FlushAll, &mut self.desk, ingress);
            }
            (egress, Stage::Established(established)) if names(&egress, ours) => {
                established.apply(egress, &mut self.desk, ingress);
            }
            (Egress::Send { connection, lane, receipt, .. }, _) => {
                self.desk.counters.refused += 1;
                ingress.push(Ingress::Blocked { connection, lane, refusal: Refusal::NotConnected, receipt });
            }
            (Egress::Raw { connection, .. }, _) => {
                self.desk.counters.refused += 1;
                let refusal = Refusal::NotConnected;
                ingress.push(Ingress::Blocked { connection, lane: LaneId(0), refusal, receipt: None });
            }
            (Egress::Flush { .. } | Egress::FlushAll, _) => {}
        }
    }

    fn advance(&mut self, now: Duration, ingress: &mut Vec<Ingress>) {
        self.now = now;
        match &mut self.stage {
            Stage::Established(connection) => {
                let verdict = connection.advance(now, &mut self.desk, ingress);
                self.conclude(verdict, ingress);
            }
            Stage::Over => {}
            _ => self.advance_handshake(now, ingress),
        }
    }

    fn transmit(&mut self, now: Duration, out: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.now = now;
        if let Stage::Established(connection) = &mut self.stage {
            return connection.transmit(now, &mut self.desk, out);
        }
        if !self.is_handshake_due(now) {
            return;
        }
        let datagram = &mut self.desk.datagram;
        match &mut self.stage {
            Stage::Requesting(_) => {
                datagram.clear();
                Request::write(&self.token, datagram);
            }
            Stage::Responding(tunnel, challenge) => {
                let body = tunnel.begin(PacketKind::Response, datagram);
                challenge.write(datagram);
                tunnel.finish(body, datagram);
            }
            _ => return,
        }
        self.last_sent = Some(now);
        self.desk.counters.datagrams_out += 1;
        self.desk.counters.bytes_out += datagram.len() as u64;
        out(self.token.server_addresses[self.server], datagram);
    }

    fn counters(&self) -> &Counters {
        &self.desk.counters
    }

    fn next_timeout(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Over => None,
            Stage::Established(connection) => Some(connection.next_timeout(self.now)),
            _ => {
                let (expires, times_out) = self.handshake_ends();
                let send = self.last_sent.map_or(Duration::ZERO, |sent| sent + HANDSHAKE_INTERVAL);
                Some(times_out.map_or(expires, |at| at.min(expires)).min(send))
            }
        }
    }
}

/// Whether a wish is for `connection`.
fn names(egress: &Egress, ours: ConnectionId) -> bool {
    match egress {
        Egress::Send { connection, .. } | Egress::Raw { connection, .. } | Egress::Flush { connection } => {
            *connection == ours
        }
        Egress::FlushAll | Egress::Disconnect { .. } => false,
    }
}
