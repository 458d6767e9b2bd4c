use super::*;

/// Seconds of movement the server has run for its only player.
fn moved_seconds(game: &Simulation) -> f64 {
    game.server().metrics().reports.ticks as f64 / 240.0
}

// S-22, B20: a fast clock, or time saved up and spent at once, gains nothing beyond the budget.
#[test]
fn a_fast_clock_gains_a_quarter_of_a_second_in_any_window() {
    for clock_ppm in [50_000.0, 500_000.0] {
        let mut game = game(demo(), link(60, 10, 0.02), 41);
        game.add_client(ClientOptions { clock_ppm, ..ClientOptions::default() });
        let mut wanderer = Wanderer::new(41);
        let mut history = Vec::new();
        for _ in 0..60 * 40 {
            game.tick(|_, now| wanderer.input(now));
            history.push((game.now().as_secs_f64(), moved_seconds(&game)));
        }
        for window in [15, 60, 600] {
            for pair in history.windows(window) {
                let (from, to) = (pair[0], pair[window - 1]);
                let (passed, moved) = (to.0 - from.0, to.1 - from.1);
                assert!(moved <= passed + 0.25 + 1e-6, "clock +{clock_ppm} ppm: {moved} s in {passed} s");
            }
        }
        let reports = &game.server().metrics().reports;
        assert!(reports.all_corrected() + reports.all_refused() > 0, "surplus is dropped and counted");
    }
}

// S-20b: honest clients on bad links and with clocks of crystals are never corrected.
#[test]
fn honest_clocks_are_never_corrected_on_unsteady_links() {
    for (seed, clock_ppm) in [(42, 200.0), (43, -200.0), (44, 0.0)] {
        let steady = LinkConfig { jitter: Duration::from_millis(160), ..link(240, 0, 0.05) };
        let mut game = game(demo(), steady, seed);
        for _ in 0..4 {
            game.add_client(ClientOptions { clock_ppm, ..ClientOptions::default() });
        }
        let mut bots = Wanderers((0..4).map(|bot| Wanderer::new(seed + bot)).collect());
        run(&mut game, &mut bots, 120.0);
        assert!(all_playing(&game));
        for (_, client) in game.clients() {
            assert_eq!(client.stats().mispredictions(), 0, "{clock_ppm} ppm: {:?}", client.stats());
        }
    }
}
