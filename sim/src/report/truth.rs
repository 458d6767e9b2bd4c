use glam::Vec3;

use super::{
    AdoptionBudget, Correction, CorrectionCause, DesyncAlarm, ReplayBudget, ReplayLimits, SampleClock, TokenBucket,
};
use crate::angle::wrap_angle;
use crate::bytes::is_bounded;
use crate::collision::CollisionWorld;
use crate::module::CustomState;
use crate::motor::{CharacterState, InputFrame, MotorSnapshot};
use crate::sequence::Sequence;
use crate::simulation::{CharacterSim, SimulationRun, simulate_frame};
use crate::time::{SimSpan, SimTime};

/// All the server keeps of a character (T-1a). Replay writes it; game commands are its methods.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterTruth {
    pub(super) sim: CharacterSim,
    pub(super) epoch: u32,
    pub(super) last_sequence: Option<Sequence>,
    pub(super) budget: ReplayBudget,
    pub(super) adoption: AdoptionBudget,
    pub(super) rate: TokenBucket,
    pub(super) clock: SampleClock,
    pub(super) mover_end: SimTime,
    pub(super) last_rewind: Option<SimTime>,
    pub(super) alarm: DesyncAlarm,
}

/// What the server answers a client's reports with, besides corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportAck {
    /// The last report that was replayed.
    pub sequence: Sequence,
    /// The character's epoch.
    pub epoch: u32,
    /// Movement time left in the budget after it (S-20b).
    pub budget: SimSpan,
}

impl CharacterTruth {
    /// A character in state `sim` of a session that has just begun.
    #[must_use]
    pub fn new(sim: CharacterSim, limits: &ReplayLimits) -> Self {
        Self {
            sim,
            epoch: 0,
            last_sequence: None,
            budget: ReplayBudget::new(limits.replay_budget),
            adoption: AdoptionBudget::new(limits.adoption_budget, limits.adoption_refill),
            rate: TokenBucket::new(limits.reports_per_second, limits.report_burst),
            clock: SampleClock::default(),
            mover_end: SimTime(0),
            last_rewind: None,
            alarm: DesyncAlarm::default(),
        }
    }

    /// The same, as if that many game commands had gone before: for a character that was under another controller.
    #[must_use]
    pub fn with_epoch(mut self, epoch: u32) -> Self {
        self.epoch = epoch;
        self
    }

    /// The simulation state as of the last report or command.
    #[must_use]
    pub fn sim(&self) -> &CharacterSim {
        &self.sim
    }

    /// Number of game commands so far; reports made before the last one are stale.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The last report replayed, `None` before the first.
    #[must_use]
    pub fn last_sequence(&self) -> Option<Sequence> {
        self.last_sequence
    }

    /// Mover time at the end of the last report.
    #[must_use]
    pub fn mover_end(&self) -> SimTime {
        self.mover_end
    }

    /// Seconds of movement left in the budget.
    #[must_use]
    pub fn budget_left(&self) -> f64 {
        self.budget.available()
    }

    /// What to acknowledge to the client, `None` before the first report.
    #[must_use]
    pub fn acknowledgement(&self) -> Option<ReportAck> {
        let budget = SimSpan::from_seconds(self.budget.available());
        self.last_sequence.map(|sequence| ReportAck { sequence, epoch: self.epoch, budget })
    }

    /// How old the pose is when broadcast at `broadcast`: it is placed at broadcast time less this (S-41).
    #[must_use]
    pub fn sample_age(&self, broadcast: SimTime, limits: &ReplayLimits) -> SimSpan {
        if self.replays() { self.clock.age(broadcast, limits.max_sample_age) } else { SimSpan(0) }
    }

    /// Whether reports move it: whether it lives and is not seated.
    #[must_use]
    pub fn replays(&self) -> bool {
        !matches!(self.sim.motor.state, CharacterState::Seated | CharacterState::Dead)
    }

    /// Puts the character elsewhere at rest, keeping the module's state; out of its seat if it had one, but it stays
    /// dead if it is. Returns what to send to its owner.
    pub fn teleport(&mut self, position: Vec3, yaw: f32) -> Correction {
        let dead = self.sim.motor.state == CharacterState::Dead;
        let state = if dead { CharacterState::Dead } else { CharacterState::Falling };
        self.command(position, yaw, state, CorrectionCause::Teleport)
    }

    /// Kills the character where it is: until its respawn it does not replay. Returns what to send to its owner.
    pub fn kill(&mut self) -> Correction {
        let MotorSnapshot { position, yaw, .. } = self.sim.motor;
        self.command(position, yaw, CharacterState::Dead, CorrectionCause::Death)
    }

    /// Brings the character to life at a place with the module's `custom` state. Neither the movement budget nor any
    /// other limit is refilled. Returns what to send to its owner.
    pub fn respawn(&mut self, position: Vec3, yaw: f32, custom: CustomState) -> Correction {
        self.sim.custom = custom;
        self.command(position, yaw, CharacterState::Falling, CorrectionCause::Respawn)
    }

