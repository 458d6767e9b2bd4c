use glam::{Quat, Vec3};

use super::{OwnershipNotice, PlayerId};
use crate::client::{CorrectionOffset, CorrectionSmootherConfig, SmoothedPose};
use crate::part::PartState;
use crate::tracks::{PartPose, PartTrack, slerp};

/// How a part is drawn across changes of owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartViewConfig {
    /// Share by which a part is drawn faster or slower than it moves while its drawn time goes from one timeline to the
    /// other, default 0.1: unseen, and a quarter of a second takes two and a half.
    pub slew: f64,
    /// Difference of drawn time beyond which it jumps, seconds, default 1.
    pub jump: f64,
    /// How differences of position fade, default at 7 a second.
    pub smoothing: CorrectionSmootherConfig,
    /// Time between kept states while owning, seconds, default 1/30: sixteen of them reach back half a second.
    pub keep_interval: f64,
    /// Difference of position beyond which nothing is smoothed, studs, default 20.
    pub snap_distance: f32,
    /// Difference within which the server's word agrees with what was simulated here, studs, default 0.05.
    pub agreement: f32,
    /// Acceleration of free fall, studs/s², default 196.2 down.
    pub gravity: Vec3,
}

impl Default for PartViewConfig {
    fn default() -> Self {
        Self {
            slew: 0.1,
            jump: 1.0,
            smoothing: CorrectionSmootherConfig { rate: 7.0, ..CorrectionSmootherConfig::default() },
            keep_interval: 1.0 / 30.0,
            snap_distance: 20.0,
            agreement: 0.05,
            gravity: Vec3::new(0.0, -196.2, 0.0),
        }
    }
}

/// What the client's physics has to do with a part after a notice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartRole {
    /// Nothing new.
    Unchanged,
    /// Simulate it from now on: it is ours. Physics that can run ahead begins with what the server knew; others begin with
    /// what is predicted for the present. Then tell the view by [`PartView::simulated`].
    Acquire {
        /// The server's state.
        known: PartState,
        /// Server time of it, seconds.
        at: f64,
        /// The same at the present, extrapolated.
        predicted: PartState,
    },
    /// Simulate it no longer: drive it from [`PartView::predicted`] as a kinematic body.
    Release,
    /// Put it here and go on simulating: the game moved it.
    Place(PartState),
}

/// Where a part is drawn. Presentation only (S-37).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewedPose {
    /// Position of its centre, studs.
    pub position: Vec3,
    /// Rotation, unit length.
    pub rotation: Quat,
}

/// One loose part on a client, whoever simulates it (S-52).
///
/// Received motion and motion simulated here share one track in server time. What changes with the owner is the instant
/// drawn: playback time for others' parts, the present for one's own; it moves from one to the other a little at a time, so
/// nothing jumps and no speed is far off. Where the two disagree, the difference fades (S-34). Nothing allocates.
#[derive(Clone, Copy, Debug)]
pub struct PartView {
    track: PartTrack,
    epoch: u32,
    own: bool,
    switched: bool,
    /// The last state simulated here.
    latest: Option<PartPose>,
    kept: f64,
    /// Instant drawn, and by how much it is ahead of where it belongs.
    drawn: Option<f64>,
    lead: f64,
    offset: CorrectionOffset,
    turn: Quat,
    send_interval: f64,
}

impl Default for PartView {
    fn default() -> Self {
        Self::new()
    }
}

impl PartView {
    /// A part of which nothing is known yet; the server's.
    #[must_use]
    pub fn new() -> Self {
        Self {
            track: PartTrack::new(),
            epoch: 0,
            own: false,
            switched: false,
            latest: None,
            kept: 0.0,
            drawn: None,
            lead: 0.0,
            offset: CorrectionOffset::default(),
            turn: Quat::IDENTITY,
            send_interval: 0.0,
        }
    }

    /// The same, of a part whose motion the server sends every so many seconds.
    #[must_use]
    pub fn with_send_interval(mut self, seconds: f64) -> Self {
        self.track.set_send_interval(seconds);
        self.send_interval = seconds;
        self
    }

