use glam::{Quat, Vec3};
use tidelock_sim::PartState;
use tidelock_sim::collision::{ColliderId, Shape};
use tidelock_sim::ownership::{Election, OwnershipPolicy, PlayerId};

use crate::world::{Item, World};

fn item(id: u64, position: Vec3, velocity: Vec3) -> Item {
    let state = PartState { velocity, ..PartState::resting(position, Quat::IDENTITY) };
    Item { id: ColliderId(id), shape: Shape::Ball { radius: 1.0 }, state }
}

// B70, S-51a
#[test]
fn two_players_at_one_part_do_not_toss_it_about() {
    let ball = ColliderId(1);
    let mut world = World::new(&[item(1, Vec3::Y, Vec3::X * 4.0)], 1);
    world.election = Some(Election::default());
    let (mut last, mut changes, mut owner) = (None::<u64>, 0, None);
    for tick in 0..60 * 20_u64 {
        let at = world.table.state(ball).unwrap().position;
        // Both are close, each nearer by turns several times a second.
        let wave = libm::sinf(tick as f32 * 0.4);
        world.players[0].character = at + Vec3::X * (6.0 + 4.0 * wave);
        world.players[1].character = at - Vec3::X * (6.0 - 4.0 * wave);
        world.step();
        let now = world.table.owner(ball);
        if now != owner {
            if owner.is_some() && now.is_some() {
                assert!(last.is_none_or(|last| tick - last >= 30), "twice within half a second");
                last = Some(tick);
                changes += 1;
            }
            owner = now;
        }
    }
    assert!((10..=40).contains(&changes), "{changes}");
}

// B70, S-51a
#[test]
fn a_chain_has_one_owner_and_holds_together() {
    let items: Vec<Item> = (0..5).map(|n| item(n + 1, Vec3::new(n as f32 * 2.2, 1.0, 0.0), Vec3::Z * 6.0)).collect();
    let mut world = World::new(&items, 2);
    world.election = Some(Election::default());
    let join = |physics: &mut tidelock_sim::physics::LooseParts| {
        for n in 1..5 {
            assert!(physics.join((ColliderId(n), Vec3::X * 1.1), (ColliderId(n + 1), Vec3::X * -1.1)));
        }
    };
    join(&mut world.physics);
    for player in &mut world.players {
        join(&mut player.physics);
    }
    let mut worst = 0.0_f32;
    for tick in 0..60 * 30_u64 {
        let at = world.table.state(ColliderId(3)).unwrap().position;
        let near = usize::from(tick / 40 % 2 == 0);
        world.players[near].character = at + Vec3::X * 3.0;
        world.players[1 - near].character = at + Vec3::X * 30.0;
        if tick % 300 == 0 {
            // Something new to do, by the game.
            for id in 1..=5 {
                let mut state = *world.table.state(ColliderId(id)).unwrap();
                state.velocity = Vec3::new(0.0, 0.0, if tick % 600 == 0 { 6.0 } else { -6.0 });
                let now = world.time();
                world.table.write(ColliderId(id), state, now);
                world.physics.place(ColliderId(id), &state);
            }
        }
        world.step();
        let owner = world.table.owner(ColliderId(1));
        assert!((2..=5).all(|id| world.table.owner(ColliderId(id)) == owner), "split at {tick}");
        for n in 1..5 {
            let state = |id: u64| *world.table.state(ColliderId(id)).unwrap();
            let (a, b) = (state(n), state(n + 1));
            let gap = (a.position + a.rotation * (Vec3::X * 1.1)) - (b.position - b.rotation * (Vec3::X * 1.1));
            worst = worst.max(gap.length());
        }
    }
    assert!(world.table.handovers() >= 100, "{}", world.table.handovers());
    assert!(worst < 0.036, "joints off by {worst} studs");
}

// S-50, S-51a
#[test]
fn the_game_decides_and_large_islands_stay_here() {
    let items: Vec<Item> = (0..70)
        .map(|n| item(n + 1, Vec3::new((n % 10) as f32 * 2.0, 1.0 + (n / 10) as f32 * 2.0, 0.0), Vec3::ZERO))
        .chain([item(100, Vec3::new(60.0, 1.0, 0.0), Vec3::X), item(101, Vec3::new(-60.0, 1.0, 0.0), Vec3::X)])
        .collect();
    let mut world = World::new(&items, 4);
    world.election = Some(Election::default());
    world.players[0].character = Vec3::new(58.0, 2.0, 0.0);
    world.players[1].character = Vec3::new(-30.0, 2.0, 0.0);
    let now = world.time();
    assert!(world.table.set_policy(ColliderId(100), OwnershipPolicy::Forbidden, now));
    assert!(world.table.set_policy(ColliderId(101), OwnershipPolicy::Fixed(PlayerId(1)), now));
    assert!(!world.table.set_policy(ColliderId(101), OwnershipPolicy::Fixed(PlayerId(9)), now));
    for _ in 0..4 {
        world.step();
    }
    assert!((1..=70).all(|id| world.table.owner(ColliderId(id)).is_none()), "an island of 70");
    assert_eq!(world.table.owner(ColliderId(100)), None);
    assert_eq!(world.table.owner(ColliderId(101)), Some(PlayerId(1)));
    let now = world.time();
    world.table.remove_player(PlayerId(1), now);
    assert_eq!(world.table.owner(ColliderId(101)), None);
    assert_eq!(world.table.policy(ColliderId(101)), Some(OwnershipPolicy::Elected));
}
