//! Lanes over packets: what runs inside an established connection of two of our own endpoints.

mod config;

pub use config::SessionConfig;
