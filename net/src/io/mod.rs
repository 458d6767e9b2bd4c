//! Sockets: the only place of this package that touches the operating system.

mod driver;
mod os_entropy;
mod relay;

pub use driver::{Driver, Waker};
pub use os_entropy::OsEntropy;
pub use relay::{Relay, RelayControl};
