use thiserror::Error;

/// Why a place file could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlaceError {
    /// The text is not TOML, has an unknown or doubled key, lacks one, or a value of the wrong type.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, naming the key.
        message: String,
    },
    /// A value that cannot be.
    #[error("line {line}: `{key}` {reason}")]
    Value {
        /// Line of the table that holds the key, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// What must hold.
        reason: &'static str,
    },
    /// More than a place can hold.
    #[error("line {line}: more than {limit} parts")]
    TooManyParts {
        /// Line of the part that is one too many, from 1.
        line: usize,
        /// The limit.
        limit: usize,
    },
    /// The bytes are no place archive of a version this build reads, or are damaged.
    #[error("not a place archive, or a damaged one: {reason}")]
    Archive {
        /// What is wrong.
        reason: &'static str,
    },
}
