use glam::{Quat, Vec3};
use tidelock_replication::ids::{Generation, InstanceId, PlayerId, Slot};
use tidelock_replication::instance::Audience;
use tidelock_replication::interest::{InterestGrid, InterestSettings, Origin, Viewer, VisibleSet};
use tidelock_replication::motion::{Delivery, MotionArena, MotionEnvelope, MotionOutput, MotionSchedule, PartMotion};
use tidelock_sim::Tick;

use crate::scene::Dice;
use crate::table::{Figure, Table};
use crate::watch::{median, reading, spent};

const DIVISOR: u32 = 3;
const TICKS: usize = 90;

/// Subjects that move about, and players who see some of them.
pub(crate) struct Crowd {
    tick: Tick,
    dice: Dice,
    side: f32,
    pub(crate) positions: Vec<Vec3>,
    arena: MotionArena,
    pub(crate) grid: InterestGrid,
    pub(crate) players: Vec<Player>,
    /// A player sees this far; `None` without a limit.
    radius: Option<f32>,
}

#[derive(Default)]
pub(crate) struct Player {
    position: Vec3,
    pub(crate) visible: VisibleSet,
    schedule: MotionSchedule,
    output: MotionOutput,
    copied: Vec<u8>,
}

/// Sums over one or more ticks.
#[derive(Default)]
struct Sums {
    items: u64,
    bytes: u64,
    build: f64,
    copy: f64,
    receipts: f64,
}

impl Crowd {
    /// So many subjects that a player with `radius` sees about `seen`; everyone sees all without a radius.
    pub(crate) fn new(subjects: usize, players: usize, seen: usize, radius: Option<f32>) -> Self {
        let reach = radius.unwrap_or(200.0);
        let side = reach * (std::f32::consts::PI * subjects as f32 / seen as f32).sqrt();
        let mut crowd = Self {
            tick: Tick(3_000),
            dice: Dice::new(7),
            side,
            positions: Vec::new(),
            arena: MotionArena::new(DIVISOR),
            grid: InterestGrid::new(64.0, Vec3::Y, InterestSettings::default()),
            players: Vec::new(),
            radius,
        };
        for slot in 0..subjects {
            let position = crowd.anywhere();
            crowd.positions.push(position);
            crowd.grid.insert(Slot(slot as u32), position, Audience::Shared);
        }
        // Players stay away from the rim, where there is less to see.
        for _ in 0..players {
            let position = crowd.anywhere() * (1.0 - 2.0 * reach / side).max(0.1);
            crowd.players.push(Player { position, ..Player::default() });
        }
        crowd
    }

    fn anywhere(&mut self) -> Vec3 {
        let half = self.side * 0.5;
        Vec3::new(self.dice.around(half), self.dice.share() * 20.0, self.dice.around(half))
    }

    /// A step for everyone.
    pub(crate) fn wander(&mut self) {
        for position in &mut self.positions {
            *position += Vec3::new(self.dice.around(0.8), 0.0, self.dice.around(0.8));
        }
    }

    /// Tells arena and grid of everyone's position.
    fn put(&mut self) {
        self.tick = self.tick.next();
        self.arena.begin_tick(self.tick);
        for (slot, position) in self.positions.iter().enumerate() {
            let motion = PartMotion {
                position: *position,
                rotation: Quat::IDENTITY,
                linear_velocity: Vec3::new(position.x % 8.0, 0.0, position.z % 8.0),
                angular_velocity: Vec3::ZERO,
            };
            self.arena.put_part(Slot(slot as u32), InstanceId(slot as u64 + 1), &motion);
            self.grid.move_to(Slot(slot as u32), *position);
        }
        self.arena.seal();
    }

    pub(crate) fn look(&mut self, player: usize) {
        look(&self.grid, player, &mut self.players[player], self.radius);
    }

