use glam::{Quat, Vec3};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Turn};
use tidelock_sim::module::SimulationModule;
use tidelock_sim::motor::{ControllerBytes, InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::simulation::{CharacterSim, SimulationRun, simulate_frame};
use tidelock_sim::stock::StockModule;
use tidelock_sim::{SimSpan, SimTime};

use crate::determinism::Dice;

struct Scene {
    index: CollisionIndex,
    nearby: Nearby,
    sim: CharacterSim,
    time: SimTime,
    module: StockModule,
}

impl Scene {
    fn new(turning: bool) -> Self {
        let mut index = CollisionIndex::new();
        let shape = Shape::Box { half: Vec3::new(500.0, 1.0, 500.0) };
        if turning {
            let turn = Turn { axis: Vec3::Y, period: SimSpan::from_seconds(5.0), phase: SimSpan(0) };
            let mover = Mover::resting(Vec3::NEG_Y, Quat::IDENTITY).with_turn(turn);
            index.insert_mover(ColliderId(1), shape, mover).expect("a sound mover");
        } else {
            index
                .insert(Collider { id: ColliderId(1), shape, position: Vec3::NEG_Y, rotation: Quat::IDENTITY })
                .expect("a sound part");
        }
        let motor = MotorSnapshot { position: Vec3::new(0.0, 2.52, 0.0), ..MotorSnapshot::default() };
        let module = StockModule::default();
        let sim = CharacterSim::new(motor, &module);
        Self { index, nearby: Nearby::new(), sim, time: SimTime(0), module }
    }

    fn frame(&mut self, frame: &InputFrame) -> tidelock_sim::simulation::FrameOutcome {
        let settings = MotorSettings::default();
        let run = SimulationRun { start: self.time, settings: &settings, module: &self.module, replaying: false };
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let outcome = simulate_frame(&mut self.sim, frame, &run, &mut world);
        self.time = outcome.end;
        outcome
    }

    fn hold(&mut self, frame: &InputFrame, ticks: u32, cut: u32) {
        let mut left = ticks * 256;
        while left > 0 {
            let duration = SimSpan(left.min(cut));
            left -= duration.0;
            self.frame(&InputFrame { duration, ..*frame });
        }
    }
}

fn pressing(byte: u8, direction: Vec3) -> InputFrame {
    InputFrame { direction, controller: ControllerBytes::new(&[byte]).expect("one byte fits"), ..InputFrame::default() }
}

// S-14
#[test]
fn sprint_walks_faster_while_held() {
    let mut scene = Scene::new(false);
    scene.hold(&pressing(StockModule::SPRINT, Vec3::X), 240, 1_024);
    assert!((scene.sim.motor.velocity.x - 25.6).abs() < 1e-4);
    scene.hold(&pressing(0, Vec3::X), 240, 1_024);
    assert!((scene.sim.motor.velocity.x - 16.0).abs() < 1e-4);
}

// S-14
#[test]
fn a_dash_covers_its_distance_once_a_cooldown() {
    for (direction, along) in [(Vec3::X, Vec3::X), (Vec3::ZERO, -Vec3::Z)] {
        let mut scene = Scene::new(false);
        scene.hold(&pressing(0, Vec3::ZERO), 60, 1_024);
        let from = scene.sim.motor.position;
        scene.hold(&pressing(StockModule::DASH, direction), 36, 1_024);
        let dashed = scene.sim.motor.position - from;
        assert!((dashed - along * 9.0).length() < 0.01, "{dashed}");
        assert!(scene.sim.motor.velocity.length() <= 16.01);
        // Held on, or pressed again too soon, it does nothing.
        scene.hold(&pressing(StockModule::DASH, Vec3::ZERO), 100, 1_024);
        scene.hold(&pressing(0, Vec3::ZERO), 60, 1_024);
        let still = scene.sim.motor.position;
        scene.hold(&pressing(StockModule::DASH, Vec3::ZERO), 36, 1_024);
        assert_eq!(scene.sim.motor.position, still);
        scene.hold(&pressing(0, Vec3::ZERO), 56, 1_024);
        scene.hold(&pressing(StockModule::DASH, direction), 36, 1_024);
        assert!((scene.sim.motor.position - still).length() > 8.9);
    }
}

// S-14
#[test]
fn a_second_jump_works_in_the_air() {
    let mut scene = Scene::new(false);
    scene.hold(&pressing(0, Vec3::ZERO), 60, 1_024);
    let jump = InputFrame { jump: true, ..InputFrame::default() };
    let mut jumps = Vec::new();
    for _ in 0..4 {
        let outcome = scene.frame(&jump);
        jumps.push((outcome.motor.jumped, outcome.motor.air_jumped));
        scene.hold(&InputFrame::default(), 20, 1_024);
    }
    assert_eq!(jumps, [(true, false), (false, true), (false, false), (false, false)]);
}

// S-10
#[test]
fn slicing_time_finer_gains_nothing() {
    for turning in [false, true] {
        let mut expected = None;
        for cut in [2_048, 1_024, 512, 300, 256, 200, 33] {
            let (mut scene, mut dice) = (Scene::new(turning), Dice(7));
            let mut states = Vec::new();
            for _ in 0..150 {
                let frame = InputFrame {
                    jump: dice.roll().is_multiple_of(4),
                    ..pressing(
                        dice.roll() as u8,
                        if dice.roll().is_multiple_of(3) { Vec3::ZERO } else { dice.vector() },
                    )
                };
                scene.hold(&frame, 5 + (dice.roll() % 60) as u32, cut);
                states.push(scene.sim);
            }
            assert_eq!(expected.get_or_insert_with(|| states.clone()), &states, "cut into {cut}");
        }
    }
}

// S-14
#[test]
fn custom_state_that_is_not_its_own_counts_as_none() {
    let mut scene = Scene::new(false);
    for bytes in [&[][..], &[1; 64], &[0xff; 9]] {
        scene.sim.custom = tidelock_sim::module::CustomState::new(bytes).unwrap();
        scene.hold(&pressing(StockModule::DASH | StockModule::SPRINT, Vec3::X), 20, 1_024);
        assert!(scene.sim.motor.is_finite());
        assert_eq!(scene.sim.custom.as_slice().len(), scene.module.initial().as_slice().len());
    }
}
