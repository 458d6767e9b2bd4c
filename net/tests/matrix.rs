//! The emulator matrix: what every kind of link does to reliable messages, motion and long transfers, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use tidelock_net::congestion::Algorithm;
use world::MS;
use world::cell::{Cell, LATENCIES, matrix, path};

// N-2, N-3, N-5, B85, B86: each message once, in order, within three times the ideal time, on every link of the matrix.
#[test]
fn reliable_messages_arrive_in_good_time() {
    for cell in matrix() {
        let (took, ideal) = (cell.burst(Algorithm::default()), cell.ideal());
        assert!(took <= 3 * ideal, "{took:?} of {ideal:?}: {cell:?}");
    }
}

// N-3: the age of motion at p99 within latency, jitter and two broadcasts, at 5 % loss and less.
#[test]
fn motion_stays_young() {
    for cell in matrix().into_iter().filter(Cell::bounds_motion) {
        let (age, bound) = cell.motion(Algorithm::default(), 20);
        assert!(age <= bound, "{age:?} of {bound:?}: {cell:?}");
    }
}

// N-3, N-5: a long transfer takes the link and delays state by little; more on a slow link, where four packets are 36 ms.
#[test]
fn a_transfer_takes_the_link_and_delays_nothing() {
    for latency in &LATENCIES {
        for (rate, near, far) in [(125_000, 45, 60), (1_250_000, 8, 60), (2_500_000, 7, 60)] {
            // A path of half a second is found out slowly.
            let most = if *latency < 250 { near } else { far };
            let transfer = Cell::new(path(*latency, 0, rate)).transfer(Algorithm::default());
            assert!(transfer.share >= 0.85 && transfer.added <= MS * most, "{transfer:?}: {latency} ms, {rate} B/s");
        }
    }
}
