use glam::{Quat, Vec3};

use super::window::{CAPACITY, Place, Timed, Window};

/// The most joints of a rig.
pub const MAX_JOINTS: usize = 32;

/// Pose of one joint in its parent's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointPose {
    /// Position, studs.
    pub position: Vec3,
    /// Rotation, unit length.
    pub rotation: Quat,
}

impl Default for JointPose {
    fn default() -> Self {
        Self { position: Vec3::ZERO, rotation: Quat::IDENTITY }
    }
}

/// When a sample is, and which row of joints is its.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    time: f64,
    row: u8,
}

impl Timed for Sample {
    fn time(&self) -> f64 {
        self.time
    }
}

/// The last 16 poses of a rig, drawn smoothly between them (S-44). Its memory is taken once.
#[derive(Clone, Debug)]
pub struct RigTrack {
    window: Window<Sample>,
    joints: usize,
    /// `CAPACITY + 1` rows of `joints` poses: one more than samples, so that the row written is never one in use.
    rows: Vec<JointPose>,
    next: u8,
}

/// Rows of joints.
const ROWS: usize = CAPACITY + 1;

impl RigTrack {
    /// A track of a rig with `joints` joints, at most [`MAX_JOINTS`]; more are left out.
    #[must_use]
    pub fn new(joints: usize) -> Self {
        let joints = joints.min(MAX_JOINTS);
        Self { window: Window::new(), joints, rows: vec![JointPose::default(); joints * ROWS], next: 0 }
    }

    /// Joints of the rig.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Poses kept, at most 16.
    #[must_use]
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether nothing was received yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all poses.
    pub fn clear(&mut self) {
        self.window.clear();
    }

    /// Takes in the rig's pose at server time `time`; false when it is not newer than the newest, or has not as many joints
    /// as the rig, and was left out.
    pub fn push(&mut self, time: f64, joints: &[JointPose]) -> bool {
        let newer = match self.window.newest() {
            // Not `>`: a time that is no number is not newer.
            Some(newest) => time.partial_cmp(&newest.time) == Some(std::cmp::Ordering::Greater),
            None => !time.is_nan(),
        };
        if !newer || joints.len() != self.joints {
            return false;
        }
        let row = usize::from(self.next);
        self.rows[row * self.joints..(row + 1) * self.joints].copy_from_slice(joints);
        self.window.push(Sample { time, row: self.next });
        self.next = (self.next + 1) % ROWS as u8;
        true
    }

    /// Writes the rig's pose at server time `time` to `out`: between samples by cubic Hermite, outside of them the nearest.
    /// False, and nothing written, before the first sample. `out` holds one pose a joint; joints beyond either's end are
    /// left alone.
    pub fn sample(&self, time: f64, out: &mut [JointPose]) -> bool {
        let Some(place) = self.window.place(time) else { return false };
        match place {
            Place::Before(at) | Place::After(at, _) => {
                for (out, pose) in out.iter_mut().zip(self.row(at)) {
                    *out = *pose;
                }
            }
            Place::Between(earlier, later, share) => {
                let index = (1..self.window.len()).find(|index| self.at(*index).time >= later.time).unwrap_or(1);
                let before = index.checked_sub(2).map(|before| self.at(before));
                let after = (index + 1 < self.window.len()).then(|| self.at(index + 1));
                let span = Span::new(before, (earlier, later), after, share);
                for (joint, out) in out.iter_mut().enumerate().take(self.joints) {
                    let pose = |sample: Sample| self.row(sample)[joint];
                    *out = span.between(before.map(pose), (pose(earlier), pose(later)), after.map(pose));
                }
            }
        }
        true
    }

    fn at(&self, index: usize) -> Sample {
        self.window.get(index).copied().unwrap_or_default()
    }

    fn row(&self, sample: Sample) -> &[JointPose] {
        let start = usize::from(sample.row) * self.joints;
        &self.rows[start..start + self.joints]
    }
}

/// Weights of a cubic Hermite between two samples, from the times of four.
struct Span {
    /// Of the earlier value, the later one, and their tangents, times the gap.
    weights: [f32; 4],
    /// One over the time a tangent spans, seconds.
    rates: (f32, f32),
    gap: f32,
}

