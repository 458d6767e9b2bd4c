//! Checks of the tree itself: what may depend on what, how large a file may grow, whether documents point at what exists, whether
//! the library agrees with the reference vectors.

mod documents;
mod functions;
mod layering;
mod licences;
mod sizes;
mod source;
mod vectors;
