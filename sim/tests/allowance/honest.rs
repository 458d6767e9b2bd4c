use glam::{Quat, Vec3};
use tidelock_sim::allowance::{
    AllowanceCounters, AllowanceEnvironment, AllowanceLimits, AllowanceValidator, CollisionSupport,
};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Slide};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot, run_frame};
use tidelock_sim::report::{ReplayLimits, Report};
use tidelock_sim::{Sequence, SimSpan, SimTime};

/// A place with stairs, ramps walkable and not, blocks to jump on and off, a pit to fall into, and a platform.
fn place() -> CollisionIndex {
    let mut index = CollisionIndex::new();
    let mut id = 0_u64;
    let mut add = |shape: Shape, position: Vec3, rotation: Quat| {
        id += 1;
        index.insert(Collider { id: ColliderId(id), shape, position, rotation }).unwrap();
    };
    let cube = |x: f32, y: f32, z: f32| Shape::Box { half: Vec3::new(x, y, z) };
    add(cube(80.0, 1.0, 80.0), Vec3::NEG_Y, Quat::IDENTITY);
    for step in 0..12 {
        let height = 0.45 * (step + 1) as f32;
        add(cube(6.0, height, 0.75), Vec3::new(-30.0, height, 10.0 + 1.5 * step as f32), Quat::IDENTITY);
    }
    for (x, degrees) in [(20.0, 30_f32), (34.0, 48.0), (48.0, 70.0)] {
        let half = degrees.to_radians() * 0.5;
        let turned = Quat::from_xyzw(0.0, 0.0, libm::sinf(half), libm::cosf(half));
        add(cube(9.0, 0.5, 6.0), Vec3::new(x, 2.0, -30.0), turned);
    }
    for block in 0..30_u32 {
        let (x, z) = ((block * 37 % 90) as f32 - 45.0, (block * 53 % 90) as f32 - 45.0);
        let half = 0.6 + (block % 5) as f32 * 0.9;
        add(cube(2.0, half, 2.0), Vec3::new(x, half, z), Quat::IDENTITY);
    }
    add(cube(3.0, 15.0, 3.0), Vec3::new(0.0, 15.0, 30.0), Quat::IDENTITY);
    let way = Slide { offset: Vec3::new(24.0, 0.0, 0.0), period: SimSpan::from_seconds(6.0), phase: SimSpan(0) };
    let platform = Mover::resting(Vec3::new(-12.0, 0.5, -8.0), Quat::IDENTITY).with_slide(way);
    index.insert_mover(ColliderId(900), cube(5.0, 0.5, 5.0), platform).unwrap();
    let lift = Slide { offset: Vec3::Y * 14.0, period: SimSpan::from_seconds(5.0), phase: SimSpan(0) };
    let lift = Mover::resting(Vec3::new(-50.0, 0.4, -50.0), Quat::IDENTITY).with_slide(lift);
    index.insert_mover(ColliderId(901), cube(6.0, 0.5, 6.0), lift).unwrap();
    index
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}

/// A walker that changes its mind now and then and jumps a lot.
struct Walker {
    snapshot: MotorSnapshot,
    way: f32,
    jumping: bool,
    random: Random,
}

impl Walker {
    fn frame(&mut self) -> InputFrame {
        if self.random.next() < 0.02 {
            self.way = self.random.next() * std::f32::consts::TAU;
            self.jumping = self.random.next() < 0.5;
        }
        let home = -self.snapshot.position / 70.0;
        let direction = Vec3::new(libm::cosf(self.way) + home.x, 0.0, libm::sinf(self.way) + home.z);
        let direction = direction.normalize_or_zero();
        // Alternating, so that every landing finds a press before long.
        let jump = self.jumping && self.random.next() < 0.5;
        InputFrame { direction, jump, auto_jump: self.jumping, ..InputFrame::default() }
    }
}

