use glam::{Quat, Vec3};
use tidelock::net::LaneSet;
use tidelock::replication::ids::InstanceId;
use tidelock::replication::instance::Pose;
use tidelock::replication::wire::write_owned_report;
use tidelock::sim::collision::ColliderId;
use tidelock::sim::ownership::{OwnedReport, OwnedSnapshot, OwnedVerdict, SnapshotRefusal};
use tidelock::sim::{PartState, Sequence, SimTime};
use tidelock::{DrawnPart, PartOwner, PartOwnership};

use super::*;

/// A yard with one loose crate, and players around it.
pub(super) const YARD: &str = r#"
name = "Yard"

[[spawn]]
position = [-12.0, 3.0, 0.0]

[[spawn]]
position = [12.0, 3.0, 0.0]

[[part]]
name = "Floor"
size = [4000.0, 2.0, 4000.0]
position = [0.0, -1.0, 0.0]

[[part]]
name = "Crate"
size = [3.0, 3.0, 3.0]
position = [0.0, 1.5, 0.0]
anchored = false
"#;

pub(super) const CRATE: InstanceId = InstanceId(2);

/// Nothing pulls: what moves goes on, so that every unevenness is a handoff's.
fn weightless() -> Place {
    Place::compile(
        &YARD.replace("[[spawn]]\nposition = [-12.0", "[movement]\ngravity = 0.001\n\n[[spawn]]\nposition = [-12.0"),
    )
    .expect("a sound place")
}

pub(super) fn yard() -> Place {
    Place::compile(YARD).expect("a sound place")
}

pub(super) fn crate_of(game: &Simulation, key: ClientKey) -> DrawnPart {
    let parts = &game.client(key).projection().parts;
    *parts.iter().find(|part| part.id == CRATE).expect("the crate is in sight")
}

/// Where the server has the crate.
pub(super) fn truth(game: &Simulation) -> Vec3 {
    game.server().loose_parts().find(|(id, ..)| *id == CRATE).expect("the crate").1.position
}

// B68, S-52: at 10 studs/s, with another owner each second, nobody sees a seam.
#[test]
fn a_moving_part_changes_hands_unseen_on_every_screen() {
    let (mut worst, mut frames, mut even) = (0.0_f32, 0_u32, 0_u32);
    let (mut least, mut most) = (f32::INFINITY, 0.0_f32);
    for seed in 1..=4 {
        let mut game = game(weightless(), link(100, 20, 0.05), seed);
        let keys: Vec<_> = (0..3).map(|_| game.add_client(ClientOptions::default())).collect();
        game.run(Duration::from_secs(3), idle);
        game.server_mut().commands().set_ownership(CRATE, PartOwnership::Server);
        let pose = Pose { position: Vec3::new(-60.0, 20.0, 0.0), rotation: Quat::IDENTITY };
        game.server_mut().commands().launch_part(CRATE, pose, Vec3::X * 10.0, Vec3::ZERO);
        game.run(Duration::from_secs(2), idle);
        let mut last: Vec<Option<(f64, Vec3)>> = vec![None; keys.len()];
        let mut owners = std::collections::BTreeSet::new();
        for tick in 0..60 * 12_u32 {
            if tick % 60 == 0 {
                let turn = [Some(0), Some(1), None, Some(1), Some(0), None][tick as usize / 60 % 6];
                let policy =
                    turn.map_or(PartOwnership::Server, |one: usize| PartOwnership::Player(player(&game, keys[one])));
                game.server_mut().commands().set_ownership(CRATE, policy);
            }
            game.tick(idle);
            owners.insert(game.server().owner(CRATE));
            for (key, last) in keys.iter().zip(&mut last) {
                let (at, position) = (game.client(*key).frame_time(), crate_of(&game, *key).position);
                if let Some((before, from)) = last.replace((at, position)).filter(|(before, _)| *before < at) {
                    let dt = (at - before) as f32;
                    worst = worst.max(position.distance(from + Vec3::X * 10.0 * dt));
                    let speed = (position - from).x / dt;
                    (least, most) = (least.min(speed), most.max(speed));
                    frames += 1;
                    even += u32::from((9.0..=11.0).contains(&speed));
                }
            }
        }
        assert_eq!(owners.len(), 3, "{owners:?}");
    }
    println!("worst {worst}, {even} of {frames} frames even, {least} to {most}");
    assert!(worst <= 0.15, "a jump of {worst} studs");
    assert!(f64::from(even) >= 0.985 * f64::from(frames), "{even} of {frames} frames at an even speed");
}

