use glam::{Quat, Vec3};
use proptest::prelude::*;
use tidelock_sim::allowance::{
    AllowanceEnvironment, AllowanceLimits, AllowanceValidator, AllowanceVerdict, CollisionSupport, Support,
};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Nearby, Shape};
use tidelock_sim::motor::{CharacterState, MotorSettings};
use tidelock_sim::report::{ReplayLimits, Report};
use tidelock_sim::{Sequence, SimSpan, SimTime};

/// What a client tries in one report.
#[derive(Clone, Copy, Debug)]
enum Try {
    /// So many times as far as it may, in a direction.
    Run(f32, f32),
    /// Straight up or down by so many studs.
    Climb(f32),
    /// Anything at all.
    Rubbish(f32, f32, f32),
}

fn tries() -> impl Strategy<Value = Vec<(Try, u64)>> {
    let float = prop_oneof![
        Just(f32::NAN),
        Just(f32::INFINITY),
        Just(f32::MAX),
        Just(f32::MIN_POSITIVE / 2.0),
        -2e6_f32..2e6,
        -50_f32..50.0
    ];
    let trial = prop_oneof![
        4 => (0.5_f32..4.0, 0_f32..std::f32::consts::TAU).prop_map(|(share, way)| Try::Run(share, way)),
        1 => (-20_f32..20.0).prop_map(Try::Climb),
        1 => (float.clone(), float.clone(), float).prop_map(|(x, y, z)| Try::Rubbish(x, y, z)),
    ];
    // Floods, hoarded bursts after silence, and every pace in between.
    let wait = prop_oneof![Just(0_u64), 1_u64..400, 400_u64..6_000, Just(3_072_u64), 30_000_u64..120_000];
    prop::collection::vec((trial, wait), 1..250)
}

fn reported(trial: Try, from: Vec3, dt: f32, sequence: u32) -> Report {
    let position = match trial {
        Try::Run(share, way) => {
            let reach = share * (16.0 * 1.35 * dt + 0.3);
            from + Vec3::new(libm::cosf(way), 0.0, libm::sinf(way)) * reach
        }
        Try::Climb(by) => from + Vec3::Y * by,
        Try::Rubbish(x, y, z) => Vec3::new(x, y, z),
    };
    let velocity = Vec3::new(0.0, if sequence.is_multiple_of(2) { -9.0 } else { 9.0 }, 0.0);
    Report { sequence: Sequence(sequence), position, velocity, state: CharacterState::Grounded, ..Report::default() }
}

fn check_windows(moves: &[(SimTime, f32)], envelope: f32) -> Result<(), TestCaseError> {
    for (first, (begin, _)) in moves.iter().enumerate() {
        let within = moves[first..].iter().take_while(|(at, _)| at.since(*begin) <= SimSpan(61_440));
        let sum: f32 = within.map(|(_, moved)| moved).sum();
        prop_assert!(sum <= envelope * 1.001, "{sum} studs in a second, at most {envelope}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // S-25a, B20, B21
    #[test]
    fn no_second_holds_more_than_the_envelope(tries in tries(), origin in prop::sample::select(vec![0_u64, 1 << 42])) {
        let (settings, limits) = (MotorSettings::default(), AllowanceLimits::default());
        let envelope = ReplayLimits::default();
        let mut env =
            AllowanceEnvironment { now: SimTime(origin), settings: &settings, limits: &limits, envelope: &envelope };
        let mut validator = AllowanceValidator::new(Vec3::ZERO, 0.0, &env);
        let (mut signals, mut moves) = (Vec::new(), Vec::new());
        for (index, (trial, wait)) in tries.into_iter().enumerate() {
            env.now.0 += wait;
            let from = validator.state().position;
            let report = reported(trial, from, SimSpan(wait as u32).seconds() as f32, index as u32);
            signals.clear();
            let outcome = validator.judge(&report, &env, &mut |_: Vec3, _: f32| Support::GROUND, &mut signals);
            let state = *validator.state();
            prop_assert!(state.position.is_finite() && state.velocity.is_finite() && state.yaw.is_finite());
            let moved = (state.position - from) * Vec3::new(1.0, 0.0, 1.0);
            moves.push((env.now, moved.length()));
            prop_assert_eq!(matches!(outcome.verdict, AllowanceVerdict::Clamped), state.position != report.position
                && !matches!(outcome.verdict, AllowanceVerdict::Refused(_) | AllowanceVerdict::PutBack));
            prop_assert_eq!(outcome.correction, !matches!(outcome.verdict, AllowanceVerdict::Refused(_))
                && state.position.distance(report.position) > 0.5);
        }
        check_windows(&moves, limits.envelope(16.0))?;
    }
}

fn floor() -> CollisionIndex {
    let mut index = CollisionIndex::new();
    let shape = Shape::Box { half: Vec3::new(500.0, 1.0, 500.0) };
    index.insert(Collider { id: ColliderId(1), shape, position: Vec3::NEG_Y, rotation: Quat::IDENTITY }).unwrap();
    index
}

/// Sends `reports` reports at 20 Hz and returns the highest height reached, and the height at the end.
fn climb(mut next: impl FnMut(u32, Vec3) -> (Vec3, Vec3), reports: u32) -> (f32, f32) {
    let (settings, limits, envelope) = (MotorSettings::default(), AllowanceLimits::default(), ReplayLimits::default());
    let (index, mut nearby) = (floor(), Nearby::new());
    let mut env =
        AllowanceEnvironment { now: SimTime(1 << 40), settings: &settings, limits: &limits, envelope: &envelope };
    let mut validator = AllowanceValidator::new(Vec3::Y * 2.5, 0.0, &env);
    let (mut signals, mut highest) = (Vec::new(), 0.0_f32);
    for sequence in 0..reports {
        env.now.0 += 3_072;
        let (position, velocity) = next(sequence, validator.state().position);
        let report = Report { sequence: Sequence(sequence), position, velocity, ..Report::default() };
        let mut world = CollisionWorld { index: &index, nearby: &mut nearby };
        let mut support = CollisionSupport { world: &mut world, settings: &settings, time: env.now };
        validator.judge(&report, &env, &mut support, &mut signals);
        highest = highest.max(validator.state().position.y - 2.5);
    }
    (highest, validator.state().position.y - 2.5)
}

// S-25
#[test]
fn nobody_flies_without_a_grant() {
    // As fast upwards as a jump begins, for ten seconds.
    let (highest, last) = climb(|_, from| (from + Vec3::Y * 2.4, Vec3::Y * 48.0), 200);
    assert!(highest < 25.0 && last < 16.0, "{highest}, {last}");
    // A little at a time, below every slack.
    let (highest, _) = climb(|_, from| (from + Vec3::Y * 0.45, Vec3::ZERO), 400);
    assert!(highest < 15.0, "{highest}");
    // Up with a jump and then still.
    let (_, last) = climb(|n, from| (if n < 6 { from + Vec3::Y * 2.0 } else { from }, Vec3::ZERO), 200);
    assert!(last < 8.0, "{last}");
    // Up with a jump, then seeming to bounce on nothing.
    let (highest, _) = climb(
        |n, from| {
            let way = if n % 2 == 0 { 2.5 } else { -0.2 };
            (from + Vec3::Y * way, Vec3::Y * way)
        },
        400,
    );
    assert!(highest < 25.0, "{highest}");
}
