use glam::{Quat, Vec3};
use proptest::prelude::*;
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::{
    OwnedReport, OwnedSnapshot, OwnedVerdict, OwnershipLimits, OwnershipTable, PlayerId, SnapshotRefusal,
};
use tidelock_sim::{PartState, Sequence, SimSpan, SimTime};

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![8 => -60_f32..60.0, 1 => Just(f32::NAN), 1 => Just(f32::INFINITY), 1 => Just(f32::MAX), 1 => Just(0.0)]
}

fn vector() -> impl Strategy<Value = Vec3> {
    (number(), number(), number()).prop_map(|(x, y, z)| Vec3::new(x, y, z))
}

fn snapshot() -> impl Strategy<Value = OwnedSnapshot> {
    (0_u64..5, 0_u32..4, vector(), (vector(), number()), vector(), vector()).prop_map(
        |(part, epoch, position, (axis, w), velocity, angular)| OwnedSnapshot {
            part: ColliderId(part),
            epoch,
            state: PartState { position, rotation: Quat::from_xyzw(axis.x, axis.y, axis.z, w), velocity, angular },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // S-51, B21: whatever is sent, states stay sound, steps bounded, and one tick has one state.
    #[test]
    fn nothing_a_player_sends_does_harm(
        reports in prop::collection::vec((prop::collection::vec(snapshot(), 0..5), 0_u64..4_000, 1_u64..3, -2_i32..4), 1..120),
    ) {
        let limits = OwnershipLimits::default();
        let mut table = OwnershipTable::new(limits);
        let mut now = SimTime(1 << 40);
        for player in 1..3 {
            table.insert_player(PlayerId(player));
        }
        for part in 0..4 {
            table.insert_part(ColliderId(part), PartState::resting(Vec3::ZERO, Quat::IDENTITY), now);
            table.give(ColliderId(part), Some(PlayerId(1 + part % 2)), now);
        }
        let (mut accepted, mut moves) = (Vec::new(), vec![Vec::<(SimTime, f32)>::new(); 4]);
        let mut sequence = Sequence(u32::MAX - 20);
        for (snapshots, wait, player, advance) in reports {
            now.0 += wait;
            sequence = Sequence(sequence.0.wrapping_add(advance as u32));
            let before: Vec<Vec3> = (0..4).map(|part| table.state(ColliderId(part)).unwrap().position).collect();
            accepted.clear();
            let report = OwnedReport { sequence, time: SimTime(u64::from(sequence.0) << 9), snapshots };
            let outcome = table.judge(PlayerId(player), &report, (now, now.tick()), &mut accepted);
            prop_assert_eq!(outcome.accepted as usize, accepted.len());
            prop_assert!(outcome.verdict == OwnedVerdict::Processed || accepted.is_empty());
            for state in &accepted {
                prop_assert!(state.state.is_sound());
                prop_assert_eq!(table.owner(state.part), Some(PlayerId(player)));
                let part = state.part.0 as usize;
                moves[part].push((now, before[part].distance(state.state.position)));
            }
        }
        for moves in moves {
            for (first, (begin, _)) in moves.iter().enumerate() {
                let within = moves[first..].iter().take_while(|(at, _)| at.since(*begin) <= SimSpan(61_440));
                prop_assert!(within.map(|(_, moved)| moved).sum::<f32>() <= (limits.max_speed + limits.window_slack) * 1.001);
            }
            prop_assert!(moves.windows(2).all(|pair| pair[0].0.tick() != pair[1].0.tick()));
        }
    }
}

// S-51
#[test]
fn every_reason_is_told_apart_and_the_sequence_only_advances_on_sound_reports() {
    let mut table = OwnershipTable::new(OwnershipLimits::default());
    let player = PlayerId(1);
    let mut now = SimTime(600_000);
    table.insert_player(player);
    let rest = PartState::resting(Vec3::ZERO, Quat::IDENTITY);
    for part in 0..70 {
        table.insert_part(ColliderId(part), rest, now);
    }
    table.give(ColliderId(1), Some(player), now);
    let mut sequence = 0;
    let mut send = |table: &mut OwnershipTable, snapshots: Vec<OwnedSnapshot>| {
        sequence += 1;
        now.0 += 1_024;
        let report = OwnedReport { sequence: Sequence(sequence), time: now, snapshots };
        table.judge(player, &report, (now, now.tick()), &mut Vec::new())
    };
    let say = |part: u64, epoch: u32, state: PartState| OwnedSnapshot { part: ColliderId(part), epoch, state };
    let cases = [
        (say(99, 0, rest), SnapshotRefusal::Unknown),
        (say(2, 0, rest), SnapshotRefusal::Owner),
        (say(1, 0, rest), SnapshotRefusal::Epoch),
        (say(1, 1, PartState { velocity: Vec3::X * 501.0, ..rest }), SnapshotRefusal::Speed),
        (say(1, 1, PartState { angular: Vec3::X * 101.0, ..rest }), SnapshotRefusal::Spin),
        (say(1, 1, PartState { position: Vec3::X * 61.0, ..rest }), SnapshotRefusal::Step),
    ];
    for (snapshot, reason) in cases {
        let outcome = send(&mut table, vec![snapshot]);
        assert_eq!((outcome.verdict, outcome.ignored), (OwnedVerdict::Processed, 1), "{reason:?}");
        assert_eq!(table.counters().refused(reason), 1, "{reason:?}");
    }
    let many: Vec<OwnedSnapshot> = (0..65).map(|part| say(part, 1, rest)).collect();
    assert_eq!(send(&mut table, many).verdict, OwnedVerdict::Malformed);
    assert_eq!(send(&mut table, vec![say(1, 1, rest), say(1, 1, rest)]).verdict, OwnedVerdict::Malformed);
    let none = PartState { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 9e-7), ..rest };
    assert_eq!(send(&mut table, vec![say(1, 1, none)]).verdict, OwnedVerdict::Malformed);
    let at = SimTime(700_000);
    let report = OwnedReport { sequence: Sequence(7), time: at, snapshots: vec![say(1, 1, rest)] };
    assert_eq!(table.judge(player, &report, (at, at.tick()), &mut Vec::new()).accepted, 1, "7 was not used up");
    assert_eq!(table.judge(player, &report, (at, at.tick()), &mut Vec::new()).verdict, OwnedVerdict::Stale);
    let report = OwnedReport { sequence: Sequence(8), ..report };
    table.judge(player, &report, (at, at.tick()), &mut Vec::new());
    assert_eq!(table.counters().refused(SnapshotRefusal::SameTick), 1);
}
