//! Inputs from devices to the step that consumes them, over links of every kind.
#![allow(clippy::unwrap_used, reason = "a failure in test code is a failed test")]

mod buffer_model;
mod journey;
mod link;
mod poses;
mod session;
