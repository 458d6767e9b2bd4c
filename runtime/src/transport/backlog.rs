use std::sync::atomic::{AtomicUsize, Ordering};

use tidelock_net::Ingress;

/// Events kept while the tick does not take them; beyond, the socket is left to the kernel, which drops.
const MAX_EVENTS: usize = 65_536;
/// Bytes of messages kept so: a kilobyte an event.
const MAX_BYTES: usize = 64 << 20;

/// What a network thread has received and the tick has not taken. Both sides count.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    events: AtomicUsize,
    bytes: AtomicUsize,
}

impl Backlog {
    /// Counts events received.
    pub(super) fn add(&self, events: &[Ingress]) {
        self.events.fetch_add(events.len(), Ordering::Relaxed);
        self.bytes.fetch_add(bytes(events), Ordering::Relaxed);
    }

    /// Counts events taken, which were counted when they were received.
    pub(super) fn take(&self, events: &[Ingress]) {
        self.events.fetch_sub(events.len(), Ordering::Relaxed);
        self.bytes.fetch_sub(bytes(events), Ordering::Relaxed);
    }

    /// Whether no more should be received.
    pub(super) fn is_full(&self) -> bool {
        self.events.load(Ordering::Relaxed) >= MAX_EVENTS || self.bytes.load(Ordering::Relaxed) >= MAX_BYTES
    }
}

fn bytes(events: &[Ingress]) -> usize {
    let of = |event: &Ingress| match event {
        Ingress::Message { bytes, .. } | Ingress::Raw { bytes, .. } => bytes.len(),
        _ => 0,
    };
    events.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use tidelock_net::{ConnectionId, LaneSet, Span};

    use super::*;

    // Bad input: a tick that stands still bounds what is received by number and by bytes.
    #[test]
    fn few_long_messages_fill_it_as_many_short_ones_do() {
        for (len, most) in [(1, MAX_EVENTS), (1 << 20, MAX_BYTES >> 20)] {
            let bytes = Span::from(vec![0; len]);
            let event = [Ingress::Message { connection: ConnectionId::new(0, 0, 1), lane: LaneSet::STATE, bytes }];
            let backlog = Backlog::default();
            let taken = (0..).take_while(|_| !backlog.is_full()).map(|_| backlog.add(&event)).count();
            assert_eq!(taken, most);
            backlog.take(&event);
            assert!(!backlog.is_full());
        }
    }
}
