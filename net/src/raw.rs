//! Payloads of connections without lanes, waiting to be sent.

use std::collections::VecDeque;

use crate::arena::Span;
use crate::event::Refusal;
use crate::netcode::MAX_PAYLOAD_BYTES;

/// Payloads queued at most.
const MAX_RAW: usize = 256;

/// A bounded queue of payloads, of which a flush releases those there.
#[derive(Debug, Default)]
pub(crate) struct RawQueue {
    queue: VecDeque<Span>,
    released: usize,
}

impl RawQueue {
    /// Queues a payload until the next release.
    pub(crate) fn push(&mut self, bytes: Span) -> Result<(), Refusal> {
        match bytes.len() {
            0 => return Err(Refusal::TooLong),
            bytes if bytes > MAX_PAYLOAD_BYTES => return Err(Refusal::TooLong),
            _ if self.queue.len() >= MAX_RAW => return Err(Refusal::WouldBlock),
            _ => self.queue.push_back(bytes),
        }
        Ok(())
    }

    /// Lets everything queued so far be sent.
    pub(crate) fn release(&mut self) {
        self.released = self.queue.len();
    }

    /// Whether there is something to send.
    pub(crate) fn is_pending(&self) -> bool {
        self.released > 0
    }

    /// The next payload to send.
    pub(crate) fn pop(&mut self) -> Option<Span> {
        self.released = self.released.checked_sub(1)?;
        self.queue.pop_front()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
