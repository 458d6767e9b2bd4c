use tidelock_net::{LaneId, LaneSet};

/// Who moves a game's characters, and how the server checks it (S-7). Part of the protocol: both ends must choose alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Controller {
    /// The client moves its character at once and reports what it ran; the server runs the same frames again with the same
    /// module and keeps its own result where they differ. The default: exact, and the most work for the server.
    #[default]
    Replay,
    /// The client moves its character at once and reports where it is; the server asks whether that can have been, by the time
    /// reports arrive and what the game grants. For games whose movement the server cannot run: their module runs on clients
    /// alone, and a cheat stays within what an honest player could do.
    Allowances,
}

impl Controller {
    /// Its number in the protocol hash; 0 adds nothing to it.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Replay => 0,
            Self::Allowances => 1,
        }
    }

    /// The lane on which a client tells of its character. Reports that are run again must all come; of others only the newest
    /// counts (S-20).
    pub(crate) fn report_lane(self) -> LaneId {
        match self {
            Self::Replay => LaneSet::REPORT,
            Self::Allowances => LaneSet::NEWEST,
        }
    }
}
