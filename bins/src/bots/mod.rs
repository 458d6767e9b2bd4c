//! Bots: what they hold, decided from a seed, and the clients that hold it.

mod crowd;
mod wander;

pub(crate) use crowd::{Bot, Crowd, Recruit};
pub(crate) use wander::Wander;