// S-50, S-52: whoever walks up to a crate owns it before touching it, and it gives way at once at 150 ms.
#[test]
fn a_pushed_crate_gives_way_at_once_and_is_never_rewound() {
    let mut game = game(yard(), link(150, 10, 0.02), 3);
    let pusher = game.add_client(ClientOptions::default());
    let watcher = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), idle);
    let from = game.client(pusher).predicted().expect("it plays").position;
    let way = (truth(&game) - from).with_y(0.0).normalize();
    let (mut before, mut back, mut nearest) = (crate_of(&game, pusher).position, 0.0_f32, f32::INFINITY);
    for _ in 0..120 {
        // The other one walks away before it.
        game.tick(|_, _| towards(way));
        let drawn = crate_of(&game, pusher).position;
        back = back.min((drawn - before).dot(way));
        before = drawn;
        let own = game.client(pusher).projection().own().expect("it plays").position;
        nearest = nearest.min((drawn - own).dot(way));
    }
    assert_eq!(crate_of(&game, pusher).owner, PartOwner::Own);
    assert_eq!(crate_of(&game, watcher).owner, PartOwner::Other(player(&game, pusher)));
    assert_eq!(game.server().owner(CRATE), Some(player(&game, pusher)));
    assert!((before - from).dot(way) > 20.0, "it was pushed to {before} from {from}");
    assert!(back > -0.05, "it went back by {back} studs");
    // Half a crate and a character's radius lie between their centres.
    assert!(nearest > 1.5, "the character was {nearest} studs from the crate's centre");
    game.run(Duration::from_secs(3), idle);
    let (own, seen, held) = (crate_of(&game, pusher).position, crate_of(&game, watcher).position, truth(&game));
    assert!(own.distance(held) < 0.05 && seen.distance(held) < 0.05, "{own} {seen} {held}");
    assert_eq!(game.client(pusher).stats().mispredictions(), 0);
    assert!(game.server().metrics().owned.accepted > 20);
}

// B70: two who push one crate do not tear it apart.
#[test]
fn two_pushers_change_owner_at_most_twice_a_second() {
    let mut game = game(yard(), link(100, 20, 0.05), 4);
    let keys = [game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default())];
    game.run(Duration::from_secs(3), idle);
    let mut changes = Vec::new();
    let mut owner = game.server().owner(CRATE);
    for _ in 0..60 * 20 {
        let held = truth(&game);
        let ways = keys.map(|key| {
            let from = game.client(key).predicted().map_or(Vec3::ZERO, |motor| motor.position);
            (held - from).with_y(0.0).normalize_or_zero()
        });
        game.tick(|key, now| {
            // They back off in turn, so that who is nearer changes.
            let back = (now.as_millis() as u64 / 700 + key.index() as u64).is_multiple_of(2);
            towards(if back { -ways[key.index()] } else { ways[key.index()] })
        });
        if game.server().owner(CRATE) != owner {
            owner = game.server().owner(CRATE);
            // Between two players the server may have it for a moment.
            if owner.is_none() {
                continue;
            }
            changes.push(game.now());
        }
    }
    assert!(changes.len() > 2, "{changes:?}");
    let shortest = changes.windows(2).map(|pair| pair[1] - pair[0]).min().expect("more than two");
    assert!(shortest >= Duration::from_millis(483), "{shortest:?} between two owners");
}

