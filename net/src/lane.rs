//! Lanes: independent streams of messages inside one connection.

mod plan;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use plan::Plan;

use crate::id::LaneId;

/// Longest message that travels in one frame, in bytes. Longer ones are fragmented, on reliable lanes only.
pub const MAX_WHOLE_MESSAGE_BYTES: usize = 1_024;
/// Longest message any lane can be configured for, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Most lanes a connection can have.
pub const MAX_LANES: usize = 16;

/// What a lane promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// Every message once, in the order sent.
    ReliableOrdered,
    /// Every message once, as it arrives.
    ReliableUnordered,
    /// No message older than one already delivered; lost ones stay lost.
    Sequenced,
    /// Each message at most once, as it arrives; lost ones stay lost.
    Unreliable,
}

impl LaneKind {
    /// Whether lost messages are sent again.
    #[must_use]
    pub fn is_reliable(self) -> bool {
        matches!(self, Self::ReliableOrdered | Self::ReliableUnordered)
    }
}

/// Redundancy of a reliable ordered lane: messages sent and not yet acknowledged ride again in every datagram, so a lost
/// datagram costs no round trip. The receiver removes duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// How long after it was first sent a message keeps riding. Afterwards it is resent when found lost. Default 0.25 s.
    pub window: Duration,
    /// Most bytes of repeated messages in one datagram, oldest first. Default 700.
    pub byte_cap: usize,
}

impl Default for Repeat {
    fn default() -> Self {
        Self { window: Duration::from_millis(250), byte_cap: 700 }
    }
}

/// What happens to a message that would put its lane above its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// A new message removes all unsent ones, whether or not the limit is reached: only the newest is worth sending.
    Replace,
    /// The oldest unsent messages make room.
    DropOldest,
    /// The new message is refused with [`Refusal::WouldBlock`](crate::Refusal::WouldBlock).
    WouldBlock,
}

/// One lane's rules. Both ends of a connection must use equal sets: the byte limit is also how much the receiver buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// Name in statistics and logs.
    pub name: &'static str,
    /// What the lane promises.
    pub kind: LaneKind,
    /// Redundancy; only for [`LaneKind::ReliableOrdered`]. Default none.
    pub repeat: Option<Repeat>,
    /// Lanes of a lower number are packed first; a busy lane can starve those of higher numbers.
    pub priority: u8,
    /// Share of the room among lanes of equal priority, at least 1.
    pub weight: u16,
    /// Most bytes queued or unacknowledged, each message counted with 32 bytes on top. On reliable lanes at least
    /// `max_message_bytes` plus 32.
    pub limit_bytes: usize,
    /// What happens at the limit. Reliable lanes must use [`Overflow::WouldBlock`]: they never lose a message.
    pub overflow: Overflow,
    /// Longest message, in bytes: at most [`MAX_WHOLE_MESSAGE_BYTES`] on unreliable and sequenced lanes,
    /// [`MAX_MESSAGE_BYTES`] on reliable ones.
    pub max_message_bytes: usize,
}

/// The lanes of a connection, in order of their [`LaneId`]. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneSet(Arc<Lanes>);

#[derive(Debug, PartialEq, Eq)]
struct Lanes {
    configs: Box<[LaneConfig]>,
    plan: Plan,
}

/// Why a list of lanes is no [`LaneSet`]. Each variant but the first names the lane's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneSetError {
    /// No lane at all, or more than [`MAX_LANES`].
    Count(usize),
    /// A weight of zero.
    Weight(usize),
    /// `repeat` on a lane that is not reliable ordered.
    Repeat(usize),
    /// An overflow policy that would lose messages of a reliable lane.
    Overflow(usize),
    /// `max_message_bytes` is zero or above what the kind allows.
    MessageBytes(usize),
    /// `limit_bytes` has no room for one message of the greatest length, or exceeds 64 MiB.
    LimitBytes(usize),
}

impl fmt::Display for LaneSetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(out, "{count} lanes given; 1 to {MAX_LANES} are possible"),
            Self::Weight(lane) => write!(out, "lane {lane}: weight must be at least 1"),
            Self::Repeat(lane) => write!(out, "lane {lane}: only reliable ordered lanes can repeat"),
            Self::Overflow(lane) => write!(out, "lane {lane}: a reliable lane must overflow with would-block"),
            Self::MessageBytes(lane) => write!(out, "lane {lane}: max_message_bytes is out of range for its kind"),
            Self::LimitBytes(lane) => {
                write!(out, "lane {lane}: limit_bytes must hold one message and be at most 64 MiB")
            }
        }
    }
}

impl std::error::Error for LaneSetError {}

/// Bytes a queued message is counted with beyond its own length.
pub(crate) const MESSAGE_OVERHEAD_BYTES: usize = 32;
const MAX_LIMIT_BYTES: usize = 64 << 20;

impl LaneSet {
    /// Reliable ordered lane of the standard set for replicated state.
    pub const STATE: LaneId = LaneId(0);
    /// Reliable ordered lane of the standard set that repeats for 0.25 s, for movement reports and inputs.
    pub const REPORT: LaneId = LaneId(1);
    /// Unreliable lane of the standard set for motion batches.
    pub const MOTION: LaneId = LaneId(2);
    /// Reliable unordered lane of the standard set for events.
    pub const EVENT: LaneId = LaneId(3);
    /// Reliable ordered lane of the standard set for long transfers; takes what the others leave.
    pub const BULK: LaneId = LaneId(4);
    /// Sequenced lane of the standard set on which a message replaces what waits unsent: for what only counts while it is the
    /// newest, as reports that are not run again and inputs that carry those before them.
    pub const NEWEST: LaneId = LaneId(5);

