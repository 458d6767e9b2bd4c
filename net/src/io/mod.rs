//! Sockets: the only place of this package that touches the operating system.

mod driver;
mod exchange;
mod os_entropy;
mod outbox;
mod port;
mod relay;
mod thread_time;

pub use driver::{Driver, DriverCounters, Waker};
pub use os_entropy::OsEntropy;
pub use relay::{Relay, RelayControl, RelayThread};
pub use thread_time::thread_time;
