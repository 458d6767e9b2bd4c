//! A client whose clock has to find and follow the server's over a jittery link.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod pair;

use std::collections::VecDeque;

use glam::Vec3;
use pair::{Pair, START, add_box, add_platform, floor, restless, walking};
use tidelock_sim::client::{PredictionClock, PredictionClockConfig};
use tidelock_sim::collision::CollisionIndex;
use tidelock_sim::motor::InputFrame;
use tidelock_sim::report::ReportAck;
use tidelock_sim::{Sequence, SimSpan, SimTime};

const STANDING: Vec3 = Vec3::new(0.0, 2.5, 0.0);

/// A link each way: its least delay and what jitter adds to it at most, seconds, and the share of packets lost. What was in a
/// lost packet rides in the next, a frame later (S-20a).
#[derive(Clone, Copy)]
struct Link {
    floor: f64,
    spread: f64,
    loss: f64,
}

/// 75 ± 30 ms each way.
const USUAL: Link = Link { floor: 0.045, spread: 0.06, loss: 0.0 };
/// 200 ± 80 ms round trip, a twentieth lost.
const BAD: Link = Link { floor: 0.06, spread: 0.08, loss: 0.05 };

/// Steers a pair's client as the runtime does: by what the server's messages say.
struct Follower {
    link: Link,
    clock: PredictionClock,
    /// Local seconds per true second.
    crystal: f64,
    down: VecDeque<(f64, SimTime, Option<ReportAck>)>,
    sent: VecDeque<(Sequence, f64)>,
    last_tick: SimTime,
    seed: u64,
    jumps: u32,
}

impl Follower {
    fn new(link: Link, crystal: f64, seed: u64) -> Self {
        let clock = PredictionClock::new(PredictionClockConfig::default());
        let (down, sent) = (VecDeque::new(), VecDeque::new());
        Self { link, clock, crystal, down, sent, last_tick: START, seed, jumps: 0 }
    }

    fn delay(&mut self) -> f64 {
        let mut delay = self.link.floor + self.link.spread * self.share();
        while self.share() < self.link.loss {
            delay += 1.0 / 60.0;
        }
        delay
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as f64 / f64::from(1_u32 << 31)
    }

    fn frame(&mut self, pair: &mut Pair, dt: f64, input: &InputFrame) {
        let now = pair.now().seconds() + dt;
        let local = (now - START.seconds()) * self.crystal;
        while let Some((_, tick, ack)) = self.down.pop_front_if(|(at, ..)| *at <= now) {
            self.clock.sample(tick, local);
            if let Some(ack) = ack {
                self.clock.acknowledge(ack.budget.seconds());
                while let Some((_, at)) = self.sent.pop_front_if(|(sent, _)| !sent.is_newer_than(ack.sequence)) {
                    self.clock.set_round_trip(local - at);
                }
            }
        }
        let steering = self.clock.steer(local, pair.client.predicted_seconds());
        if let Some(time) = steering.jump {
            self.jumps += 1;
            pair.client.jump(time);
        }
        pair.rate = steering.rate * self.crystal;
        pair.delay = SimSpan::from_seconds(self.delay());
        let before = pair.sent;
        pair.frame(dt, input);
        if pair.sent != before {
            self.sent.push_back((pair.sent, local));
        }
        if pair.now().tick().time() > self.last_tick {
            self.last_tick = pair.now().tick().time();
            let arrival = now + self.delay();
            let arrival = self.down.back().map_or(arrival, |(last, ..)| arrival.max(*last));
            self.down.push_back((arrival, self.last_tick, pair.truth.acknowledgement()));
        }
    }
}

fn run(pair: &mut Pair, follower: &mut Follower, seconds: f64, mut play: impl FnMut(f64) -> InputFrame) {
    for frame in 0..(seconds * 60.0) as u32 {
        follower.frame(pair, 1.0 / 60.0, &play(f64::from(frame) / 60.0));
    }
}

