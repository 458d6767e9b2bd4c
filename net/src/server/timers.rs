//! Which connection has something to do when, without looking at the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::id::ConnectionId;

/// Times by connection. A connection may be entered again for an earlier time; its owner remembers the earliest and ignores others.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Duration, ConnectionId)>>,
}

impl Timers {
    pub(super) fn enter(&mut self, at: Duration, connection: ConnectionId) {
        self.heap.push(Reverse((at, connection)));
    }

    /// Takes the earliest entry at or before `now`.
    pub(super) fn pop(&mut self, now: Duration) -> Option<(Duration, ConnectionId)> {
        let Reverse((at, _)) = *self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }
}