// B71: after a handoff the old owner hears of the part as anyone does.
#[test]
fn the_old_owner_is_not_told_everything_again() {
    let mut game = game(weightless(), link(100, 0, 0.0), 5);
    let keys = [game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default())];
    game.run(Duration::from_secs(3), idle);
    let pose = Pose { position: Vec3::new(-60.0, 20.0, 0.0), rotation: Quat::IDENTITY };
    let give = |game: &mut Simulation, to: ClientKey| {
        let to = PartOwnership::Player(player(game, to));
        game.server_mut().commands().set_ownership(CRATE, to);
    };
    let bytes = |game: &Simulation| {
        let kinds = game.client(keys[0]).stats().kinds_in;
        kinds.motion + kinds.state
    };
    let second = |game: &mut Simulation| {
        let before = bytes(game);
        game.run(Duration::from_secs(1), idle);
        bytes(game) - before
    };
    give(&mut game, keys[1]);
    game.server_mut().commands().launch_part(CRATE, pose, Vec3::X * 10.0, Vec3::ZERO);
    game.run(Duration::from_secs(2), idle);
    let usual = second(&mut game);
    give(&mut game, keys[0]);
    game.run(Duration::from_secs(1), idle);
    let owning = second(&mut game);
    give(&mut game, keys[1]);
    let after = second(&mut game);
    assert!(owning < usual, "an owner was sent its own part: {owning} of {usual} bytes");
    assert!(after as f64 <= 1.2 * usual as f64, "{after} bytes after the handoff, {usual} usually");
}

fn forged(sequence: u32, time: SimTime, epoch: u32, state: PartState) -> Vec<u8> {
    // A part that is nowhere is written twice, which no client does: a position on the wire is always a number.
    let count = if state.position.is_finite() { 1 } else { 2 };
    let snapshots = vec![OwnedSnapshot { part: ColliderId(CRATE.0), epoch, state }; count];
    let mut bytes = Vec::new();
    write_owned_report(&mut bytes, &OwnedReport { sequence: Sequence(sequence), time, snapshots });
    bytes
}

// S-51: an owner who lies moves nothing farther than the limits, and harms nobody.
#[test]
fn a_hostile_owner_is_counted_and_ignored() {
    let mut game = game(yard(), link(50, 0, 0.0), 6);
    let (hostile, other) = (game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default()));
    game.run(Duration::from_secs(3), idle);
    let liar = player(&game, hostile);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Player(liar));
    game.run(Duration::from_secs(1), idle);
    let before = truth(&game);
    let rest = PartState::resting(before, Quat::IDENTITY);
    let far = PartState { position: Vec3::new(500.0, 50.0, 0.0), ..rest };
    let fast = PartState { velocity: Vec3::X * 1e4, ..rest };
    let nan = PartState { position: Vec3::NAN, ..rest };
    for round in 0..120_u32 {
        let (now, sequence) = (game.server().tick().time(), 1_000_000 + round * 10);
        // The epochs around the present one, so that one of them is right.
        for (more, state) in (0..).zip([nan, far, fast]) {
            game.forge(hostile, LaneSet::MOTION, forged(sequence + more, now, 1 + round % 3, state));
        }
        game.forge(hostile, LaneSet::MOTION, vec![7; 40]);
        game.tick(idle);
    }
    // Those that cannot be read are faults, and after 16 of them the session is over.
    game.run(Duration::from_secs(2), idle);
    let metrics = game.server().metrics();
    let owned = metrics.owned;
    assert!(owned.reports(OwnedVerdict::Malformed) > 0, "{owned:?}");
    assert!(owned.refused(SnapshotRefusal::Step) > 0 && owned.refused(SnapshotRefusal::Epoch) > 0, "{owned:?}");
    assert!(owned.refused(SnapshotRefusal::Speed) > 0, "{owned:?}");
    assert_eq!(metrics.counters.faulty_sessions, 1);
    assert!(truth(&game).distance(before) < 1.0, "it was moved from {before} to {}", truth(&game));
    assert_ne!(game.server().owner(CRATE), Some(liar));
    assert_eq!(*game.client(other).state(), ClientState::Playing);
}

