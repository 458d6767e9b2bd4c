//! The cells of the emulator matrix.

use std::time::Duration;

use tidelock_net::emulator::LinkConfig;

use super::MS;
use super::cell::Cell;

/// Milliseconds each way.
pub const LATENCIES: [u32; 3] = [0, 50, 250];
/// Milliseconds.
pub const JITTERS: [u32; 3] = [0, 30, 100];
pub const LOSSES: [f64; 5] = [0.0, 0.01, 0.05, 0.2, 0.3];
/// Bytes per second; 0 is unlimited.
pub const RATES: [u64; 4] = [16_000, 125_000, 1_250_000, 0];
/// Bytes per second at which transfers are looked at.
pub const TRANSFER_RATES: [u64; 4] = [16_000, 125_000, 1_250_000, 2_500_000];
/// Longest datagrams that pass, headers included.
pub const MTUS: [usize; 3] = [1_200, 1_280, 9_000];

/// A path with a queue of 200 ms, times in milliseconds.
pub fn path(latency: u32, jitter: u32, rate_bytes_s: u64) -> LinkConfig {
    let queue_bytes = (rate_bytes_s / 5).max(12_000);
    LinkConfig { latency: MS * latency, jitter: MS * jitter, rate_bytes_s, queue_bytes, ..LinkConfig::default() }
}

/// Every way a path of this shape loses: each share of losses at random, and bursts.
fn losing(base: LinkConfig) -> Vec<LinkConfig> {
    let mut links: Vec<_> = LOSSES.iter().map(|&loss| LinkConfig { loss, ..base }).collect();
    links.push(LinkConfig { burst_loss: 0.005, burst: 60 * MS, ..base });
    links
}

/// Every way a path of this shape loses; with duplicates, with reordering, and with both.
fn spoiled(base: LinkConfig) -> Vec<LinkConfig> {
    let twice = |link: LinkConfig| LinkConfig { duplicate: 0.25, ..link };
    let late = |link: LinkConfig| LinkConfig { reorder: 0.1, reorder_delay: 20 * MS, ..link };
    let losing = losing(base);
    let spoiled = losing.into_iter().flat_map(|link| [link, twice(link), late(link), late(twice(link))]);
    spoiled.collect()
}

/// The whole matrix: every latency, jitter, rate and way of spoiling; cuts of 1 and 30 s; lengths a path passes.
pub fn matrix() -> Vec<Cell> {
    let mut cells = vec![];
    for latency in LATENCIES {
        for rate in RATES {
            for jitter in JITTERS {
                cells.extend(spoiled(path(latency, jitter, rate)).into_iter().map(Cell::new));
            }
            for partition in [1, 30].map(Duration::from_secs) {
                let links = losing(path(latency, 30, rate));
                cells.extend(links.into_iter().map(|link| Cell { partition, ..Cell::new(link) }));
            }
            for mtu in MTUS {
                let links = [0.0, 0.01].map(|loss| LinkConfig { mtu, loss, ..path(latency, 0, rate) });
                cells.extend(links.map(|link| Cell { probe_mtu: true, ..Cell::new(link) }));
            }
        }
    }
    cells
}

/// Where transfers are looked at: every latency, jitter and rate without losses; and every latency, rate and loss, bursts, disorder
/// and lengths.
pub fn transfers() -> Vec<Cell> {
    let mut cells = vec![];
    for (latency, rate) in LATENCIES.into_iter().flat_map(|latency| TRANSFER_RATES.map(|rate| (latency, rate))) {
        cells.extend(JITTERS.map(|jitter| Cell::new(path(latency, jitter, rate))));
        let base = path(latency, 0, rate);
        cells.extend(losing(base).into_iter().skip(1).map(Cell::new));
        cells.push(Cell::new(LinkConfig { duplicate: 0.25, reorder: 0.1, reorder_delay: 20 * MS, ..base }));
        cells.extend(MTUS.map(|mtu| Cell { probe_mtu: true, ..Cell::new(LinkConfig { mtu, ..base }) }));
    }
    cells
}

impl Cell {
    /// Whether motion's age has a bound here: at 5 % loss and less.
    pub fn bounds_motion(&self) -> bool {
        self.loss() <= 0.05 && self.partition.is_zero()
    }
}
