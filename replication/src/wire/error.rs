use tidelock_sim::bytes::ReadError;

/// Why a peer's message was refused. Nothing of such a message is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireError {
    /// It ended before its content did.
    Truncated,
    /// A varint was too long or not in its shortest form.
    Varint,
    /// A value lies outside what its field allows.
    Value,
    /// Bytes were left over.
    Trailing,
    /// The kind of message, record or shape is unknown.
    Kind,
    /// An id is zero.
    Id,
    /// A flag or mask bit is unknown.
    Flags,
    /// More bytes, records or frames than allowed.
    TooLong,
}

impl WireError {
    /// All errors, for counters.
    pub const ALL: [Self; 8] =
        [Self::Truncated, Self::Varint, Self::Value, Self::Trailing, Self::Kind, Self::Id, Self::Flags, Self::TooLong];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Varint => "varint",
            Self::Value => "value",
            Self::Trailing => "trailing",
            Self::Kind => "kind",
            Self::Id => "id",
            Self::Flags => "flags",
            Self::TooLong => "too_long",
        }
    }
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for WireError {}

impl From<ReadError> for WireError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Truncated => Self::Truncated,
            ReadError::Varint => Self::Varint,
            ReadError::Value => Self::Value,
            ReadError::Trailing => Self::Trailing,
        }
    }
}

/// `Ok` when the condition holds.
#[inline]
pub(crate) fn check(holds: bool, otherwise: WireError) -> Result<(), WireError> {
    if holds { Ok(()) } else { Err(otherwise) }
}
