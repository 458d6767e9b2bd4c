//! The lab: a server, bots and a page to walk among them, on this machine alone (T-40).

mod bots;
mod frames;
mod held;
mod page;
mod place_message;
mod stats;
mod visitor;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tidelock::{PlaceCache, Protocol, ServerConfig};
use tokio::net::TcpListener;

use crate::args::LabArgs;
use crate::failure::Failure;
use crate::hosting::{Board, Hosting};
use crate::key::DEVELOPMENT_KEY;
use crate::place;
use crate::signals;
use bots::Bots;
use frames::Pose;

/// What the pages share.
pub(crate) struct Lab {
    protocol: Arc<Protocol>,
    // Fields are dropped in order: bots leave before their server ends.
    bots: Bots,
    hosting: Hosting,
    visitors: AtomicUsize,
    last_visitor: AtomicU64,
}

impl Lab {
    fn start(args: &LabArgs) -> Result<Self, Failure> {
        let place = place::load(args.place.as_deref())?;
        let places = Arc::new(PlaceCache::new());
        places.add(&place);
        let config = ServerConfig {
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            max_players: 256,
            ..ServerConfig::new(DEVELOPMENT_KEY)
        };
        let protocol = args.controller.protocol();
        let hosting = Hosting::start(config, &protocol, place, 1)?;
        let bots = Bots::start(args.bots, (hosting.address(), &protocol), args.seed, &places)?;
        Ok(Self { protocol, bots, hosting, visitors: AtomicUsize::new(0), last_visitor: AtomicU64::new(0) })
    }

    fn server(&self) -> SocketAddr {
        self.hosting.address()
    }

    fn protocol(&self) -> Arc<Protocol> {
        self.protocol.clone()
    }

    fn board(&self) -> &Board {
        self.hosting.board()
    }

    /// Where another client draws a player's character.
    fn seen(&self, player: u64) -> Option<Pose> {
        self.bots.seen(player)
    }

    fn visitors(&self) -> &AtomicUsize {
        &self.visitors
    }

    fn next_visitor(&self) -> u64 {
        self.last_visitor.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Carries out `lab`.
pub(crate) fn run(args: &LabArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(Failure::system("no threads for the page"))?;
    let listener = runtime.block_on(listen(args.page))?;
    let page = listener.local_addr().map_err(Failure::system("no address for the page"))?;
    let lab = Arc::new(Lab::start(args)?);
    println!("server    {}/udp, {} bots", lab.server(), args.bots);
    println!("page      http://{page}");
    println!("Open the page to walk among them. Ctrl-C ends.");
    let router = page::router(Arc::clone(&lab));
    runtime.spawn(async move { axum::serve(listener, router).await });
    let watched = Arc::clone(&lab);
    let ended = runtime.block_on(signals::wait(None, move || watched.hosting.is_running()));
    println!("ending: {ended}");
    Ok(())
}

/// Listens at `wanted`, or at any free port of the same address when that one is busy.
async fn listen(wanted: SocketAddr) -> Result<TcpListener, Failure> {
    let refused = |why| Failure::Bind { what: "the page", address: wanted, option: "--page", why };
    match TcpListener::bind(wanted).await {
        Err(why) if why.kind() == io::ErrorKind::AddrInUse => {
            println!("port {} is busy; taking a free one", wanted.port());
            TcpListener::bind((wanted.ip(), 0)).await.map_err(refused)
        }
        bound => bound.map_err(refused),
    }
}
