use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::style::Style;

/// Where `serve` listens and `swarm` connects unless told otherwise.
pub(crate) const GAME_ADDRESS: &str = "127.0.0.1:7777";
/// Where `serve` answers questions about itself unless told otherwise.
pub(crate) const METRICS_ADDRESS: &str = "127.0.0.1:7778";
/// Where the lab's page is unless told otherwise.
pub(crate) const PAGE_ADDRESS: &str = "127.0.0.1:7780";

/// A server-authoritative multiplayer runtime.
///
/// Without a subcommand it opens the lab: a server, 64 bots and a page to walk among them.
#[derive(Debug, Parser)]
#[command(
    name = "tidelock",
    version,
    after_help = "Examples:
  tidelock                                  the lab, on http://127.0.0.1:7780
  tidelock serve                            the demo place on 127.0.0.1:7777
  tidelock swarm --bots 200 --seconds 30    200 clients that join it
  tidelock place check my-place.toml        is this place file right?"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Server, bots and a page on this machine, no setup.
    Lab(LabArgs),
    /// A server.
    Serve(ServeArgs),
    /// Many clients over real UDP, and a report of how they fared.
    Swarm(SwarmArgs),
    /// Place files: check, build, inspect.
    Place(PlaceArgs),
    /// Connect tokens: mint, inspect.
    Token(TokenArgs),
    /// Reference vectors: replay them through the library, or write its own.
    Vectors(VectorsArgs),
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  tidelock lab
  tidelock lab --bots 16 --page 127.0.0.1:9000")]
pub(crate) struct LabArgs {
    /// Address of the page; when its port is busy, a free one is taken and printed.
    #[arg(long, value_name = "ADDRESS", default_value = PAGE_ADDRESS)]
    pub(crate) page: SocketAddr,
    /// Bots to walk among, 0 to 200.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(0..=200))]
    pub(crate) bots: u16,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Place to serve, TOML or built; the built-in demo place unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) place: Option<PathBuf>,
    /// How characters are moved and checked.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) controller: Style,
}

