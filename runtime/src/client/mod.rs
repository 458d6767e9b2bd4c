//! The client: one connection, a replica of what it may know, its own character predicted.

mod carried;
mod config;
mod devices;
mod download;
mod egress;
mod error;
mod event;
mod ingress;
mod mirror;
mod own;
mod parts;
mod path_watch;
mod place_cache;
mod posed;
mod predict;
mod present;
mod projection;
mod replica;
mod stats;
mod ticked;
mod timeline;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tidelock_net::io::OsEntropy;
use tidelock_net::{ClientShard, ConnectToken, ConnectionId, Egress, Ingress, LaneId};
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::instance::{PartProperties, Pose};
use tidelock_replication::mirror::Mirror;
use tidelock_replication::wire::Welcome;
use tidelock_sim::collision::Nearby;
use tidelock_sim::input::{DeviceEvent, HeldControls};
use tidelock_sim::motor::MotorSnapshot;
use tidelock_sim::reconcile::ReconcileInput;
use tidelock_sim::timeline::{RemoteTimeline, RemoteTimelineConfig};

use crate::clock::SystemClock;
use crate::control::ControlInput;
use crate::controller::Controller;
use crate::protocol::Protocol;
use crate::scene::Scene;
use crate::testing::{VirtualNetwork, VirtualPort};
use crate::transport::Transport;

pub use config::ClientConfig;
pub use error::ClientError;
pub use event::{ClientEvent, ClientState};
pub use place_cache::PlaceCache;
pub use posed::{PoseMove, PoseStep};
pub use projection::{DrawnCharacter, DrawnPart, PartOwner, Projection};
pub use stats::{ClientStats, KindBytes};

use download::Download;
use own::OwnCharacter;
use parts::OwnedParts;
use path_watch::PathWatch;
use replica::Replica;

/// Events kept for a host that does not take them; the oldest go first.
const MAX_EVENTS: usize = 1_024;

/// A client: connects with a token, answers the player's input at once, and says what to draw.
///
/// Its host calls [`Self::update`] once a frame. It asks no ECS of its host; the replica inside is nobody else's business.
pub struct Client {
    config: ClientConfig,
    protocol: Arc<Protocol>,
    transport: Transport<ClientShard>,
    ingress: Vec<Ingress>,
    egress: Vec<Egress>,
    connection: Option<ConnectionId>,
    state: ClientState,
    welcome: Option<Welcome>,
    download: Option<Download>,
    scene: Option<Arc<Scene>>,
    replica: Replica,
    mirror: Mirror,
    timeline: RemoteTimeline,
    path: PathWatch,
    own: OwnCharacter,
    /// The game's code that moves its own character, where it does.
    game: posed::GameCode,
    parts: OwnedParts,
    nearby: Nearby,
    projection: Projection,
    events: VecDeque<ClientEvent>,
    stats: ClientStats,
    /// Local time of this frame and its length, seconds.
    now: f64,
    dt: f64,
    started: bool,
    frames: u64,
    /// Local time from which on a datagram may repeat what is not acknowledged, seconds.
    next_flush: f64,
}

impl Client {
    /// Opens a UDP socket and begins to connect with `token`.
    ///
    /// # Errors
    ///
    /// [`ClientError`]: a name that is empty or too long, an address that cannot be bound.
    pub fn connect(config: ClientConfig, protocol: Arc<Protocol>, token: ConnectToken) -> Result<Self, ClientError> {
        let network = network_config(OsEntropy::new().seed());
        let shard = ClientShard::new(network, token, Duration::ZERO, SystemClock::unix_time());
        let address = config.bind;
        let transport =
            Transport::bind_inline(address, shard).map_err(|source| ClientError::Bind { address, source })?;
        Self::new(config, protocol, transport)
    }

    /// Begins to connect at `now` from `config.bind` of a virtual network; `unix` is the calendar time then.
    ///
    /// # Errors
    ///
    /// As [`Self::connect`].
    pub fn in_network(
        config: ClientConfig,
        protocol: Arc<Protocol>,
        token: ConnectToken,
        network: VirtualNetwork,
        (now, unix): (Duration, Duration),
    ) -> Result<Self, ClientError> {
        let shard = ClientShard::new(network_config(network.connection_seed()), token, now, unix);
        let port = VirtualPort::new(shard, config.bind, network);
        Self::new(config, protocol, Transport::Virtual(Box::new(port)))
    }

    fn new(
        config: ClientConfig,
        protocol: Arc<Protocol>,
        transport: Transport<ClientShard>,
    ) -> Result<Self, ClientError> {
        if config.name.is_empty() || config.name.len() > ClientConfig::MAX_NAME_BYTES {
            return Err(ClientError::Name { bytes: config.name.len() });
        }
        Ok(Self {
            own: OwnCharacter::new(),
            game: posed::GameCode::default(),
            config,
            protocol,
            transport,
            ingress: Vec::new(),
            egress: Vec::new(),
            connection: None,
            state: ClientState::Connecting,
            welcome: None,
            download: None,
            scene: None,
            replica: Replica::default(),
            mirror: Mirror::new(),
            timeline: RemoteTimeline::new(RemoteTimelineConfig::default()),
            path: PathWatch::default(),
            parts: OwnedParts::default(),
            nearby: Nearby::new(),
            projection: Projection::default(),
            events: VecDeque::new(),
            stats: ClientStats::default(),
            now: 0.0,
            dt: 0.0,
            started: false,
            frames: 0,
            next_flush: 0.0,
        })
    }

