use super::{InputFrame, MotorResult, MotorSettings, MotorSnapshot};
use crate::collision::CollisionWorld;
use crate::time::SimTime;

/// Runs as many motor ticks of 1/240 s as the snapshot's accumulator and the frame's duration hold; the remainder stays
/// in the accumulator (S-10).
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
    let _ = (snapshot, frame, start, settings, world);
    MotorResult::default()
}
