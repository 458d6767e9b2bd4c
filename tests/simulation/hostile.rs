use std::net::SocketAddr;

use super::noise::Noise;
use super::ownership::yard;
use super::*;

const CLIENTS: usize = 3;

/// A game of three who stand still.
fn standing() -> (Simulation, Vec<ClientKey>) {
    let mut game = game(yard(), LinkConfig::default(), 5);
    let clients = (0..CLIENTS).map(|_| game.add_client(ClientOptions::default())).collect();
    (game, clients)
}

/// What rubbish must leave alone: everyone's state on the server, and the sessions.
fn essence(game: &Simulation) -> (u64, usize, u64, u64) {
    let metrics = game.server().metrics();
    (game.server().digest(), metrics.players, metrics.counters.faulty_sessions, metrics.reports.all_corrected())
}

// Bad input: random bytes at both sockets, from strangers and under the names of those who are known.
#[test]
fn rubbish_changes_nothing() {
    let quiet = {
        let (mut game, _) = standing();
        game.run(Duration::from_secs(8), idle);
        essence(&game)
    };
    let (mut game, clients) = standing();
    game.run(Duration::from_secs(2), idle);
    let network = game.network().clone();
    let server = game.server().local_addr();
    let stranger = SocketAddr::from(([10, 9, 9, 9], 9));
    let mut noises = vec![Noise::new(&network, stranger, server, 1)];
    for (seed, key) in (2..).zip(&clients) {
        let client = game.client(*key).local_addr();
        noises.push(Noise::new(&network, client, server, seed));
        noises.push(Noise::new(&network, server, client, seed + 100));
        noises.push(Noise::new(&network, stranger, client, seed + 200));
    }
    let end = game.now() + Duration::from_secs(6);
    while game.now() < end {
        for noise in &mut noises {
            noise.send(game.now(), 7);
        }
        game.tick(idle);
    }
    assert!(all_playing(&game));
    assert_eq!(essence(&game), quiet);
    assert!(game.clients().all(|(_, client)| client.stats().faults == 0));
}

// Bad input: captured packets, bits flipped, said again and out of order.
#[test]
fn mutated_captures_change_nothing() {
    let (mut game, clients) = standing();
    game.run(Duration::from_secs(2), idle);
    let before: Vec<_> = clients.iter().map(|key| game.client(*key).predicted().copied()).collect();
    let mutating = LinkConfig {
        corrupt: 0.3,
        duplicate: 0.3,
        reorder: 0.2,
        reorder_delay: Duration::from_millis(80),
        ..LinkConfig::default()
    };
    for key in &clients {
        game.set_link(*key, mutating);
    }
    game.run(Duration::from_secs(20), idle);
    let after: Vec<_> = clients.iter().map(|key| game.client(*key).predicted().copied()).collect();
    assert!(all_playing(&game));
    for (before, after) in before.iter().zip(&after) {
        let positions = [before, after].map(|snapshot| snapshot.as_ref().map(|snapshot| snapshot.position));
        assert_eq!(positions[0], positions[1]);
    }
    let metrics = game.server().metrics();
    assert_eq!((metrics.players, metrics.counters.faulty_sessions, metrics.counters.message_faults), (CLIENTS, 0, 0));
    assert!(game.clients().all(|(_, client)| client.stats().faults == 0));
}