/// Walks for so many seconds on a clock that is so many parts per million too fast.
fn walk(seed: u64, settings: &MotorSettings, (seconds, ppm): (u64, f64)) -> (AllowanceCounters, Vec<String>) {
    let (limits, envelope) = (AllowanceLimits::default(), ReplayLimits::default());
    let (index, mut nearby) = (place(), Nearby::new());
    let position = Vec3::new(0.0, 2.52, 0.0);
    let mut walker = Walker {
        snapshot: MotorSnapshot { position, ..MotorSnapshot::default() },
        way: 0.0,
        jumping: false,
        random: Random(seed),
    };
    let mut network = Random(seed ^ 0x5eed);
    let start = SimTime(1 << 40);
    let mut env = AllowanceEnvironment { now: start, settings, limits: &limits, envelope: &envelope };
    let mut validator = AllowanceValidator::new(position, 0.0, &env);
    let (mut flying, mut signals) = (Vec::<(SimTime, Report)>::new(), Vec::new());
    let (mut counters, mut trouble) = (AllowanceCounters::default(), Vec::new());
    for tick in 0..seconds * 60 {
        // The client's ticks by the server's clock.
        let time = SimTime(start.0 + (1_024.0 * tick as f64 / (1.0 + ppm * 1e-6)) as u64);
        let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
        let frame = walker.frame();
        run_frame(&mut walker.snapshot, &frame, time, settings, &mut world);
        if tick % 3 == 0 && network.next() >= 0.05 {
            let delay = 0.120 + 0.160 * network.next();
            let snapshot = &walker.snapshot;
            let report = Report {
                sequence: Sequence(tick as u32),
                end: time + SimSpan::TICK,
                position: snapshot.position,
                velocity: snapshot.velocity,
                yaw: snapshot.yaw,
                state: snapshot.state,
                ..Report::default()
            };
            flying.push((time + SimSpan::from_seconds(f64::from(delay)), report));
        }
        while let Some(index_of) = (0..flying.len()).filter(|i| flying[*i].0 <= time).min_by_key(|i| flying[*i].0) {
            let (arrival, report) = flying.swap_remove(index_of);
            env.now = arrival;
            signals.clear();
            // The report says when it was made, as far as that can be believed.
            let made = report.end.clamp(arrival - SimSpan(18_432), arrival);
            let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
            let mut support = CollisionSupport { world: &mut world, settings, time: made };
            let before = *validator.state();
            let outcome = validator.judge(&report, &env, &mut support, &mut signals);
            counters.count(&outcome, &signals);
            if !signals.is_empty() && trouble.len() < 5 {
                trouble.push(format!("{} s: {signals:?} {outcome:?}\n  {before:?}\n  {report:?}", tick / 60));
            }
        }
    }
    (counters, trouble)
}

fn expect_peace(settings: &MotorSettings, seeds: std::ops::Range<u64>, (seconds, ppm): (u64, f64)) {
    for seed in seeds {
        let (counters, trouble) = walk(seed, settings, (seconds, ppm));
        assert!(trouble.is_empty(), "seed {seed}: {counters:?}\n{}", trouble.join("\n"));
        assert!(counters.accepted > seconds * 10, "{counters:?}");
        assert_eq!(counters.corrections, 0);
    }
}

// S-25, B20: 200 ± 80 ms, 5 % loss, packets overtaking each other.
#[test]
fn honest_walkers_are_never_clamped() {
    expect_peace(&MotorSettings::default(), 1..7, (150, 0.0));
}

// S-25
#[test]
fn honest_jumpers_in_the_air_are_never_clamped() {
    let settings = MotorSettings { air_jumps: 2, coyote_time: 0.15, jump_buffer: 0.1, ..MotorSettings::default() };
    expect_peace(&settings, 20..23, (150, 0.0));
}

// S-25, S-20b: clocks that are 200 millionths too fast or too slow, which is more than crystals are.
#[test]
fn honest_clocks_that_drift_are_never_clamped() {
    expect_peace(&MotorSettings::default(), 30..33, (150, 200.0));
    expect_peace(&MotorSettings::default(), 33..36, (150, -200.0));
}

/// Ten hours each of clocks that are right, too fast and too slow, two hours on end, or TIDELOCK_HONEST_HOURS: nobody is
/// clamped or corrected. Who leaps off a fast platform may, once in a day, be told of a velocity that says more than it moves.
/// Run by hand: `cargo test --release -p tidelock-sim --test allowance -- --ignored`.
#[test]
#[ignore = "long in debug builds"]
fn ten_hours_of_honest_walking() {
    let hours = std::env::var("TIDELOCK_HONEST_HOURS").ok().and_then(|hours| hours.parse().ok()).unwrap_or(10_u64);
    for (ppm, first) in [(0.0, 1_000), (200.0, 2_000), (-200.0, 120)] {
        let mut signalled = 0;
        for seed in first..first + hours.div_ceil(2) {
            let (counters, trouble) = walk(seed, &MotorSettings::default(), (7_200, ppm));
            let harm = counters.clamped + counters.put_back + counters.corrections;
            assert_eq!(harm, 0, "seed {seed}: {counters:?}\n{}", trouble.join("\n"));
            assert!(counters.accepted > 72_000, "{counters:?}");
            signalled += trouble.len() as u64;
        }
        assert!(signalled <= hours / 24, "{signalled} signals at {ppm} ppm");
    }
}
