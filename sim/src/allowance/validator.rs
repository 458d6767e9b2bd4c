use glam::Vec3;

use super::air::{Air, AirRules, AirStep, Vertical};
use super::speed::HeldSpeed;
use super::split::Split;
use super::velocity::VelocityBounds;
use super::window::DistanceWindow;
use super::{AllowanceLimits, Bearing, MovementGrants, Support, SupportQuery, ValidationReason, ValidationSignal};
use crate::angle::wrap_angle;
use crate::motor::{CharacterState, MotorSettings};
use crate::report::{ReplayLimits, Report, ReportRefusal, TokenBucket, check_claim};
use crate::sequence::Sequence;
use crate::time::{SimSpan, SimTime};

/// What a judgement needs besides the character, the report and the world.
#[derive(Clone, Copy, Debug)]
pub struct AllowanceEnvironment<'a> {
    /// When the report arrived: the only time that counts.
    pub now: SimTime,
    /// The character's settings in the server's world: speed, jumps, gravity, up.
    pub settings: &'a MotorSettings,
    /// The numbers to judge by.
    pub limits: &'a AllowanceLimits,
    /// Envelope of positions and velocities and the rate of reports (S-21).
    pub envelope: &'a ReplayLimits,
}

/// What was decided about a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowanceVerdict {
    /// It was refused whole; nothing changed.
    Refused(ReportRefusal),
    /// The position holds as reported.
    Accepted,
    /// The position was changed to what is allowed.
    Clamped,
    /// The character stays where it was.
    PutBack,
    /// The character sits: it follows its seat, and the report counts for its controls alone.
    Seated,
}

/// A verdict and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowanceOutcome {
    /// The verdict.
    pub verdict: AllowanceVerdict,
    /// Whether the owner must be told where its character is: the position differs by more than 0.5 studs (S-26).
    pub correction: bool,
}

/// A character as accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AllowanceState {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Velocity, studs/s.
    pub velocity: Vec3,
    /// Facing, radians in (-π, π].
    pub yaw: f32,
    /// What it is doing.
    pub state: CharacterState,
}

/// Judges the reports of one character that has no module both sides run (S-25 to S-26).
///
/// Whatever a client sends, within any second it moves at most [`AllowanceLimits::envelope`] horizontally. Game commands are
/// its methods; each raises the epoch, which makes older reports stale. Nothing allocates.
#[derive(Clone, Debug, PartialEq)]
pub struct AllowanceValidator {
    /// What the game grants. Raises count at once, lowered speeds after [`AllowanceLimits::speed_hold`].
    pub grants: MovementGrants,
    accepted: AllowanceState,
    epoch: u32,
    last_sequence: Option<Sequence>,
    last: SimTime,
    streak: u32,
    /// Reported velocities in a row that were too great.
    fast: u32,
    late: f32,
    speed: HeldSpeed,
    ground: Vec3,
    air: Air,
    window: DistanceWindow,
    rate: TokenBucket,
}

/// What a vertical judgement looks at.
struct Fall<'a> {
    env: &'a AllowanceEnvironment<'a>,
    step: &'a Step,
    below: &'a Support,
    /// Whether it may have jumped from something since the last report.
    turned: bool,
}

/// Gain of speed upwards that is more than a rounding, studs/s.
const TOUCH: f32 = 0.1;

/// One report's quantities.
struct Step {
    up: Vec3,
    speed: f32,
    burst: bool,
    elapsed: f32,
    /// Time that counts by the rule.
    dt: f32,
    /// Time that counts with what earlier reports left.
    time: f32,
}

impl AllowanceValidator {
    /// A character that stands at `position` at `now`.
    #[must_use]
    pub fn new(position: Vec3, yaw: f32, env: &AllowanceEnvironment<'_>) -> Self {
        let accepted = AllowanceState { position, yaw: wrap_angle(yaw), ..AllowanceState::default() };
        Self {
            grants: MovementGrants::default(),
            accepted,
            epoch: 0,
            last_sequence: None,
            last: env.now,
            streak: 0,
            fast: 0,
            late: env.limits.late_credit,
            speed: HeldSpeed::new(),
            ground: Vec3::ZERO,
            air: Air::put_at(position.dot(env.settings.up)),
            window: DistanceWindow::default(),
            rate: TokenBucket::new(env.envelope.reports_per_second, env.envelope.report_burst),
        }
    }

