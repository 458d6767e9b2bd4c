use crate::collision::ColliderId;
use crate::part::PartState;
use crate::time::SimTime;

/// A player as ownership knows them; issued by whoever fills the table, never used for another player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId(pub u64);

/// What the server tells of a part whose lease changed or that the game moved, at most one a part and tick, reliably: for
/// the old owner and the new one, and for whoever sees the part when the game moved it. A write and a handoff in one tick are
/// one notice, so neither is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnershipNotice {
    /// Which part.
    pub part: ColliderId,
    /// Its epoch from now on; reports of older ones are dropped.
    pub epoch: u32,
    /// Who owns it now, `None` for the server.
    pub owner: Option<PlayerId>,
    /// Who owned it before this tick.
    pub previous: Option<PlayerId>,
    /// Where the server has it: where the game put it, or where a new owner begins. The old owner need not be told.
    pub state: PartState,
    /// When it was there.
    pub at: SimTime,
    /// Whether the game put it there, so that even whoever simulates it has to follow.
    pub written: bool,
}
