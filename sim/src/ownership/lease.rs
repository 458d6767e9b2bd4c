use glam::Quat;

use super::{OwnedSnapshot, OwnershipLimits, PlayerId, SnapshotRefusal};
use crate::allowance::DistanceWindow;
use crate::part::PartState;
use crate::tick::Tick;
use crate::time::{SimSpan, SimTime};

/// Who may own a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnershipPolicy {
    /// Whoever is elected: by default the nearest player.
    #[default]
    Elected,
    /// The server alone.
    Forbidden,
    /// This player alone, until the game says otherwise.
    Fixed(PlayerId),
}

/// The server's record of one part.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) owner: Option<PlayerId>,
    pub(super) epoch: u32,
    pub(super) policy: OwnershipPolicy,
    /// When it last went to another player.
    pub(super) changed: Option<SimTime>,
    /// Whether the owner has reported it in this epoch's lease.
    pub(super) reported: bool,
    /// The last state that counts, and when it did.
    pub(super) state: PartState,
    pub(super) at: SimTime,
    /// Time for which that state is shown.
    pub(super) shown: SimTime,
    /// Tick of the last state an owner gave.
    tick: Option<Tick>,
    /// When the owner was last heard of, or got it.
    pub(super) heard: SimTime,
    window: Box<DistanceWindow>,
    /// Owner and write as last told, for the notice of this tick.
    pub(super) told: Option<PlayerId>,
    pub(super) written: bool,
    pub(super) dirty: bool,
}

impl Lease {
    pub(super) fn new(state: PartState, now: SimTime) -> Self {
        Self {
            owner: None,
            epoch: 0,
            policy: OwnershipPolicy::Elected,
            changed: None,
            reported: false,
            state,
            at: now,
            shown: now,
            tick: None,
            heard: now,
            window: Box::default(),
            told: None,
            written: false,
            dirty: false,
        }
    }

    /// Whether another player may get it at `now`.
    pub(super) fn is_cool(&self, now: SimTime, limits: &OwnershipLimits) -> bool {
        self.changed.is_none_or(|changed| now.since(changed) >= limits.cooldown)
    }

    /// Gives it to `owner` from `now` on. The epoch grows.
    pub(super) fn hand_over(&mut self, owner: Option<PlayerId>, now: SimTime) {
        self.owner = owner;
        self.epoch = self.epoch.checked_add(1).expect("four thousand million owners of one part");
        if owner.is_some() {
            self.changed = Some(now);
        }
        (self.reported, self.heard) = (false, now);
    }

    /// Takes in what its owner says, or says why not. `state` is normalised.
    pub(super) fn take(
        &mut self,
        player: PlayerId,
        snapshot: &OwnedSnapshot,
        (now, tick, sampled): (SimTime, Tick, SimTime),
        limits: &OwnershipLimits,
    ) -> Result<(), SnapshotRefusal> {
        if self.owner != Some(player) {
            return Err(SnapshotRefusal::Owner);
        }
        if self.epoch != snapshot.epoch {
            return Err(SnapshotRefusal::Epoch);
        }
        if self.tick == Some(tick) {
            return Err(SnapshotRefusal::SameTick);
        }
        let state = &snapshot.state;
        if state.velocity.length() > limits.max_speed {
            return Err(SnapshotRefusal::Speed);
        }
        if state.angular.length() > limits.max_spin {
            return Err(SnapshotRefusal::Spin);
        }
        let dt = now.since(self.at).seconds().clamp(limits.step.0, limits.step.1) as f32;
        let step = state.position.distance(self.state.position);
        // Not `>`: a distance that overflows is none.
        if !matches!(
            step.partial_cmp(&(limits.max_speed * dt + limits.slack_position).min(limits.max_step)),
            Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
        ) {
            return Err(SnapshotRefusal::Step);
        }
        let most = (limits.max_spin * dt + limits.slack_rotation).min(std::f32::consts::PI);
        if angle_between(state.rotation, self.state.rotation) > most {
            return Err(SnapshotRefusal::Rotation);
        }
        let second = limits.max_speed + limits.window_slack;
        if second.is_finite() {
            if step > self.window.free(now) * second {
                return Err(SnapshotRefusal::Distance);
            }
            self.window.push(now, step / second);
        }
        self.shown = sampled.max(self.shown + SimSpan::MOTOR_TICK);
        (self.state, self.at, self.heard, self.tick, self.reported) = (*state, now, now, Some(tick), true);
        Ok(())
    }
}

/// Angle between two rotations, radians in [0, π].
fn angle_between(a: Quat, b: Quat) -> f32 {
    // Of the difference's vector part, which is exact where the cosine is flat.
    let between = a * b.conjugate();
    let sine = glam::Vec3::new(between.x, between.y, between.z).length();
    2.0 * libm::atan2f(sine, between.w.abs())
}
