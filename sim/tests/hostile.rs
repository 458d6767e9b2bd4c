//! Clients that try everything to move faster or farther than they may, drawn at random: `TIDELOCK_HOSTILE` of each style, 300
//! unless it is set.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod pair;

use glam::Vec3;
use pair::floor;
use tidelock_sim::allowance::{AllowanceEnvironment, AllowanceLimits, AllowanceValidator, Support};
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{CharacterState, InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::report::{
    CharacterTruth, ReplayEnvironment, ReplayLimits, ReplayVerdict, Report, ReportCounters, replay_report,
};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::stock::StockModule;
use tidelock_sim::{Sequence, SimSpan, SimTime};

const SECOND: u64 = 61_440;
const START: SimTime = SimTime(1 << 41);

fn strategies() -> u64 {
    std::env::var("TIDELOCK_HOSTILE").map_or(300, |count| count.parse().unwrap())
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn share(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1_u32 << 24) as f32
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.roll().is_multiple_of(times)
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[(self.roll() % among.len() as u64) as usize]
    }

    /// A number no one asked for.
    fn rubbish(&mut self) -> f32 {
        self.pick(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e6, -0.0])
    }
}

/// How one client cheats. What it knows, it knows best: it sees the server's own state.
#[derive(Clone, Copy, Debug)]
struct Strategy {
    /// Motor time it claims per second.
    clock: f64,
    /// Reports it sends a second.
    rate: f64,
    /// Seconds for which it holds reports back, to send them all at once.
    hoard: f64,
    /// Length of its frames, units.
    frame: u32,
    /// How far from the truth it claims to be, studs a report.
    creep: f32,
    /// One of so many numbers is rubbish; 0 for none.
    rubbish: u64,
    /// Whether it sends everything twice, and old things again.
    floods: bool,
}

impl Strategy {
    fn draw(dice: &mut Dice) -> Self {
        Self {
            clock: dice.pick(&[1.0, 1.05, 1.05, 1.5, 1.5, 4.0, 50.0]),
            rate: dice.pick(&[5.0, 20.0, 20.0, 30.0, 60.0, 240.0]),
            hoard: dice.pick(&[0.0, 0.0, 0.0, 0.2, 0.5, 2.0, 10.0]),
            frame: dice.pick(&[256, 256, 300, 1_024, 2_048]),
            creep: dice.pick(&[0.0, 0.0, 0.01, 0.05, 0.3, 0.7, 0.74, 3.0]),
            rubbish: dice.pick(&[0, 0, 0, 3, 10, 50]),
            floods: dice.one_in(4),
        }
    }

    /// Seconds until it sends again, and how many reports then.
    fn pause(&self, dice: &mut Dice) -> (f64, u32) {
        if self.hoard > 0.0 && dice.one_in(8) {
            return (self.hoard, (self.hoard * self.rate) as u32 + 1);
        }
        (f64::from(0.5 + dice.share()) / self.rate, 1)
    }
}

/// The most that happened in any window is at most `bound(its length in seconds)`.
fn check_windows(events: &[(SimTime, f64)], bound: impl Fn(f64) -> f64) -> Result<(), String> {
    // Sums up to each event: only windows that begin and end at events matter. With a bound `rate * W + burst` it is enough to
    // know the least of what came before, less what time allowed since.
    let (mut sum, mut least) = (0.0, f64::INFINITY);
    let (rate, burst) = (bound(1.0) - bound(0.0), bound(0.0));
    for (at, amount) in events {
        let time = at.since(START).seconds();
        least = least.min(sum - rate * time);
        sum += amount;
        let over = sum - rate * time - least - burst;
        if over > 1e-3 * (1.0 + burst) {
            return Err(format!("{over} more than {rate} W + {burst} in a window that ends at {time} s"));
        }
    }
    Ok(())
}

struct Replayed {
    index: CollisionIndex,
    nearby: Nearby,
    settings: MotorSettings,
    limits: ReplayLimits,
    module: StockModule,
    truth: CharacterTruth,
    sequence: u32,
    /// Motor time run and offsets adopted, each with when.
    ran: Vec<(SimTime, f64)>,
    adopted: Vec<(SimTime, f64)>,
    counters: ReportCounters,
}

