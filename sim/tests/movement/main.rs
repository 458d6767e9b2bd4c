//! The motor on whole places: every rule of movement, seen from outside.

mod crowd;
mod determinism;
mod digests;
mod doorway;
mod gallery;
mod kinds;
mod place;
mod rest;
mod riding;
mod rules;
mod steady;
mod stock;
mod water;
