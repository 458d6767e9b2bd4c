//! A server and its clients over real UDP on loopback, however many threads serve the socket.

use std::time::Duration;

use tidelock::net::io::OsEntropy;
use tidelock::net::{ConnectToken, TokenRequest};
use tidelock::{
    Client, ClientConfig, ClientState, ControlInput, Controller, Place, PlaceCache, Protocol, Server, ServerConfig,
    SystemClock,
};

const KEY: [u8; 32] = [9; 32];
const CLIENTS: u64 = 16;

fn token(server: &Server, client_id: u64) -> ConnectToken {
    let now = SystemClock::unix_time().as_secs();
    let request = TokenRequest {
        protocol_id: Protocol::NETCODE_ID,
        private_key: KEY,
        client_id,
        server_addresses: vec![server.local_addr()],
        create_s: now,
        expire_s: now + 300,
        timeout_s: 30,
        user_data: [0; 256],
    };
    ConnectToken::mint(&request, &mut OsEntropy::new()).expect("a sound request")
}

/// Everyone joins, walks under one of the four controllers and sees everyone; then the server goes away and everyone hears it.
fn play_over_sockets(network_threads: usize) {
    let place = Place::compile(include_str!("../../bins/places/demo.toml")).expect("a sound place");
    let start = Protocol::builder().controller(Controller::ALL[0]);
    let others = Controller::ALL[1..].iter();
    let protocol = others.fold(start, |builder, other| builder.or_controller(*other)).build();
    let config = ServerConfig { bind: ([127, 0, 0, 1], 0).into(), network_threads, ..ServerConfig::new(KEY) };
    let mut server = Server::bind(config, protocol.clone(), place).expect("a free port");
    server.choose_controllers(|newcomer| Controller::ALL[newcomer.client_id as usize % 4]);
    let places = std::sync::Arc::new(PlaceCache::new());
    let mut clients: Vec<_> = (1..=CLIENTS)
        .map(|id| {
            let config = ClientConfig { places: places.clone(), ..ClientConfig::default() };
            Client::connect(config, protocol.clone(), token(&server, id)).expect("a free port")
        })
        .collect();
    let clock = SystemClock::start();
    let walk = ControlInput { direction: glam::Vec3::X, ..ControlInput::default() };
    let said = |client: &Client| client.stats().reports >= 20 || client.stats().inputs >= 60;
    let done = |clients: &[Client]| {
        clients.iter().all(|client| client.projection().characters.len() == CLIENTS as usize && said(client))
    };
    // A bound on the number of turns, not on time: a busy machine only takes longer over each.
    for _ in 0..20_000 {
        server.step(clock.now());
        clients.iter_mut().for_each(|client| client.update(clock.now(), &walk));
        if done(&clients) {
            break;
        }
        clock.sleep_until(clock.now() + Duration::from_millis(2));
    }
    assert!(done(&clients), "{:?}", clients.iter().map(Client::state).collect::<Vec<_>>());
    let metrics = server.metrics();
    assert!(metrics.reports.adopted > 0 && metrics.allowances.accepted > 0 && metrics.inputs.buffer.applied > 0);
    let moves = |client: &Client| client.controller() == Some(Controller::Ticked) && client.stats().snapshots > 0;
    assert_eq!(clients.iter().filter(|client| moves(client)).count() as u64, CLIENTS / 4);
    server.shut_down(clock.now());
    for _ in 0..5_000 {
        clients.iter_mut().for_each(|client| client.update(clock.now(), &walk));
        if clients.iter().all(|client| matches!(client.state(), ClientState::Disconnected { .. })) {
            return;
        }
        clock.sleep_until(clock.now() + Duration::from_millis(2));
    }
    panic!("not everyone heard that the server went away");
}

// N-10
#[test]
fn the_tick_polls_the_socket_itself() {
    play_over_sockets(0);
}

#[test]
fn one_thread_serves_the_socket() {
    play_over_sockets(1);
}

#[cfg(target_os = "linux")]
#[test]
fn three_threads_serve_one_address() {
    play_over_sockets(3);
}
