//! Runs the whole emulator matrix and prints it as tables: `cargo run --release -p tidelock-net --example matrix`.
//! `TIDELOCK_RUNS` asks for that many seeds of each cell; `model` or `cubic` as an argument for one controller only.
#![allow(clippy::unwrap_used, reason = "a failed check ends the run")]

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Duration;

use tidelock_net::congestion::Algorithm;
use world::cell::Cell;
use world::grid::{matrix, transfers};
use world::runs;
use world::transfer::Transfer;

/// How many runs, how many of them beyond their bound, and the worst as a ratio to it.
#[derive(Default)]
struct Tally {
    runs: u32,
    beyond: u32,
    worst: f64,
}

impl Tally {
    fn add(&mut self, what: &str, ratio: f64, cell: &Cell) {
        self.runs += 1;
        self.worst = self.worst.max(ratio);
        if ratio > 1.0 {
            self.beyond += 1;
            eprintln!("{what} beyond ({ratio:.2}): {cell:?}");
        }
    }

    fn show(&self) -> String {
        format!("{} of {} ({:.2})", self.runs - self.beyond, self.runs, self.worst)
    }
}

/// The same link with luck of each seed.
fn seeded(cell: Cell) -> impl Iterator<Item = Cell> {
    (1..=runs(1)).map(move |seed| cell.with_seed(seed))
}

fn show_messages(algorithm: Algorithm) {
    let (mut bursts, mut motion) = (Tally::default(), Tally::default());
    for cell in matrix().into_iter().flat_map(seeded) {
        bursts.add("burst", cell.burst(algorithm).as_secs_f64() / (3.0 * cell.ideal().as_secs_f64()), &cell);
        if cell.bounds_motion() {
            let (age, bound) = cell.motion(algorithm, 20);
            motion.add("motion", age.as_secs_f64() / bound.as_secs_f64(), &cell);
        }
    }
    println!("| {algorithm:?} | {} | {} |", bursts.show(), motion.show());
}

/// The least share and the most added of all runs on one link.
fn show_transfer(algorithm: Algorithm, cell: &Cell) {
    let runs: Vec<Transfer> = seeded(*cell).map(|cell| cell.transfer(algorithm)).collect();
    let share = runs.iter().map(|run| run.share).fold(f64::INFINITY, f64::min);
    let added = runs.iter().map(|run| run.added).max().unwrap_or_default();
    println!(
        "| {algorithm:?} | {} | {} | {:.0} % | {} ms | {:.0} ms |",
        described(cell),
        cell.link.rate_bytes_s / 125,
        share * 100.0,
        added.as_millis(),
        cell.most_added().as_secs_f64() * 1e3
    );
}

fn described(cell: &Cell) -> String {
    let link = &cell.link;
    let millis = |time: Duration| time.as_millis();
    let mut words = format!("{} + {} ms", millis(link.latency), millis(link.jitter));
    let spoils = [
        (link.loss > 0.0, format!(", {:.0} % loss", link.loss * 100.0)),
        (link.burst_loss > 0.0, ", bursts of loss".into()),
        (link.reorder > 0.0, ", disorder".into()),
        (link.mtu > 0, format!(", {} B", link.mtu)),
    ];
    spoils.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| words.push_str(&what));
    words
}

fn main() {
    let algorithms = match std::env::args().nth(1).as_deref() {
        Some("model") => vec![Algorithm::Model],
        Some("cubic") => vec![Algorithm::Cubic],
        _ => vec![Algorithm::Model, Algorithm::Cubic],
    };
    println!("| control | bursts within 3 × ideal (worst) | motion p99 within its bound (worst) |");
    println!("|---|---|---|");
    algorithms.iter().for_each(|&algorithm| show_messages(algorithm));
    println!(
        "\n| control | latency + jitter | rate, kbit/s | link used by a transfer | added to state at p99 | at most |"
    );
    println!("|---|---|---|---|---|---|");
    for algorithm in algorithms {
        transfers().iter().for_each(|cell| show_transfer(algorithm, cell));
    }
}