    /// Whether it is simulated here.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// Epoch to report it under.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The track of its motion.
    #[must_use]
    pub fn track(&self) -> &PartTrack {
        &self.track
    }

    /// Takes in the server's word on who owns it; `present` is estimated server time, to which an acquired part's motion is
    /// predicted. Notices of epochs already known change nothing.
    pub fn notice(
        &mut self,
        notice: &OwnershipNotice,
        me: PlayerId,
        present: f64,
        config: &PartViewConfig,
    ) -> PartRole {
        if notice.epoch <= self.epoch {
            return PartRole::Unchanged;
        }
        self.epoch = notice.epoch;
        let mine = notice.owner == Some(me);
        if notice.written {
            self.place(if mine && self.own { present } else { notice.at.seconds() }, &notice.state, mine && self.own);
        }
        match (mine, self.own) {
            (true, true) if notice.written => PartRole::Place(notice.state),
            (true, true) => PartRole::Unchanged,
            (true, false) => {
                let (known, at) = (notice.state, notice.at.seconds());
                let before = self.raw();
                self.track.push(posed(at, &known));
                self.absorb(before, config);
                let predicted = self.predicted(present, config).unwrap_or(known);
                (self.own, self.switched, self.latest) = (true, true, None);
                // No rest: the gap before the first state is the way of the packets.
                self.track.set_send_interval(0.5);
                PartRole::Acquire { known, at, predicted }
            }
            (false, true) => {
                self.let_go();
                PartRole::Release
            }
            (false, false) => PartRole::Unchanged,
        }
    }

    /// It is not simulated here any longer, by the server's word or because it is loose no more: its motion comes from others.
    pub fn let_go(&mut self) {
        if self.own {
            (self.own, self.switched) = (false, true);
            self.keep();
            self.track.set_send_interval(self.send_interval);
        }
    }

    /// Takes in received motion; false when it is ignored: an echo of what is simulated here, or not new.
    pub fn receive(&mut self, sample: PartPose, config: &PartViewConfig) -> bool {
        if self.own {
            return false;
        }
        let before = self.raw();
        if let Some(latest) = self.latest {
            // What was simulated here reaches past what the server says.
            if sample.time <= latest.time {
                let held = self.track.sample(sample.time);
                if held.is_some_and(|held| held.position.distance(sample.position) <= config.agreement) {
                    return true;
                }
                self.track.rewind(sample.time);
            }
            self.latest = None;
        }
        let taken = self.track.push(sample);
        self.absorb(before, config);
        taken
    }

    /// Takes in where the physics here has it at server time `time`, which grows; ignored unless it is one's own.
    pub fn simulated(&mut self, time: f64, state: &PartState, config: &PartViewConfig) {
        if !self.own || self.latest.is_some_and(|latest| time <= latest.time) {
            return;
        }
        let before = self.raw();
        let pose = posed(time, state);
        self.latest = Some(pose);
        if time >= self.kept + config.keep_interval - 1e-6 || self.switched {
            self.keep();
        }
        if self.switched {
            self.absorb(before, config);
        }
    }

    /// Moves the picture by `dt` seconds: `playback` is the remote timeline's instant, `present` estimated server time.
    pub fn advance(&mut self, dt: f64, playback: f64, present: f64, config: &PartViewConfig) {
        let target = if self.own { present } else { playback };
        match self.drawn {
            None => self.lead = 0.0,
            Some(drawn) if self.switched => self.lead = drawn + dt - target,
            Some(_) => {}
        }
        if self.switched && self.lead.abs() <= config.jump && self.rests_between(target, target + self.lead, config) {
            // Nothing to be seen by: what comes next is drawn where it belongs from its first frame on.
            self.lead = 0.0;
        }
        self.switched = false;
        let step = config.slew * dt.max(0.0);
        self.lead = if self.lead.abs() > config.jump { 0.0 } else { self.lead - self.lead.clamp(-step, step) };
        self.drawn = Some(target + self.lead);
        self.offset.decay(dt as f32, config.smoothing.rate, &config.smoothing);
        let faded = 1.0 - libm::expf(-config.smoothing.rate * dt.max(0.0) as f32);
        self.turn = slerp(self.turn, Quat::IDENTITY, faded);
    }

