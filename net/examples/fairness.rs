//! Flows that share a bottleneck, as tables: `cargo run --release -p tidelock-net --example fairness`. `TIDELOCK_RUNS` asks for more
//! seeds.
#![allow(clippy::unwrap_used, reason = "a failed check ends the run")]

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Duration;

use world::MS;
use world::bottleneck::{Bottleneck, Shared, jain};

/// Lengths of messages: whole ones, some in a packet, and those cut into parts.
const MESSAGES: [usize; 9] = [200, 700, 950, 1_050, 3_000, 5_000, 12_000, 30_000, 100_000];
/// Bytes per second, and latency each way in milliseconds.
const LINKS: [(u64, u32); 5] = [(125_000, 25), (500_000, 5), (1_000_000, 25), (1_000_000, 60), (2_500_000, 25)];
/// Seconds until shares count, and until they end.
const SETTLE: usize = 15;
const SECONDS: usize = 45;

/// The worst of several runs.
#[derive(Default)]
struct Worst {
    least: f64,
    most: f64,
    jain: f64,
    used: f64,
    queue: [Duration; 2],
}

impl Worst {
    fn new() -> Self {
        Self { least: 1.0, jain: 1.0, used: 1.0, ..Self::default() }
    }

    fn add(&mut self, shared: &Shared, seconds: std::ops::Range<usize>, rate: u64) {
        let shares = shared.shares(seconds.clone());
        self.least = shares.iter().copied().fold(self.least, f64::min);
        self.most = shares.iter().copied().fold(self.most, f64::max);
        self.jain = self.jain.min(jain(&shares));
        let bytes: u64 = shared.bytes(seconds.clone()).iter().sum();
        self.used = self.used.min(bytes as f64 / (rate as f64 * seconds.len() as f64));
        let queue = [50, 99].map(|percent| shared.queue(seconds.start, percent));
        self.queue = [self.queue[0].max(queue[0]), self.queue[1].max(queue[1])];
    }

    fn show(&self, what: &str) {
        println!(
            "| {what} | {:.2} to {:.2} | {:.3} | {:.0} % | {} / {} ms |",
            self.least,
            self.most,
            self.jain,
            self.used * 100.0,
            self.queue[0].as_millis(),
            self.queue[1].as_millis()
        );
    }
}

fn main() {
    let seeds = world::runs(1);
    println!("| flows | shares | Jain, least | link used, least | queue p50 / p99, most |\n|---|---|---|---|---|");
    for (rate, latency) in LINKS {
        for flows in [2, 4] {
            let mut worst = Worst::new();
            for seed in 0..seeds {
                for message in MESSAGES {
                    let shared = Bottleneck::even(flows, rate, latency, message, seed).run(SECONDS, |_, _| ());
                    worst.add(&shared, SETTLE..SECONDS, rate);
                }
            }
            worst.show(&format!("{flows} at {} kbit/s, {latency} ms", rate / 125));
        }
        let mut worst = [Worst::new(), Worst::new()];
        for seed in 0..seeds {
            for message in MESSAGES {
                let mut late = Bottleneck::even(2, rate, latency, message, seed);
                late.flows[1].0 += Duration::from_secs(10);
                let shared = late.run(25, |_, _| ());
                worst[0].add(&shared, 20..35, rate);
                let mut unlike = Bottleneck::even(2, rate, latency, message, seed);
                unlike.flows[1].1 += MS * 50;
                worst[1].add(&unlike.run(SECONDS, |_, _| ()), SETTLE..SECONDS, rate);
            }
        }
        worst[0].show(&format!("10 s later, at {} kbit/s, {latency} ms", rate / 125));
        worst[1].show(&format!("50 ms further, at {} kbit/s, {latency} ms", rate / 125));
    }
}