impl Replayed {
    fn new() -> Self {
        let (module, limits) = (StockModule::default(), ReplayLimits::default());
        let position = Vec3::new(0.0, 2.52, 0.0);
        let sim = CharacterSim::new(MotorSnapshot { position, ..MotorSnapshot::default() }, &module);
        let truth = CharacterTruth::new(sim, &limits);
        Self {
            index: floor(),
            nearby: Nearby::new(),
            settings: MotorSettings::default(),
            limits,
            module,
            truth,
            sequence: 0,
            ran: Vec::new(),
            adopted: Vec::new(),
            counters: ReportCounters::default(),
        }
    }

    /// Judges a report, and by a twin that adopts nothing finds what was adopted.
    fn judge(&mut self, report: &Report, now: SimTime) {
        let strict = ReplayLimits { agree_position: -1.0, ..self.limits };
        let mut twin = self.truth.clone();
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let env = ReplayEnvironment { now, settings: &self.settings, module: &self.module, limits: &strict };
        replay_report(&mut twin, report, &env, &mut world);
        let env = ReplayEnvironment { limits: &self.limits, ..env };
        let outcome = replay_report(&mut self.truth, report, &env, &mut world);
        self.counters.count(&outcome);
        let length = |frame: &InputFrame| frame.duration.seconds();
        let ran: f64 = report.frames.iter().take(outcome.frames as usize).map(length).sum();
        self.ran.push((now, ran));
        let (motor, own) = (&self.truth.sim().motor, &twin.sim().motor);
        assert!(motor.is_finite());
        let offset = motor.position.distance(own.position);
        assert!(offset == 0.0 || matches!(outcome.verdict, ReplayVerdict::Adopted { exact: false }));
        self.adopted.push((now, f64::from(offset)));
    }

    fn report(&mut self, strategy: &Strategy, dice: &mut Dice, now: SimTime, seconds: f64) -> Report {
        self.sequence += 1;
        let count = (seconds * strategy.clock * SECOND as f64 / f64::from(strategy.frame)) as usize;
        let way = Vec3::new(dice.share() - 0.5, 0.0, dice.share() - 0.5).normalize_or_zero();
        let mut frame = InputFrame {
            duration: SimSpan(strategy.frame),
            direction: way * dice.pick(&[1.0, 1.0, 1.0, 1e9]),
            jump: dice.one_in(3),
            ..InputFrame::default()
        };
        let motor = self.truth.sim().motor;
        let mut report = Report {
            sequence: Sequence(self.sequence),
            start: dice.pick(&[now, self.truth.mover_end(), SimTime(0), SimTime(u64::MAX)]),
            // Near where a replay of much the same ends, and a little farther on.
            position: motor.position + motor.velocity * (count as f32 * frame.duration.seconds() as f32),
            velocity: motor.velocity,
            yaw: motor.yaw,
            custom: self.truth.sim().custom,
            ..Report::default()
        };
        let rubbish = |dice: &mut Dice| strategy.rubbish > 0 && dice.one_in(strategy.rubbish);
        if rubbish(dice) {
            frame.direction[dice.pick(&[0, 1, 2])] = dice.rubbish();
            frame.camera_yaw = dice.rubbish();
            frame.camera_relative = true;
        }
        report.frames = vec![frame; count.clamp(1, 120)];
        // A liar that knows the replay's own result claims that, and a bit more.
        let mut twin = self.truth.clone();
        let strict = ReplayLimits { agree_position: -1.0, ..self.limits };
        let env = ReplayEnvironment { now, settings: &self.settings, module: &self.module, limits: &strict };
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        replay_report(&mut twin, &report, &env, &mut world);
        let own = twin.sim();
        (report.position, report.velocity, report.yaw) = (own.motor.position, own.motor.velocity, own.motor.yaw);
        report.custom = own.custom;
        report.position += way * strategy.creep;
        if rubbish(dice) {
            match dice.roll() % 4 {
                0 => report.position[dice.pick(&[0, 1, 2])] = dice.rubbish(),
                1 => report.velocity[dice.pick(&[0, 1, 2])] = dice.rubbish(),
                2 => report.yaw = dice.rubbish(),
                _ => report.frames[0].duration = SimSpan(dice.pick(&[0, 1, 255, 2_049, u32::MAX])),
            }
        }
        report
    }
}

