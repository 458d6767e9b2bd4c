use std::collections::VecDeque;

use crate::wire::Records;

/// Records held for a generation not entered yet.
pub const MAX_HELD_RECORDS: usize = 65_536;
/// Bytes of such records, as [`Records::held_bytes`] counts them: what the most of the smallest take, and as much again.
pub const MAX_HELD_BYTES: usize = 32 << 20;

/// Messages of generations not entered yet, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    messages: VecDeque<Records>,
    records: usize,
    bytes: usize,
}

impl Held {
    /// Keeps a message. Returns how many records were given up for it, those of the oldest messages.
    pub(super) fn push(&mut self, message: Records) -> usize {
        // One without records would take room that nothing bounds.
        if message.records.is_empty() {
            return 0;
        }
        self.records += message.records.len();
        self.bytes += message.held_bytes();
        self.messages.push_back(message);
        let mut dropped = 0;
        while self.records > MAX_HELD_RECORDS || self.bytes > MAX_HELD_BYTES {
            let Some(oldest) = self.messages.pop_front() else { break };
            dropped += oldest.records.len();
            self.records -= oldest.records.len();
            self.bytes -= oldest.held_bytes();
        }
        dropped
    }

    /// Takes all out, oldest first.
    pub(super) fn take(&mut self) -> VecDeque<Records> {
        std::mem::take(self).messages
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
