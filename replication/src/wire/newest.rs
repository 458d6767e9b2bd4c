use tidelock_sim::report::Report;

use super::{WireError, check, read_report, write_report};

/// What a message to the server on the newest lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NewestKind {
    /// A report that is not run again ([`read_newest_report`]).
    Report = 1,
    /// Inputs of ticks ([`read_inputs`](super::read_inputs)).
    Inputs = 2,
}

impl NewestKind {
    /// The kind of a message, by its first byte.
    ///
    /// # Errors
    ///
    /// [`WireError::Kind`] when nothing is known of it, [`WireError::Truncated`] when it is empty.
    pub fn of(bytes: &[u8]) -> Result<Self, WireError> {
        match bytes.first() {
            Some(1) => Ok(Self::Report),
            Some(2) => Ok(Self::Inputs),
            Some(_) => Err(WireError::Kind),
            None => Err(WireError::Truncated),
        }
    }
}

/// Appends a report as the newest lane carries it, for a controller that does not run frames again: at most the last one, for what
/// the player holds.
///
/// # Panics
///
/// When it has more than one frame.
pub fn write_newest_report(bytes: &mut Vec<u8>, report: &Report) {
    assert!(report.frames.len() <= 1, "frames that nobody runs");
    bytes.push(NewestKind::Report as u8);
    write_report(bytes, report);
}

/// Reads such a report into `report`.
///
/// # Errors
///
/// Any [`WireError`]; `report` then holds nothing meaningful.
pub fn read_newest_report(bytes: &[u8], report: &mut Report) -> Result<(), WireError> {
    check(NewestKind::of(bytes)? == NewestKind::Report, WireError::Kind)?;
    read_report(&bytes[1..], report)?;
    check(report.frames.len() <= 1, WireError::TooLong)
}
