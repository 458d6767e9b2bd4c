//! Runs the whole emulator matrix and prints it as tables: `cargo run --release -p tidelock-net --example matrix`.
#![allow(clippy::unwrap_used, reason = "a failed check ends the run")]

#[path = "../tests/world/mod.rs"]
mod world;

use tidelock_net::congestion::Algorithm;
use world::cell::{Cell, JITTERS, LATENCIES, TRANSFER_RATES, matrix, path};

/// How many cells, how many of them beyond their bound, and the worst as a ratio to it.
#[derive(Default)]
struct Tally {
    cells: u32,
    beyond: u32,
    worst: f64,
}

impl Tally {
    fn add(&mut self, ratio: f64, cell: &Cell) {
        self.cells += 1;
        self.worst = self.worst.max(ratio);
        if ratio > 1.0 {
            self.beyond += 1;
            eprintln!("beyond ({ratio:.2}): {cell:?}");
        }
    }

    fn show(&self) -> String {
        format!("{} of {} ({:.2})", self.cells - self.beyond, self.cells, self.worst)
    }
}

fn main() {
    let algorithms = [Algorithm::Model, Algorithm::Cubic];
    println!("| control | bursts within 3 × ideal (worst) | motion p99 within its bound (worst) |");
    println!("|---|---|---|");
    for algorithm in algorithms {
        let (mut bursts, mut motion) = (Tally::default(), Tally::default());
        for cell in matrix() {
            bursts.add(cell.burst(algorithm).as_secs_f64() / (3.0 * cell.ideal().as_secs_f64()), &cell);
            if cell.bounds_motion() {
                let (age, bound) = cell.motion(algorithm, 20);
                motion.add(age.as_secs_f64() / bound.as_secs_f64(), &cell);
            }
        }
        println!("| {algorithm:?} | {} | {} |", bursts.show(), motion.show());
    }
    println!(
        "\n| control | latency + jitter | rate, kbit/s | link used by a transfer | added to state at p99 | at most |"
    );
    println!("|---|---|---|---|---|---|");
    for algorithm in algorithms {
        for latency in LATENCIES {
            for rate in TRANSFER_RATES {
                for jitter in JITTERS {
                    let cell = Cell::new(path(latency, jitter, rate));
                    let transfer = cell.transfer(algorithm);
                    println!(
                        "| {algorithm:?} | {latency} + {jitter} ms | {} | {:.0} % | {} ms | {:.0} ms |",
                        rate / 125,
                        transfer.share * 100.0,
                        transfer.added.as_millis(),
                        cell.most_added().as_secs_f64() * 1e3
                    );
                }
            }
        }
    }
}