// S-20b, S-12a, B20: a crooked crystal, jitter and a moving platform: nothing to correct, no one penalised.
#[test]
fn riding_under_jitter_causes_no_correction() {
    for (crystal, seed) in [(1.0, 1), (1.0 + 200e-6, 2), (1.0 - 200e-6, 3)] {
        let world = || {
            let mut index = CollisionIndex::new();
            add_platform(&mut index, 1, Vec3::new(30.0, 8.0, 0.0));
            index
        };
        let mut pair = Pair::new(world, STANDING, Sequence(1));
        let mut follower = Follower::new(USUAL, crystal, seed);
        run(&mut pair, &mut follower, 2.0, |_| InputFrame::default());
        pair.take_faults();
        run(&mut pair, &mut follower, 300.0, |time| {
            // To and fro and, so that it does not wander off, fro and to.
            let step = match (time * 60.0).round() as u32 % 240 {
                0..15 | 135..150 => 0.3,
                15..30 | 120..135 => -0.3,
                _ => 0.0,
            };
            walking(Vec3::X * step)
        });
        assert_eq!(pair.take_faults(), [], "crystal {crystal}");
        assert!(
            pair.truth.sim().motor.ground.is_some(),
            "it fell off {} {}",
            pair.truth.sim().motor.position,
            pair.now().0 % 491520
        );
        assert_eq!(follower.jumps, 2, "one jump each for the first sample and round trip");
        let lead = pair.client.predicted_seconds() - pair.now().seconds();
        assert!((0.03..0.15).contains(&lead), "{lead} s ahead");
    }
}

// S-20b
#[test]
fn a_restless_client_under_jitter_is_adopted_to_the_bit() {
    let mut pair = Pair::new(floor, STANDING, Sequence(u32::MAX - 1_000));
    let mut follower = Follower::new(USUAL, 1.0 + 100e-6, 7);
    run(&mut pair, &mut follower, 300.0, restless(4));
    assert_eq!(pair.take_faults(), []);
}

/// A floor between walls, so that hours of restlessness do not lead off it.
fn arena() -> CollisionIndex {
    let mut index = floor();
    for (id, side) in [(2, Vec3::X), (3, Vec3::NEG_X), (4, Vec3::Z), (5, Vec3::NEG_Z)] {
        let wall = Vec3::new(62.0, 20.0, 62.0) - side.abs() * 60.0;
        add_box(&mut index, id, side * 60.0 + Vec3::Y * 20.0, wall);
    }
    index
}

/// Plays honestly over a bad link with a crystal off by 200 ppm either way: not a single correction.
fn expect_peace(seconds: u32) {
    for (crystal, seed) in [(1.0 + 200e-6, 11), (1.0 - 200e-6, 12)] {
        let mut pair = Pair::new(arena, STANDING, Sequence(u32::MAX - 1_000));
        let mut follower = Follower::new(BAD, crystal, seed);
        run(&mut pair, &mut follower, 2.0, |_| InputFrame::default());
        pair.take_faults();
        for minute in 0..seconds / 60 {
            run(&mut pair, &mut follower, 60.0, restless(seed + u64::from(minute)));
            assert_eq!(pair.take_faults(), [], "minute {minute}, crystal {crystal}");
        }
        assert!(pair.counters.adopted > u64::from(seconds) * 19, "{} reports", pair.counters.adopted);
    }
}

// S-20b, B20
#[test]
fn an_honest_client_on_a_bad_link_is_never_corrected() {
    expect_peace(180);
}

/// Ten hours, run by hand: `cargo test --release -p tidelock-sim --test following -- --ignored`.
#[test]
#[ignore = "long in debug builds"]
fn ten_hours_on_a_bad_link_without_a_correction() {
    expect_peace(36_000);
}

// B08: after a stall the client is in step and in control within a second.
#[test]
fn a_stall_ends_within_a_second() {
    for stall in [0.2, 2.0, 30.0, 900.0] {
        let mut pair = Pair::new(floor, STANDING, Sequence(1));
        let mut follower = Follower::new(USUAL, 1.0, 9);
        run(&mut pair, &mut follower, 3.0, |_| walking(Vec3::X));
        follower.frame(&mut pair, stall, &walking(Vec3::X));
        run(&mut pair, &mut follower, 1.0, |_| walking(Vec3::X));
        let before = pair.truth.sim().motor.position;
        run(&mut pair, &mut follower, 1.0, |_| walking(Vec3::X));
        let moved = pair.truth.sim().motor.position.distance(before);
        assert!(moved > 12.0, "{moved} studs in the second second after {stall} s");
        // What a long frame took from the budget comes back slowly.
        run(&mut pair, &mut follower, 20.0, restless(2));
        pair.take_faults();
        run(&mut pair, &mut follower, 10.0, restless(3));
        assert_eq!(pair.take_faults(), [], "after {stall} s");
        let lead = pair.client.predicted_seconds() - pair.now().seconds();
        assert!((0.0..0.2).contains(&lead), "{lead} s ahead after {stall} s");
    }
}
