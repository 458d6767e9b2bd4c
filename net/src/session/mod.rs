//! Lanes over packets: what runs inside an established connection of two of our own endpoints.

mod blocks;
mod checks;
mod config;
mod desk;
mod frame;
mod inbound;
mod inbox;
mod moment;
mod outbound;
mod pacer;
mod packing;
mod reassembly;
mod received;
mod recovery;
mod rtt;
mod run;
mod sent;
mod state;
mod varint;

pub use config::SessionConfig;

pub(crate) use desk::Desk;
pub(crate) use reassembly::Reassembly;
pub(crate) use state::Session;
pub(crate) use varint::widen;

#[cfg(test)]
mod hostile;
