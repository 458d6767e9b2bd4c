use glam::Vec3;

use super::plan::Plan;
use super::tick::MotorTick;
use super::{CharacterState, InputFrame, MotorResult, MotorSettings, MotorSnapshot};
use crate::collision::CollisionWorld;
use crate::time::{SimSpan, SimTime};

/// Most motor ticks of one frame, two seconds: a bound on time handed in by mistake.
const MOST_TICKS: u32 = 480;

/// Runs as many motor ticks of 1/240 s as the snapshot's accumulator and the frame's duration hold; the remainder stays
/// in the accumulator (S-10). More than 480 ticks at once are cut to 480.
///
/// Tick `i` of the frame sees movers at `start + 256 * (i + 1)` units. The result follows from the arguments alone, to
/// the bit; what `world.nearby` held before does not matter. Seated and dead characters only spend the time.
pub fn run_frame(
    snapshot: &mut MotorSnapshot,
    frame: &InputFrame,
    start: SimTime,
    settings: &MotorSettings,
    world: &mut CollisionWorld<'_>,
) -> MotorResult {
    let held = snapshot.accumulator + frame.duration;
    let ticks = (held.0 / SimSpan::MOTOR_TICK.0).min(MOST_TICKS);
    snapshot.accumulator = SimSpan(held.0 % SimSpan::MOTOR_TICK.0);
    let mut result = MotorResult { ticks, ..MotorResult::default() };
    if ticks == 0 {
        return result;
    }
    if matches!(snapshot.state, CharacterState::Seated | CharacterState::Dead) {
        snapshot.velocity = Vec3::ZERO;
        snapshot.ground_velocity = Vec3::ZERO;
        snapshot.jump_held = frame.jump;
        return result;
    }
    let plan = Plan::new(frame, settings);
    for tick in 0..ticks {
        let time = start + SimSpan(SimSpan::MOTOR_TICK.0 * (tick + 1));
        let drive = settings.drive.filter(|drive| tick < drive.ticks);
        let mut run = MotorTick { snapshot, plan: &plan, world, result: &mut result, time, drive };
        run.run();
        if drive.is_some_and(|drive| tick + 1 == drive.ticks) {
            run.end_drive();
        }
    }
    debug_assert!(snapshot.is_finite());
    result
}