impl Span {
    fn new(before: Option<Sample>, (earlier, later): (Sample, Sample), after: Option<Sample>, share: f64) -> Self {
        let gap = later.time - earlier.time;
        let (t, t2) = (share, share * share);
        let t3 = t2 * t;
        let weights = [2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3, t3 - 2.0 * t2 + t, t3 - t2];
        let first = before.map_or(gap, |before| later.time - before.time);
        let last = after.map_or(gap, |after| after.time - earlier.time);
        Self {
            weights: weights.map(|weight| weight as f32),
            rates: ((1.0 / first) as f32, (1.0 / last) as f32),
            gap: gap as f32,
        }
    }

    fn between(
        &self,
        before: Option<JointPose>,
        (earlier, later): (JointPose, JointPose),
        after: Option<JointPose>,
    ) -> JointPose {
        let [a, b, c, d] = self.weights;
        let (first, last) = (self.rates.0 * self.gap, self.rates.1 * self.gap);
        let from = before.map_or(earlier.position, |before| before.position);
        let to = after.map_or(later.position, |after| after.position);
        let position = earlier.position * a
            + later.position * b
            + (later.position - from) * (c * first)
            + (to - earlier.position) * (d * last);
        // Each quaternion into the hemisphere of its neighbour.
        let p1 = earlier.rotation;
        let p0 = before.map_or(p1, |before| aligned(before.rotation, p1));
        let p2 = aligned(later.rotation, p1);
        let p3 = after.map_or(p2, |after| aligned(after.rotation, p2));
        let blended = p1 * a + p2 * b + (p2 - p0) * (c * first) + (p3 - p1) * (d * last);
        let norm = blended.length();
        let rotation = if norm > 1e-6 { blended * (1.0 / norm) } else { p1 };
        JointPose { position, rotation }
    }
}

/// `rotation` or its negation, whichever is nearer to `neighbour`.
fn aligned(rotation: Quat, neighbour: Quat) -> Quat {
    if rotation.dot(neighbour) < 0.0 { -rotation } else { rotation }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B43
    #[test]
    fn joints_turn_the_short_way_and_close_samples_stay_finite() {
        let yaw = |degrees: f32| {
            let half = degrees.to_radians() * 0.5;
            Quat::from_xyzw(0.0, libm::sinf(half), 0.0, libm::cosf(half))
        };
        let mut track = RigTrack::new(1);
        let mut time = 1.0;
        for (index, degrees) in [177.0, 178.0, 179.0, -179.0, -178.0].into_iter().enumerate() {
            let sign = if index % 2 == 0 { 1.0 } else { -1.0 };
            assert!(track.push(time, &[JointPose { rotation: yaw(degrees) * sign, ..JointPose::default() }]));
            time += if index == 2 { 1e-12 } else { 0.05 };
        }
        let (mut travelled, mut before) = (0.0_f32, yaw(177.0));
        for step in 0..=400 {
            let mut out = [JointPose::default()];
            assert!(track.sample(1.0 + f64::from(step) * 0.0005, &mut out));
            assert!((out[0].rotation.length() - 1.0).abs() < 1e-5);
            travelled += 2.0 * libm::acosf(before.dot(out[0].rotation).abs().min(1.0));
            before = out[0].rotation;
        }
        assert!(travelled.to_degrees() < 7.5, "{}", travelled.to_degrees());
    }

    // S-44
    #[test]
    fn what_does_not_fit_is_left_out_and_the_window_rolls() {
        let mut track = RigTrack::new(2);
        let mut out = [JointPose::default(); 2];
        assert!(!track.sample(0.0, &mut out) && !track.push(f64::NAN, &out) && !track.push(0.0, &out[..1]));
        for index in 0..40_u32 {
            let pose = JointPose { position: Vec3::X * index as f32, ..JointPose::default() };
            assert!(track.push(f64::from(index), &[pose; 2]));
            assert!(!track.push(f64::from(index), &[pose; 2]));
        }
        assert_eq!((track.len(), track.joints()), (16, 2));
        for (time, want) in [(0.0, 24.0), (30.5, 30.5), (99.0, 39.0)] {
            assert!(track.sample(time, &mut out));
            assert!((out[1].position.x - want).abs() < 1e-4, "{time}: {}", out[1].position.x);
        }
        assert_eq!(RigTrack::new(99).joints(), MAX_JOINTS);
    }
}
