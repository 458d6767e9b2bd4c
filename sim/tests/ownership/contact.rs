use glam::{Quat, Vec3};
use tidelock_sim::PartState;
use tidelock_sim::collision::{ColliderId, Shape};
use tidelock_sim::ownership::{Election, PlayerId};

use crate::world::{Item, World};

const MOVING: ColliderId = ColliderId(1);
const STRUCK: ColliderId = ColliderId(2);

/// A ball that rolls at another.
fn balls() -> Vec<Item> {
    let ball = |id: ColliderId, position: Vec3, speed: f32| Item {
        id,
        shape: Shape::Ball { radius: 1.0 },
        state: PartState {
            velocity: Vec3::X * speed,
            angular: Vec3::Z * -speed,
            ..PartState::resting(position, Quat::IDENTITY)
        },
    };
    vec![ball(MOVING, Vec3::Y, 10.0), ball(STRUCK, Vec3::new(16.0, 1.0, 0.3), 0.0)]
}

/// Velocities half a second after they met, as the server has them; `alternate` has each report tell of one ball only.
fn after_contact(seed: u64, alternate: bool) -> [Vec3; 2] {
    let mut world = World::new(&balls(), seed);
    world.election = Some(Election::default());
    world.players[1].character = Vec3::X * 500.0;
    for player in &mut world.players {
        player.alternate = alternate;
    }
    let mut met = None;
    for tick in 0..60 * 6_u32 {
        let state = |id| *world.table.state(id).unwrap();
        let (one, other) = (state(MOVING), state(STRUCK));
        if one.position.distance(other.position) < 2.05 {
            // S-51a: whatever touches has one owner.
            assert_eq!(world.table.owner(MOVING), world.table.owner(STRUCK), "seed {seed}, tick {tick}");
            met = met.or(Some(tick));
        }
        if met.is_some_and(|met| tick == met + 30) {
            return [one.velocity, other.velocity];
        }
        world.players[0].character = one.position;
        world.step();
    }
    panic!("they never met");
}

// B33: physics is handed over and never rolled back (S-50), so a group that interacts cannot be rewound in part; and where the
// word on its members comes in turns, what they did to each other stays what it was.
#[test]
fn bodies_in_contact_keep_what_they_did_to_each_other() {
    for seed in 0..10 {
        let (whole, halves) = (after_contact(seed, false), after_contact(seed, true));
        for (whole, half) in whole.into_iter().zip(halves) {
            assert!(whole.length() > 2.0, "seed {seed}: {whole}");
            let error = half.distance(whole) / whole.length();
            assert!(error <= 0.1, "seed {seed}: {half} and not {whole}");
        }
    }
}

// B33, S-51a: in the midst of contact, all of it changes hands in one tick.
#[test]
fn bodies_in_contact_change_hands_as_one() {
    let mut world = World::new(&balls(), 3);
    world.election = Some(Election::default());
    let mut changes = 0;
    let mut owner = None;
    for tick in 0..60 * 12_u32 {
        // Pressed together by the game's hand, each player nearer by turns.
        for (id, x) in [(MOVING, 0.0_f32), (STRUCK, 1.99)] {
            let state = PartState::resting(Vec3::new(x, 1.0, 0.0), Quat::IDENTITY);
            if world.table.owner(id).is_none() {
                world.physics.place(id, &state);
            }
        }
        let near = usize::from(tick / 60 % 2 == 0);
        world.players[near].character = Vec3::X * 3.0;
        world.players[1 - near].character = Vec3::X * 40.0;
        world.step();
        let now = world.table.owner(MOVING);
        assert_eq!(now, world.table.owner(STRUCK), "split in tick {tick}");
        let simulating = |player: PlayerId| world.players.iter().find(|one| one.id == player);
        if let Some(player) = now.and_then(simulating) {
            assert_eq!(player.owns(MOVING), player.owns(STRUCK), "a client has half of it in tick {tick}");
        }
        changes += u32::from(now != owner);
        owner = now;
    }
    assert!(changes >= 8, "{changes}");
}