    /// The same, as if that many game commands had gone before: for a character that was under another controller.
    #[must_use]
    pub fn with_epoch(mut self, epoch: u32) -> Self {
        self.epoch = epoch;
        self
    }

    /// The character as accepted last.
    #[must_use]
    pub fn state(&self) -> &AllowanceState {
        &self.accepted
    }

    /// Number of game commands so far; reports made before the last one are stale.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The last report judged, `None` before the first.
    #[must_use]
    pub fn last_sequence(&self) -> Option<Sequence> {
        self.last_sequence
    }

    /// Reports in a row above the allowance.
    #[must_use]
    pub fn streak(&self) -> u32 {
        self.streak
    }

    /// Judges a report, appends to `signals` what was wrong with it, and moves the character. That the sender owns the
    /// character is the caller's to check; the report's frames and times do not matter.
    pub fn judge<S: SupportQuery>(
        &mut self,
        report: &Report,
        env: &AllowanceEnvironment<'_>,
        support: &mut S,
        signals: &mut Vec<ValidationSignal>,
    ) -> AllowanceOutcome {
        if let Err(refusal) = self.check(report, env) {
            return AllowanceOutcome { verdict: AllowanceVerdict::Refused(refusal), correction: false };
        }
        self.last_sequence = Some(report.sequence);
        if self.accepted.state == CharacterState::Seated {
            return AllowanceOutcome { verdict: AllowanceVerdict::Seated, correction: false };
        }
        let step = self.step(env);
        self.last = self.last.max(env.now);
        let mut split = Split::new(report.position - self.accepted.position, step.up);
        if self.is_teleport(&split, &step, env, signals) {
            (self.streak, self.accepted.velocity) = (0, Vec3::ZERO);
            let moved = self.accepted.position.distance(report.position);
            let correction = moved > env.limits.correction_distance;
            return AllowanceOutcome { verdict: AllowanceVerdict::PutBack, correction };
        }
        let mut clamped = self.clamp_horizontal(&mut split, &step, env, signals);
        let at = self.accepted.position + split.joined();
        let below = self.look(at, env, support);
        // In the air, speed upwards only ever falls; who gained some has touched something.
        let gained = report.velocity.dot(step.up) > self.accepted.velocity.dot(step.up) + TOUCH;
        let turned = gained || (split.along > 0.0 && self.accepted.velocity.dot(step.up) < 0.0);
        clamped |= self.clamp_vertical(&mut split, &Fall { env, step: &step, below: &below, turned }, support, signals);
        let position = if clamped { self.accepted.position + split.joined() } else { report.position };
        self.accept(report, position, (env, &step, &below), signals);
        let correction = position.distance(report.position) > env.limits.correction_distance;
        let verdict = if clamped { AllowanceVerdict::Clamped } else { AllowanceVerdict::Accepted };
        AllowanceOutcome { verdict, correction }
    }

    /// Puts the character elsewhere at rest; out of its seat if it had one. Distance and rate are not refilled.
    pub fn teleport(&mut self, position: Vec3, yaw: f32, env: &AllowanceEnvironment<'_>) {
        let dead = self.accepted.state == CharacterState::Dead;
        self.command(position, yaw, if dead { CharacterState::Dead } else { CharacterState::Falling }, env);
    }

    /// Kills the character where it is: until its respawn, reports are refused.
    pub fn kill(&mut self, env: &AllowanceEnvironment<'_>) {
        self.command(self.accepted.position, self.accepted.yaw, CharacterState::Dead, env);
    }

    /// Brings the character to life at a place. Nothing is refilled.
    pub fn respawn(&mut self, position: Vec3, yaw: f32, env: &AllowanceEnvironment<'_>) {
        self.command(position, yaw, CharacterState::Falling, env);
    }

