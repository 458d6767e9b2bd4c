//! A server for others to join, and its metrics page.

mod config;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use tidelock::ServerConfig;
use tokio::net::TcpListener;

pub(crate) use config::{check as check_config, metrics_address};

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::hosting::{Board, Hosting, Player, Word};
use crate::key::private_key;
use crate::place;
use crate::signals;
use config::Settings;

/// Ticks between two looks at the players: four a second.
const PLAYERS_EVERY: u64 = 15;

/// Carries out `serve`.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let settings = Settings::new(args)?;
    let after = args.seconds.map(Duration::try_from_secs_f64).transpose();
    let after = after.map_err(|why| Failure::Server(format!("--seconds is not a time: {why}")))?;
    let place = place::load(settings.place.as_deref())?;
    let title = format!("`{}`, {} parts", place.name(), place.parts().len());
    let config = ServerConfig {
        bind: settings.bind,
        public_addresses: public_addresses(&settings),
        max_players: settings.max_players,
        network_threads: settings.network_threads,
        worker_threads: settings.worker_threads,
        token_lifetime_s: settings.token_lifetime_s,
        ..ServerConfig::new(private_key(settings.key_file.as_deref())?)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(Failure::system("no threads for the metrics page"))?;
    let metrics = settings.metrics.map(|address| runtime.block_on(listen(address))).transpose()?;
    let hosting = Hosting::start(config, &settings.controller.protocol(), place, PLAYERS_EVERY)?;
    println!("serving {title} on {}/udp, at most {} players", hosting.address(), settings.max_players);
    if settings.key_file.is_none() {
        eprintln!(
            "WARNING: this server takes the published development key, so anyone can join. Give it its own with --key-file."
        );
    }
    if let Some(listener) = metrics {
        println!(
            "metrics on http://{}/metrics.json",
            listener.local_addr().map_err(Failure::system("no metrics address"))?
        );
        runtime.spawn(answer(listener, Arc::clone(hosting.board())));
    }
    let ended = runtime.block_on(signals::wait(after, || hosting.is_running()));
    println!("ending: {ended}");
    Ok(())
}

/// The addresses tokens must name: what is configured, or what is bound where that is one address.
fn public_addresses(settings: &Settings) -> Vec<SocketAddr> {
    let bound = Some(settings.bind).filter(|bound| !bound.ip().is_unspecified() && bound.port() != 0);
    settings.public.or(bound).into_iter().collect()
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let refused = |why| Failure::Bind { what: "metrics", address, option: "--metrics", why };
    TcpListener::bind(address).await.map_err(refused)
}

/// How far back times go.
#[derive(Debug, Deserialize)]
struct Window {
    seconds: Option<f64>,
}

async fn answer(listener: TcpListener, board: Arc<Board>) {
    let word = |State(board): State<Arc<Board>>, Query(window): Query<Window>| async move {
        Json::<Word>(board.word(window.seconds.unwrap_or(10.0)))
    };
    let players = |State(board): State<Arc<Board>>| async move { Json::<Vec<Player>>(board.players()) };
    let router = Router::new().route("/metrics.json", get(word)).route("/players.json", get(players)).with_state(board);
    if let Err(why) = axum::serve(listener, router).await {
        tracing::error!(%why, "the metrics page ended");
    }
}
