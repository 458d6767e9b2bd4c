use glam::Vec3;

use super::window::{Place, Timed, Window};

/// How long before the arriving sample a resting subject starts to move, seconds.
const BRIDGE: f64 = 0.1;
/// How long a moving subject may go unheard of and still have moved on, seconds.
const LONGEST_LOSS: f64 = 1.0;
/// How long a subject moves on without news, seconds.
pub(super) const EXTRAPOLATION: f64 = 0.25;

/// What a [`Track`] holds: a pose at an instant of server time, and how it goes on from one to the next.
pub trait TrackPose: Timed + Default {
    /// Displacement between neighbours above which the subject was put elsewhere, studs.
    const TELEPORT: f32;
    /// Gap above which the subject rested in between, seconds.
    const QUIET_GAP: f64;

    /// Position in studs.
    fn position(&self) -> Vec3;

    /// The same pose at another time.
    #[must_use]
    fn at(self, time: f64) -> Self;

    /// The pose at `time`, before this one, which is the first.
    #[must_use]
    fn before(self, time: f64) -> Self {
        self.at(time)
    }

    /// The pose at `time`, `share` of the way from this to `later`; above 0 and at most 1.
    #[must_use]
    fn towards(self, later: Self, share: f32, time: f64) -> Self;

    /// The pose at `time`, `by` seconds after this one, which is the last.
    #[must_use]
    fn beyond(self, by: f64, time: f64) -> Self;
}

/// The last 16 received poses of one subject (S-42, S-43). Nothing allocates.
#[derive(Clone, Copy, Debug)]
pub struct Track<P> {
    window: Window<P>,
    send_interval: f64,
}

impl<P: TrackPose> Default for Track<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: TrackPose> Track<P> {
    /// A track without samples.
    #[must_use]
    pub fn new() -> Self {
        Self { window: Window::new(), send_interval: 0.0 }
    }

    /// Tells how often the server sends this subject, seconds, when that is known and may be slow; 0 means unknown.
    pub fn set_send_interval(&mut self, seconds: f64) {
        self.send_interval = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    }

    /// Takes in a sample; false when it is not newer than the newest one and was left out. A displacement above
    /// [`TrackPose::TELEPORT`] starts the window afresh; a gap above [`TrackPose::QUIET_GAP`] means the subject rested
    /// until just before this sample.
    pub fn push(&mut self, sample: P) -> bool {
        self.take(sample, P::QUIET_GAP)
    }

    /// As [`Self::push`], for a sample of a subject that is known not to have rested since the newest one, if that is at most a
    /// second ago: what told of it in between was lost. It then goes straight from the one to the other.
    ///
    /// A server that sends the state in which a subject rested along with the first in which it moves lets a receiver know:
    /// whatever was last seen moving did not rest.
    pub fn push_moving(&mut self, sample: P) -> bool {
        self.take(sample, LONGEST_LOSS)
    }

    /// Samples kept, at most 16.
    #[must_use]
    pub fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether nothing was received yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all samples.
    pub fn clear(&mut self) {
        self.window.clear();
    }

    /// Server time of the earliest sample: a subject is not shown before it. `None` without samples.
    #[must_use]
    pub fn first_time(&self) -> Option<f64> {
        self.window.first().map(Timed::time)
    }

    /// The newest sample received.
    #[must_use]
    pub fn newest(&self) -> Option<&P> {
        self.window.newest()
    }

    /// The sample `index` before the newest, 0 for the newest itself.
    #[must_use]
    pub fn recent(&self, index: usize) -> Option<&P> {
        self.window.get(self.window.len().checked_sub(index + 1)?)
    }

    /// Drops samples at or after `time`, so that others of that time can be taken in.
    pub fn rewind(&mut self, time: f64) {
        self.window.rewind(time);
    }

    /// The pose at server time `time`: between samples interpolated, before the first the first, after the last moved
    /// on for at most 0.25 s and then at rest. `None` without samples.
    #[must_use]
    pub fn sample(&self, time: f64) -> Option<P> {
        Some(match self.window.place(time)? {
            Place::Before(first) => first.before(time),
            Place::Between(earlier, later, share) => earlier.towards(later, share as f32, time),
            Place::After(last, by) => last.beyond(by, time),
        })
    }

    /// Takes in a sample; a gap above `quiet_gap` seconds means rest.
    fn take(&mut self, sample: P, quiet_gap: f64) -> bool {
        let Some(newest) = self.window.newest().copied() else {
            self.window.push(sample);
            return !sample.time().is_nan();
        };
        // Not `<=`: a time that is no number is not newer either.
        if sample.time().partial_cmp(&newest.time()) != Some(std::cmp::Ordering::Greater) {
            return false;
        }
        if sample.position().distance(newest.position()) > P::TELEPORT {
            self.window.clear();
        } else if sample.time() - newest.time() > quiet_gap.max(1.5 * self.send_interval) {
            self.window.clear();
            self.window.push(newest.at(sample.time() - BRIDGE));
        }
        self.window.push(sample);
        true
    }
}
