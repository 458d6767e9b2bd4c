//! The server: one place, its players, one tick sixty times a second.

mod allowances;
mod batch;
mod body;
mod commands;
mod config;
mod control;
mod decode;
mod egress;
mod error;
mod game;
mod ingress;
mod inputs;
mod interest;
mod metrics;
mod movement;
mod outbox;
mod ownership;
mod physics;
mod place_transfer;
mod place_world;
mod players;
mod publish;
mod pusher;
mod replay;
mod run;
mod seats;
mod session;
mod sessions;
mod snapshots;
mod systems;
mod truth;
mod workers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tidelock_net::{Ingress, ServerShard};
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::instance::Pose;
use tidelock_replication::place::Place;
use tidelock_replication::publish::PublishOutput;
use tidelock_sim::{SimTime, Tick};

use crate::clock::{Stopwatch, SystemClock};
use crate::metrics::{Stage, StageTimes};
use crate::protocol::Protocol;
use crate::testing::{VirtualNetwork, VirtualPort};
use crate::transport::Transport;

pub use allowances::MovementSignals;
pub use body::CharacterBody;
pub use commands::{CharacterMove, Commands, PartOwnership, PlayerCommand};
pub use config::{ConfigError, ServerConfig};
pub use control::Newcomer;
pub use error::ServerError;
pub use inputs::{CharacterInputs, InputCounters};
pub use metrics::{ServerCounters, ServerMetrics};
pub use place_world::PartVelocity;
pub use players::PlayerInfo;
pub use run::StopFlag;
pub use session::SessionTraffic;
pub use systems::{System, SystemPoint};

use outbox::Outbox;
use place_world::PlaceWorld;
use sessions::Sessions;
use systems::Systems;
use workers::Workers;

/// A server: owns the truth of one place and serves its players.
///
/// Its host calls [`Self::step`] with the time, or lets it [`Self::run`] by the machine's clock.
pub struct Server {
    config: ServerConfig,
    protocol: Arc<Protocol>,
    transport: Transport<ServerShard>,
    ingress: Vec<Ingress>,
    sessions: Sessions,
    /// Player slots whose connection ended since the last tick.
    left: Vec<usize>,
    place: PlaceWorld,
    systems: Systems,
    commands: Commands,
    chooser: Option<control::Chooser>,
    workers: Workers,
    outbox: Outbox,
    published: PublishOutput,
    metrics: ServerMetrics,
    now: Duration,
    tick: Tick,
    /// Ticks that have passed since the one before, 1 unless the server was late.
    due: u64,
    /// Ticks run; unlike tick numbers without gaps.
    steps: u64,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// The tick that ran.
    pub tick: Tick,
    /// Ticks that were due and not run because the server was late.
    pub skipped: u64,
    /// How long each stage took.
    pub times: StageTimes,
}

impl Server {
    /// Opens a UDP socket and serves `place` on it.
    ///
    /// # Errors
    ///
    /// [`ServerError`]: a configuration out of range, an address that cannot be bound, a place without spawns.
    pub fn bind(config: ServerConfig, protocol: Arc<Protocol>, place: Place) -> Result<Self, ServerError> {
        config.check()?;
        let (seed, clock) = (tidelock_net::io::OsEntropy::new().seed(), SystemClock::start());
        let (network, unix) = (config.network(), SystemClock::unix_time());
        let transport = match config.network_threads {
            0 => Transport::bind_inline(config.bind, ServerShard::new(network, Duration::ZERO, unix, seed)),
            count => {
                let shards = ServerShard::set(&network, count, clock.now(), unix, seed);
                Transport::bind_threads(config.bind, shards, clock)
            }
        };
        let transport = transport.map_err(|source| ServerError::Bind { address: config.bind, source })?;
        Self::new(config, protocol, place, transport)
    }

    /// Serves `place` from `now` on at `config.bind` of a virtual network; `unix` is the calendar time then.
    ///
    /// # Errors
    ///
    /// As [`Self::bind`].
    pub fn in_network(
        config: ServerConfig,
        protocol: Arc<Protocol>,
        place: Place,
        network: VirtualNetwork,
        (now, unix): (Duration, Duration),
    ) -> Result<Self, ServerError> {
        config.check()?;
        let shard = ServerShard::new(config.network(), now, unix, [1; 32]);
        let transport = Transport::Virtual(Box::new(VirtualPort::new(shard, config.bind, network)));
        Self::new(config, protocol, place, transport)
    }

