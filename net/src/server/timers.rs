//! Which connection has something to do when, without looking at the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::id::ConnectionId;

/// Times by connection. A connection may be entered again for an earlier time; its owner remembers the earliest and ignores others.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// In nanoseconds, which compare faster.
    heap: BinaryHeap<Reverse<(u64, ConnectionId)>>,
}

impl Timers {
    pub(super) fn enter(&mut self, at: Duration, connection: ConnectionId) {
        self.heap.push(Reverse((at.as_nanos() as u64, connection)));
    }

    /// Takes the earliest entry at or before `now`.
    pub(super) fn pop(&mut self, now: Duration) -> Option<(Duration, ConnectionId)> {
        self.next().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse((at, connection))| (Duration::from_nanos(at), connection))
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse((at, _))| Duration::from_nanos(*at))
    }
}
