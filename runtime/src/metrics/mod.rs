//! Times and counters.

mod stages;

pub use stages::{Stage, StageTimes, TimeHistogram};
