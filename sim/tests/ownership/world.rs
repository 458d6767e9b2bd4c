use glam::{Quat, Vec3};
use tidelock_sim::collision::{ColliderId, Shape};
use tidelock_sim::ownership::{
    AcceptedState, Candidate, Election, OwnedReport, OwnershipLimits, OwnershipNotice, OwnershipTable, Partition,
    PlayerId,
};
use tidelock_sim::physics::{LooseMotion, LooseParts, LoosePartsConfig};
use tidelock_sim::tracks::PartPose;
use tidelock_sim::{PartState, SimTime, Tick};

use crate::player::Player;

/// Messages on their way, delivered by time of arrival.
pub(crate) struct Link<T> {
    flying: Vec<(f64, u64, T)>,
    sent: u64,
    seed: u64,
    loss: f64,
    /// Arrival of the last reliable message: those stay in order.
    last: f64,
}

impl<T> Link<T> {
    pub(crate) fn new(seed: u64, loss: f64) -> Self {
        Self { flying: Vec::new(), sent: 0, seed, loss, last: 0.0 }
    }

    fn random(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 40) as f64 / f64::from(1 << 24)
    }

    /// Half of 100 ± 20 ms.
    fn delay(&mut self) -> f64 {
        0.04 + 0.02 * self.random()
    }

    pub(crate) fn send(&mut self, now: f64, message: T) {
        if self.random() >= self.loss {
            let arrival = now + self.delay();
            self.push(arrival, message);
        }
    }

    /// Resent until it arrives, in order.
    pub(crate) fn send_reliably(&mut self, now: f64, message: T) {
        let mut arrival = now + self.delay();
        while self.random() < self.loss {
            arrival += 0.12;
        }
        self.last = self.last.max(arrival);
        let last = self.last;
        self.push(last, message);
    }

    fn push(&mut self, arrival: f64, message: T) {
        self.sent += 1;
        self.flying.push((arrival, self.sent, message));
    }

    pub(crate) fn arrived(&mut self, now: f64) -> Vec<T> {
        let mut due = Vec::new();
        while let Some(at) = (0..self.flying.len()).filter(|at| self.flying[*at].0 <= now).min_by(|a, b| {
            (self.flying[*a].0, self.flying[*a].1).partial_cmp(&(self.flying[*b].0, self.flying[*b].1)).unwrap()
        }) {
            due.push(self.flying.swap_remove(at).2);
        }
        due
    }
}

/// A loose part of the place.
pub(crate) struct Item {
    pub(crate) id: ColliderId,
    pub(crate) shape: Shape,
    pub(crate) state: PartState,
}

pub(crate) fn config() -> LoosePartsConfig {
    LoosePartsConfig { angular_damping: 0.0, friction: 0.4, ..LoosePartsConfig::default() }
}

/// A floor with the items on it.
pub(crate) fn physics(items: &[Item], driven: bool) -> LooseParts {
    let mut parts = LooseParts::new(config());
    let half = Vec3::new(2_000.0, 1.0, 2_000.0);
    parts.insert_anchored(ColliderId(1_000), &Shape::Box { half }, Vec3::NEG_Y, Quat::IDENTITY).unwrap();
    for item in items {
        if driven {
            parts.insert_driven(item.id, &item.shape, &item.state).unwrap();
        } else {
            parts.insert_part(item.id, &item.shape, &item.state).unwrap();
        }
    }
    parts
}

/// Motion sent to clients, stamped with server time.
pub(crate) type Motion = Vec<(ColliderId, PartPose)>;

/// The server and its two players.
pub(crate) struct World {
    pub(crate) tick: u64,
    pub(crate) table: OwnershipTable,
    pub(crate) physics: LooseParts,
    pub(crate) election: Option<Election>,
    pub(crate) islands: Partition,
    pub(crate) players: Vec<Player>,
    pub(crate) ids: Vec<ColliderId>,
    moved: LooseMotion,
    accepted: Vec<AcceptedState>,
    notices: Vec<OwnershipNotice>,
    /// Writers of each part's published state in this tick.
    pub(crate) writers: Vec<(ColliderId, Option<PlayerId>)>,
}