// S-51: more reports than the rate allows say nothing; who owns nothing moves nothing.
#[test]
fn floods_and_strangers_move_nothing() {
    let mut game = game(yard(), link(50, 0, 0.0), 7);
    let (owner, stranger) = (game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default()));
    game.run(Duration::from_secs(3), idle);
    let owner = player(&game, owner);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Player(owner));
    game.run(Duration::from_secs(1), idle);
    let before = truth(&game);
    let state = PartState::resting(before + Vec3::X, Quat::IDENTITY);
    for round in 0..60_u32 {
        let now = game.server().tick().time();
        for more in 0..20 {
            game.forge(stranger, LaneSet::MOTION, forged(1_000_000 + round * 20 + more, now, 1 + more % 4, state));
        }
        game.tick(idle);
    }
    game.run(Duration::from_secs(1), idle);
    let owned = game.server().metrics().owned;
    assert!(owned.reports(OwnedVerdict::Rate) > 500, "{owned:?}");
    assert!(owned.refused(SnapshotRefusal::Owner) > 30, "{owned:?}");
    assert!(truth(&game).distance(before) < 0.1);
    assert_eq!(game.server().owner(CRATE), Some(owner));
}

// S-51a: a client that dies while it owns returns its parts within the lease, long before its session times out.
#[test]
fn a_dead_client_returns_its_parts() {
    let mut game = game(yard(), link(100, 20, 0.05), 8);
    let (dying, watcher) = (game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default()));
    game.run(Duration::from_secs(3), idle);
    let from = game.client(dying).predicted().expect("it plays").position;
    let way = (truth(&game) - from).with_y(0.0).normalize();
    game.run(Duration::from_secs(1), |key, _| if key == dying { towards(way) } else { ControlInput::default() });
    let owner = player(&game, dying);
    assert_eq!(game.server().owner(CRATE), Some(owner));
    game.kill_client(dying);
    game.run(Duration::from_millis(2_500), idle);
    assert_ne!(game.server().owner(CRATE), Some(owner));
    assert_eq!(game.server().metrics().players, 2, "its session has not ended yet");
    game.run(Duration::from_secs(2), idle);
    let (seen, held) = (crate_of(&game, watcher), truth(&game));
    assert!(seen.position.distance(held) < 0.05, "{seen:?} {held}");
    assert_ne!(seen.owner, PartOwner::Other(owner));
}

// S-52: the game puts an owned part elsewhere, and its owner follows.
#[test]
fn the_game_moves_an_owned_part() {
    let mut game = game(yard(), link(100, 20, 0.05), 9);
    let keys = [game.add_client(ClientOptions::default()), game.add_client(ClientOptions::default())];
    game.run(Duration::from_secs(3), idle);
    let owner = player(&game, keys[0]);
    game.server_mut().commands().set_ownership(CRATE, PartOwnership::Player(owner));
    game.run(Duration::from_secs(1), idle);
    let there = Vec3::new(0.0, 1.5, 40.0);
    game.server_mut().commands().move_part(CRATE, there, Quat::IDENTITY);
    game.run(Duration::from_secs(2), idle);
    for position in [truth(&game), crate_of(&game, keys[0]).position, crate_of(&game, keys[1]).position] {
        assert!(position.distance(there) < 0.1, "{position}");
    }
    assert_eq!(game.server().owner(CRATE), Some(owner));
}

// Invariant 1: owners are elected alike whatever the number of threads.
#[test]
fn pushing_gives_equal_digests_at_one_and_two_workers() {
    let digests = |worker_threads| {
        let options = SimulationOptions { seed: 10, link: link(100, 20, 0.05), worker_threads, ..Default::default() };
        let mut game = Simulation::new(options, protocol(), demo());
        let mut bots = Wanderers::join(&mut game, 8, 10);
        let digests: Vec<_> = (0..8)
            .map(|_| {
                run(&mut game, &mut bots, 1.0);
                game.server().digest()
            })
            .collect();
        assert!(game.server().metrics().handovers > 0 && game.server().metrics().owned.accepted > 0);
        digests
    };
    assert_eq!(digests(1), digests(2));
}
