//! Datagrams that leave together: those of one length can be handed to the system in one call.

use std::time::Duration;

/// Longest padding.
const MOST_PADDING: usize = 64;

/// The packets of a session that leave at one time and can be segments of one send: of one length, but for a shorter last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    at: Duration,
    /// Length of its payloads; 0 once a shorter one has ended it.
    bytes: usize,
}

impl Run {
    /// Bytes that a payload of `bytes` lacks to belong to the run and not to end it.
    pub(super) fn lacks(&self, now: Duration, bytes: usize) -> Option<usize> {
        let lacks = self.bytes.checked_sub(bytes).filter(|_| self.at == now)?;
        (1..=MOST_PADDING).contains(&lacks).then_some(lacks)
    }

    /// Notes a packet that leaves.
    pub(super) fn note(&mut self, now: Duration, bytes: usize) {
        let ends = self.at == now && bytes < self.bytes;
        (self.at, self.bytes) = (now, if ends { 0 } else { bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-10
    #[test]
    fn only_what_is_a_little_shorter_lacks_something() {
        let (mut run, now) = (Run::default(), Duration::from_secs(1));
        assert_eq!(run.lacks(now, 1_000), None);
        run.note(now, 1_010);
        let lacks = [1_010, 1_009, 946, 945, 1_011].map(|bytes| run.lacks(now, bytes));
        assert_eq!(lacks, [None, Some(1), Some(64), None, None]);
        assert_eq!(run.lacks(now + Duration::from_nanos(1), 1_000), None);
        run.note(now, 1_010);
        assert_eq!(run.lacks(now, 1_000), Some(10));
        run.note(now, 1_000);
        assert_eq!(run.lacks(now, 990), None, "a shorter one was the last of the run");
        run.note(now, 990);
        assert_eq!(run.lacks(now, 980), Some(10));
    }
}
