use std::sync::Arc;

use glam::Vec3;
use tidelock_sim::Tick;
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::report::Correction;

use super::correction::{read_correction, write_correction};
use super::owned::{OwnershipWord, read_word, write_word};
use super::records::{Records, RecordsHead, read_records, write_head};
use super::scalar::{read_array, read_id, read_tick, varint_u32};
use super::{MAX_PLACE_BYTES, WireError, check};
use crate::ids::{Generation, InstanceId, PlayerId};
use crate::instance::{Color, MAX_NAME_BYTES};
use crate::place::PlaceHash;

/// First answer to a join: who the client is and which place it enters.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// Hash of the server's protocol; a client of another leaves.
    pub protocol_hash: [u8; 32],
    /// The client's player.
    pub player: PlayerId,
    /// Its character.
    pub character: InstanceId,
    /// The tick at whose end this was sent.
    pub tick: Tick,
    /// Delivery generation opened for the place.
    pub generation: Generation,
    /// Hash of the place's client part.
    pub place_hash: PlaceHash,
    /// Name of the place.
    pub place_name: Arc<str>,
    /// Bytes of the place's client part.
    pub place_bytes: u64,
    /// Ticks between two broadcasts of motion to this client, at least 1.
    pub divisor: u32,
}

/// A player's name and colour.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerJoined {
    /// Who.
    pub player: PlayerId,
    /// Its name.
    pub name: Arc<str>,
    /// Its colour.
    pub color: Color,
}

/// Which character is the client's, and how it is moved from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CharacterWord {
    /// Generation it belongs to.
    pub generation: Generation,
    /// Its character.
    pub id: InstanceId,
    /// Number of its controller, at most [`CharacterWord::MAX_CONTROLLER`].
    pub controller: u8,
    /// Where, studs.
    pub position: Vec3,
    /// Facing, radians.
    pub yaw: f32,
}

impl CharacterWord {
    /// The highest number of a controller.
    pub const MAX_CONTROLLER: u8 = 3;
}

/// A message from server to client on the state lane.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerMessage {
    /// First answer to a join.
    Welcome(Welcome),
    /// Changes of instances.
    Records(Records),
    /// Everything that differs from the authored place has been sent: the client may show the place.
    SnapshotEnd {
        /// Generation it belongs to.
        generation: Generation,
    },
    /// The server's word on the client's own character, respawns and teleports included.
    Correction(Correction),
    /// The client's character is this one from now on, moved so; its epoch is in the correction that follows.
    Character(CharacterWord),
    /// A player is here.
    PlayerJoined(PlayerJoined),
    /// A player has left.
    PlayerLeft(PlayerId),
    /// Who simulates a loose part from now on.
    Ownership(OwnershipWord),
}

const WELCOME: u8 = 1;
const RECORDS: u8 = 2;
const SNAPSHOT_END: u8 = 3;
const CORRECTION: u8 = 4;
const CHARACTER: u8 = 5;
const PLAYER_JOINED: u8 = 6;
const PLAYER_LEFT: u8 = 7;
const OWNERSHIP: u8 = 8;

/// Begins a message of records: what follows are the bytes of a [`super::RecordWriter`].
pub fn begin_records(bytes: &mut Vec<u8>, head: &RecordsHead) {
    let mut out = Writer::new(bytes);
    out.u8(RECORDS);
    write_head(&mut out, head);
}

/// Appends [`ServerMessage::Welcome`].
pub fn write_welcome(bytes: &mut Vec<u8>, welcome: &Welcome) {
    let mut out = Writer::new(bytes);
    out.u8(WELCOME);
    out.raw(&welcome.protocol_hash);
    out.varint(welcome.player.0);
    out.varint(welcome.character.0);
    out.varint(welcome.tick.0);
    out.varint(u64::from(welcome.generation.0));
    out.raw(&welcome.place_hash.0);
    out.text(&welcome.place_name);
    out.varint(welcome.place_bytes);
    out.varint(u64::from(welcome.divisor));
}

