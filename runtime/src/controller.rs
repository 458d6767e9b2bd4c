/// Who moves a character, and how the server checks it (S-7). Both ends must know the same ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Controller {
    /// The client moves its character at once and reports what it ran; the server runs the same frames again with the same
    /// module and keeps its own result where they differ. The default: exact, and the most work for the server.
    #[default]
    Replay = 0,
    /// The client moves its character at once and reports where it is; the server asks whether that can have been, by the time
    /// reports arrive and what the game grants. For games whose movement the server cannot run: their module runs on clients
    /// alone, and a cheat stays within what an honest player could do.
    Allowances = 1,
    /// The client sends one input for each of the server's ticks, and predicts what the server will make of it; the server takes
    /// one input a tick and runs motor and module itself. For games in which every press counts, once and in order, and in which
    /// nobody may move but by the server's own ticks.
    Ticked = 2,
    /// The client sends one input for each tick and moves its character by code of the game's; the server's game moves the
    /// character its own way by the same inputs, and the client follows gently where both differ. For vehicles, kites, and
    /// whatever else no motor of ours moves.
    Poses = 3,
}

impl Controller {
    /// All controllers, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Replay, Self::Allowances, Self::Ticked, Self::Poses];

    /// The controller of a number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Whether its clients send inputs of ticks rather than reports.
    pub(crate) fn takes_inputs(self) -> bool {
        matches!(self, Self::Ticked | Self::Poses)
    }
}
