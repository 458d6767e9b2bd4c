use glam::{Quat, Vec3};
use tidelock_replication::wire::{TickedInputs, read_inputs, read_newest_report, read_owned_report, read_report};
use tidelock_sim::allowance::{AllowanceEnvironment, AllowanceLimits, AllowanceValidator, CollisionSupport};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Slide};
use tidelock_sim::input::{HeldControls, InputBuffer, InputBufferConfig, InputGate, InputGateConfig, PressActions};
use tidelock_sim::input::{InputPresence, StepInput};
use tidelock_sim::motor::{ControllerBytes, InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::ownership::{OwnedReport, OwnershipLimits, OwnershipTable, PlayerId};
use tidelock_sim::report::{
    CharacterTruth, Correction, ReplayEnvironment, ReplayLimits, Report, WireFrame, replay_report,
};
use tidelock_sim::simulation::{CharacterSim, SimulationRun};
use tidelock_sim::stock::StockModule;
use tidelock_sim::{PartState, Sequence, SimSpan, SimTime, Tick};

use super::choices::Choices;

const START: SimTime = SimTime(1 << 41);
/// The longest frame, in motor ticks: 1/30 s at 240 Hz.
const FRAME_TICKS: u32 = 8;
/// Loose parts, the player's own first.
const PARTS: u64 = 8;
/// The most operations of a run.
const MAX_OPERATIONS: u32 = 400;

/// What a client claims, judged by each kind of server: reports that are run again, reports judged by allowances, inputs of
/// ticks, and loose parts. Every state stays finite, work is bounded by what was sent, and time is not gained.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut judge = Judge::new(choices.byte());
    for _ in 0..MAX_OPERATIONS {
        if choices.is_over() {
            return;
        }
        judge.operate(&mut choices);
        judge.check();
    }
}

struct Judge {
    index: CollisionIndex,
    nearby: Nearby,
    settings: MotorSettings,
    module: StockModule,
    limits: ReplayLimits,
    allowance: AllowanceLimits,
    now: SimTime,
    truth: CharacterTruth,
    ticked: CharacterTruth,
    validator: AllowanceValidator,
    gate: InputGate,
    buffer: InputBuffer<HeldControls>,
    table: OwnershipTable,
    report: Report,
    inputs: TickedInputs,
    owned: OwnedReport,
    sequence: u32,
    /// Motor time run so far, seconds.
    ran: f64,
}

/// A floor, steps, a slope, a tunnel too low to stand in, water, and a platform that slides.
fn world() -> CollisionIndex {
    let mut index = CollisionIndex::new();
    let mut add = |id: u64, position: Vec3, half: Vec3, rotation: Quat| {
        let collider = Collider { id: ColliderId(id), shape: Shape::Box { half }, position, rotation };
        index.insert(collider).expect("a sound box");
    };
    add(100, Vec3::NEG_Y, Vec3::new(60.0, 1.0, 60.0), Quat::IDENTITY);
    add(101, Vec3::new(4.0, 0.4, 0.0), Vec3::new(1.0, 0.4, 3.0), Quat::IDENTITY);
    add(102, Vec3::new(6.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 3.0), Quat::IDENTITY);
    add(103, Vec3::new(-5.0, 1.0, 0.0), Vec3::new(3.0, 0.3, 3.0), Quat::from_rotation_z(0.7));
    add(104, Vec3::new(0.0, 4.0, 6.0), Vec3::new(4.0, 1.0, 2.0), Quat::from_rotation_x(0.2));
    let shape = Shape::Box { half: Vec3::new(4.0, 3.0, 4.0) };
    let water = Collider { id: ColliderId(105), shape, position: Vec3::new(0.0, 1.0, -12.0), rotation: Quat::IDENTITY };
    index.insert_water(water).expect("a sound volume");
    let slide = Slide { offset: Vec3::X * 10.0, period: SimSpan::from_seconds(4.0), phase: SimSpan(0) };
    let mover = Mover::resting(Vec3::new(12.0, -0.4, 8.0), Quat::IDENTITY).with_slide(slide);
    let platform = Shape::Box { half: Vec3::new(3.0, 0.5, 3.0) };
    index.insert_mover(ColliderId(106), platform, mover).expect("a sound mover");
    index
}