    /// Runs one frame at `now`, time since an epoch of the host's choosing that never goes back, during which the player
    /// holds `input`. Afterwards [`Self::projection`] says what to draw.
    pub fn update(&mut self, now: Duration, input: &ControlInput) {
        self.update_skewed(now, now, input);
    }

    /// The same with a game clock that differs from the network's, for tests of clocks that run too fast.
    pub(crate) fn update_skewed(&mut self, network_now: Duration, now: Duration, input: &ControlInput) {
        let now = now.as_secs_f64();
        self.dt = if self.started { (now - self.now).max(0.0) } else { 0.0 };
        (self.now, self.started) = (now, true);
        self.frames += 1;
        ingress::run(self, network_now);
        timeline::run(self);
        predict::run(self, input);
        parts::run(self);
        present::run(self);
        egress::run(self, network_now);
    }

    /// Local time of the last update, seconds.
    #[must_use]
    pub fn frame_time(&self) -> f64 {
        self.now
    }

    /// Updates so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// What to draw, as of the last update.
    #[must_use]
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// How far the client has come.
    #[must_use]
    pub fn state(&self) -> &ClientState {
        &self.state
    }

    /// What it has measured.
    #[must_use]
    pub fn stats(&self) -> &ClientStats {
        &self.stats
    }

    /// Takes what has happened since the last call, in order.
    pub fn drain_events(&mut self) -> impl Iterator<Item = ClientEvent> {
        self.events.drain(..)
    }

    /// The place it is in, once fetched.
    #[must_use]
    pub fn place(&self) -> Option<&tidelock_replication::place::Place> {
        self.scene.as_ref().map(|scene| &scene.place)
    }

    /// A part as this client knows it: its properties and its pose as last told reliably, motion apart.
    #[must_use]
    pub fn part(&self, id: InstanceId) -> Option<(PartProperties, Pose)> {
        self.replica.part(id)
    }

    /// This client's player, once the server has taken it in.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        self.welcome.as_ref().map(|welcome| welcome.player)
    }

    /// The own character, once it stands in the place.
    #[must_use]
    pub fn character(&self) -> Option<InstanceId> {
        self.own.id()
    }

    /// The own character's simulation state, predicted.
    #[must_use]
    pub fn predicted(&self) -> Option<&MotorSnapshot> {
        self.own.motor()
    }

    /// How the own character is moved, once it stands in the place.
    #[must_use]
    pub fn controller(&self) -> Option<Controller> {
        self.own.controller()
    }

    /// Gives the game's code that moves its own character where the game does so ([`Controller::Poses`]): called once for each
    /// tick that is due, within [`Self::update`]. Without it such a character stands.
    pub fn set_mover(&mut self, mover: impl FnMut(&PoseStep) -> PoseMove + Send + 'static) {
        self.game.mover = Some(Box::new(mover));
    }

    /// Gives the game's rule, asked before each such tick, of when its character has to be at once where the server has it, rather
    /// than follow it gently.
    pub fn set_snap_rule(&mut self, rule: impl FnMut(&ReconcileInput) -> bool + Send + 'static) {
        self.game.rule = Some(Box::new(rule));
    }

    /// Takes in a change on a device between two updates, for controllers that take inputs of ticks: a tap shorter than a frame
    /// counts. Its time is on the clock of [`Self::update`]; device 0 is what updates hold. Others need no such changes, and
    /// `false` comes back.
    pub fn device_changed(&mut self, event: DeviceEvent<HeldControls>) -> bool {
        let devices = self.own.style.as_mut().and_then(own::OwnStyle::devices);
        devices.map(|devices| devices.change(event)).is_some()
    }

    /// The local address of its socket.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.transport.local_addr()
    }

    /// Leaves: tells the server and ends the session at the next update.
    pub fn leave(&mut self) {
        if let Some(connection) = self.connection {
            let code = tidelock_net::DisconnectCode::Closed;
            self.egress.push(Egress::Disconnect { connection, code, text: String::new() });
        }
    }

    /// Sends a message of a test's own making with the next update.
    pub(crate) fn forge(&mut self, lane: LaneId, bytes: Vec<u8>) {
        egress::forge(self, lane, bytes);
    }

    fn event(&mut self, event: ClientEvent) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

/// The transport's part: `seed` lets it offer the server cheaper packets and a connection that survives a change of address.
fn network_config(seed: [u8; 32]) -> tidelock_net::ClientConfig {
    tidelock_net::ClientConfig { seed: Some(seed), ..tidelock_net::ClientConfig::default() }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("name", &self.config.name).field("state", &self.state).finish_non_exhaustive()
    }
}
