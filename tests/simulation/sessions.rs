use tidelock::PlayerCommand;
use tidelock::net::{DisconnectCode, DisconnectReason};
use tidelock::replication::ids::PlayerId;
use tidelock::sim::plain::PlainModule;

use super::*;

//
#[test]
fn a_client_without_the_place_fetches_it_over_a_lossy_link() {
    let mut game = game(demo(), link(100, 10, 0.1), 5);
    let key = game.add_client(ClientOptions { fetch_place: true, ..ClientOptions::default() });
    game.run(Duration::from_secs(6), idle);
    let client = game.client(key);
    assert_eq!(*client.state(), ClientState::Playing);
    assert!(client.stats().kinds_in.bulk > 1_000);
    let place = client.place().unwrap();
    assert_eq!(place.hash(), game.server().place().hash());
    assert_eq!(place.spawns().count(), 0, "the server's part stays on the server");
}

// T-4, B66: whatever a client held is free again.
#[test]
fn clients_that_leave_or_die_leave_nothing_behind() {
    let mut game = game(demo(), link(40, 0, 0.0), 6);
    let resting = game.server().instances();
    for round in 0..6 {
        let keys: Vec<_> = (0..8).map(|_| game.add_client(ClientOptions::default())).collect();
        game.run(Duration::from_secs(1), idle);
        assert_eq!(game.server().metrics().players, 8, "round {round}");
        for (index, key) in keys.into_iter().enumerate() {
            if index % 2 == 0 {
                game.client_mut(key).leave();
            } else {
                game.kill_client(key);
            }
        }
        game.run(Duration::from_secs(13), idle);
        assert_eq!(game.server().metrics().players, 0, "round {round}");
        assert_eq!(game.server().instances(), resting, "round {round}");
    }
}

// N-8, T-4
#[test]
fn a_kicked_player_hears_why() {
    let mut game = game(demo(), link(80, 0, 0.2), 7);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let text = String::from("no flying");
    game.server_mut().commands().player(PlayerId(1), PlayerCommand::Kick { text: text.clone() });
    game.run(Duration::from_secs(2), idle);
    let reason = DisconnectReason::Remote { code: DisconnectCode::Kicked, text };
    assert_eq!(*game.client(key).state(), ClientState::Disconnected { reason });
    assert_eq!(game.server().metrics().players, 0);
}

// N-1a, N-9: a player whose router forgets it plays on: the same session and character, nothing corrected, no new handshake.
#[test]
fn a_player_whose_address_changes_plays_on() {
    for loss in [0.0, 0.1] {
        let mut game = game(demo(), link(80, 10, loss), 12);
        let key = game.add_client(ClientOptions::default());
        let mut bot = tidelock::testing::Wanderer::new(12);
        game.run(Duration::from_secs(5), |_, now| bot.input(now));
        let character = game.client(key).character();
        assert!(character.is_some());
        for moves in 1..=3u8 {
            let reports = game.server().metrics().reports.adopted;
            game.move_client(key, ([10, 7, moves / 2, 1], 2_000 + u16::from(moves)).into());
            game.run(Duration::from_secs(5), |_, now| bot.input(now));
            let counters = game.server().network_counters();
            assert_eq!((counters.moved, counters.connected, counters.extended), (u64::from(moves), 1, 1));
            assert!(game.server().metrics().reports.adopted > reports + 80);
        }
        let client = game.client(key);
        assert_eq!((client.state(), client.character()), (&ClientState::Playing, character));
        assert_eq!((client.stats().mispredictions(), client.stats().faults), (0, 0));
    }
}

// S-14, B58
#[test]
fn another_module_is_refused_with_the_servers_named() {
    let mut game = game(demo(), link(40, 0, 0.0), 8);
    let key = game.add_client_of(ClientOptions::default(), Protocol::builder().module(PlainModule).build());
    game.run(Duration::from_secs(2), idle);
    let ClientState::Disconnected { reason: DisconnectReason::Remote { code, text } } = game.client(key).state() else {
        panic!("{:?}", game.client(key).state());
    };
    assert_eq!(*code, DisconnectCode::SchemaMismatch);
    assert!(text.contains("stock"), "{text}");
    assert_eq!(game.server().metrics().counters.joins_refused, 1);
}

