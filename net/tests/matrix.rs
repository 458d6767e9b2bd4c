//! The emulator matrix: what every kind of link does to reliable messages, motion and long transfers, in virtual time.
//! `TIDELOCK_RUNS` asks for that many seeds of each cell.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use tidelock_net::congestion::Algorithm;
use world::cell::Cell;
use world::grid::{matrix, transfers};
use world::runs;

/// The same links with luck of each seed.
fn seeded(cells: Vec<Cell>) -> impl Iterator<Item = Cell> {
    cells.into_iter().flat_map(|cell| (1..=runs(1)).map(move |seed| cell.with_seed(seed)))
}

// N-2, N-3, N-5, B85, B86: each message once, in order, within three times the ideal time, on every link of the matrix.
#[test]
fn reliable_messages_arrive_in_good_time() {
    for cell in seeded(matrix()) {
        let (took, ideal) = (cell.burst(Algorithm::default()), cell.ideal());
        assert!(took <= 3 * ideal, "{took:?} of {ideal:?}: {cell:?}");
    }
}

// N-3: the age of motion at p99 within latency, jitter and two broadcasts, at 5 % loss and less.
#[test]
fn motion_stays_young() {
    for cell in seeded(matrix()).filter(Cell::bounds_motion) {
        let (age, bound) = cell.motion(Algorithm::default(), 20);
        assert!(age <= bound, "{age:?} of {bound:?}: {cell:?}");
    }
}

// N-3, N-5: a long transfer takes 85 % of the link and adds less than 5 ms to state at p99, or what no sender can do without.
#[test]
fn a_transfer_takes_the_link_and_delays_nothing() {
    for cell in seeded(transfers()) {
        let transfer = cell.transfer(Algorithm::default());
        // Bursts silence a third of the time; what is measured between them is the less certain.
        let least = if cell.link.burst_loss > 0.0 { 0.8 } else { 0.85 };
        assert!(transfer.share >= least, "{transfer:?}: {cell:?}");
        assert!(transfer.added <= cell.most_added(), "{transfer:?}, at most {:?}: {cell:?}", cell.most_added());
    }
}

// N-5: by losses the window is never so small that a reliable message is not sent: each once, in order, at the least rate or faster.
#[test]
fn cubic_delivers_everything_on_every_link() {
    for cell in seeded(matrix()) {
        let (took, slowest) = (cell.burst(Algorithm::Cubic), cell.slowest());
        assert!(took <= slowest, "{took:?} of {slowest:?}: {cell:?}");
    }
}

// N-5: motion is sent beside the window, so that its age does not depend on the controller.
#[test]
fn cubic_leaves_motion_young() {
    for cell in seeded(matrix()).filter(Cell::bounds_motion) {
        let (age, bound) = cell.motion(Algorithm::Cubic, 20);
        assert!(age <= bound, "{age:?} of {bound:?}: {cell:?}");
    }
}

// N-5: a path that loses only what finds no room, and does not disorder, is filled; its queue with it.
#[test]
fn cubic_fills_steady_links() {
    let steady = |cell: &Cell| cell.loss() == 0.0 && cell.link.jitter.is_zero() && cell.link.reorder == 0.0;
    for cell in seeded(transfers()).filter(steady) {
        let transfer = cell.transfer(Algorithm::Cubic);
        assert!(transfer.share >= 0.85, "{transfer:?}: {cell:?}");
    }
}
