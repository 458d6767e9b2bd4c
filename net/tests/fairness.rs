//! Flows that share a bottleneck, in virtual time. `TIDELOCK_RUNS` asks for more seeds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use std::time::Duration;

use world::bottleneck::{Bottleneck, jain};
use world::runs;

// N-5, B83: equal flows share evenly, whatever the length of their messages: two within 61:39, four less surely.
#[test]
fn equal_flows_share_evenly() {
    for seed in 0..runs(2) {
        for message_bytes in [200, 1_050, 5_000, 30_000] {
            for (flows, rate) in [(2, 500_000), (4, 1_000_000)] {
                let shared = Bottleneck::even(flows, rate, 25, message_bytes, seed).run(40, |_, _| ());
                let shares = shared.shares(15..40);
                let what = format!("{shares:?}: {flows} flows of {message_bytes} bytes, seed {seed}");
                let least = if flows == 2 { 0.95 } else { 0.7 };
                assert!(jain(&shares) >= least, "{what}");
                let bytes: u64 = shared.bytes(15..40).iter().sum();
                assert!(bytes >= rate * 25 * 9 / 10, "{bytes} used by {what}");
            }
        }
    }
}

// N-5, B83: who comes ten seconds late shares within 70:30 fifteen seconds later.
#[test]
fn a_latecomer_gets_its_share() {
    for seed in 0..runs(2) {
        for message_bytes in [700, 12_000] {
            let mut late = Bottleneck::even(2, 1_000_000, 25, message_bytes, seed);
            late.flows[1].0 += Duration::from_secs(10);
            let shares = late.run(25, |_, _| ()).shares(25..35);
            let within = (0.3..=0.7).contains(&shares[0]);
            assert!(within, "{shares:?}: messages of {message_bytes} bytes, seed {seed}");
        }
    }
}

// B83: two flows share a bottleneck within 70:30; when its capacity halves, so does what they send, within a second.
#[test]
fn two_flows_share_and_follow_their_bottleneck() {
    for message_bytes in [950, 30_000] {
        let both = Bottleneck::even(2, 1_000_000, 25, message_bytes, 5);
        let halves = |second: usize, link: &mut tidelock_net::emulator::LinkConfig| {
            link.rate_bytes_s = if second < 30 { 1_000_000 } else { 500_000 };
        };
        let shared = both.run(40, halves);
        let settled = shared.bytes(10..30);
        let part = settled[0] as f64 / (settled[0] + settled[1]) as f64;
        assert!((0.4..=0.6).contains(&part), "{settled:?}");
        assert!(settled[0] + settled[1] >= 20 * 800_000, "{settled:?}");
        let rate = shared.bytes(32..40).iter().sum::<u64>() / 8;
        assert!((400_000..=510_000).contains(&rate), "{rate}: {shared:?}");
    }
}
