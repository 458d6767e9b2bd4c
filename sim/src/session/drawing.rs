use glam::Vec3;

use crate::angle::wrap_angle;
use crate::client::{CorrectionOffset, SmoothedPose};

/// An object as it is drawn. Presentation only: nothing computed from it may enter simulation (S-37).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DrawnObject {
    /// Which object.
    pub id: u64,
    /// Position, studs.
    pub position: Vec3,
    /// Facing, radians in (-π, π].
    pub angle: f32,
}

/// The poses of the last two steps.
#[derive(Clone, Debug, Default)]
pub(super) struct StepPoses {
    pub(super) previous: Vec<SmoothedPose>,
    pub(super) current: Vec<SmoothedPose>,
}

/// The pose of `id`, which usually lies at `index`.
fn find(poses: &[SmoothedPose], index: usize, id: u64) -> Option<&SmoothedPose> {
    poses.get(index).filter(|pose| pose.id == id).or_else(|| poses.iter().find(|pose| pose.id == id))
}

impl StepPoses {
    /// Makes room for the poses of one more step.
    pub(super) fn advance(&mut self) -> &mut Vec<SmoothedPose> {
        std::mem::swap(&mut self.previous, &mut self.current);
        self.current.clear();
        &mut self.current
    }

    /// Lets nothing lie between the two steps.
    pub(super) fn snap(&mut self) {
        self.previous.clone_from(&self.current);
    }

    /// Moves the previous poses as the current ones were moved from `before`, so that strides keep their length.
    pub(super) fn carry(&mut self, before: &[SmoothedPose]) {
        for (index, pose) in self.previous.iter_mut().enumerate() {
            if let (Some(old), Some(new)) = (find(before, index, pose.id), find(&self.current, index, pose.id)) {
                pose.position += new.position - old.position;
                pose.angle = wrap_angle(pose.angle + new.angle - old.angle);
            }
        }
    }

    /// The object at `index`, `alpha` of the way from the previous step to the current one, with its offset.
    pub(super) fn draw(&self, index: usize, alpha: f32, offset: CorrectionOffset) -> Option<DrawnObject> {
        let current = self.current.get(index)?;
        let before = find(&self.previous, index, current.id).filter(|_| !current.snap).unwrap_or(current);
        let turn = wrap_angle(current.angle - before.angle);
        Some(DrawnObject {
            id: current.id,
            position: before.position + (current.position - before.position) * alpha + offset.position,
            angle: wrap_angle(before.angle + turn * alpha + offset.angle),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::PI;

    fn pose(id: u64, x: f32, angle: f32) -> SmoothedPose {
        SmoothedPose { id, position: Vec3::X * x, angle, ..SmoothedPose::default() }
    }

    // S-33, B43
    #[test]
    fn objects_are_drawn_between_steps_whatever_their_order() {
        let poses = StepPoses {
            previous: vec![pose(1, 0.0, PI - 0.1), pose(2, 4.0, 0.0)],
            current: vec![pose(2, 8.0, 0.0), pose(1, 2.0, -PI + 0.1), pose(3, 5.0, 0.0)],
        };
        let draw = |index| poses.draw(index, 0.5, CorrectionOffset::default()).unwrap();
        assert_eq!((draw(0).id, draw(0).position.x), (2, 6.0));
        assert_eq!(draw(1).position.x, 1.0);
        assert!((draw(1).angle.abs() - PI).abs() < 1e-6);
        assert_eq!(draw(2).position.x, 5.0, "new, so drawn where it is");
        assert!(poses.draw(3, 0.5, CorrectionOffset::default()).is_none());
    }

    // S-33
    #[test]
    fn strides_keep_their_length_when_the_present_is_moved() {
        let mut poses = StepPoses { previous: vec![pose(1, 0.0, 0.0)], current: vec![pose(1, 1.5, 0.2)] };
        poses.carry(&[pose(1, 1.0, 0.1)]);
        assert_eq!(poses.previous[0].position.x, 0.5);
        assert!((poses.previous[0].angle - 0.1).abs() < 1e-6);
    }
}
