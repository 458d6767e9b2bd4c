use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tidelock::net::emulator::LinkConfig;
use tidelock::net::io::{Relay, RelayControl};

use crate::failure::Failure;

/// Longest wait of a relay's thread before it looks whether it shall end.
const LOOK: Duration = Duration::from_millis(20);

/// A bad network in front of a server, on a thread of its own; ends when dropped.
pub(crate) struct RelayThread {
    address: SocketAddr,
    control: RelayControl,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RelayThread {
    /// A relay on a free port of this machine, with `link` in each direction.
    pub(crate) fn start(server: SocketAddr, link: LinkConfig, seed: u64) -> Result<Self, Failure> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut relay =
            Relay::bind(address, server, (link, link), seed).map_err(Failure::system("no emulated link"))?;
        let (address, control) = (relay.local_addr(), relay.control());
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let work = move || {
            while !told.load(Ordering::Relaxed) {
                if let Err(why) = relay.poll(LOOK) {
                    tracing::error!(%why, "the emulated link broke");
                    return;
                }
            }
        };
        let builder = thread::Builder::new().name("relay".into());
        let thread = builder.spawn(work).map_err(Failure::system("no thread for the emulated link"))?;
        Ok(Self { address, control, ends, thread: Some(thread) })
    }

    /// Where clients send to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes both directions, for datagrams from now on.
    pub(crate) fn set(&self, link: LinkConfig) {
        self.control.set_up(link);
        self.control.set_down(link);
    }
}

impl Drop for RelayThread {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A relay that panicked has said so already.
            let _ = thread.join();
        }
    }
}
