//! Judging reports, owning parts and drawing rigs allocate nothing once they have warmed up.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

use glam::{Quat, Vec3};
use tidelock_sim::allowance::{AllowanceEnvironment, AllowanceLimits, AllowanceValidator, Support};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::motor::MotorSettings;
use tidelock_sim::ownership::{
    Candidate, Election, OwnedReport, OwnedSnapshot, OwnershipLimits, OwnershipTable, PartView, PartViewConfig,
    Partition, PlayerId,
};
use tidelock_sim::report::{ReplayLimits, Report};
use tidelock_sim::rig::{RigSelection, RigStreamConfig};
use tidelock_sim::tracks::{JointPose, PartPose, RigTrack};
use tidelock_sim::{PartState, Sequence, SimTime, Tick};

fn measured(mut run: impl FnMut(u64)) -> u64 {
    (0..200).for_each(&mut run);
    allocation_counter::measure(|| (200..600).for_each(&mut run)).count_total
}

// S-25
#[test]
fn judging_movement() {
    let (settings, limits, envelope) = (MotorSettings::default(), AllowanceLimits::default(), ReplayLimits::default());
    let mut env = AllowanceEnvironment { now: SimTime(0), settings: &settings, limits: &limits, envelope: &envelope };
    let mut validator = AllowanceValidator::new(Vec3::ZERO, 0.0, &env);
    let (mut signals, mut report) = (Vec::with_capacity(8), Report::default());
    let count = measured(|step| {
        env.now = SimTime(step * 3_072);
        report.sequence = Sequence(step as u32);
        report.position = Vec3::X * step as f32 * if step % 50 < 25 { 0.8 } else { 3.0 };
        signals.clear();
        validator.judge(&report, &env, &mut |_: Vec3, _: f32| Support::GROUND, &mut signals);
    });
    assert_eq!(count, 0);
}

// S-51, S-51a
#[test]
fn owning_parts() {
    let mut table = OwnershipTable::new(OwnershipLimits::default());
    let ids: Vec<ColliderId> = (0..64).map(ColliderId).collect();
    for id in &ids {
        table.insert_part(*id, PartState::resting(Vec3::ZERO, Quat::IDENTITY), SimTime(0));
    }
    (1..3).for_each(|player| table.insert_player(PlayerId(player)));
    let snapshot =
        |id: &ColliderId| OwnedSnapshot { part: *id, epoch: 0, state: PartState::resting(Vec3::ZERO, Quat::IDENTITY) };
    let mut report = OwnedReport { snapshots: ids.iter().map(snapshot).collect(), ..OwnedReport::default() };
    let (mut islands, mut accepted, mut notices) = (Partition::default(), Vec::new(), Vec::new());
    let mut taken = 0;
    let count = measured(|step| {
        let (now, near) = (Tick(step).time(), (step / 60 % 2) as f32);
        islands.reset(ids.iter().copied());
        ids.windows(2).for_each(|pair| islands.join(pair[0], pair[1]));
        islands.finish();
        let candidates = [
            Candidate { player: PlayerId(1), position: Vec3::X * (2.0 + near * 20.0) },
            Candidate { player: PlayerId(2), position: Vec3::X * (22.0 - near * 20.0) },
        ];
        Election::default().run(&mut table, &islands, &candidates, now);
        notices.clear();
        table.drain_notices(&mut notices);
        report.sequence = Sequence(step as u32 + 1);
        for snapshot in &mut report.snapshots {
            snapshot.epoch = table.epoch(snapshot.part).unwrap();
        }
        let owner = table.owner(ids[0]).unwrap();
        accepted.clear();
        taken += table.judge(owner, &report, (now, Tick(step)), &mut accepted).accepted;
    });
    assert_eq!(count, 0);
    assert!(taken > 30_000 && table.handovers() > 64 * 8, "{taken}");
}

// B36: physics is never rolled back, so a tick captures no more than states: of 800 bodies awake 50 kB, without allocating.
#[cfg(feature = "physics")]
#[test]
fn capturing_800_bodies() {
    use tidelock_sim::collision::Shape;
    use tidelock_sim::physics::{LooseMotion, LooseParts, LoosePartsConfig};
    let mut parts = LooseParts::new(LoosePartsConfig::default());
    for id in 0..800_u64 {
        let position = Vec3::new((id % 30) as f32 * 4.0, 1e5, (id / 30) as f32 * 4.0);
        let state = PartState::resting(position, Quat::from_xyzw(0.0, 0.6, 0.0, 0.8));
        parts.insert_part(ColliderId(id), &Shape::Box { half: Vec3::ONE }, &state).unwrap();
    }
    let (mut moved, mut captured) = (LooseMotion::default(), Vec::with_capacity(800));
    let mut count = 0;
    for tick in 1..120_u64 {
        parts.step(SimTime(tick * SimTime::UNITS_PER_TICK), &mut moved);
        captured.clear();
        count += allocation_counter::measure(|| captured.extend(parts.simulated())).count_total;
    }
    let columns = size_of::<ColliderId>() + 3 * size_of::<Vec3>() + size_of::<Quat>();
    assert_eq!((count, moved.len(), captured.len()), (0, 800, 800));
    assert!(moved.len() * columns <= 65_536 && size_of_val(&captured[..]) <= 65_536);
}

// B36, S-60: so does what a rewind keeps of a tick.
#[test]
fn recording_800_poses() {
    use tidelock_sim::collision::Shape;
    use tidelock_sim::rewind::{RewindHistory, RewindPose};
    let mut history = RewindHistory::new();
    let shape = history.register(&Shape::Ball { radius: 1.0 }).unwrap();
    let pose = |id: u64, tick: u64| RewindPose {
        id: ColliderId(id),
        shape,
        position: Vec3::new(id as f32, tick as f32, 0.0),
        rotation: Quat::IDENTITY,
        teleported: false,
    };
    let mut poses: Vec<_> = (0..800).map(|id| pose(id, 0)).collect();
    let count = measured(|tick| {
        poses.iter_mut().for_each(|pose| pose.position.y = tick as f32);
        assert!(history.record(Tick(tick), poses.iter().copied()));
    });
    assert_eq!(count, 0);
    assert!(size_of_val(&poses[..]) <= 65_536);
}

// S-44, S-44a, S-52
#[test]
fn drawing() {
    let (config, stream) = (PartViewConfig::default(), RigStreamConfig::default());
    let (mut view, mut rig, mut selection) = (PartView::new(), RigTrack::new(15), RigSelection::default());
    let mut joints = [JointPose::default(); 15];
    let mut rotations = [Quat::IDENTITY; 15];
    let count = measured(|step| {
        let time = step as f64 / 60.0;
        let pose = PartPose { time, position: Vec3::X * step as f32, ..PartPose::default() };
        view.receive(pose, &config);
        view.advance(1.0 / 60.0, time - 0.1, time, &config);
        assert!(view.pose().is_some() && rig.push(time, &joints) && rig.sample(time - 0.1, &mut joints));
        rotations[3] = Quat::from_xyzw(0.0, 0.0, step as f32 * 0.01, 1.0).normalize();
        let _ = selection.poll(Tick(step).time(), &rotations, &stream);
    });
    assert_eq!(count, 0);
}
