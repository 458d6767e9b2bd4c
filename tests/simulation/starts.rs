use std::process::Command;

use tidelock::ServerCounters;

use super::*;

/// Sessions hosted after each other in one process.
const CYCLES: u64 = 50;
/// What begins the line in which a process of its own says what it counted.
const SAYS: &str = "counted: ";

/// Everything a server and its clients counted in a session of two seconds, at whose end the server goes away with its clients
/// attached.
fn hosted() -> String {
    let mut game = game(demo(), link(40, 5, 0.02), 37);
    let mut bots = Wanderers::join(&mut game, 3, 37);
    run(&mut game, &mut bots, 2.0);
    assert!(all_playing(&game));
    let server = game.server();
    let metrics = server.metrics();
    // How long ticks take is the machine's own.
    let counters = ServerCounters { ticks_over_budget: 0, ..metrics.counters };
    let clients: Vec<_> = game.clients().map(|(_, client)| format!("{:?}", client.stats())).collect();
    format!(
        "{:?} {:?} {:?} {} {} {:?}",
        counters,
        metrics.reports,
        server.network_counters(),
        metrics.ticks,
        server.digest(),
        clients
    )
}

// B101: a server started and stopped again and again in one process, with clients attached, counts each time what it counts in a
// process of its own.
#[test]
fn every_start_is_as_in_a_fresh_process() {
    let test = ["--exact", "starts::says_what_a_session_counts", "--ignored", "--nocapture"];
    let this = std::env::current_exe().expect("this test's own program");
    let output = Command::new(this).args(test).output().expect("it runs again");
    let said = String::from_utf8(output.stdout).expect("words");
    let fresh = said.lines().find_map(|line| line.split_once(SAYS)).expect("what it counted").1.to_owned();
    for cycle in 0..CYCLES {
        assert_eq!(hosted(), fresh, "cycle {cycle}");
    }
}

#[test]
#[ignore = "the test above runs it in a process of its own"]
fn says_what_a_session_counts() {
    println!("{SAYS}{}", hosted());
}