    /// Where to draw it; `None` before anything is known.
    #[must_use]
    pub fn pose(&self) -> Option<ViewedPose> {
        let raw = self.raw()?;
        Some(ViewedPose { position: raw.position + self.offset.position, rotation: self.turn * raw.rotation })
    }

    /// Where it is at server time `time`, as far as can be said: extrapolated for at most 0.25 s, along gravity when its last
    /// samples were falling (S-52). What physics here collides with.
    #[must_use]
    pub fn predicted(&self, time: f64, config: &PartViewConfig) -> Option<PartState> {
        let pose = self.track.sample(time)?;
        let mut state = PartState {
            position: pose.position,
            rotation: pose.rotation,
            velocity: pose.velocity,
            angular: pose.angular,
        };
        let (newest, earlier) = (self.track.recent(0)?, self.track.recent(1));
        let ahead = (time - newest.time) as f32;
        if ahead > 0.0 && ahead <= 0.25 && earlier.is_some_and(|earlier| falls(earlier, newest, config.gravity)) {
            state.position += config.gravity * (ahead * ahead * 0.5);
            state.velocity += config.gravity * ahead;
        }
        Some(state)
    }

    /// By how much the picture is off what it shows, studs.
    #[must_use]
    pub fn offset(&self) -> f32 {
        self.offset.position.length()
    }

    /// Whether it looks the same at two instants.
    fn rests_between(&self, one: f64, other: f64, config: &PartViewConfig) -> bool {
        let (Some(one), Some(other)) = (self.track.sample(one), self.track.sample(other)) else { return false };
        let turned = 1.0 - one.rotation.dot(other.rotation).abs();
        one.position.distance(other.position) <= 0.2 * config.agreement && turned <= 1e-5
    }

    fn raw(&self) -> Option<PartPose> {
        let time = self.drawn?;
        let Some(latest) = self.latest.filter(|latest| self.own && time > self.kept && latest.time > self.kept) else {
            return self.track.sample(time);
        };
        let mut track = self.track;
        track.push(latest);
        track.sample(time)
    }

    /// Puts the latest state into the track.
    fn keep(&mut self) {
        if let Some(latest) = self.latest.filter(|latest| self.track.newest().is_none_or(|n| latest.time > n.time)) {
            self.track.push(latest);
            self.kept = latest.time;
        }
    }

    /// The game moved it: no smoothing, no past.
    fn place(&mut self, time: f64, state: &PartState, own: bool) {
        self.track.clear();
        (self.offset, self.turn) = (CorrectionOffset::default(), Quat::IDENTITY);
        let pose = posed(time, state);
        self.track.push(pose);
        self.kept = time;
        self.latest = own.then_some(pose);
    }

    fn absorb(&mut self, before: Option<PartPose>, config: &PartViewConfig) {
        let (Some(before), Some(after)) = (before, self.raw()) else { return };
        let snap = before.position.distance(after.position) > config.snap_distance;
        let smoothed = |pose: &PartPose| SmoothedPose { position: pose.position, ..SmoothedPose::default() };
        self.offset.absorb(&smoothed(&before), &smoothed(&after), snap, &config.smoothing);
        self.turn =
            if snap { Quat::IDENTITY } else { (self.turn * before.rotation * after.rotation.conjugate()).normalize() };
    }
}

fn posed(time: f64, state: &PartState) -> PartPose {
    let PartState { position, rotation, velocity, angular } = *state;
    PartPose { time, position, rotation, velocity, angular }
}

/// Whether velocity changed between two samples as in free fall.
fn falls(earlier: &PartPose, newest: &PartPose, gravity: Vec3) -> bool {
    let gap = (newest.time - earlier.time) as f32;
    let expected = gravity * gap;
    gap > 0.0 && gap < 0.2 && (newest.velocity - earlier.velocity - expected).length() < 0.25 * expected.length()
}