impl World {
    pub(crate) const START: u64 = 100_000;

    pub(crate) fn new(items: &[Item], seed: u64) -> Self {
        let now = Tick(Self::START).time();
        let mut table = OwnershipTable::new(OwnershipLimits::default());
        for item in items {
            assert!(table.insert_part(item.id, item.state, now));
        }
        let players: Vec<Player> = (1..=2).map(|id| Player::new(PlayerId(id), items, seed + id * 77)).collect();
        for player in &players {
            table.insert_player(player.id);
        }
        Self {
            tick: Self::START,
            table,
            physics: physics(items, false),
            election: None,
            islands: Partition::default(),
            players,
            ids: items.iter().map(|item| item.id).collect(),
            moved: LooseMotion::default(),
            accepted: Vec::new(),
            notices: Vec::new(),
            writers: Vec::new(),
        }
    }

    pub(crate) fn time(&self) -> SimTime {
        Tick(self.tick).time()
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.time().seconds()
    }

    /// One tick of the server and one frame of each client, 1/60 s.
    pub(crate) fn step(&mut self) {
        self.tick += 1;
        self.serve();
        let now = self.seconds();
        for player in &mut self.players {
            player.frame(now);
        }
    }

    fn serve(&mut self) {
        let (now, tick) = (self.time(), Tick(self.tick));
        self.accepted.clear();
        self.writers.clear();
        for player in &mut self.players {
            for report in player.up.arrived(now.seconds()) {
                let report: OwnedReport = report;
                let first = self.accepted.len();
                self.table.judge(player.id, &report, (now, tick), &mut self.accepted);
                self.writers.extend(self.accepted[first..].iter().map(|state| (state.part, Some(player.id))));
            }
        }
        self.physics.step(now, &mut self.moved);
        for (row, id) in self.moved.ids.iter().enumerate() {
            if self.table.is_simulated_here(*id) {
                let state = PartState {
                    position: self.moved.positions[row],
                    rotation: self.moved.rotations[row],
                    velocity: self.moved.velocities[row],
                    angular: self.moved.angulars[row],
                };
                self.table.record(*id, &state, now);
                self.writers.push((*id, None));
            }
        }
        for accepted in &self.accepted {
            assert!(self.physics.place(accepted.part, &accepted.by(now)));
        }
        if let Some(election) = self.election {
            self.physics.partition(&mut self.islands);
            let candidates: Vec<Candidate> =
                self.players.iter().map(|player| Candidate { player: player.id, position: player.character }).collect();
            election.run(&mut self.table, &self.islands, &candidates, now);
        }
        self.table.expire(now);
        self.tell();
    }

    fn tell(&mut self) {
        let now = self.seconds();
        self.notices.clear();
        self.table.drain_notices(&mut self.notices);
        for player in &mut self.players {
            let concerns = |notice: &&OwnershipNotice| {
                notice.written || notice.owner == Some(player.id) || notice.previous == Some(player.id)
            };
            let notices: Vec<OwnershipNotice> = self.notices.iter().filter(concerns).copied().collect();
            if !notices.is_empty() {
                player.notices.send_reliably(now, notices);
            }
        }
        if self.tick.is_multiple_of(3) {
            // Twenty times a second, what is not their own.
            for player in &mut self.players {
                let mut motion = Motion::new();
                for id in &self.ids {
                    if self.table.owner(*id) == Some(player.id) {
                        continue;
                    }
                    let state = *self.table.state(*id).unwrap();
                    let at = self.table.state_time(*id).unwrap().seconds();
                    motion.push((
                        *id,
                        PartPose {
                            time: at,
                            position: state.position,
                            rotation: state.rotation,
                            velocity: state.velocity,
                            angular: state.angular,
                        },
                    ));
                }
                player.echoed += motion.len();
                player.down.send(now, (now, motion));
            }
        }
    }
}