impl Default for LabArgs {
    fn default() -> Self {
        let page = SocketAddr::from(([127, 0, 0, 1], 7780));
        Self { page, bots: 64, seed: 1, place: None, controller: Style::default() }
    }
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  tidelock serve
  tidelock serve --config server.toml
  TIDELOCK_BIND=0.0.0.0:7777 tidelock serve --key-file key.hex --place arena.toml

Configuration (one TOML file; every key may be left out):
  bind = \"127.0.0.1:7777\"      address and UDP port of the game
  public = \"127.0.0.1:7777\"    address clients know the server by; `bind` unless given
  metrics = \"127.0.0.1:7778\"   address of /metrics.json; \"off\" for none
  place = \"arena.toml\"         place file, beside the configuration; the demo place unless given
  key_file = \"key.hex\"         64 hexadecimal digits; a published development key unless given
  max_players = 256            1 to 4096
  network_threads = 1          1 to 64 (Linux), or 0 to poll the socket inside the tick
  controller = \"replay\"        how characters are moved: replay, allowances or ticked
  worker_threads = 0           threads of a tick, 0 for one per core
  token_lifetime_s = 300       seconds every token is good for; once started, refuses those from before")]
pub(crate) struct ServeArgs {
    /// Configuration file, TOML.
    #[arg(long, value_name = "FILE", env = "TIDELOCK_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Address and UDP port of the game.
    #[arg(long, value_name = "ADDRESS", env = "TIDELOCK_BIND")]
    pub(crate) bind: Option<SocketAddr>,
    /// Address of /metrics.json, `off` for none.
    #[arg(long, value_name = "ADDRESS", env = "TIDELOCK_METRICS")]
    pub(crate) metrics: Option<String>,
    /// Place to serve, TOML or built.
    #[arg(long, value_name = "FILE", env = "TIDELOCK_PLACE")]
    pub(crate) place: Option<PathBuf>,
    /// File with the private key, 64 hexadecimal digits.
    #[arg(long, value_name = "FILE", env = "TIDELOCK_KEY_FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Players at once, 1 to 4096.
    #[arg(long, value_name = "COUNT", env = "TIDELOCK_MAX_PLAYERS", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) max_players: Option<u16>,
    /// Seconds every token is good for: once started, the server refuses those minted before, which may be used already.
    #[arg(long, value_name = "SECONDS", env = "TIDELOCK_TOKEN_LIFETIME_S")]
    pub(crate) token_lifetime_s: Option<u32>,
    /// How characters are moved and checked; clients must be told the same.
    #[arg(long, value_enum, env = "TIDELOCK_CONTROLLER")]
    pub(crate) controller: Option<Style>,
    /// End after so many seconds.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<f64>,
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  tidelock swarm
  tidelock swarm --bots 200 --seconds 30 --latency-ms 50 --jitter-ms 10 --loss 0.02
  tidelock swarm --bots 500 --thin --json > report.json")]
pub(crate) struct SwarmArgs {
    /// The server's game address.
    #[arg(long, value_name = "ADDRESS", default_value = GAME_ADDRESS)]
    pub(crate) server: SocketAddr,
    /// The server's metrics address, `off` for a report without the server's side.
    #[arg(long, value_name = "ADDRESS", default_value = METRICS_ADDRESS)]
    pub(crate) metrics: String,
    /// File with the server's private key, 64 hexadecimal digits; the published development key unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Clients, 1 to 4096.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) bots: u16,
    /// Seconds to run once everyone has joined.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) seconds: f64,
    /// One-way latency added to each bot's link, milliseconds.
    #[arg(long, default_value_t = 0.0)]
    pub(crate) latency_ms: f64,
    /// Jitter added on top, milliseconds.
    #[arg(long, default_value_t = 0.0)]
    pub(crate) jitter_ms: f64,
    /// Share of datagrams lost each way, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    pub(crate) loss: f64,
    /// Datagrams of junk to send each second beside the bots, 0 to 10000000: noise, forged requests, forged packets.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    pub(crate) junk: u32,
    /// How characters are moved and checked; the server's must be the same.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) controller: Style,
    /// Seed of what the bots do and of their links.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads the bots share, 0 for half the cores.
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: u16,
    /// Bots that draw nothing: no sampling of what they see.
    #[arg(long)]
    pub(crate) thin: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report to a file too, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// End with failure unless the run was clean: everyone joined, nobody lost, no correction but after a stall of the machine.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PlaceArgs {
    #[command(subcommand)]
    pub(crate) action: PlaceAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum PlaceAction {
    /// Read an authored place and say what is wrong with it.
    #[command(after_help = "Example:\n  tidelock place check arena.toml")]
    Check {
        /// Authored place, TOML.
        file: PathBuf,
    },
    /// Compile an authored place into a place file.
    #[command(after_help = "Example:\n  tidelock place build arena.toml --out arena.place")]
    Build {
        /// Authored place, TOML.
        file: PathBuf,
        /// Where to write the place file.
        #[arg(long, short)]
        out: PathBuf,
    },
    /// Say what a place holds.
    #[command(after_help = "Example:\n  tidelock place inspect arena.place")]
    Inspect {
        /// Place, TOML or built; the built-in demo place unless given.
        file: Option<PathBuf>,
    },
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) action: TokenAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// Make a token that lets one client join.
    #[command(
        after_help = "Example:\n  tidelock token mint --key-file key.hex --client 7 --server 203.0.113.5:7777 --out ann.token"
    )]
    Mint {
        /// File with the server's private key; the published development key unless given.
        #[arg(long, value_name = "FILE")]
        key_file: Option<PathBuf>,
        /// The client's id.
        #[arg(long)]
        client: u64,
        /// Servers it may join, 1 to 32 of them.
        #[arg(long, value_name = "ADDRESS", default_value = GAME_ADDRESS, num_args = 1..=32)]
        server: Vec<SocketAddr>,
        /// Seconds until it can no longer be used to join.
        #[arg(long, default_value_t = 300)]
        expire_s: u32,
        /// Seconds of silence after which the connection ends.
        #[arg(long, default_value_t = 15)]
        timeout_s: u16,
        /// Where to write its 2048 bytes; printed as hexadecimal unless given.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Say what a token holds.
    #[command(after_help = "Example:\n  tidelock token inspect ann.token")]
    Inspect {
        /// The token, 2048 bytes or their hexadecimal digits.
        file: PathBuf,
    },
}

#[derive(Args, Clone, Debug)]
pub(crate) struct VectorsArgs {
    #[command(subcommand)]
    pub(crate) action: VectorsAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum VectorsAction {
    /// Replay reference vectors through the library; ends with 1 at the first difference.
    #[command(after_help = "Example:\n  tidelock vectors check tests/vectors/*.json")]
    Check {
        /// Vector files, JSON.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Write this library's own vectors, one file per kind, for those who port it.
    #[command(after_help = "Example:\n  tidelock vectors write vectors --seed 7")]
    Write {
        /// Folder to write to; made when it is not there.
        folder: PathBuf,
        /// Seed of the cases.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent_and_defaults_agree() {
        Arguments::command().debug_assert();
        let parsed = Arguments::try_parse_from(["tidelock", "lab"]).expect("lab needs nothing");
        let Some(Command::Lab(lab)) = parsed.command else { panic!("not the lab") };
        let default = LabArgs::default();
        assert_eq!(
            (lab.page, lab.bots, lab.seed, lab.place),
            (default.page, default.bots, default.seed, default.place)
        );
    }
}
