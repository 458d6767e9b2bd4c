//! Interest: whose motion a player is sent.

mod columns;
mod grid;
mod viewer;
mod visible;

pub use grid::InterestGrid;
pub use viewer::{InterestSettings, Origin, Subject, Viewer, first_sight};
pub use visible::VisibleSet;