// B05: however long the server has been up, one jump and the client is in time: within a tick after a second, others drawn
// after half a one.
#[test]
fn a_long_uptime_delays_nobody() {
    for uptime_s in [0, 600, 30 * 86_400] {
        let options = SimulationOptions {
            link: link(60, 5, 0.01),
            uptime: Duration::from_secs(uptime_s),
            ..SimulationOptions::default()
        };
        let mut game = Simulation::new(options, protocol(), demo());
        let mut bots = Wanderers::join(&mut game, 3, 9);
        let (mut playing, mut drawn, mut before) = (None, None, None);
        for _ in 0..240 {
            game.tick(|key, now| bots.input(key, now));
            let (client, now) = (game.client(ClientKey::nth(0)), game.now().as_secs_f64());
            if *client.state() == ClientState::Playing {
                playing = playing.or(Some(now));
            }
            let others = client.projection().characters.iter().filter(|character| !character.own).count();
            if others == 2 {
                drawn = drawn.or(Some(now));
            }
            // A report sent now arrives half a round trip later, with the next tick.
            let predicted = client.projection().predicted_s;
            let ahead = predicted - game.server().tick().seconds();
            if playing.is_some_and(|playing| now > playing + 1.0) {
                let least = 0.03 - 1.0 / 60.0;
                assert!((least..=0.03 + 2.0 / 60.0).contains(&ahead), "after {uptime_s} s: {ahead} s ahead");
                // No rate makes up for anything any more.
                if let Some((then, last)) = before {
                    let (passed, shown): (f64, f64) = (now - then, predicted - last);
                    assert!((shown / passed - 1.0).abs() < 0.02, "after {uptime_s} s: {shown} s in {passed} s");
                }
                before = Some((now, predicted));
            }
        }
        let (playing, drawn) = (playing.expect("it plays"), drawn.expect("it sees two others"));
        assert!(drawn - playing <= 0.5, "after {uptime_s} s: others appeared {} s late", drawn - playing);
    }
}

// B08: whoever stood still for longer than a session lasts is told so.
#[test]
fn a_client_that_stood_still_for_too_long_is_out() {
    for stall_s in [30.0, 900.0] {
        let mut game = game(demo(), link(60, 0, 0.0), 11);
        let mut bots = Wanderers::join(&mut game, 1, 11);
        run(&mut game, &mut bots, 2.0);
        game.stall_client(ClientKey::nth(0), Duration::from_secs_f64(stall_s));
        run(&mut game, &mut bots, stall_s + 1.0);
        let state = game.client(ClientKey::nth(0)).state().clone();
        assert!(matches!(state, ClientState::Disconnected { .. }), "after {stall_s} s: {state:?}");
        assert_eq!(game.server().metrics().players, 0);
    }
}

// B08: a client that stood still for long is in time again within a second.
#[test]
fn a_stalled_client_recovers() {
    for stall_s in [0.2, 2.0, 6.0] {
        let mut game = game(demo(), link(60, 0, 0.0), 10);
        let mut bots = Wanderers::join(&mut game, 2, 10);
        run(&mut game, &mut bots, 2.0);
        game.stall_client(ClientKey::nth(0), Duration::from_secs_f64(stall_s));
        run(&mut game, &mut bots, stall_s + 1.0);
        let client = game.client(ClientKey::nth(0));
        assert_eq!(*client.state(), ClientState::Playing, "after {stall_s} s");
        let error = game.server().tick().seconds() - client.projection().predicted_s;
        assert!(error.abs() < 0.1, "after {stall_s} s: {error} s off");
        let server = game.server().players().next().unwrap().position;
        let predicted = client.predicted().unwrap().position;
        assert!(server.distance(predicted) < 5.0, "after {stall_s} s: {server} and {predicted}");
    }
}

// N-7, B93: whoever comes back with a later token is in within two round trips; the session before ends once, what it still had on
// its way does nothing, and nobody gets back in with the older token.
#[test]
fn a_killed_player_comes_back_at_once() {
    let mut game = game(demo(), link(100, 20, 0.02), 93);
    let older = game.token(1);
    let mut bot = tidelock::testing::Wanderer::new(93);
    let first = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), |_, now| bot.input(now));
    assert!(game.client(first).character().is_some());
    game.kill_client(first);
    game.run(Duration::from_secs(1), idle);
    let later = game.token(1);
    let again = game.add_client_with(ClientOptions::default(), later);
    let (asked, mut accepted, mut most) = (game.now(), None, 0);
    for _ in 0..180 {
        game.tick(|_, now| bot.input(now));
        most = most.max(game.server().players().count());
        accepted = accepted.or((game.server().network_counters().connected == 2).then(|| game.now() - asked));
    }
    // 100 ms and some jitter each way, and the ticks of both ends; a lost datagram is sent again after a tenth of a second.
    let accepted = accepted.expect("it is let in");
    assert!(accepted <= Duration::from_millis(2 * 240 + 100), "let in after {accepted:?}");
    assert_eq!(*game.client(again).state(), ClientState::Playing);
    assert_eq!((most, game.server().network_counters().taken_over), (1, 1), "one player at any time, taken over once");
    let old = game.add_client_with(ClientOptions::default(), older);
    game.run(Duration::from_secs(12), |_, now| bot.input(now));
    assert!(!matches!(game.client(old).state(), ClientState::Playing | ClientState::Joining));
    let client = game.client(again);
    assert_eq!((client.state(), client.stats().faults), (&ClientState::Playing, 0));
    let counters = game.server().network_counters();
    assert_eq!((game.server().players().count(), counters.taken_over, counters.connected), (1, 1, 2));
}
