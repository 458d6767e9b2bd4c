//! quinn's datagrams: the server on a thread of its own, whose processor time counts; the clients on another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use quinn::{ClientConfig, Connection, Endpoint, ServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::crew::spent;
use crate::{DOWN, Spent, TICKS, UP, WARM_TICKS};

/// Clients that connect, or send, at once: as many as the server's socket can hold datagrams of.
const GROUP: usize = 64;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn certificate() -> (ServerConfig, ClientConfig) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key).expect("they belong together");
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a sound certificate");
    (server, ClientConfig::with_root_certificates(Arc::new(roots)).expect("a sound store"))
}

/// What both threads know of the run.
#[derive(Default)]
struct Shared {
    /// Server ticks that clients are to answer.
    ticks: AtomicUsize,
    over: AtomicBool,
}

pub(crate) fn run(clients: usize) -> Vec<Spent> {
    let (server, client) = certificate();
    let shared = Arc::new(Shared::default());
    let (told, address) = std::sync::mpsc::channel();
    let for_server = Arc::clone(&shared);
    let serving = std::thread::spawn(move || {
        let runtime = runtime();
        let _guard = runtime.enter();
        let endpoint =
            Endpoint::server(server, "127.0.0.1:0".parse().expect("an address")).expect("loopback has ports");
        told.send(endpoint.local_addr().expect("bound")).expect("the other waits");
        runtime.block_on(serve(endpoint, clients, &for_server))
    });
    let address = address.recv().expect("the server starts");
    let playing = std::thread::spawn(move || runtime().block_on(play(address, client, clients, shared)));
    let spent = serving.join().expect("the server ends");
    playing.join().expect("the clients end");
    spent
}

/// Sends in one stretch of ticks and receives in another, so that either can be told.
async fn serve(endpoint: Endpoint, clients: usize, shared: &Shared) -> Vec<Spent> {
    let mut connections = Vec::with_capacity(clients);
    while connections.len() < clients {
        connections.push(endpoint.accept().await.expect("an open endpoint").await.expect("an honest client"));
    }
    let received = Arc::new(AtomicUsize::new(0));
    let mut readers = JoinSet::new();
    for connection in &connections {
        let (connection, received) = (connection.clone(), Arc::clone(&received));
        readers.spawn(async move {
            while connection.read_datagram().await.is_ok() {
                received.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let mut of_ticks = vec![];
    for tick in 0..WARM_TICKS + TICKS {
        let begun = spent();
        for connection in &connections {
            connection.send_datagram(vec![5; DOWN].into()).expect("it fits");
        }
        // Long enough for all to leave and be acknowledged; waiting takes no processor time.
        tokio::time::sleep(Duration::from_millis(16)).await;
        let send = spent() - begun;
        let (begun, before) = (spent(), received.load(Ordering::Relaxed));
        shared.ticks.fetch_add(1, Ordering::Relaxed);
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(4)).await;
            if received.load(Ordering::Relaxed) - before >= clients * 99 / 100 {
                break;
            }
        }
        let receive = spent() - begun;
        let answered = received.load(Ordering::Relaxed) - before >= clients / 2;
        if answered && tick >= WARM_TICKS {
            of_ticks.push(Spent { send, receive });
        }
    }
    shared.over.store(true, Ordering::Relaxed);
    endpoint.close(0_u8.into(), b"over");
    endpoint.wait_idle().await;
    of_ticks
}

async fn play(address: std::net::SocketAddr, config: ClientConfig, clients: usize, shared: Arc<Shared>) {
    let mut connected: Vec<(Endpoint, Connection)> = Vec::with_capacity(clients);
    while connected.len() < clients {
        let mut group = JoinSet::new();
        for _ in 0..GROUP.min(clients - connected.len()) {
            let config = config.clone();
            group.spawn(async move {
                let mut endpoint =
                    Endpoint::client("127.0.0.1:0".parse().expect("an address")).expect("loopback has ports");
                endpoint.set_default_client_config(config);
                let connection = endpoint.connect(address, "localhost").expect("sound").await.expect("it is served");
                (endpoint, connection)
            });
        }
        while let Some(one) = group.join_next().await {
            connected.push(one.expect("no client fails"));
        }
    }
    let mut readers = JoinSet::new();
    for connection in connected.iter().map(|(_, connection)| connection.clone()) {
        readers.spawn(async move { while connection.read_datagram().await.is_ok() {} });
    }
    let mut answered = 0;
    while !shared.over.load(Ordering::Relaxed) {
        let ticks = shared.ticks.load(Ordering::Relaxed);
        if ticks > answered {
            answered = ticks;
            for batch in connected.chunks(GROUP) {
                batch.iter().for_each(|(_, connection)| drop(connection.send_datagram(vec![6; UP].into())));
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