    /// Interest, batches and receipts of the players served in this tick.
    fn serve(&mut self, sums: &mut Sums) {
        let Self { arena, grid, players, tick, radius, .. } = self;
        let served = |(slot, _): &(usize, &mut Player)| MotionSchedule::is_served(*slot, *tick, DIVISOR);
        for (slot, player) in players.iter_mut().enumerate().filter(served) {
            look(grid, slot, player, *radius);
            player.output.clear();
        }
        let envelope = MotionEnvelope { tick: *tick, generation: Generation(1), ack: None };
        let begin = spent();
        for (_, player) in players.iter_mut().enumerate().filter(served) {
            player.schedule.build(arena, &player.visible, &envelope, &mut player.output);
        }
        let built = spent();
        for (_, player) in players.iter_mut().enumerate().filter(served) {
            player.copied.clear();
            player.copied.extend_from_slice(player.output.bytes());
        }
        let copied = spent();
        for (_, player) in players.iter_mut().enumerate().filter(served) {
            for span in player.output.batches() {
                sums.items += u64::from(span.items);
                player.schedule.receipt(arena, span.key, Delivery::Delivered);
            }
            sums.bytes += player.output.bytes().len() as u64;
        }
        sums.receipts += (spent() - copied).as_secs_f64() * 1e9;
        sums.build += (built - begin).as_secs_f64() * 1e9;
        sums.copy += (copied - built).as_secs_f64() * 1e9;
    }
}

fn look(grid: &InterestGrid, slot: usize, player: &mut Player, radius: Option<f32>) {
    let origins = [Origin { position: player.position, radius: Some(radius.unwrap_or(f32::INFINITY)) }];
    let viewer = Viewer { player: PlayerId(slot as u64 + 1), groups: &[], origins: &origins, character: None };
    grid.update(&viewer, &mut player.visible);
}

/// Building, copying and settling per item, medians over ticks in which everyone moves.
fn moving(table: &mut Table, (what, receipts): (&'static str, &'static str), mut crowd: Crowd) {
    let (mut build, mut copy, mut settle) = (Vec::new(), Vec::new(), Vec::new());
    for tick in 0..TICKS {
        crowd.wander();
        crowd.put();
        let mut sums = Sums::default();
        crowd.serve(&mut sums);
        if tick > 10 && sums.items > 0 {
            let items = sums.items as f64;
            build.push(sums.build / items);
            copy.push(sums.copy / items);
            settle.push(sums.receipts / items);
        }
    }
    let build = median(&mut build);
    table.row(Figure::new(what, build, "ns").target(6.0).beside("memcpy of the same bytes", median(&mut copy)));
    table.row(Figure::new(receipts, median(&mut settle), "ns"));
}

/// What those cost who are in sight and do nothing.
fn resting(table: &mut Table, mut crowd: Crowd) {
    let (players, subjects) = (crowd.players.len() as f64, crowd.positions.len() as f64);
    for _ in 0..70 {
        crowd.put();
        crowd.serve(&mut Sums::default());
    }
    let reading = reading().as_secs_f64() * 1e9;
    let (mut build, mut idle, mut whole) = (Vec::new(), Vec::new(), Sums::default());
    for _ in 0..TICKS {
        crowd.tick = crowd.tick.next();
        let begin = spent();
        crowd.arena.begin_tick(crowd.tick);
        crowd.arena.seal();
        let sealed = (spent() - begin).as_secs_f64() * 1e9;
        let before = whole.build;
        crowd.serve(&mut whole);
        let built = whole.build - before - reading;
        idle.push((sealed - reading + built) * 1e-3);
        build.push(built * f64::from(DIVISOR) / (players * subjects));
    }
    assert_eq!(whole.items, 0, "nothing has changed");
    table.row(Figure::new("unchanged visible entity, per player", median(&mut build), "ns").target(0.05));
    let idle = median(&mut idle);
    table.row(Figure::new("motion of a tick with nothing changed, 10,000 × 50", idle, "µs").target(1.0));
}

pub(crate) fn run(table: &mut Table) {
    let dense = ("motion built per item, all of 1,000 in sight", "receipts per item, all of 1,000 in sight");
    moving(table, dense, Crowd::new(1_000, 100, 1_000, None));
    let small = ("motion built per item, 100 of 1,000 in sight", "receipts per item, 100 of 1,000 in sight");
    moving(table, small, Crowd::new(1_000, 100, 100, Some(256.0)));
    let sparse = ("motion built per item, 100 of 10,000 in sight", "receipts per item, 100 of 10,000 in sight");
    moving(table, sparse, Crowd::new(10_000, 100, 100, Some(256.0)));
    resting(table, Crowd::new(10_000, 50, 10_000, None));
}