    /// Checks the lanes and makes a set of them.
    ///
    /// # Errors
    /// The first rule of [`LaneConfig`] a lane breaks.
    pub fn new(lanes: Vec<LaneConfig>) -> Result<Self, LaneSetError> {
        if lanes.is_empty() || lanes.len() > MAX_LANES {
            return Err(LaneSetError::Count(lanes.len()));
        }
        for (index, lane) in lanes.iter().enumerate() {
            lane.check(index)?;
        }
        let plan = Plan::new(&lanes);
        Ok(Self(Arc::new(Lanes { configs: lanes.into(), plan })))
    }

    /// The standard set: [`STATE`](Self::STATE), [`REPORT`](Self::REPORT), [`MOTION`](Self::MOTION), [`EVENT`](Self::EVENT),
    /// [`BULK`](Self::BULK) and [`NEWEST`](Self::NEWEST).
    #[must_use]
    pub fn standard() -> Self {
        let lane = |name, kind, priority, limit_bytes, overflow, max_message_bytes| LaneConfig {
            name,
            kind,
            repeat: None,
            priority,
            weight: 1,
            limit_bytes,
            overflow,
            max_message_bytes,
        };
        use LaneKind::{ReliableOrdered, ReliableUnordered, Sequenced, Unreliable};
        let would_block = Overflow::WouldBlock;
        let mut report = lane("report", ReliableOrdered, 0, 256 << 10, would_block, 16 << 10);
        report.repeat = Some(Repeat::default());
        let lanes = vec![
            lane("state", ReliableOrdered, 1, 4 << 20, would_block, 1 << 20),
            report,
            lane("motion", Unreliable, 2, 64 << 10, Overflow::DropOldest, MAX_WHOLE_MESSAGE_BYTES),
            lane("event", ReliableUnordered, 1, 1 << 20, would_block, 256 << 10),
            lane("bulk", ReliableOrdered, 3, 18 << 20, would_block, MAX_MESSAGE_BYTES),
            lane("newest", Sequenced, 0, 16 << 10, Overflow::Replace, MAX_WHOLE_MESSAGE_BYTES),
        ];
        Self::new(lanes).expect("the standard lanes keep the rules")
    }

    /// The lanes in order of their ids.
    #[must_use]
    pub fn lanes(&self) -> &[LaneConfig] {
        &self.0.configs
    }

    /// The rules of one lane, if the set has it.
    #[must_use]
    pub fn get(&self, lane: LaneId) -> Option<&LaneConfig> {
        self.0.configs.get(usize::from(lane.0))
    }

    /// What follows from them.
    pub(crate) fn plan(&self) -> &Plan {
        &self.0.plan
    }
}

impl LaneConfig {
    fn check(&self, index: usize) -> Result<(), LaneSetError> {
        let longest = if self.kind.is_reliable() { MAX_MESSAGE_BYTES } else { MAX_WHOLE_MESSAGE_BYTES };
        let room = self.max_message_bytes + MESSAGE_OVERHEAD_BYTES;
        if self.weight == 0 {
            Err(LaneSetError::Weight(index))
        } else if self.repeat.is_some() && self.kind != LaneKind::ReliableOrdered {
            Err(LaneSetError::Repeat(index))
        } else if self.kind.is_reliable() && self.overflow != Overflow::WouldBlock {
            Err(LaneSetError::Overflow(index))
        } else if self.max_message_bytes == 0 || self.max_message_bytes > longest {
            Err(LaneSetError::MessageBytes(index))
        } else if self.limit_bytes < room || self.limit_bytes > MAX_LIMIT_BYTES {
            Err(LaneSetError::LimitBytes(index))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_set_has_its_lanes() {
        let set = LaneSet::standard();
        let names: Vec<_> = set.lanes().iter().map(|lane| lane.name).collect();
        assert_eq!(names, ["state", "report", "motion", "event", "bulk", "newest"]);
        assert_eq!(set.get(LaneSet::BULK).unwrap().max_message_bytes, 16 << 20);
        assert!(set.get(LaneId(6)).is_none());
    }

    #[test]
    fn broken_rules_are_named() {
        let good = LaneSet::standard().lanes()[0].clone();
        let with = |change: fn(&mut LaneConfig)| {
            let mut lane = good.clone();
            change(&mut lane);
            LaneSet::new(vec![good.clone(), lane]).unwrap_err()
        };
        assert_eq!(LaneSet::new(vec![]).unwrap_err(), LaneSetError::Count(0));
        assert_eq!(with(|lane| lane.weight = 0), LaneSetError::Weight(1));
        assert_eq!(with(|lane| lane.overflow = Overflow::DropOldest), LaneSetError::Overflow(1));
        assert_eq!(with(|lane| lane.max_message_bytes = 0), LaneSetError::MessageBytes(1));
        assert_eq!(with(|lane| lane.limit_bytes = 100), LaneSetError::LimitBytes(1));
        assert_eq!(
            with(|lane| {
                lane.kind = LaneKind::ReliableUnordered;
                lane.repeat = Some(Repeat::default());
            }),
            LaneSetError::Repeat(1)
        );
    }
}
