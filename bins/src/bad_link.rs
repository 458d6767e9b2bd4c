use std::net::{Ipv4Addr, SocketAddr};

use tidelock::net::emulator::LinkConfig;
use tidelock::net::io::{Relay, RelayThread};

use crate::failure::Failure;

/// A bad network in front of a server, on a thread of its own; ends when dropped.
pub(crate) struct BadLink(RelayThread);

impl BadLink {
    /// On a free port of this machine, with `link` in each direction.
    pub(crate) fn start(server: SocketAddr, link: LinkConfig, seed: u64) -> Result<Self, Failure> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let relay = Relay::bind(address, server, (link, link), seed).and_then(Relay::spawn);
        relay.map(Self).map_err(Failure::system("no emulated link"))
    }

    /// Where clients send to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// Changes both directions, for datagrams from now on.
    pub(crate) fn set(&self, link: LinkConfig) {
        let control = self.0.control();
        control.set_up(link);
        control.set_down(link);
    }
}
