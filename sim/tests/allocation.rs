//! The motor allocates nothing once it has warmed up.

use glam::{Quat, Vec3};
use tidelock_sim::SimTime;
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Slide};
use tidelock_sim::motor::{ControllerBytes, InputFrame, MotorSettings, MotorSnapshot};
use tidelock_sim::simulation::{CharacterSim, SimulationRun, simulate_frame};
use tidelock_sim::stock::StockModule;

fn place() -> CollisionIndex {
    let mut index = CollisionIndex::new();
    let mut add = |id: u64, shape: Shape, position: Vec3| {
        index.insert(Collider { id: ColliderId(id), shape, position, rotation: Quat::IDENTITY }).expect("a sound part");
    };
    let heights: Vec<f32> = (0..65 * 65).map(|i| ((i * 7919) % 13) as f32 * 0.05).collect();
    add(0, Shape::Heightfield { heights: heights.into(), columns: 65, rows: 65, cell: 2.0 }, Vec3::ZERO);
    for id in 1..400_u64 {
        let (x, z) = ((id * 37 % 120) as f32 - 60.0, (id * 91 % 120) as f32 - 60.0);
        let half = Vec3::new(1.0, 0.3 + (id % 4) as f32 * 0.4, 1.5);
        let shape = if id % 3 == 0 { Shape::Wedge { half } } else { Shape::Box { half } };
        add(id, shape, Vec3::new(x, half.y, z));
    }
    for id in 400..440_u64 {
        let way = Slide {
            offset: Vec3::new(8.0, 1.0, 0.0),
            period: tidelock_sim::SimSpan(200_000),
            phase: tidelock_sim::SimSpan(0),
        };
        let at = Vec3::new((id % 8) as f32 * 14.0 - 50.0, 1.0, (id % 5) as f32 * 20.0 - 40.0);
        let mover = Mover::resting(at, Quat::IDENTITY).with_slide(way);
        let shape = Shape::Box { half: Vec3::new(2.0, 0.4, 2.0) };
        index.insert_mover(ColliderId(id), shape, mover).expect("a sound mover");
    }
    index
}

// S-13
#[test]
fn nothing_is_allocated_per_tick() {
    let (index, mut nearby, module) = (place(), Nearby::new(), StockModule::default());
    let settings = MotorSettings::default();
    let begin = || {
        let motor = MotorSnapshot { position: Vec3::new(0.0, 8.0, 0.0), ..MotorSnapshot::default() };
        (CharacterSim::new(motor, &module), SimTime(0))
    };
    let walk = |nearby: &mut Nearby| {
        let (mut state, mut time) = begin();
        for frame in 0..6_000_u64 {
            let controller = ControllerBytes::new(&[(frame / 50) as u8 & 3]).expect("one byte fits");
            let turn = (frame / 40) as f32;
            let home = -state.motor.position / 50.0;
            let frame = InputFrame {
                direction: Vec3::new(libm::cosf(turn), 0.0, libm::sinf(turn)) + home,
                jump: frame % 90 < 9,
                auto_jump: true,
                controller,
                ..InputFrame::default()
            };
            let run = SimulationRun { start: time, settings: &settings, module: &module, replaying: false };
            let mut world = CollisionWorld { index: &index, nearby };
            time = simulate_frame(&mut state, &frame, &run, &mut world).end;
        }
        assert!(state.motor.is_finite());
    };
    // The same walk twice: what it needs, it has after the first time.
    walk(&mut nearby);
    let counted = allocation_counter::measure(|| walk(&mut nearby));
    assert_eq!(counted.count_total, 0);
}
