use super::*;

/// A game with everything its digest depends on.
fn busy(seed: u64) -> (Simulation, Wanderers) {
    let mut game = game(demo(), link(80, 10, 0.05), seed);
    let bots = Wanderers::join(&mut game, 8, seed);
    (game, bots)
}

// Invariant 8, B10: nothing is shared between games of one process.
#[test]
fn games_of_one_process_do_not_touch_each_other() {
    let (mut alone, mut bots) = busy(31);
    run(&mut alone, &mut bots, 4.0);
    let ((mut one, mut one_bots), (mut other, mut other_bots)) = (busy(31), busy(32));
    for _ in 0..8 {
        run(&mut one, &mut one_bots, 0.5);
        run(&mut other, &mut other_bots, 0.5);
    }
    assert_eq!(one.server().digest(), alone.server().digest());
    assert_ne!(one.server().digest(), other.server().digest());
}

// B10: a session hosted after others in the same process begins as the first did: in control within 0.2 s of its connection,
// its counters from nothing, its end the same to the bit. 20 sessions of 3 s, or of TIDELOCK_HOSTED_SECONDS (120 by hand).
#[test]
fn a_session_after_others_begins_as_the_first_did() {
    let seconds = std::env::var("TIDELOCK_HOSTED_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(3.0);
    let hosted = || {
        let mut game = game(demo(), link(0, 0, 0.0), 35);
        let fresh = game.server().metrics().clone();
        let mut bots = Wanderers::join(&mut game, 1, 35);
        let (mut playing, mut moved) = (None, None);
        for tick in 0..60_u32 {
            game.tick(|key, now| bots.input(key, now));
            let client = game.client(ClientKey::nth(0));
            playing = playing.or((*client.state() == ClientState::Playing).then_some(tick));
            moved = moved.or((game.server().metrics().reports.adopted > 0).then_some(tick));
        }
        let wait = moved.expect("it moves") - playing.expect("it plays");
        assert!(wait <= 12, "in control after {wait} ticks");
        run(&mut game, &mut bots, seconds);
        assert_eq!(game.client(ClientKey::nth(0)).stats().mispredictions(), 0);
        (fresh.counters, fresh.ticks, game.server().digest(), game.server().metrics().counters.motion_bytes)
    };
    let first = hosted();
    for session in 1..20 {
        assert_eq!(hosted(), first, "session {session}");
    }
}

// Invariant 6, S-37: drawing at another rate, or not at all, changes nothing that is simulated. Nobody is given loose parts
// here: a client that does not draw simulates none.
#[test]
fn drawing_feeds_nothing() {
    let walk = |draw: bool| {
        let mut server = SimulationOptions { seed: 33, link: link(80, 0, 0.0), ..SimulationOptions::default() };
        server.server.election.reach = 0.0;
        let mut game = Simulation::new(server, protocol(), demo());
        let mut options = ClientOptions::default();
        options.config.draw = draw;
        for _ in 0..4 {
            game.add_client(options.clone());
        }
        let mut bots = Wanderers((0..4).map(Wanderer::new).collect());
        run(&mut game, &mut bots, 6.0);
        game.server().digest()
    };
    assert_eq!(walk(true), walk(false));
}

// Invariants 2 and 3, N-6: a client that stops reading costs no one else anything and is gone in time.
#[test]
fn a_client_that_hears_nothing_harms_nobody() {
    let mut game = game(demo(), link(60, 0, 0.0), 34);
    let mut bots = Wanderers::join(&mut game, 6, 34);
    run(&mut game, &mut bots, 2.0);
    let deaf = ClientKey::nth(2);
    game.set_link(deaf, LinkConfig { partition: true, ..LinkConfig::default() });
    run(&mut game, &mut bots, 14.0);
    assert_eq!(game.server().metrics().players, 5);
    assert_eq!(game.server().metrics().counters.timeouts, 1);
    for (_, client) in game.clients().filter(|(key, _)| *key != deaf) {
        assert_eq!(*client.state(), ClientState::Playing);
        assert_eq!(client.stats().mispredictions(), 0);
        assert_eq!(client.projection().characters.len(), 5);
    }
}
