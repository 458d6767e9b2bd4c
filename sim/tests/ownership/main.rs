//! Parts that change hands between two players over a bad network.
#![cfg(feature = "physics")]
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod chain;
mod contact;
mod handoff;
mod hostile;
mod player;
mod world;
