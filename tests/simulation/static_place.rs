use super::*;

/// Bots wander for `seconds`; their corrections by cause.
fn corrections(round_trip_ms: u64, loss: f64, seed: u64, seconds: f64) -> Vec<String> {
    let mut game = game(demo(), link(round_trip_ms, 0, loss), seed);
    let mut bots = Wanderers::join(&mut game, 16, seed);
    run(&mut game, &mut bots, seconds);
    assert!(all_playing(&game));
    let reports = &game.server().metrics().reports;
    println!("{reports:?}");
    game.clients()
        .filter(|(_, client)| client.stats().mispredictions() > 0)
        .map(|(_, client)| format!("{:?}", client.stats().corrections))
        .collect()
}

// S-20a, S-24
#[test]
fn bots_see_no_correction_without_loss() {
    assert_eq!(corrections(50, 0.0, 1, 30.0), Vec::<String>::new());
}

// S-20a
#[test]
fn bots_see_no_correction_at_20_percent_loss_and_300_ms() {
    assert_eq!(corrections(300, 0.2, 2, 60.0), Vec::<String>::new());
}
