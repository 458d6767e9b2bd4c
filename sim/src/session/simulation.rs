use crate::client::SmoothedPose;
use crate::events::{EventLedger, SurfacedEvent};
use crate::sequence::Sequence;
use crate::tick::Tick;

/// What every snapshot says besides the game's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// The server's step the state belongs to.
    pub tick: Tick,
    /// The newest input of this client that the state stands for.
    pub acknowledged: Sequence,
    /// Inputs of this client left in the server's queue.
    pub depth: u32,
    /// The depth the server asks for.
    pub target: Option<u32>,
}

/// A step being run, first or again.
#[derive(Debug)]
pub struct StepContext<'a, E> {
    pub(super) tick: Tick,
    pub(super) sequence: Sequence,
    pub(super) replaying: bool,
    pub(super) ledger: &'a mut EventLedger,
    pub(super) events: &'a mut Vec<SurfacedEvent<E>>,
}

impl<E> StepContext<'_, E> {
    /// Which step it is.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The sequence of its input.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Whether it ran before and is run again after a rewind.
    #[must_use]
    pub fn replaying(&self) -> bool {
        self.replaying
    }

    /// An event of `source`, e.g. an entity's id. It surfaces once, however often its step runs (S-36).
    pub fn emit(&mut self, source: u64, event: E) {
        self.events.extend(self.ledger.emit(source, event));
    }
}

/// A game that can be reset to a server's snapshot and stepped on from there.
///
/// The server must run the same step. When it is deterministic and inputs are as coarse as their wire form, predictions
/// of what the client knows are exact.
pub trait PredictedSimulation {
    /// One step's input, as coarse as its wire form.
    type Input: Copy;
    /// The server's state of one step.
    type Snapshot;
    /// What a step may bring forth.
    type Event;

    /// The header of a snapshot.
    fn header(snapshot: &Self::Snapshot) -> SnapshotHeader;

    /// Sees each snapshot that is about to be applied and the one applied before it. The default does nothing.
    fn observe(&mut self, previous: Option<&Self::Snapshot>, next: &Self::Snapshot) {
        let _ = (previous, next);
    }

    /// Whether the world jumped between two snapshots, so that the picture snaps rather than glides. The default says no.
    fn is_teleport(previous: &Self::Snapshot, next: &Self::Snapshot) -> bool {
        let _ = (previous, next);
        false
    }

    /// Becomes the state of a snapshot.
    fn restore(&mut self, snapshot: &Self::Snapshot);

    /// Runs one step.
    fn step(&mut self, input: &Self::Input, context: &mut StepContext<'_, Self::Event>);

    /// Appends the pose of every drawn object to `out`, which is empty, preferably always in one order.
    fn poses(&self, out: &mut Vec<SmoothedPose>);
}