    /// Seats a living character: until it is teleported, it follows [`Self::carry`] and its reports move nothing.
    pub fn seat(&mut self, position: Vec3, yaw: f32, env: &AllowanceEnvironment<'_>) {
        let dead = self.accepted.state == CharacterState::Dead;
        self.command(position, yaw, if dead { CharacterState::Dead } else { CharacterState::Seated }, env);
    }

    /// Moves a seated character with its seat; others are left alone.
    pub fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        if self.accepted.state == CharacterState::Seated {
            self.accepted = AllowanceState { position, velocity, yaw: wrap_angle(yaw), state: CharacterState::Seated };
        }
    }

    fn command(&mut self, position: Vec3, yaw: f32, state: CharacterState, env: &AllowanceEnvironment<'_>) {
        self.epoch = self.epoch.checked_add(1).expect("four thousand million commands to one character");
        self.accepted = AllowanceState { position, velocity: Vec3::ZERO, yaw: wrap_angle(yaw), state };
        (self.last, self.streak, self.ground) = (self.last.max(env.now), 0, Vec3::ZERO);
        self.air = Air::put_at(position.dot(env.settings.up));
    }

    fn check(&mut self, report: &Report, env: &AllowanceEnvironment<'_>) -> Result<(), ReportRefusal> {
        if self.last_sequence.is_some_and(|last| !report.sequence.is_newer_than(last)) {
            return Err(ReportRefusal::StaleSequence);
        }
        match report.epoch.cmp(&self.epoch) {
            std::cmp::Ordering::Less => return Err(ReportRefusal::StaleEpoch),
            std::cmp::Ordering::Greater => return Err(ReportRefusal::UnknownEpoch),
            std::cmp::Ordering::Equal => {}
        }
        if self.accepted.state == CharacterState::Dead {
            return Err(ReportRefusal::NotReplayed);
        }
        check_claim(report, env.envelope)?;
        if !env.limits.guards.rate || self.rate.take(env.now) { Ok(()) } else { Err(ReportRefusal::Rate) }
    }

    fn step(&mut self, env: &AllowanceEnvironment<'_>) -> Step {
        let elapsed = env.now.since(self.last).seconds();
        let dt = elapsed.clamp(env.limits.step.0, env.limits.step.1) as f32;
        let burst = self.grants.burst(env.now);
        let granted = env.settings.walk_speed.max(burst).max(self.grants.flight_speed);
        let carried = Split::new(self.ground, env.settings.up).horizontal();
        let hold = SimSpan::from_seconds(f64::from(env.limits.speed_hold));
        let speed = self.speed.at(env.now, granted + carried, hold);
        let burst = self.grants.burst_speed > 0.0 && env.now < self.grants.burst_until + hold;
        Step { up: env.settings.up, speed, burst, elapsed: elapsed as f32, dt, time: dt + self.late }
    }

    /// Whether a move is too far to be one. What gravity and jumps allow does not count when they are looked at.
    fn is_teleport(
        &self,
        split: &Split,
        step: &Step,
        env: &AllowanceEnvironment<'_>,
        signals: &mut Vec<ValidationSignal>,
    ) -> bool {
        let limits = env.limits;
        let mut vertical = split.along.abs();
        if limits.guards.vertical {
            let rules = AirRules::new(env.settings, &self.grants, limits, (step.speed, step.burst));
            vertical = match self.air.judge(&rules, self.air_step(split, step), true) {
                Vertical::Rise(beyond) | Vertical::Fall(beyond) => beyond,
                Vertical::Fine | Vertical::Hover(_) => 0.0,
            };
        }
        let distance = split.horizontal() + vertical;
        let most = limits.teleport_distance.max(step.speed * step.dt * limits.teleport_factor);
        if distance > most {
            self.signal(ValidationReason::Teleport, distance, signals);
        }
        distance > most
    }

    /// Clamps the horizontal part, keeps the streak and takes what it needs from credit and window.
    fn clamp_horizontal(
        &mut self,
        split: &mut Split,
        step: &Step,
        env: &AllowanceEnvironment<'_>,
        signals: &mut Vec<ValidationSignal>,
    ) -> bool {
        let limits = env.limits;
        let rate = step.speed * limits.speed_factor;
        let (plain, whole) = (rate * step.dt + limits.slack, rate * step.time + limits.slack);
        let wanted = split.horizontal();
        let mut clamped = false;
        if wanted > whole {
            self.streak += 1;
            let far = wanted > (limits.clamp_factor * plain).max(whole);
            if far || self.streak >= limits.streak_limit {
                let reason = if far { ValidationReason::Speed } else { ValidationReason::Streak };
                self.signal(reason, wanted - plain, signals);
                split.limit_horizontal(plain);
                (self.streak, clamped) = (0, true);
            }
        } else {
            self.streak = 0;
        }
        if limits.guards.distance {
            let most = limits.envelope(step.speed);
            let free = self.window.free(env.now) * most;
            let wanted = split.horizontal();
            if wanted > free {
                self.signal(ValidationReason::Distance, wanted - free, signals);
                split.limit_horizontal(free);
                clamped = true;
            }
            self.window.push(env.now, if most > 0.0 { split.horizontal() / most } else { 0.0 });
        }
        let needed = if rate > 0.0 { (split.horizontal() - limits.slack).max(0.0) / rate } else { 0.0 };
        self.late = (self.late + step.elapsed - needed).clamp(0.0, limits.late_credit);
        clamped
    }

    /// What is below a position, as far as any guard wants to know.
    fn look<S: SupportQuery>(&self, at: Vec3, env: &AllowanceEnvironment<'_>, support: &mut S) -> Support {
        let guards = env.limits.guards;
        if guards.vertical || guards.grounded {
            support.support(at, env.limits.support_distance)
        } else {
            Support::default()
        }
    }

    fn clamp_vertical<S: SupportQuery>(
        &mut self,
        split: &mut Split,
        &Fall { env, step, below, turned }: &Fall<'_>,
        support: &mut S,
        signals: &mut Vec<ValidationSignal>,
    ) -> bool {
        let limits = env.limits;
        if !limits.guards.vertical {
            return false;
        }
        let rules = AirRules::new(env.settings, &self.grants, limits, (step.speed, step.burst));
        let supported = below.bearing == Bearing::Walkable;
        if !supported {
            self.air.leave(&rules, step.time);
        }
        // What it touched last may have carried it up until the jump, whatever is found below and however slow that is by now.
        let lift = self.ground.dot(step.up);
        if !supported && turned {
            self.bounce(split, (env, &rules, lift), support);
        }
        let mut judged = self.air.judge(&rules, self.air_step(split, step), supported);
        if matches!(judged, Vertical::Hover(_)) && self.bounce(split, (env, &rules, lift), support) {
            judged = self.air.judge(&rules, self.air_step(split, step), supported);
        }
        let (reason, beyond, by) = match judged {
            Vertical::Fine => return false,
            Vertical::Rise(beyond) => (ValidationReason::Rise, beyond, -beyond),
            Vertical::Fall(beyond) => (ValidationReason::Fall, beyond, beyond),
            Vertical::Hover(beyond) => (ValidationReason::Hover, beyond, -beyond),
        };
        if reason == ValidationReason::Hover {
            // It is brought down only where nothing is in the way.
            let at = self.accepted.position + split.joined();
            if support.support(at, beyond).bearing != Bearing::Nothing {
                return false;
            }
        }
        self.signal(reason, beyond, signals);
        split.along += by;
        true
    }

    /// Whether it can have jumped from ground unseen between two reports; if so, it counts as having stood there. It may have
    /// been carried up by `lift` studs/s.
    fn bounce<S: SupportQuery>(
        &mut self,
        split: &Split,
        (env, rules, lift): (&AllowanceEnvironment<'_>, &AirRules, f32),
        support: &mut S,
    ) -> bool {
        let (reach, up, from) = (rules.bounce_reach(env.limits), env.settings.up, self.accepted.position);
        let mut highest: Option<(f32, Vec3)> = None;
        for share in [0.0, 0.5, 1.0] {
            let at = from + split.joined() * share;
            let found = support.support(at, reach);
            let height = at.dot(up);
            if found.bearing == Bearing::Walkable && highest.is_none_or(|(best, _)| height > best) {
                highest = Some((height, found.velocity));
            }
        }
        if let Some((height, ground)) = highest {
            self.air.touch(rules, height, ground.dot(up).max(lift));
            self.ground = ground;
        }
        highest.is_some()
    }

    fn accept(
        &mut self,
        report: &Report,
        position: Vec3,
        (env, step, below): (&AllowanceEnvironment<'_>, &Step, &Support),
        signals: &mut Vec<ValidationSignal>,
    ) {
        let limits = env.limits;
        let rules = AirRules::new(env.settings, &self.grants, limits, (step.speed, step.burst));
        let moved = Split::new(position - self.accepted.position, step.up);
        if below.bearing == Bearing::Walkable {
            self.ground = below.velocity;
        }
        let velocity = self.bounded_velocity(report, (env, step, &rules), signals);
        let state = self.checked_state(report.state, (env, below), signals);
        let air_step = self.air_step(&moved, step);
        self.air.accept(&rules, air_step, below);
        self.accepted = AllowanceState { position, velocity, yaw: wrap_angle(report.yaw), state };
    }

    fn bounded_velocity(
        &mut self,
        report: &Report,
        (env, step, rules): (&AllowanceEnvironment<'_>, &Step, &AirRules),
        signals: &mut Vec<ValidationSignal>,
    ) -> Vec3 {
        let (limits, settings) = (env.limits, env.settings);
        if !limits.guards.velocity {
            return report.velocity;
        }
        let time = step.dt + limits.late_credit;
        let change =
            limits.acceleration_speeds * step.speed + limits.acceleration_gravities * settings.gravity.max(0.0) * time;
        let bounds = VelocityBounds {
            up: step.up,
            horizontal: step.speed * limits.speed_factor,
            rise: rules.rise_speed(self.ground.dot(step.up)) * limits.speed_factor,
            fall: settings.terminal_speed.max(step.speed),
            change: if step.burst { f32::INFINITY } else { change },
        };
        let too_fast = Split::new(report.velocity, step.up).horizontal() > bounds.horizontal;
        self.fast = if too_fast { self.fast + 1 } else { 0 };
        let patience = (self.fast < limits.streak_limit, limits.clamp_factor);
        let bounded = bounds.bound(report.velocity, self.accepted.velocity, patience);
        if bounded.excess > 0.0 {
            self.signal(ValidationReason::Velocity, bounded.excess, signals);
        }
        if bounded.leap > 0.0 {
            self.signal(ValidationReason::Acceleration, bounded.leap, signals);
        }
        bounded.velocity
    }

    /// The state claimed, or falling where it cannot be.
    fn checked_state(
        &self,
        claimed: CharacterState,
        (env, below): (&AllowanceEnvironment<'_>, &Support),
        signals: &mut Vec<ValidationSignal>,
    ) -> CharacterState {
        let (guarded, grants) = (env.limits.guards.grounded, &self.grants);
        let wrong = match claimed {
            CharacterState::Grounded if guarded && below.bearing != Bearing::Walkable => ValidationReason::Grounded,
            CharacterState::Flying if guarded && grants.flight_speed <= 0.0 => ValidationReason::State,
            CharacterState::Swimming if guarded && !grants.swimming => ValidationReason::State,
            // Only the game seats and kills.
            CharacterState::Seated | CharacterState::Dead => ValidationReason::State,
            fine => return fine,
        };
        self.signal(wrong, 0.0, signals);
        CharacterState::Falling
    }

    fn air_step(&self, split: &Split, step: &Step) -> AirStep {
        AirStep {
            height: self.accepted.position.dot(step.up) + split.along,
            rise: split.along,
            ground: self.ground.dot(step.up),
            elapsed: step.elapsed,
            time: step.time,
        }
    }

    fn signal(&self, reason: ValidationReason, amount: f32, signals: &mut Vec<ValidationSignal>) {
        signals.push(ValidationSignal { reason, amount, streak: self.streak });
    }
}
