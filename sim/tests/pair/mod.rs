//! A client and a server character over a link of fixed delay, in virtual time.
#![allow(dead_code, reason = "each test uses its share")]

use std::collections::VecDeque;

use glam::{Quat, Vec3};
use tidelock_sim::client::{CorrectionEvent, Prediction, PredictionConfig, PredictionEnvironment};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Slide};
use tidelock_sim::motor::{ControllerBytes, InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::report::{
    CharacterTruth, Correction, ReplayEnvironment, ReplayLimits, ReplayOutcome, ReplayVerdict, Report, ReportCounters,
    replay_report,
};
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::stock::StockModule;
use tidelock_sim::{Sequence, SimSpan, SimTime};

/// Server time at the start: half an hour, a whole number of platform periods.
pub(crate) const START: SimTime = SimTime(8 * 61_440 * 200);

/// A floor whose top is y = 0.
pub(crate) fn floor() -> CollisionIndex {
    let mut index = CollisionIndex::new();
    add_box(&mut index, 1, Vec3::new(0.0, -1.0, 0.0), Vec3::new(500.0, 1.0, 500.0));
    index
}

pub(crate) fn add_box(index: &mut CollisionIndex, id: u64, position: Vec3, half_extents: Vec3) {
    let shape = Shape::Box { half: half_extents };
    index.insert(Collider { id: ColliderId(id), shape, position, rotation: Quat::IDENTITY }).unwrap();
}

/// A platform of 16 by 16 studs, top at y = 0 at first, sliding by `offset` and back in 8 s.
pub(crate) fn add_platform(index: &mut CollisionIndex, id: u64, offset: Vec3) {
    let slide = Slide { offset, period: SimSpan::from_seconds(8.0), phase: SimSpan(0) };
    let mover = Mover::resting(Vec3::new(0.0, -0.5, 0.0), Quat::IDENTITY).with_slide(slide);
    index.insert_mover(ColliderId(id), Shape::Box { half: Vec3::new(8.0, 0.5, 8.0) }, mover).unwrap();
}

/// The same world on both sides unless a test makes them differ.
pub(crate) struct Pair {
    pub(crate) client: Prediction,
    pub(crate) truth: CharacterTruth,
    pub(crate) client_index: CollisionIndex,
    pub(crate) server_index: CollisionIndex,
    pub(crate) client_settings: MotorSettings,
    pub(crate) server_settings: MotorSettings,
    pub(crate) limits: ReplayLimits,
    pub(crate) module: StockModule,
    pub(crate) counters: ReportCounters,
    pub(crate) outcomes: Vec<ReplayOutcome>,
    pub(crate) events: Vec<CorrectionEvent>,
    /// Changes reports on their way, as a cheating client would.
    pub(crate) tamper: fn(&mut Report),
    /// Claims to be this far from where the server has the character, as a cheating client that knows would.
    pub(crate) creep: Option<Vec3>,
    /// Motor time per wall time on the client.
    pub(crate) rate: f64,
    /// One way, for what is sent from now on; nothing overtakes.
    pub(crate) delay: SimSpan,
    /// The last report sent.
    pub(crate) sent: Sequence,
    now: f64,
    tick: SimTime,
    nearby: (Nearby, Nearby),
    up: VecDeque<(SimTime, Report)>,
    down: VecDeque<(SimTime, Correction)>,
}

impl Pair {
    /// Both standing at `position`, 75 ms apart; the client is ahead by that.
    pub(crate) fn new(index: impl Fn() -> CollisionIndex, position: Vec3, first: Sequence) -> Self {
        let module = StockModule::default();
        let limits = ReplayLimits::default();
        let sim = CharacterSim::new(MotorSnapshot { position, ..MotorSnapshot::default() }, &module);
        let delay = SimSpan::from_seconds(0.075);
        let client = Prediction::new(sim, 0, START + delay, PredictionConfig::default()).with_first_sequence(first);
        Self {
            client,
            truth: CharacterTruth::new(sim, &limits),
            client_index: index(),
            server_index: index(),
            client_settings: MotorSettings::default(),
            server_settings: MotorSettings::default(),
            limits,
            module,
            counters: ReportCounters::default(),
            outcomes: Vec::new(),
            events: Vec::new(),
            tamper: |_| {},
            creep: None,
            rate: 1.0,
            delay,
            sent: Sequence(first.0.wrapping_sub(1)),
            now: START.seconds(),
            tick: START,
            nearby: (Nearby::new(), Nearby::new()),
            up: VecDeque::new(),
            down: VecDeque::new(),
        }
    }

    pub(crate) fn now(&self) -> SimTime {
        SimTime::from_seconds(self.now)
    }

    /// One drawn frame of the client and the server ticks that fall into it.
    pub(crate) fn frame(&mut self, dt: f64, input: &InputFrame) {
        self.now += dt;
        let now = self.now();
        let env = PredictionEnvironment { settings: &self.client_settings, module: &self.module };
        let mut world = CollisionWorld { index: &self.client_index, nearby: &mut self.nearby.0 };
        while let Some((_, correction)) = self.down.pop_front_if(|(at, _)| *at <= now) {
            self.events.extend(self.client.correct(&correction, &env, &mut world));
        }
        self.client.advance(dt * self.rate, input, &env, &mut world);
        while let Some(mut report) = self.client.poll_report() {
            (self.tamper)(&mut report);
            let arrival = self.up.back().map_or(SimTime(0), |(last, _)| *last).max(now + self.delay);
            self.sent = report.sequence;
            self.up.push_back((arrival, report));
        }
        while self.tick + SimSpan::TICK <= now {
            self.tick += SimSpan::TICK;
            self.serve();
        }
    }

    fn serve(&mut self) {
        let now = self.tick;
        while let Some((_, mut report)) = self.up.pop_front_if(|(at, _)| *at <= now) {
            if let Some(creep) = self.creep {
                report.position = self.truth.sim().motor.position + creep;
            }
            let limits = self.limits;
            let env = ReplayEnvironment { now, settings: &self.server_settings, module: &self.module, limits: &limits };
            let mut world = CollisionWorld { index: &self.server_index, nearby: &mut self.nearby.1 };
            let outcome = replay_report(&mut self.truth, &report, &env, &mut world);
            self.counters.count(&outcome);
            self.outcomes.push(outcome);
            if let ReplayVerdict::Corrected { correction, .. } = outcome.verdict {
                self.send(correction);
            }
            self.client.recycle(report);
        }
    }

    pub(crate) fn send(&mut self, correction: Correction) {
        let arrival = self.down.back().map_or(SimTime(0), |(last, _)| *last).max(self.tick + self.delay);
        self.down.push_back((arrival, correction));
    }

    /// Runs `seconds` at `fps` with what `play` holds at each second since then.
    pub(crate) fn run(&mut self, seconds: f64, fps: f64, mut play: impl FnMut(f64) -> InputFrame) {
        let frames = (seconds * fps) as u32;
        for frame in 0..frames {
            let input = play(f64::from(frame) / fps);
            self.frame(1.0 / fps, &input);
        }
    }

    /// Corrections and refusals since the last call.
    pub(crate) fn take_faults(&mut self) -> Vec<ReplayVerdict> {
        let faults = self.outcomes.drain(..).map(|outcome| outcome.verdict);
        faults.filter(|verdict| !matches!(verdict, ReplayVerdict::Adopted { exact: true })).collect()
    }
}

/// Input of a restless player: new direction, camera, jump, sprint and dash every quarter of a second.
pub(crate) fn restless(seed: u64) -> impl FnMut(f64) -> InputFrame {
    move |time| {
        let step = (time * 4.0) as u64;
        let mut bits = (step + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits ^= bits >> 27;
        let angle = (bits & 0xff) as f32 * 0.0245;
        InputFrame {
            direction: Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle)),
            camera_relative: bits & 0x100 != 0,
            camera_yaw: (bits >> 9 & 0xff) as f32 * 0.03 - 3.0,
            jump: bits >> 20 & 3 == 0,
            controller: ControllerBytes::new(&[(bits >> 24 & 3) as u8]).unwrap(),
            ..InputFrame::default()
        }
    }
}

pub(crate) fn walking(direction: Vec3) -> InputFrame {
    InputFrame { direction, ..InputFrame::default() }
}
