use glam::Vec3;
use tidelock_sim::allowance::{
    AllowanceCounters, AllowanceEnvironment, AllowanceLimits, AllowanceValidator, AllowanceVerdict, Bearing, Support,
    ValidationReason,
};
use tidelock_sim::motor::{CharacterState, MotorSettings};
use tidelock_sim::report::{ReplayLimits, Report, ReportRefusal};
use tidelock_sim::{Sequence, SimTime};

struct Judge {
    settings: MotorSettings,
    limits: AllowanceLimits,
    envelope: ReplayLimits,
    now: SimTime,
    support: Support,
    validator: Option<AllowanceValidator>,
    counters: AllowanceCounters,
    reasons: Vec<ValidationReason>,
}

impl Judge {
    fn new(support: Support) -> Self {
        let mut judge = Self {
            settings: MotorSettings::default(),
            limits: AllowanceLimits::default(),
            envelope: ReplayLimits::default(),
            now: SimTime(100_000),
            support,
            validator: None,
            counters: AllowanceCounters::default(),
            reasons: Vec::new(),
        };
        judge.validator = Some(AllowanceValidator::new(Vec3::ZERO, 0.0, &judge.env()));
        judge
    }

    fn env(&self) -> AllowanceEnvironment<'_> {
        AllowanceEnvironment { now: self.now, settings: &self.settings, limits: &self.limits, envelope: &self.envelope }
    }

    fn with(&mut self, change: impl FnOnce(&mut AllowanceValidator, &AllowanceEnvironment<'_>)) {
        let mut validator = self.validator.take().unwrap();
        change(&mut validator, &self.env());
        self.validator = Some(validator);
    }

    /// A report a twentieth of a second later.
    fn report(&mut self, report: Report) -> AllowanceVerdict {
        self.now.0 += 3_072;
        let mut validator = self.validator.take().unwrap();
        let mut signals = Vec::new();
        let support = self.support;
        let outcome = validator.judge(&report, &self.env(), &mut |_: Vec3, _: f32| support, &mut signals);
        self.validator = Some(validator);
        self.counters.count(&outcome, &signals);
        self.reasons = signals.iter().map(|signal| signal.reason).collect();
        outcome.verdict
    }

    fn state(&self) -> tidelock_sim::allowance::AllowanceState {
        *self.validator.as_ref().unwrap().state()
    }
}

fn at(sequence: u32, epoch: u32, position: Vec3) -> Report {
    Report { sequence: Sequence(sequence), epoch, position, ..Report::default() }
}

// S-25
#[test]
fn commands_make_older_reports_stale_and_seats_are_followed() {
    let mut judge = Judge::new(Support::GROUND);
    assert_eq!(judge.report(at(1, 0, Vec3::X * 0.5)), AllowanceVerdict::Accepted);
    judge.with(|validator, env| validator.teleport(Vec3::X * 500.0, 1.0, env));
    assert_eq!(judge.report(at(2, 0, Vec3::X)), AllowanceVerdict::Refused(ReportRefusal::StaleEpoch));
    assert_eq!(judge.report(at(2, 2, Vec3::X)), AllowanceVerdict::Refused(ReportRefusal::UnknownEpoch));
    assert_eq!(judge.report(at(2, 1, Vec3::X * 500.4)), AllowanceVerdict::Accepted);
    assert_eq!(judge.report(at(2, 1, Vec3::X * 500.4)), AllowanceVerdict::Refused(ReportRefusal::StaleSequence));
    judge.with(|validator, env| validator.seat(Vec3::Y * 9.0, 0.0, env));
    assert_eq!(judge.report(at(3, 2, Vec3::Y)), AllowanceVerdict::Seated);
    judge.with(|validator, _| validator.carry(Vec3::Y * 12.0, Vec3::Y, 7.0));
    assert_eq!((judge.state().position, judge.state().state), (Vec3::Y * 12.0, CharacterState::Seated));
    judge.with(|validator, env| validator.kill(env));
    assert_eq!(judge.report(at(4, 3, Vec3::X)), AllowanceVerdict::Refused(ReportRefusal::NotReplayed));
    judge.with(|validator, env| validator.seat(Vec3::ZERO, 0.0, env));
    assert_eq!(judge.state().state, CharacterState::Dead);
    judge.with(|validator, env| validator.respawn(Vec3::ZERO, 0.0, env));
    assert_eq!(judge.report(at(4, 5, Vec3::X * 0.2)), AllowanceVerdict::Accepted);
    assert_eq!(judge.counters.refused(ReportRefusal::NotReplayed), 1);
}

// S-25
#[test]
fn states_need_ground_or_a_grant() {
    let mut judge = Judge::new(Support::default());
    let claim = |sequence, state| Report { state, ..at(sequence, 0, Vec3::NEG_Y * 0.1) };
    judge.report(claim(1, CharacterState::Grounded));
    assert_eq!(judge.reasons, [ValidationReason::Grounded]);
    assert_eq!(judge.state().state, CharacterState::Falling);
    judge.report(claim(2, CharacterState::Flying));
    assert_eq!(judge.reasons, [ValidationReason::State]);
    judge.with(|validator, _| validator.grants.flight_speed = 30.0);
    judge.report(claim(3, CharacterState::Flying));
    assert_eq!((judge.reasons.len(), judge.state().state), (0, CharacterState::Flying));
    for sequence in 4..200 {
        let rise = Vec3::Y * 1.5 * (sequence - 3) as f32;
        assert_eq!(
            judge.report(Report { state: CharacterState::Flying, ..at(sequence, 0, rise) }),
            AllowanceVerdict::Accepted
        );
    }
    judge.report(Report { position: judge.state().position, ..claim(200, CharacterState::Dead) });
    assert_eq!(judge.reasons.last(), Some(&ValidationReason::State));
    judge.support = Support { bearing: Bearing::Steep, velocity: Vec3::ZERO };
    judge.report(Report { position: judge.state().position, ..claim(201, CharacterState::Grounded) });
    assert_eq!(judge.reasons, [ValidationReason::Grounded]);
}

// S-25
#[test]
fn bursts_raise_speed_while_they_last_and_a_little_longer() {
    let mut judge = Judge::new(Support::GROUND);
    let mut x = 0.0;
    let until = SimTime(judge.now.0 + 61_440);
    judge.with(|validator, _| validator.grants.grant_burst(80.0, until));
    for sequence in 1..=20 {
        x += 4.0;
        assert_eq!(judge.report(at(sequence, 0, Vec3::X * x)), AllowanceVerdict::Accepted, "{sequence}");
    }
    // What was under way when it ended.
    x += 4.0;
    assert_eq!(judge.report(at(21, 0, Vec3::X * x)), AllowanceVerdict::Accepted);
    judge.now.0 += 61_440;
    judge.report(at(22, 0, Vec3::X * x));
    let mut clamped = 0;
    for sequence in 23..43 {
        x = judge.state().position.x + 4.0;
        clamped += u32::from(judge.report(at(sequence, 0, Vec3::X * x)) == AllowanceVerdict::Clamped);
    }
    assert!(clamped >= 10, "{clamped}");
    assert_eq!(judge.counters.clamped, u64::from(clamped));
    assert!(
        judge.counters.signalled(ValidationReason::Speed) + judge.counters.signalled(ValidationReason::Distance) > 0
    );
}
