use std::sync::Arc;

use tidelock_sim::bytes::{Reader, Writer};

use super::scalar::{read_array, varint_u32};
use super::{MAX_PLACE_BYTES, WireError};
use crate::ids::Generation;
use crate::instance::MAX_NAME_BYTES;
use crate::place::PlaceHash;

/// A message from client to server on the state lane.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// The first message.
    Join {
        /// Hash of the client's protocol.
        protocol_hash: [u8; 32],
        /// Name wanted, at most [`MAX_NAME_BYTES`] bytes.
        name: Arc<str>,
        /// Place the client already has, if any.
        place: Option<PlaceHash>,
    },
    /// Asks for a place's client part from `offset` on, over the bulk lane.
    PlaceRequest {
        /// Which place.
        hash: PlaceHash,
        /// Bytes the client already has.
        offset: u64,
    },
    /// The client has opened the place of this generation: motion may begin.
    Entered {
        /// Which.
        generation: Generation,
    },
}

const JOIN: u8 = 1;
const PLACE_REQUEST: u8 = 2;
const ENTERED: u8 = 3;

impl ClientMessage {
    /// Appends the message.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let mut out = Writer::new(bytes);
        match self {
            Self::Join { protocol_hash, name, place } => {
                out.u8(JOIN);
                out.raw(protocol_hash);
                out.text(name);
                out.bool(place.is_some());
                if let Some(place) = place {
                    out.raw(&place.0);
                }
            }
            Self::PlaceRequest { hash, offset } => {
                out.u8(PLACE_REQUEST);
                out.raw(&hash.0);
                out.varint(*offset);
            }
            Self::Entered { generation } => {
                out.u8(ENTERED);
                out.varint(u64::from(generation.0));
            }
        }
    }

    /// Reads one message whole.
    ///
    /// # Errors
    ///
    /// Any [`WireError`]; nothing of such a message may be applied.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            JOIN => Self::Join {
                protocol_hash: read_array(&mut reader)?,
                name: Arc::from(reader.text(MAX_NAME_BYTES)?),
                place: if reader.bool()? { Some(PlaceHash(read_array(&mut reader)?)) } else { None },
            },
            PLACE_REQUEST => Self::PlaceRequest {
                hash: PlaceHash(read_array(&mut reader)?),
                offset: reader.varint_at_most(MAX_PLACE_BYTES as u64)?,
            },
            ENTERED => Self::Entered { generation: Generation(varint_u32(&mut reader)?) },
            _ => return Err(WireError::Kind),
        };
        reader.finish()?;
        Ok(message)
    }
}