/// Appends [`ServerMessage::SnapshotEnd`].
pub fn write_snapshot_end(bytes: &mut Vec<u8>, generation: Generation) {
    let mut out = Writer::new(bytes);
    out.u8(SNAPSHOT_END);
    out.varint(u64::from(generation.0));
}

/// Appends [`ServerMessage::Correction`].
pub fn write_correction_message(bytes: &mut Vec<u8>, correction: &Correction) {
    let mut out = Writer::new(bytes);
    out.u8(CORRECTION);
    write_correction(&mut out, correction);
}

/// Appends [`ServerMessage::Character`].
pub fn write_character(bytes: &mut Vec<u8>, word: &CharacterWord) {
    let mut out = Writer::new(bytes);
    out.u8(CHARACTER);
    out.varint(u64::from(word.generation.0));
    out.varint(word.id.0);
    out.u8(word.controller);
    out.vec3(word.position);
    out.f32(word.yaw);
}

/// Appends [`ServerMessage::PlayerJoined`].
pub fn write_player_joined(bytes: &mut Vec<u8>, joined: &PlayerJoined) {
    let mut out = Writer::new(bytes);
    out.u8(PLAYER_JOINED);
    out.varint(joined.player.0);
    out.text(&joined.name);
    out.raw(&joined.color.0);
}

/// Appends [`ServerMessage::PlayerLeft`].
pub fn write_player_left(bytes: &mut Vec<u8>, player: PlayerId) {
    let mut out = Writer::new(bytes);
    out.u8(PLAYER_LEFT);
    out.varint(player.0);
}

/// Appends [`ServerMessage::Ownership`].
pub fn write_ownership(bytes: &mut Vec<u8>, word: &OwnershipWord) {
    let mut out = Writer::new(bytes);
    out.u8(OWNERSHIP);
    write_word(&mut out, word);
}

impl ServerMessage {
    /// Reads one message whole.
    ///
    /// # Errors
    ///
    /// Any [`WireError`]; nothing of such a message may be applied.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            WELCOME => Self::Welcome(read_welcome(&mut reader)?),
            RECORDS => Self::Records(read_records(&mut reader)?),
            SNAPSHOT_END => Self::SnapshotEnd { generation: Generation(varint_u32(&mut reader)?) },
            CORRECTION => Self::Correction(read_correction(&mut reader)?),
            CHARACTER => Self::Character(read_character(&mut reader)?),
            PLAYER_JOINED => Self::PlayerJoined(PlayerJoined {
                player: PlayerId(reader.varint()?),
                name: Arc::from(reader.text(MAX_NAME_BYTES)?),
                color: Color(read_array(&mut reader)?),
            }),
            PLAYER_LEFT => Self::PlayerLeft(PlayerId(reader.varint()?)),
            OWNERSHIP => Self::Ownership(read_word(&mut reader)?),
            _ => return Err(WireError::Kind),
        };
        reader.finish()?;
        Ok(message)
    }
}

fn read_character(reader: &mut Reader<'_>) -> Result<CharacterWord, WireError> {
    let word = CharacterWord {
        generation: Generation(varint_u32(reader)?),
        id: read_id(reader)?,
        controller: reader.u8()?,
        position: reader.bounded_vec3()?,
        yaw: reader.bounded_f32()?,
    };
    check(word.controller <= CharacterWord::MAX_CONTROLLER, WireError::Value)?;
    Ok(word)
}

fn read_welcome(reader: &mut Reader<'_>) -> Result<Welcome, WireError> {
    let welcome = Welcome {
        protocol_hash: read_array(reader)?,
        player: PlayerId(reader.varint()?),
        character: read_id(reader)?,
        tick: read_tick(reader)?,
        generation: Generation(varint_u32(reader)?),
        place_hash: PlaceHash(read_array(reader)?),
        place_name: Arc::from(reader.text(MAX_NAME_BYTES)?),
        place_bytes: reader.varint_at_most(MAX_PLACE_BYTES as u64)?,
        divisor: reader.varint_at_most(60)? as u32,
    };
    check(welcome.divisor >= 1, WireError::Value)?;
    Ok(welcome)
}
