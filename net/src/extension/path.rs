//! Validation of a new path: whether the peer really is where its packets come from.

use std::net::SocketAddr;
use std::time::Duration;

/// Bytes of a path challenge and of its answer.
pub(crate) const PATH_BYTES: usize = 8;

/// Time between challenges.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long a path is tried.
const LIFE: Duration = Duration::from_secs(3);
/// A path tried so long makes room for another.
const FAIR_TRY: Duration = Duration::from_millis(300);

/// A path under validation. Until it is validated, it gets no more bytes than came from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathProbe {
    address: SocketAddr,
    challenge: [u8; PATH_BYTES],
    since: Duration,
    next: Duration,
    received_bytes: usize,
    sent_bytes: usize,
}

impl PathProbe {
    pub(crate) fn new(now: Duration, address: SocketAddr, challenge: [u8; PATH_BYTES]) -> Self {
        Self { address, challenge, since: now, next: now, received_bytes: 0, sent_bytes: 0 }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether a packet from `address` belongs to another path that should be tried instead.
    pub(crate) fn yields_to(&self, now: Duration, address: SocketAddr) -> bool {
        let tried = if address == self.address { LIFE } else { FAIR_TRY };
        now >= self.since + tried
    }

    /// Notes that bytes came from the path.
    pub(crate) fn receive(&mut self, from: SocketAddr, bytes: usize) {
        if from == self.address {
            self.received_bytes += bytes;
        }
    }

    /// When a challenge of `bytes` may be sent; `None` while the path has not given as much.
    pub(crate) fn due(&self, bytes: usize) -> Option<Duration> {
        let affordable = self.sent_bytes + bytes <= self.received_bytes;
        (affordable && self.next < self.since + LIFE).then_some(self.next)
    }

    /// The challenge, sent now in a datagram of `bytes`.
    pub(crate) fn send(&mut self, now: Duration, bytes: usize) -> [u8; PATH_BYTES] {
        self.sent_bytes += bytes;
        self.next = now + INTERVAL;
        self.challenge
    }

    /// Whether an answer from `address` validates the path.
    pub(crate) fn is_answer(&self, address: SocketAddr, answer: &[u8]) -> bool {
        address == self.address && answer == self.challenge
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-9: no more leaves for a path than came from it.
    #[test]
    fn a_path_gets_no_more_than_it_gave() {
        let ms = Duration::from_millis;
        let address = |port| SocketAddr::from(([1, 1, 1, 1], port));
        let mut probe = PathProbe::new(ms(0), address(1), [5; 8]);
        assert_eq!(probe.due(29), None);
        probe.receive(address(2), 100);
        assert_eq!(probe.due(29), None);
        probe.receive(address(1), 40);
        assert_eq!(probe.due(29), Some(ms(0)));
        assert_eq!(probe.send(ms(1), 29), [5; 8]);
        assert_eq!(probe.due(29), None);
        probe.receive(address(1), 18);
        assert_eq!(probe.due(29), Some(ms(101)));
        assert!(!probe.is_answer(address(2), &[5; 8]) && !probe.is_answer(address(1), &[5; 7]));
        assert!(probe.is_answer(address(1), &[5; 8]));
        assert!(!probe.yields_to(ms(200), address(2)) && probe.yields_to(ms(300), address(2)));
        assert!(!probe.yields_to(ms(2_900), address(1)) && probe.yields_to(ms(3_000), address(1)));
    }
}