impl Judge {
    fn new(spot: u8) -> Self {
        let (settings, limits, allowance) =
            (MotorSettings::default(), ReplayLimits::default(), AllowanceLimits::default());
        let module = StockModule::default();
        let spots = [Vec3::Y * 2.52, Vec3::new(0.0, 3.0, -12.0), Vec3::new(12.0, 3.0, 8.0), Vec3::new(-5.0, 6.0, 0.0)];
        let position = spots[usize::from(spot) % spots.len()];
        let truth = CharacterTruth::new(
            CharacterSim::new(MotorSnapshot { position, ..MotorSnapshot::default() }, &module),
            &limits,
        );
        let env = AllowanceEnvironment { now: START, settings: &settings, limits: &allowance, envelope: &limits };
        let mut table = OwnershipTable::new(OwnershipLimits::default());
        table.insert_player(PlayerId(1));
        table.insert_player(PlayerId(2));
        for part in 0..PARTS {
            table.insert_part(ColliderId(part), PartState::resting(Vec3::X * part as f32, Quat::IDENTITY), START);
            table.give(ColliderId(part), Some(PlayerId(1 + part / 5)), START);
        }
        let actions = PressActions::new(&[(1, 0)]).expect("one action");
        Self {
            validator: AllowanceValidator::new(position, 0.0, &env),
            buffer: InputBuffer::new(InputBufferConfig::default(), actions, StepInput::default()).expect("in range"),
            gate: InputGate::new(InputGateConfig::for_rate(Tick::HZ)),
            ticked: truth.clone(),
            table,
            index: world(),
            nearby: Nearby::new(),
            settings,
            module,
            limits,
            allowance,
            now: START,
            truth,
            report: Report::default(),
            inputs: TickedInputs::default(),
            owned: OwnedReport::default(),
            sequence: 0,
            ran: 0.0,
        }
    }

    fn operate(&mut self, choices: &mut Choices<'_>) {
        match choices.byte() % 10 {
            0 => self.now += SimSpan(u32::from(choices.short())),
            1 => {
                if read_report(choices.chunk(), &mut self.report).is_ok() {
                    self.replay();
                }
            }
            2 | 3 => {
                self.make_report(choices);
                self.replay();
            }
            4 => {
                if read_newest_report(choices.chunk(), &mut self.report).is_ok() {
                    self.judge();
                }
            }
            5 => {
                self.make_report(choices);
                self.judge();
            }
            6 => {
                if read_inputs(choices.chunk(), &mut self.inputs).is_ok() {
                    let owned = choices.byte() != 255;
                    if self.gate.admit(&self.inputs.packet(), owned, self.now).is_ok() {
                        self.buffer.offer_range(self.inputs.last, &self.inputs.inputs);
                    }
                }
            }
            7 => (0..1 + choices.byte() % 8).for_each(|_| self.step()),
            8 => {
                if read_owned_report(choices.chunk(), &mut self.owned).is_ok() {
                    self.own(choices.byte());
                }
            }
            _ => self.command(choices),
        }
    }

    /// A report of the fuzzer's own numbers under the head an honest one would have.
    fn make_report(&mut self, choices: &mut Choices<'_>) {
        let flags = choices.byte();
        let motor = self.truth.sim().motor;
        let near =
            |choices: &mut Choices<'_>, unit| Vec3::new(choices.near(unit), choices.near(unit), choices.near(unit));
        let any = |choices: &mut Choices<'_>| Vec3::new(choices.float(), choices.float(), choices.float());
        self.sequence = self.sequence.wrapping_add(1);
        self.report = Report {
            sequence: Sequence(if flags & 1 == 0 { self.sequence } else { choices.word() }),
            epoch: if flags & 2 == 0 { self.truth.epoch() } else { choices.word() },
            start: if flags & 4 == 0 { self.truth.mover_end().max(self.now) } else { SimTime(choices.long()) },
            position: if flags & 8 == 0 { motor.position + near(choices, 0.01) } else { any(choices) },
            velocity: if flags & 16 == 0 { motor.velocity + near(choices, 0.1) } else { any(choices) },
            yaw: if flags & 32 == 0 { choices.near(0.05) } else { choices.float() },
            custom: self.truth.sim().custom,
            ..Report::default()
        };
        for _ in 0..choices.byte() % 100 {
            let duration_units = 256 + choices.short() % 1_800;
            let direction = choices.array::<3>().map(|byte| byte as i8);
            let wire = WireFrame {
                duration_units,
                direction,
                yaw: choices.short(),
                flags: choices.byte() & WireFrame::ALL_FLAGS,
            };
            let controller = ControllerBytes::new(&choices.array::<1>()).unwrap_or_default();
            self.report.frames.push(InputFrame::from_wire(wire, controller));
        }
    }