    fn new(
        config: ServerConfig,
        protocol: Arc<Protocol>,
        place: Place,
        transport: Transport<ServerShard>,
    ) -> Result<Self, ServerError> {
        let commands = Commands { queue: Vec::new(), next_id: place.authored() };
        Ok(Self {
            place: PlaceWorld::new(place, &config)?,
            workers: Workers::new(config.worker_threads)?,
            config,
            protocol,
            transport,
            ingress: Vec::new(),
            sessions: Sessions::default(),
            left: Vec::new(),
            systems: Systems::default(),
            commands,
            chooser: None,
            outbox: Outbox::new(),
            published: PublishOutput::new(),
            metrics: ServerMetrics::default(),
            now: Duration::ZERO,
            tick: Tick(0),
            due: 1,
            steps: 0,
        })
    }

    /// Runs the tick that is due at `now`, time since an epoch of the host's choosing; nothing when none is. A server that is
    /// late runs one tick and skips the numbers of those it missed, so that its time never falls behind.
    pub fn step(&mut self, now: Duration) -> Option<StepReport> {
        let due = Tick((now.as_secs_f64() * f64::from(Tick::HZ)) as u64);
        if due <= self.tick {
            return None;
        }
        let skipped = if self.steps == 0 { 0 } else { due.0 - self.tick.0 - 1 };
        self.now = now;
        self.tick = due;
        self.due = skipped + 1;
        self.steps += 1;
        let times = self.workers.pool().install(|| self.run_tick());
        self.metrics.count_tick(self.tick, skipped, &times, self.sessions.len());
        Some(StepReport { tick: due, skipped, times })
    }

    /// The pipeline. Each stage is a file of its own.
    fn run_tick(&mut self) -> StageTimes {
        let mut times = StageTimes::default();
        let mut watch = Stopwatch::start();
        let mut stage = |server: &mut Self, stage: Stage, run: fn(&mut Self)| {
            run(server);
            times.add(stage, watch.lap());
        };
        stage(self, Stage::Ingress, ingress::run);
        stage(self, Stage::Decode, decode::run);
        stage(self, Stage::Game, game::run);
        stage(self, Stage::Game, |server| game::systems(server, SystemPoint::BeforeReplay));
        stage(self, Stage::Replay, movement::run);
        stage(self, Stage::Game, |server| game::systems(server, SystemPoint::AfterReplay));
        stage(self, Stage::Physics, physics::run);
        stage(self, Stage::Physics, seats::run);
        stage(self, Stage::Game, |server| game::systems(server, SystemPoint::AfterPhysics));
        stage(self, Stage::Game, |server| game::systems(server, SystemPoint::BeforePublish));
        stage(self, Stage::Publish, publish::run);
        stage(self, Stage::Interest, interest::run);
        stage(self, Stage::Batch, batch::run);
        stage(self, Stage::Batch, snapshots::run);
        stage(self, Stage::Egress, egress::run);
        times
    }

    /// Server time of the current tick.
    pub(crate) fn time(&self) -> SimTime {
        self.tick.time()
    }

    /// The current tick.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The address clients connect to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.transport.local_addr()
    }

    /// What the server has counted and timed.
    #[must_use]
    pub fn metrics(&self) -> &ServerMetrics {
        &self.metrics
    }

    /// What the transport has counted; with network threads up to a tenth of a second ago.
    #[must_use]
    pub fn network_counters(&self) -> tidelock_net::Counters {
        self.transport.counters()
    }

    /// Processor time the network threads have used since they began, up to a tenth of a second ago; zero without any, or where
    /// the system does not tell.
    #[must_use]
    pub fn network_time(&self) -> std::time::Duration {
        self.transport.time()
    }

    /// Starts measuring tick times anew; counters go on.
    pub fn clear_times(&mut self) {
        self.metrics.clear_times();
    }

    /// Adds a system of the game, to run at `point` of every tick after those added before.
    pub fn add_system(&mut self, point: SystemPoint, system: System) {
        self.systems.add(point, system);
    }

    /// Asks for changes; they apply at the beginning of the next tick's game stage.
    pub fn commands(&mut self) -> &mut Commands {
        &mut self.commands
    }

    /// The place served.
    #[must_use]
    pub fn place(&self) -> &Place {
        self.place.place()
    }

    /// Instances the server keeps beside the authored place: characters, loose parts, what was created or changed.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.place.world().len() as usize
    }

    /// Loose parts: which, where, and whether anything has moved it since it was authored or created.
    pub fn loose_parts(&self) -> impl Iterator<Item = (InstanceId, Pose, bool)> {
        self.place.loose_parts().into_iter()
    }

    /// Who simulates a loose part: a player, or `None` for the server.
    #[must_use]
    pub fn owner(&self, part: InstanceId) -> Option<PlayerId> {
        self.place.owners.owner(part)
    }

    /// A digest of every character and part, bit for bit: equal runs, equal digests, whatever the number of threads.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.place.digest(self.tick)
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("tick", &self.tick)
            .field("players", &self.sessions.len())
            .field("place", self.place.place())
            .finish_non_exhaustive()
    }
}
