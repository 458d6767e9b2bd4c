use std::time::Duration;

use glam::Vec3;
use tidelock::net::LaneId;
use tidelock::replication::instance::Seat;
use tidelock::replication::wire::{ClientMessage, write_newest_report, write_report};
use tidelock::sim::report::Report;
use tidelock::sim::{Sequence, SimTime};
use tidelock::testing::{ClientKey, ClientOptions, Simulation, SimulationOptions};
use tidelock::{ClientState, Controller, PlayerCommand};

use super::choices::Choices;
use super::game::{all_four, walk, yard};

/// The most ticks of a run.
const MAX_TICKS: u32 = 160;
/// The identity of the client that says anything.
const HOSTILE: u64 = 1;
/// The most messages forged in one tick.
const MAX_FORGED: u8 = 40;

/// A whole server and the messages of a client that says anything on any lane, beside a client that plays by the rules and
/// must not notice.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let controller = choices.pick(&Controller::ALL);
    let mut game = Simulation::new(SimulationOptions::default(), all_four(), yard());
    game.server_mut().choose_controllers(
        move |newcomer| if newcomer.client_id == HOSTILE { controller } else { Controller::Replay },
    );
    let hostile =
        game.add_client(ClientOptions { fetch_place: choices.byte().is_multiple_of(8), ..ClientOptions::default() });
    let honest = game.add_client(ClientOptions::default());
    let joining = u32::from(choices.byte() % 32);
    (0..joining).for_each(|_| game.tick(walk));
    let mut sequence = 0;
    for _ in 0..MAX_TICKS {
        if choices.is_over() {
            break;
        }
        for _ in 0..choices.byte() % MAX_FORGED {
            forge(&mut choices, &mut game, hostile, &mut sequence);
        }
        if choices.byte() == 1 {
            command(&mut choices, &mut game);
        }
        game.tick(walk);
    }
    game.run(Duration::from_millis(400), walk);
    assert_eq!(*game.client(honest).state(), ClientState::Playing, "B21: nobody else's loss");
    let stats = game.client(honest).stats();
    assert_eq!((stats.faults, stats.mispredictions()), (0, 0), "{stats:?}");
    for player in game.server().players() {
        assert!(player.position.is_finite());
    }
    for (_, pose, _) in game.server().loose_parts() {
        assert!(pose.position.is_finite() && pose.rotation.is_finite());
    }
}

/// One message of the hostile client: anything, or a form of what it may send with numbers of its own.
fn forge(choices: &mut Choices<'_>, game: &mut Simulation, key: ClientKey, sequence: &mut u32) {
    *sequence += 1;
    let (lane, bytes) = match choices.byte() % 6 {
        0 => (0, {
            let mut bytes = Vec::new();
            let protocol_hash = all_four().hash();
            let name = String::from_utf8_lossy(choices.take(8)).into();
            ClientMessage::Join { protocol_hash, name, place: None }.write(&mut bytes);
            bytes
        }),
        1 => (1, report(choices, game, *sequence, write_report)),
        2 => (5, report(choices, game, *sequence, write_newest_report)),
        kind => (
            choices.byte() % 7,
            match choices.chunk() {
                [] => vec![kind],
                chunk => chunk.to_vec(),
            },
        ),
    };
    game.forge(key, LaneId(lane), bytes);
}

fn report(choices: &mut Choices<'_>, game: &Simulation, sequence: u32, write: fn(&mut Vec<u8>, &Report)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let at = game.server().players().next().map_or(Vec3::ZERO, |player| player.position);
    let offset = Vec3::new(choices.near(0.05), choices.near(0.05), choices.near(0.05));
    let report = Report {
        sequence: Sequence(sequence.wrapping_add(u32::from(choices.byte()))),
        epoch: u32::from(choices.byte() % 4),
        start: SimTime(game.server().tick().time().0.wrapping_add_signed(i64::from(choices.short() as i16))),
        position: at + offset,
        velocity: Vec3::new(choices.near(1.0), choices.near(1.0), choices.near(1.0)),
        ..Report::default()
    };
    write(&mut bytes, &report);
    bytes
}

/// The game does something with the hostile player.
fn command(choices: &mut Choices<'_>, game: &mut Simulation) {
    // It may have been thrown out before.
    let Some(hostile) = game.server().players().find(|info| info.client_id == HOSTILE) else { return };
    let position = Vec3::new(choices.near(0.3), choices.near(0.1), choices.near(0.3));
    let command = match choices.byte() % 8 {
        0 => PlayerCommand::Teleport { position, yaw: choices.near(0.1) },
        1 => PlayerCommand::Kill,
        2 => PlayerCommand::Respawn,
        3 => PlayerCommand::Stand,
        4 => PlayerCommand::Control(choices.pick(&Controller::ALL)),
        5 => PlayerCommand::SetGroups(vec![u32::from(choices.byte())]),
        6 => {
            let part = game.server().loose_parts().next().map(|(part, ..)| part);
            let Some(part) = part else { return };
            PlayerCommand::Sit(Seat { part, offset: position, yaw: 0.0 })
        }
        _ => PlayerCommand::Kick { text: "enough".into() },
    };
    game.server_mut().commands().player(hostile.player, command);
}
