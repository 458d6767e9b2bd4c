//! A server on a thread of its own, and what it shows of itself.

mod board;
mod movement;
mod ticks;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tidelock::{Place, Protocol};
use tidelock::{Server, ServerConfig, ServerError, StopFlag};

pub(crate) use board::{Board, Player, Word};

use crate::failure::Failure;

/// A running server; dropped, it tells its players and ends.
pub(crate) struct Hosting {
    address: SocketAddr,
    board: Arc<Board>,
    stop: StopFlag,
    thread: Option<JoinHandle<()>>,
}

impl Hosting {
    /// Binds the server and lets it run. Its board shows players as they were at most `players_every` ticks ago.
    pub(crate) fn start(
        config: ServerConfig,
        protocol: &Arc<Protocol>,
        place: Place,
        players_every: u64,
    ) -> Result<Self, Failure> {
        let mut server = Server::bind(config, protocol.clone(), place).map_err(refused)?;
        let (address, board, stop) = (server.local_addr(), Arc::new(Board::default()), StopFlag::new());
        let (shown, told) = (Arc::clone(&board), stop.clone());
        let observe = move |server: &mut Server| {
            shown.write_tick(server.metrics());
            if server.metrics().ticks.is_multiple_of(players_every) {
                shown.write_players(server);
            }
        };
        let work = move || server.run(&told, observe);
        let thread = thread::Builder::new()
            .name("server".into())
            .spawn(work)
            .map_err(Failure::system("no thread for the server"))?;
        Ok(Self { address, board, stop, thread: Some(thread) })
    }

    /// Where clients connect.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it shows.
    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// Whether the server's thread still runs.
    pub(crate) fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Hosting {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so already.
            let _ = thread.join();
        }
    }
}

fn refused(error: ServerError) -> Failure {
    match error {
        ServerError::Bind { address, source } => {
            Failure::Bind { what: "the game", address, option: "--bind", why: source }
        }
        ServerError::Workers(why) => Failure::System { what: "no worker threads", why: io::Error::other(why) },
        other => Failure::Server(other.to_string()),
    }
}