    /// Seats the living character: until it is teleported it follows [`Self::carry`] and does not replay. A dead one
    /// stays dead. Returns what to send to its owner.
    pub fn seat(&mut self, position: Vec3, yaw: f32) -> Correction {
        let dead = self.sim.motor.state == CharacterState::Dead;
        let state = if dead { CharacterState::Dead } else { CharacterState::Seated };
        self.command(position, yaw, state, CorrectionCause::Seat)
    }

    /// Moves a seated character with its seat; others are left alone.
    pub fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        if self.sim.motor.state == CharacterState::Seated {
            self.sim.motor.position = position;
            self.sim.motor.velocity = velocity;
            self.sim.motor.yaw = wrap_angle(yaw);
        }
    }

    /// Runs one frame of an input the server handed out by its own ticks, so that no budget is needed (S-33). The dead and the
    /// seated only spend the time.
    pub fn run(&mut self, frame: &InputFrame, run: &SimulationRun<'_>, world: &mut CollisionWorld<'_>) {
        self.mover_end = simulate_frame(&mut self.sim, frame, run, world).end;
    }

    /// Puts a character where the game's own movement has it at `now`, without a command: its epoch stays (S-32). The dead and the
    /// seated are left alone, and `false` comes back; so it does for numbers that are not finite or that no message holds
    /// ([`MAX_MAGNITUDE`](crate::bytes::MAX_MAGNITUDE)), and for states which only a command gives.
    pub fn put(&mut self, motor: MotorSnapshot, now: SimTime) -> bool {
        let own = !matches!(motor.state, CharacterState::Seated | CharacterState::Dead);
        let bounded = is_bounded(motor.position) && is_bounded(motor.velocity);
        if !self.replays() || !own || !motor.is_finite() || !bounded {
            return false;
        }
        self.sim.motor = MotorSnapshot { yaw: wrap_angle(motor.yaw), ..motor };
        self.mover_end = now;
        true
    }

    /// The current state as a correction.
    #[must_use]
    pub fn correction(&self, cause: CorrectionCause) -> Correction {
        Correction {
            sequence: self.last_sequence.unwrap_or_default(),
            epoch: self.epoch,
            time: self.mover_end,
            sim: self.sim,
            cause,
        }
    }

    fn command(&mut self, position: Vec3, yaw: f32, state: CharacterState, cause: CorrectionCause) -> Correction {
        self.epoch = self.epoch.checked_add(1).expect("four thousand million commands to one character");
        self.alarm.reset();
        self.sim.motor = MotorSnapshot { position, yaw: wrap_angle(yaw), state, ..MotorSnapshot::default() };
        self.correction(cause)
    }

    /// Where in mover time a report that wants to start at `wanted` is replayed, and whether that is another time.
    pub(super) fn place_start(&mut self, wanted: SimTime, now: SimTime, limits: &ReplayLimits) -> (SimTime, bool) {
        let mut start = wanted.clamp(now - limits.start_behind, now + limits.start_ahead);
        if start + limits.start_overlap < self.mover_end {
            let rested = self.last_rewind.is_none_or(|last| now.since(last) >= limits.rewind_interval);
            if rested {
                self.last_rewind = Some(now);
            } else {
                start = self.mover_end.min(now + limits.start_ahead);
            }
        }
        (start, start != wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-32: what a game moves by itself stays under commands.
    #[test]
    fn a_game_moves_only_who_lives_on_its_own_feet() {
        let mut truth = CharacterTruth::new(CharacterSim::default(), &ReplayLimits::default()).with_epoch(5);
        let there = MotorSnapshot { position: Vec3::X, yaw: 7.0, ..MotorSnapshot::default() };
        assert!(truth.put(there, SimTime(90)));
        assert_eq!((truth.sim().motor.position, truth.mover_end(), truth.epoch()), (Vec3::X, SimTime(90), 5));
        assert!((truth.sim().motor.yaw - wrap_angle(7.0)).abs() < 1e-6);
        let refused = [
            MotorSnapshot { position: Vec3::NAN, ..there },
            MotorSnapshot { velocity: Vec3::INFINITY, ..there },
            MotorSnapshot { state: CharacterState::Seated, ..there },
            MotorSnapshot { state: CharacterState::Dead, ..there },
        ];
        assert!(refused.into_iter().all(|motor| !truth.put(motor, SimTime(91))));
        for command in [CharacterTruth::kill, |truth: &mut CharacterTruth| truth.seat(Vec3::Y, 0.0)] {
            let mut held = truth.clone();
            assert_eq!(command(&mut held).epoch, 6);
            let before = held.clone();
            assert!(!held.put(MotorSnapshot { position: Vec3::Z, ..there }, SimTime(92)) && held == before);
        }
    }
}