// S-22, S-24a, B20, B21
#[test]
fn hostile_clients_that_are_replayed_gain_no_time_and_no_ground() {
    let (mut ran, mut adopted, mut refused) = (0.0, 0, 0);
    for seed in 0..strategies() {
        let mut dice = Dice(seed);
        let strategy = Strategy::draw(&mut dice);
        let mut server = Replayed::new();
        let mut now = START;
        while now.since(START).seconds() < 15.0 {
            let (pause, burst) = strategy.pause(&mut dice);
            now += SimSpan::from_seconds(pause);
            for _ in 0..burst {
                let report = server.report(&strategy, &mut dice, now, pause / f64::from(burst));
                server.judge(&report, now);
                if strategy.floods {
                    server.judge(&report, now);
                    let old = Sequence(report.sequence.0.wrapping_sub(dice.roll() as u32 % 9));
                    server.judge(&Report { sequence: old, ..report }, now);
                }
            }
        }
        let limits = server.limits;
        let time = check_windows(&server.ran, |window| window + limits.replay_budget);
        let budget = |window: f64| f64::from(limits.adoption_budget) + f64::from(limits.adoption_refill) * window;
        let ground = check_windows(&server.adopted, budget);
        assert_eq!((time, ground), (Ok(()), Ok(())), "seed {seed}: {strategy:?}");
        ran += server.ran.iter().map(|(_, seconds)| seconds).sum::<f64>();
        adopted += server.counters.adopted_inexact;
        refused += server.counters.all_refused();
    }
    // They did try, and some of it was let through.
    assert!(ran > strategies() as f64 && adopted > strategies() && refused > strategies(), "{ran} {adopted} {refused}");
}

// S-25, S-25a, B20, B21
#[test]
fn hostile_clients_without_replay_stay_within_the_envelope() {
    let (settings, limits, envelope) = (MotorSettings::default(), AllowanceLimits::default(), ReplayLimits::default());
    let mut farthest = 0.0_f64;
    for seed in 0..strategies() {
        let mut dice = Dice(seed ^ 0xa110);
        let strategy = Strategy::draw(&mut dice);
        let mut env = AllowanceEnvironment { now: START, settings: &settings, limits: &limits, envelope: &envelope };
        let mut validator = AllowanceValidator::new(Vec3::ZERO, 0.0, &env);
        let (mut signals, mut moves, mut sequence) = (Vec::new(), Vec::new(), 0);
        while env.now.since(START).seconds() < 15.0 {
            let (pause, burst) = strategy.pause(&mut dice);
            env.now += SimSpan::from_seconds(pause);
            for _ in 0..burst * if strategy.floods { 3 } else { 1 } {
                sequence += 1;
                let from = validator.state().position;
                let dt = pause as f32 / burst as f32;
                let reach = (16.0 * 1.35 * dt * strategy.clock as f32 + 0.3) * dice.pick(&[0.9, 1.0, 1.0, 2.9, 3.1]);
                let angle = dice.share() * if strategy.creep > 0.0 { 0.3 } else { 6.3 };
                let way = Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle));
                let mut report = Report {
                    sequence: Sequence(sequence - if strategy.floods { dice.roll() as u32 % 2 } else { 0 }),
                    position: from + way * reach,
                    velocity: way * 16.0,
                    state: CharacterState::Grounded,
                    ..Report::default()
                };
                if strategy.rubbish > 0 && dice.one_in(strategy.rubbish) {
                    report.position[dice.pick(&[0, 1, 2])] = dice.rubbish();
                    report.yaw = dice.pick(&[0.0, f32::NAN]);
                }
                signals.clear();
                validator.judge(&report, &env, &mut |_: Vec3, _: f32| Support::GROUND, &mut signals);
                let state = validator.state();
                assert!(state.position.is_finite() && state.velocity.is_finite() && state.yaw.is_finite());
                let moved = (state.position - from) * Vec3::new(1.0, 0.0, 1.0);
                moves.push((env.now, f64::from(moved.length())));
            }
        }
        let most = f64::from(limits.envelope(16.0)) * 1.001;
        let (mut first, mut sum) = (0, 0.0);
        for (at, moved) in &moves {
            sum += moved;
            while at.since(moves[first].0) > SimSpan(SECOND as u32) {
                sum -= moves[first].1;
                first += 1;
            }
            assert!(sum <= most, "seed {seed}: {sum} studs in a second: {strategy:?}");
            farthest = farthest.max(sum);
        }
    }
    assert!(farthest > 16.0, "{farthest}");
}
