//! Movement without a module: whatever a client sends stays inside the envelope, and whoever walks is left alone.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

#[path = "../vectors/mod.rs"]
mod vectors;

mod commands;
mod honest;
mod hostile;
mod reference;
