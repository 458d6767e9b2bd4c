//! Codecs of every message (beside motion's own): checked against limits, never panicking, never allocating by a length that was
//! not checked. Integers are little-endian or varints.

mod chunk;
mod client;
mod correction;
mod error;
mod newest;
mod owned;
mod owned_part;
mod part;
mod records;
mod report;
mod scalar;
mod server;
mod snapshot;
mod ticked;

pub use chunk::{MAX_CHUNK_BYTES, PlaceChunk};
pub use client::ClientMessage;
pub use error::WireError;
pub use newest::{NewestKind, read_newest_report, write_newest_report};
pub use owned::{MAX_OWNED_BYTES, OwnershipWord, read_owned_report, write_owned_parts, write_owned_report};
pub use records::{MAX_RECORDS, MAX_RECORDS_BYTES, RECORDS_BYTES, Record, RecordWriter, Records, RecordsHead};
pub use report::{MAX_REPORT_BYTES, read_report, write_report};
pub use server::{
    CharacterWord, PlayerJoined, ServerMessage, Welcome, begin_records, write_character, write_correction_message,
    write_ownership, write_player_joined, write_player_left, write_snapshot_end, write_welcome,
};

pub use snapshot::{OwnSnapshot, read_own_snapshot, write_own_snapshot};
pub use ticked::{MAX_INPUTS, TickedInputs, read_inputs, write_inputs};

pub(crate) use error::check;
pub(crate) use part::mover_is_valid;
pub(crate) use scalar::{angle_from_u16, angle_to_u16, character_state, read_tick, varint_u32};

/// Version of all codecs; part of every protocol hash.
pub const WIRE_VERSION: u32 = 1;

/// The most bytes of a place's client part.
pub const MAX_PLACE_BYTES: usize = 256 * 1_024 * 1_024;