    // S-21 to S-24a
    fn replay(&mut self) {
        let env =
            ReplayEnvironment { now: self.now, settings: &self.settings, module: &self.module, limits: &self.limits };
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let outcome = replay_report(&mut self.truth, &self.report, &env, &mut world);
        let frames = self.report.frames.iter().take(outcome.frames as usize);
        self.ran += frames.map(|frame| frame.duration.seconds()).sum::<f64>();
        assert!(outcome.frames as usize <= self.report.frames.len());
        assert!(outcome.ticks <= FRAME_TICKS * outcome.frames + 1, "work is bounded by what was sent");
        let passed = self.now.since(START).seconds();
        assert!(self.ran <= passed + self.limits.replay_budget + 1e-3, "S-22: {} s in {passed} s", self.ran);
    }

    // S-25
    fn judge(&mut self) {
        let (settings, limits, envelope) = (&self.settings, &self.allowance, &self.limits);
        let env = AllowanceEnvironment { now: self.now, settings, limits, envelope };
        self.report.epoch =
            if self.report.epoch == self.truth.epoch() { self.validator.epoch() } else { self.report.epoch };
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let mut support = CollisionSupport { world: &mut world, settings, time: self.now };
        let mut signals = Vec::new();
        self.validator.judge(&self.report, &env, &mut support, &mut signals);
        assert!(signals.len() <= 64);
    }

    /// One tick of a character that takes inputs.
    fn step(&mut self) {
        self.now += SimSpan::TICK;
        let consumed = self.buffer.consume();
        assert!(consumed.presence == InputPresence::Present || consumed.pressed == 0);
        let run = SimulationRun { start: self.now, settings: &self.settings, module: &self.module, replaying: false };
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        self.ticked.run(&consumed.input.frame(), &run, &mut world);
        assert!(self.buffer.depth() <= InputBufferConfig::default().max_queued);
    }

    // S-51
    fn own(&mut self, flags: u8) {
        self.sequence = self.sequence.wrapping_add(1);
        if flags & 1 == 0 {
            self.owned.sequence = Sequence(self.sequence);
            for snapshot in &mut self.owned.snapshots {
                snapshot.part = ColliderId(snapshot.part.0 % (PARTS + 1));
                snapshot.epoch = self.table.epoch(snapshot.part).unwrap_or(snapshot.epoch);
            }
        }
        let mut accepted = Vec::new();
        let player = PlayerId(1 + u64::from(flags >> 1 & 1));
        let outcome = self.table.judge(player, &self.owned, (self.now, self.now.tick()), &mut accepted);
        assert_eq!(outcome.accepted as usize, accepted.len());
        for state in accepted {
            assert!(state.state.is_sound() && state.by(self.now).is_finite());
            assert_eq!(self.table.owner(state.part), Some(player));
        }
        self.table.expire(self.now);
        self.table.drain_notices(&mut Vec::new());
    }

    /// The game's own word.
    fn command(&mut self, choices: &mut Choices<'_>) {
        let env = AllowanceEnvironment {
            now: self.now,
            settings: &self.settings,
            limits: &self.allowance,
            envelope: &self.limits,
        };
        let position = Vec3::new(choices.near(0.4), choices.near(0.2), choices.near(0.4));
        match choices.byte() % 4 {
            0 => {
                let _: Correction = self.truth.teleport(position, 0.5);
                self.validator.teleport(position, 0.5, &env);
            }
            1 => {
                let _: Correction = self.truth.kill();
                self.validator.kill(&env);
            }
            2 => {
                let _: Correction = self.truth.seat(position, 0.5);
                self.validator.seat(position, 0.5, &env);
            }
            _ => {
                let custom = self.truth.sim().custom;
                let _: Correction = self.truth.respawn(position, 0.5, custom);
                self.validator.respawn(position, 0.5, &env);
            }
        }
    }

    // B21
    fn check(&self) {
        assert!(self.truth.sim().motor.is_finite() && self.ticked.sim().motor.is_finite());
        let state = self.validator.state();
        assert!(state.position.is_finite() && state.velocity.is_finite() && state.yaw.is_finite());
        for part in 0..PARTS {
            assert!(self.table.state(ColliderId(part)).is_some_and(PartState::is_finite));
        }
    }
}
