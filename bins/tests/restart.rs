//! A server's process that dies and comes back under the feet of its clients, over real sockets.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tidelock::net::io::OsEntropy;
use tidelock::net::{ConnectToken, DisconnectReason, TokenRequest};
use tidelock::{Client, ClientConfig, ClientState, ControlInput, Protocol, SystemClock};

/// The key `serve` takes unless told otherwise.
const KEY: [u8; 32] = *b"tidelock development key, public";
/// Seconds a token is good for, and of silence after which a connection ends.
const LIFETIME_S: u64 = 4;
const TIMEOUT_S: i32 = 2;
/// Longest that anything here is waited for: a bound on a test that hangs, far beyond what it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// `tidelock serve` in a process of its own, killed when this is dropped.
struct ServerProcess(Child);

impl ServerProcess {
    /// Starts it and waits until it serves.
    fn start(address: SocketAddr) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidelock"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TIDELOCK_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--metrics", "off", "--bind", &address.to_string()]);
        command.args(["--token-lifetime-s", &LIFETIME_S.to_string()]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the command starts");
        let mut said = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut said).expect("words");
        assert!(said.contains("serving"), "{said}");
        Self(child)
    }
}

impl Drop for ServerProcess {
    /// SIGKILL where there are signals: nothing is said to anyone.
    fn drop(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ended");
    }
}

fn token(server: SocketAddr, client_id: u64) -> ConnectToken {
    let create_s = SystemClock::unix_time().as_secs();
    let request = TokenRequest {
        protocol_id: Protocol::NETCODE_ID,
        private_key: KEY,
        client_id,
        server_addresses: vec![server],
        create_s,
        expire_s: create_s + LIFETIME_S,
        timeout_s: TIMEOUT_S,
        user_data: [0; 256],
    };
    ConnectToken::mint(&request, &mut OsEntropy::new()).expect("a sound request")
}

fn join(token: ConnectToken) -> Client {
    Client::connect(ClientConfig::default(), Protocol::builder().build(), token).expect("a free port")
}

/// Lets the clients' time pass until `done`; whether that came.
fn run(clients: &mut [Client], clock: &SystemClock, longest: Duration, done: impl Fn(&Client) -> bool) -> bool {
    let deadline = Instant::now() + longest;
    loop {
        clients.iter_mut().for_each(|client| client.update(clock.now(), &ControlInput::default()));
        if clients.iter().all(&done) {
            return true;
        }
        clock.sleep_until(clock.now() + Duration::from_millis(2));
        if Instant::now() >= deadline {
            return false;
        }
    }
}

fn is_playing(client: &Client) -> bool {
    matches!(client.state(), ClientState::Playing)
}

fn ended(client: &Client) -> Option<DisconnectReason> {
    if let ClientState::Disconnected { reason } = client.state() { Some(reason.clone()) } else { None }
}

// N-1, N-8, B95: sessions end by their timeout, tokens from before are refused, new ones serve.
#[test]
fn a_killed_server_comes_back_and_takes_new_tokens_only() {
    let address = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let clock = SystemClock::start();
    let server = ServerProcess::start(address);
    // The first second of a server's life refuses tokens of the same second.
    let mut players = vec![];
    for id in 1..=4 {
        join_fresh(address, id, &clock, &mut players);
    }
    let (used, unused) = (token(address, 10), token(address, 11));
    let mut other = [join(used.clone())];
    assert!(run(&mut other, &clock, PATIENCE, is_playing));
    drop(server);
    let killed = Instant::now();
    let server = ServerProcess::start(address);
    let mut refused = [join(used), join(unused)];
    // Also for who is, to that client's knowledge, still in a session.
    join_fresh(address, 1, &clock, &mut players);
    let fresh = players.pop();
    println!("a new token served {:?} after the kill", killed.elapsed());
    assert!(run(&mut players, &clock, PATIENCE, |client| ended(client).is_some()), "the old sessions end");
    println!("the sessions ended {:?} after the kill", killed.elapsed());
    for client in &players {
        assert_eq!(ended(client), Some(DisconnectReason::TimedOut));
    }
    assert!(run(&mut refused, &clock, PATIENCE, |client| ended(client).is_some()), "old tokens are refused");
    for client in &refused {
        // Nobody answers a request that is refused.
        let reason = ended(client);
        let unanswered = matches!(reason, Some(DisconnectReason::RequestTimedOut | DisconnectReason::TokenExpired));
        assert!(unanswered, "{reason:?}");
    }
    drop((fresh, server));
}

/// Joins with new tokens until one serves, as a matchmaker would, while the `others` play on. The client is added to them.
fn join_fresh(address: SocketAddr, id: u64, clock: &SystemClock, others: &mut Vec<Client>) {
    let deadline = Instant::now() + PATIENCE;
    let newest = others.len();
    while Instant::now() < deadline {
        others.push(join(token(address, id)));
        let until = Instant::now() + Duration::from_millis(500);
        while Instant::now() < until {
            run(others, clock, Duration::ZERO, |_| false);
            if is_playing(&others[newest]) {
                return;
            }
        }
        others.pop();
    }
    panic!("no token serves");
}
