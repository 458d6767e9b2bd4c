//! How many handshakes strangers may ask for.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::counters::Fault;
use crate::server::config::AdmissionLimits;

/// Buckets for source ranges; ranges of equal hash share one.
const BUCKETS: usize = 4_096;
/// Time whose allowance may be used at once.
const BURST: Duration = Duration::from_secs(4);

/// Limits requests per source range and altogether, in fixed memory.
pub(super) struct Gate {
    hasher: RandomState,
    /// When each range has used up what it asked for, at its rate.
    even: Box<[Duration]>,
    total_even: Duration,
    prefix_interval: Duration,
    total_interval: Duration,
}

impl Gate {
    pub(super) fn new(limits: &AdmissionLimits) -> Self {
        let interval = |per_s: u32| Duration::from_secs(1) / per_s.max(1);
        Self {
            hasher: RandomState::new(),
            even: vec![Duration::ZERO; BUCKETS].into(),
            total_even: Duration::ZERO,
            prefix_interval: interval(limits.requests_per_prefix_s),
            total_interval: interval(limits.requests_s),
        }
    }

    /// Lets a request from `source` pass or names the limit it exceeds.
    pub(super) fn pass(&mut self, now: Duration, source: SocketAddr) -> Result<(), Fault> {
        let bucket = self.hasher.hash_one(prefix(source.ip())) as usize % BUCKETS;
        let even = self.even[bucket].max(now);
        if even > now + BURST {
            return Err(Fault::PrefixLimit);
        }
        let total = self.total_even.max(now);
        if total > now + BURST {
            return Err(Fault::HandshakeLimit);
        }
        self.even[bucket] = even + self.prefix_interval;
        self.total_even = total + self.total_interval;
        Ok(())
    }
}

/// The /24 of an IPv4 address, the /56 of an IPv6 address.
fn prefix(ip: IpAddr) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u64::from(u32::from(ip) >> 8),
        IpAddr::V6(ip) => (u128::from(ip) >> 72) as u64 | 1 << 63,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-7: handshakes limited per source prefix and in total.
    #[test]
    fn a_range_has_its_rate_and_others_theirs() {
        let limits = AdmissionLimits { requests_per_prefix_s: 10, requests_s: 1_000, ..AdmissionLimits::default() };
        let mut gate = Gate::new(&limits);
        let source = |third: u8, last: u8| SocketAddr::from(([10, 0, third, last], 1));
        let passed = |gate: &mut Gate, now: u64, third: u8| {
            (0..200u8).filter(|&last| gate.pass(Duration::from_secs(now), source(third, last)).is_ok()).count()
        };
        assert_eq!(passed(&mut gate, 100, 1), 41);
        assert_eq!(gate.pass(Duration::from_secs(100), source(1, 7)), Err(Fault::PrefixLimit));
        assert!(passed(&mut gate, 100, 2) > 0);
        assert_eq!(passed(&mut gate, 101, 1), 10);
        let mut total = Gate::new(&AdmissionLimits { requests_s: 5, ..limits });
        let passed = (0..=255).filter(|&third| total.pass(Duration::from_secs(9), source(third, 1)).is_ok()).count();
        assert_eq!(passed, 21);
    }
}
