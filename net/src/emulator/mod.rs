//! A bad network to order: seeded, in virtual time.

mod link;

pub use link::{Link, LinkConfig, LinkStats};
