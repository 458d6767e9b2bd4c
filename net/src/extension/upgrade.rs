//! How two endpoints find out that both speak the extension, and agree on its keys.
//!
//! Both notices travel as payloads of the standard; a session's payload never begins as they do.

use std::time::Duration;

use crate::extension::keys::{Secrets, TokenKeys};
use crate::id::{ConnectionId, WIRE_NAME_BYTES};

/// Bytes each side adds to the keys.
pub(crate) const RANDOM_BYTES: usize = 32;

const ANNOUNCEMENT: u8 = 0x80;
const ANSWER: u8 = 0x81;
/// Time between announcements, and how many are made.
const INTERVAL: Duration = Duration::from_millis(250);
const ANNOUNCEMENTS: u32 = 20;

/// What an endpoint says about the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The client speaks it.
    Announcement([u8; RANDOM_BYTES]),
    /// So does the server, which names the connection.
    Answer([u8; RANDOM_BYTES], ConnectionId),
}

/// Bytes that begin as a notice does and are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoticeError;

impl Notice {
    /// Whether a payload is a notice rather than a session's.
    pub(crate) fn is_notice(payload: &[u8]) -> bool {
        payload.first().is_some_and(|first| first & ANNOUNCEMENT != 0)
    }

    pub(crate) fn read(payload: &[u8]) -> Result<Self, NoticeError> {
        let (first, rest) = payload.split_first().ok_or(NoticeError)?;
        let (random, rest) = rest.split_first_chunk().ok_or(NoticeError)?;
        match (*first, rest.len()) {
            (ANNOUNCEMENT, 0) => Ok(Self::Announcement(*random)),
            (ANSWER, WIRE_NAME_BYTES) => {
                let name = rest.first_chunk().ok_or(NoticeError)?;
                Ok(Self::Answer(*random, ConnectionId::from_wire(name)))
            }
            _ => Err(NoticeError),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Announcement(random) => {
                out.push(ANNOUNCEMENT);
                out.extend_from_slice(random);
            }
            Self::Answer(random, connection) => {
                out.push(ANSWER);
                out.extend_from_slice(random);
                out.extend_from_slice(&connection.to_wire());
            }
        }
    }
}

/// Where a connection stands between the standard and the extension.
pub(crate) enum Upgrade {
    /// It stays with the standard, or has gone over.
    None,
    /// The server waits for an announcement.
    Waiting(Box<TokenKeys>),
    /// The client announces.
    Announcing(Box<Announcing>),
    /// The server has answered the announcement, and has not yet seen a packet of the extension.
    Answered(Box<Answered>),
}

/// A server's answer to an announcement.
pub(crate) struct Answered {
    pub(crate) announced: [u8; RANDOM_BYTES],
    pub(crate) answer: Notice,
    /// Whether it is to be said, for the first time or again.
    pub(crate) due: bool,
}

/// A client's announcement.
pub(crate) struct Announcing {
    keys: TokenKeys,
    random: [u8; RANDOM_BYTES],
    due: Duration,
    made: u32,
}

impl Announcing {
    pub(crate) fn new(keys: TokenKeys, random: [u8; RANDOM_BYTES], now: Duration) -> Self {
        Self { keys, random, due: now, made: 0 }
    }

    /// When the next announcement is due; `None` if it was made in vain.
    pub(crate) fn due(&self) -> Option<Duration> {
        (self.made < ANNOUNCEMENTS).then_some(self.due)
    }

    /// The announcement, made now.
    pub(crate) fn announce(&mut self, now: Duration) -> Notice {
        self.made += 1;
        self.due = now + INTERVAL;
        Notice::Announcement(self.random)
    }

    /// The secrets once the server has answered.
    pub(crate) fn secrets(&self, server: &[u8; RANDOM_BYTES]) -> Secrets {
        Secrets::derive(&self.keys, &self.random, server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // N-1a, N-13
        #[test]
        fn notices_come_back_and_anything_else_is_refused(random: [u8; 32], index in 0u32..1 << 20, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let connection = ConnectionId::new(3, index, 77);
            for notice in [Notice::Announcement(random), Notice::Answer(random, connection)] {
                let mut out = vec![];
                notice.write(&mut out);
                prop_assert!(Notice::is_notice(&out));
                prop_assert_eq!(Notice::read(&out), Ok(notice));
                prop_assert_eq!(Notice::read(&out[..out.len() - 1]), Err(NoticeError));
            }
            let _ = Notice::read(&bytes);
        }
    }
}
