//! The emulator matrix: what every kind of link does to reliable messages, motion and long transfers, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use tidelock_net::congestion::Algorithm;
use world::cell::{Cell, JITTERS, LATENCIES, TRANSFER_RATES, matrix, path};

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

// N-3, N-5: a long transfer takes 85 % of the link and adds less than 5 ms to state at p99, or what no sender can do without.
#[test]
fn a_transfer_takes_the_link_and_delays_nothing() {
    for (latency, jitter) in LATENCIES.into_iter().flat_map(|latency| JITTERS.map(|jitter| (latency, jitter))) {
        for rate in TRANSFER_RATES {
            let cell = Cell::new(path(latency, jitter, rate));
            let transfer = cell.transfer(Algorithm::default());
            let what = format!("{transfer:?}: {latency} + {jitter} ms, {rate} B/s");
            assert!(transfer.share >= 0.85, "{what}");
            assert!(transfer.added <= cell.most_added(), "{what}, at most {:?}", cell.most_added());
        }
    }
}
