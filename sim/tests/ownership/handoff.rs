use glam::{Quat, Vec3};
use tidelock_sim::PartState;
use tidelock_sim::collision::{ColliderId, Shape};
use tidelock_sim::ownership::PlayerId;

use crate::world::{Item, World};

const BALL: ColliderId = ColliderId(7);

/// A ball that rolls at 10 studs/s.
fn rolling() -> Vec<Item> {
    let state = PartState {
        position: Vec3::new(0.0, 1.0, 0.0),
        rotation: Quat::IDENTITY,
        velocity: Vec3::X * 10.0,
        angular: Vec3::Z * -10.0,
    };
    vec![Item { id: BALL, shape: Shape::Ball { radius: 1.0 }, state }]
}

// B68, S-52
#[test]
fn a_moving_part_changes_hands_unseen() {
    let (mut frames, mut even) = (0_u32, 0);
    for seed in 0..50 {
        let mut world = World::new(&rolling(), seed);
        let mut before: [Option<f32>; 2] = [None; 2];
        let (mut changes, mut owned) = (0, [0_u32; 2]);
        for frame in 0..60 * 14_u32 {
            if frame >= 120 && frame % 60 == 0 {
                let owner = [Some(PlayerId(1)), Some(PlayerId(2)), None][frame as usize / 60 % 3];
                let now = world.time();
                world.table.give(BALL, owner, now);
                changes += 1;
            }
            world.step();
            // One writer a tick in the server's log.
            assert!(world.writers.iter().filter(|(id, _)| *id == BALL).count() <= 1, "{:?}", world.writers);
            for (player, before) in world.players.iter().zip(&mut before) {
                owned[player.id.0 as usize - 1] += u32::from(player.owns(BALL));
                let Some(pose) = player.drawn.get(&BALL) else { continue };
                let x = pose.position.x;
                if let Some(last) = before.filter(|_| frame > 60) {
                    // A frame's way at 10 studs/s is a sixth of a stud.
                    let step = x - last;
                    assert!(step > 0.0, "seed {seed} frame {frame} {:?}: backwards by {step}", player.id);
                    assert!((step - 1.0 / 6.0).abs() < 0.3, "seed {seed} frame {frame} {:?}: {step}", player.id);
                    frames += 1;
                    even += u32::from((8.8..=11.3).contains(&(step * 60.0)));
                }
                *before = Some(x);
            }
        }
        assert!(changes == 12 && owned.iter().all(|owned| *owned > 120), "{changes} {owned:?}");
    }
    assert!(f64::from(even) > 0.985 * f64::from(frames), "{even} of {frames} frames at an even speed");
}

// S-51a: a write and a handoff in one tick lose nothing.
#[test]
fn a_write_and_a_handoff_in_one_tick_both_arrive() {
    let mut world = World::new(&rolling(), 3);
    for _ in 0..60 {
        world.step();
    }
    let put = PartState::resting(Vec3::new(-50.0, 1.0, 20.0), Quat::IDENTITY);
    let now = world.time();
    assert!(world.table.write(BALL, put, now));
    assert!(world.physics.place(BALL, &put));
    world.table.give(BALL, Some(PlayerId(2)), now);
    for _ in 0..60 {
        world.step();
    }
    for player in &world.players {
        assert_eq!(player.owns(BALL), player.id == PlayerId(2));
        let drawn = player.drawn[&BALL].position;
        assert!(drawn.distance(put.position) < 0.1, "{:?} {drawn}", player.id);
    }
    // The game moves it while it is owned: by its own path, and reports made before are of an old epoch.
    let again = PartState::resting(Vec3::new(30.0, 1.0, -20.0), Quat::IDENTITY);
    let now = world.time();
    assert!(world.table.write(BALL, again, now));
    assert!(world.physics.place(BALL, &again));
    for _ in 0..60 {
        world.step();
        let here = world.table.state(BALL).unwrap().position;
        assert!(here.distance(again.position) < 0.1, "{here}");
    }
    assert!(world.players.iter().all(|player| player.drawn[&BALL].position.distance(again.position) < 0.1));
}

// B71: what the old owner gets after a handoff is one notice and then what everyone gets.
#[test]
fn nothing_is_echoed_to_the_old_owner() {
    let mut world = World::new(&rolling(), 5);
    let now = world.time();
    world.table.give(BALL, Some(PlayerId(1)), now);
    for _ in 0..120 {
        world.step();
    }
    world.players[0].echoed = 0;
    for _ in 0..60 {
        world.step();
    }
    assert_eq!(world.players[0].echoed, 0, "the owner is told nothing of what it simulates");
    let now = world.time();
    world.table.give(BALL, None, now);
    let others = world.players[1].echoed;
    for _ in 0..60 {
        world.step();
    }
    let (old, normal) = (world.players[0].echoed, world.players[1].echoed - others);
    assert!(old <= normal * 12 / 10, "{old} states to the old owner, {normal} to the other");
}

// S-51a: a silent owner loses its parts.
#[test]
fn silence_ends_a_lease() {
    let mut world = World::new(&rolling(), 6);
    let now = world.time();
    world.table.give(BALL, Some(PlayerId(1)), now);
    for _ in 0..60 {
        world.step();
    }
    assert!(!world.table.is_simulated_here(BALL));
    world.players.remove(0);
    for _ in 0..70 {
        world.step();
    }
    assert_eq!(world.table.owner(BALL), None);
    let (before, at) = (world.table.state(BALL).unwrap().position.x, world.seconds());
    for _ in 0..30 {
        world.step();
    }
    let speed = (world.table.state(BALL).unwrap().position.x - before) / (world.seconds() - at) as f32;
    assert!((9.0..11.0).contains(&speed), "it rolls on: {speed}");
}
