//! The motor on whole places: every rule of movement, seen from outside.

mod crowd;
mod determinism;
mod gallery;
mod place;
mod rest;
mod riding;
mod rules;
mod stock;
