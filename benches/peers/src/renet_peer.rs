//! renet with its netcode transport.

use std::net::UdpSocket;
use std::time::{Duration, SystemTime};

use renet::{ConnectionConfig, DefaultChannel, RenetClient, RenetServer};
use renet_netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication, ServerConfig,
};

use crate::crew::{Crew, batches, spent};
use crate::{BATCH, DOWN, Spent, TICK, TICKS, UP, WARM_TICKS};

/// Clients that connect at once: their requests are long, and the server's socket holds few of them.
const GROUP: usize = 16;
/// Clients between two looks at the server's socket while some connect.
const CONNECTING: usize = 64;

fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970")
}

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("loopback has ports")
}

pub(crate) fn run(clients: usize) -> Vec<Spent> {
    let server_socket = socket();
    let address = server_socket.local_addr().expect("bound");
    let config = ServerConfig {
        current_time: unix(),
        max_clients: clients,
        protocol_id: 1,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    let mut transport = NetcodeServerTransport::new(config, server_socket).expect("the socket works");
    let mut server = RenetServer::new(ConnectionConfig::default());
    let make = move || {
        let client = |client_id| {
            let authentication =
                ClientAuthentication::Unsecure { protocol_id: 1, client_id, server_addr: address, user_data: None };
            let transport = NetcodeClientTransport::new(unix(), authentication, socket()).expect("the socket works");
            (RenetClient::new(ConnectionConfig::default()), transport)
        };
        (0..clients as u64).map(client).collect()
    };
    let crew = Crew::start(make, |some: &mut [(RenetClient, NetcodeClientTransport)]| some.iter_mut().for_each(step));
    let (mut ticks, mut measured) = (vec![], 0);
    while measured < WARM_TICKS + TICKS {
        let connected = server.clients_id().len();
        let (ready, active) = (connected == clients, clients.min(connected / GROUP * GROUP + GROUP));
        let mut of_tick = Spent::default();
        let started = spent();
        if ready {
            for id in server.clients_id() {
                server.send_message(id, DefaultChannel::Unreliable, vec![5; DOWN]);
            }
        }
        transport.send_packets(&mut server);
        server.update(TICK);
        of_tick.send = spent() - started;
        let size = if ready { BATCH } else { CONNECTING };
        let count = active.div_ceil(size) as u32;
        for some in batches(active, size) {
            crew.step(some);
            let started = spent();
            transport.update(TICK / count, &mut server).expect("the socket works");
            of_tick.receive += spent() - started;
        }
        let started = spent();
        for id in server.clients_id() {
            while server.receive_message(id, DefaultChannel::Unreliable).is_some() {}
        }
        of_tick.receive += spent() - started;
        if ready {
            measured += 1;
            if measured > WARM_TICKS {
                ticks.push(of_tick);
            }
        }
    }
    ticks
}

/// A client's tick.
fn step((client, transport): &mut (RenetClient, NetcodeClientTransport)) {
    client.update(TICK);
    drop(transport.update(TICK, client));
    while client.receive_message(DefaultChannel::Unreliable).is_some() {}
    if client.is_connected() {
        client.send_message(DefaultChannel::Unreliable, vec![6; UP]);
        drop(transport.send_packets(client));
    }
}
