/// An instance of a place: a part, a character. Issued by the server, never reused inside a generation.
///
/// Authored instances have the ids `1..=n` in the order of their file; 0 is never issued. On the wire a varint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u64);

/// A player's session on a server, the same for as long as the session lives. On the wire a varint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId(pub u64);

/// Issues instance ids, each once.
#[derive(Clone, Debug)]
pub struct InstanceIds {
    next: u64,
}

impl InstanceIds {
    /// Issues ids after the `authored` ones of a place.
    #[must_use]
    pub fn after_authored(authored: u64) -> Self {
        Self { next: authored + 1 }
    }

    /// The next id.
    pub fn issue(&mut self) -> InstanceId {
        let id = InstanceId(self.next);
        self.next += 1;
        id
    }
}
