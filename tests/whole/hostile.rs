use std::net::SocketAddr;
use std::time::Duration;

use tidelock::testing::{ClientKey, ClientOptions, LinkConfig, Simulation, SimulationOptions};
use tidelock::{ClientState, ControlInput, Place, Protocol};

use crate::noise::Noise;

const PLACE: &str = r#"
name = "Yard"
[[spawn]]
position = [0.0, 3.0, 0.0]
[[spawn]]
position = [8.0, 3.0, 0.0]
[[part]]
name = "Ground"
size = [80.0, 2.0, 80.0]
position = [0.0, -1.0, 0.0]
[[part]]
name = "Crate"
size = [2.0, 2.0, 2.0]
position = [0.0, 1.5, 20.0]
anchored = false
"#;

const CLIENTS: usize = 3;

fn simulation(link: LinkConfig) -> (Simulation, Vec<ClientKey>) {
    let place = Place::compile(PLACE).expect("the yard is a place");
    let options = SimulationOptions { link, seed: 5, ..SimulationOptions::default() };
    let mut simulation = Simulation::new(options, Protocol::builder().build(), place);
    let clients = (0..CLIENTS).map(|_| simulation.add_client(ClientOptions::default())).collect();
    (simulation, clients)
}

fn stand(_: ClientKey, _: Duration) -> ControlInput {
    ControlInput::default()
}

fn all_play(simulation: &Simulation) -> bool {
    simulation.clients().all(|(_, client)| *client.state() == ClientState::Playing)
}

/// What rubbish must leave alone: everyone's state on the server, and the sessions.
fn essence(simulation: &Simulation) -> (u64, usize, u64, u64) {
    let metrics = simulation.server().metrics();
    (simulation.server().digest(), metrics.players, metrics.counters.faulty_sessions, metrics.reports.all_corrected())
}

// Bad input: random bytes at both sockets, from strangers and under the names of those who are known.
#[test]
fn rubbish_changes_nothing() {
    let quiet = {
        let (mut simulation, _) = simulation(LinkConfig::default());
        simulation.run(Duration::from_secs(8), stand);
        essence(&simulation)
    };
    let (mut simulation, clients) = simulation(LinkConfig::default());
    simulation.run(Duration::from_secs(2), stand);
    let network = simulation.network().clone();
    let server = simulation.server().local_addr();
    let stranger = SocketAddr::from(([10, 9, 9, 9], 9));
    let mut noises = vec![Noise::new(&network, stranger, server, 1)];
    for (seed, key) in (2..).zip(&clients) {
        let client = simulation.client(*key).local_addr();
        noises.push(Noise::new(&network, client, server, seed));
        noises.push(Noise::new(&network, server, client, seed + 100));
        noises.push(Noise::new(&network, stranger, client, seed + 200));
    }
    let end = simulation.now() + Duration::from_secs(6);
    while simulation.now() < end {
        for noise in &mut noises {
            noise.send(simulation.now(), 7);
        }
        simulation.tick(stand);
    }
    assert!(all_play(&simulation));
    assert_eq!(essence(&simulation), quiet);
    assert!(simulation.clients().all(|(_, client)| client.stats().faults == 0));
}

// Bad input: captured packets, bits flipped, said again and out of order.
#[test]
fn mutated_captures_change_nothing() {
    let (mut simulation, clients) = simulation(LinkConfig::default());
    simulation.run(Duration::from_secs(2), stand);
    let before: Vec<_> = clients.iter().map(|key| simulation.client(*key).predicted().copied()).collect();
    let mutating = LinkConfig {
        corrupt: 0.3,
        duplicate: 0.3,
        reorder: 0.2,
        reorder_delay: Duration::from_millis(80),
        ..LinkConfig::default()
    };
    for key in &clients {
        simulation.set_link(*key, mutating);
    }
    simulation.run(Duration::from_secs(20), stand);
    let after: Vec<_> = clients.iter().map(|key| simulation.client(*key).predicted().copied()).collect();
    assert!(all_play(&simulation));
    for (before, after) in before.iter().zip(&after) {
        let positions = [before, after].map(|snapshot| snapshot.as_ref().map(|snapshot| snapshot.position));
        assert_eq!(positions[0], positions[1]);
    }
    let metrics = simulation.server().metrics();
    assert_eq!((metrics.players, metrics.counters.faulty_sessions, metrics.counters.message_faults), (CLIENTS, 0, 0));
    assert!(simulation.clients().all(|(_, client)| client.stats().faults == 0));
}
