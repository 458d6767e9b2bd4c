use std::sync::Arc;

use tidelock_sim::Tick;
use tidelock_sim::bytes::{Reader, Writer};

use super::part;
use super::scalar::{character_state, read_array, read_id, read_tick, varint_u32};
use super::{WireError, check};
use crate::ids::{Generation, InstanceId, PlayerId};
use crate::instance::{
    CharacterMask, CharacterPatch, CharacterPose, CharacterProperties, CharacterProperty, Color, MAX_NAME_BYTES,
    PartMask, PartPatch, PartProperties, Pose, Seat,
};

/// The most records of one message.
pub const MAX_RECORDS: usize = 256;
/// Bytes of records after which a message is closed; a single record may be longer.
pub const RECORDS_BYTES: usize = 32 * 1_024;
/// The most bytes of a message of records.
pub const MAX_RECORDS_BYTES: usize = 256 * 1_024;

/// What stands before the records of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordsHead {
    /// Delivery generation of the place.
    pub generation: Generation,
    /// Tick at whose end this was published.
    pub tick: Tick,
}

/// One change of an instance, as received.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A part came to be, or into this player's audience.
    CreatePart {
        /// Its id.
        id: InstanceId,
        /// Its properties.
        properties: PartProperties,
        /// Where it is.
        pose: Pose,
    },
    /// Properties of a part changed.
    PatchPart {
        /// Its id.
        id: InstanceId,
        /// New values.
        patch: PartPatch,
    },
    /// A character came to be, or into this player's audience.
    CreateCharacter {
        /// Its id.
        id: InstanceId,
        /// Its properties.
        properties: CharacterProperties,
        /// Where it is.
        pose: CharacterPose,
    },
    /// Properties of a character changed.
    PatchCharacter {
        /// Its id.
        id: InstanceId,
        /// New values.
        patch: CharacterPatch,
    },
    /// Instances were destroyed; their ids never come back in this generation.
    Destroy {
        /// The first.
        first: InstanceId,
        /// How many ids in a row, at least 1.
        count: u64,
    },
    /// An instance left this player's audience; it may come back.
    Hide {
        /// Its id.
        id: InstanceId,
    },
}

const CREATE_PART: u8 = 1;
const PATCH_PART: u8 = 2;
const CREATE_CHARACTER: u8 = 3;
const PATCH_CHARACTER: u8 = 4;
const DESTROY: u8 = 5;
const HIDE: u8 = 6;

/// Appends single records; the publisher's side of [`Record`], which copies nothing.
#[derive(Debug)]
pub struct RecordWriter<'a> {
    out: Writer<'a>,
}

impl<'a> RecordWriter<'a> {
    /// Appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { out: Writer::new(bytes) }
    }

    fn begin(&mut self, kind: u8, id: InstanceId) {
        self.out.u8(kind);
        self.out.varint(id.0);
    }

    /// Appends [`Record::CreatePart`].
    pub fn create_part(&mut self, id: InstanceId, properties: &PartProperties, pose: &Pose) {
        self.begin(CREATE_PART, id);
        part::write_patch(&mut self.out, PartMask::ALL, properties, pose);
    }

    /// Appends [`Record::PatchPart`] with the properties of `mask`.
    pub fn patch_part(&mut self, id: InstanceId, mask: PartMask, properties: &PartProperties, pose: &Pose) {
        self.begin(PATCH_PART, id);
        part::write_patch(&mut self.out, mask, properties, pose);
    }

    /// Appends [`Record::CreateCharacter`].
    pub fn create_character(&mut self, id: InstanceId, properties: &CharacterProperties, pose: &CharacterPose) {
        self.begin(CREATE_CHARACTER, id);
        self.character_fields(CharacterMask::ALL, properties);
        self.out.vec3(pose.position);
        self.out.f32(pose.yaw);
        self.out.u8(pose.state as u8);
    }

    /// Appends [`Record::PatchCharacter`] with the properties of `mask`.
    pub fn patch_character(&mut self, id: InstanceId, mask: CharacterMask, properties: &CharacterProperties) {
        self.begin(PATCH_CHARACTER, id);
        self.out.u8(mask.0);
        self.character_fields(mask, properties);
    }

    /// Appends [`Record::Destroy`].
    pub fn destroy(&mut self, first: InstanceId, count: u64) {
        self.begin(DESTROY, first);
        self.out.varint(count);
    }

    /// Appends [`Record::Hide`].
    pub fn hide(&mut self, id: InstanceId) {
        self.begin(HIDE, id);
    }

    fn character_fields(&mut self, mask: CharacterMask, properties: &CharacterProperties) {
        if mask.contains(CharacterProperty::Player) {
            self.out.varint(properties.player.0);
        }
        if mask.contains(CharacterProperty::Name) {
            self.out.text(&properties.name);
        }
        if mask.contains(CharacterProperty::Color) {
            self.out.raw(&properties.color.0);
        }
        if mask.contains(CharacterProperty::Seat) {
            self.seat(properties.seat);
        }
    }

    fn seat(&mut self, seat: Option<Seat>) {
        self.out.u8(u8::from(seat.is_some()));
        if let Some(Seat { part, offset, yaw }) = seat {
            self.out.varint(part.0);
            self.out.vec3(offset);
            self.out.f32(yaw);
        }
    }
}

/// Appends the head of a message's records (after the message's kind).
pub(super) fn write_head(out: &mut Writer<'_>, head: &RecordsHead) {
    out.varint(u64::from(head.generation.0));
    out.varint(head.tick.0);
}

/// A received message of records, decoded whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// Generation and tick.
    pub head: RecordsHead,
    /// The changes in order, at most [`MAX_RECORDS`].
    pub records: Vec<Record>,
}

impl Records {
    /// Bytes these records take in memory: their own and those they point to.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.records.iter().map(|record| size_of::<Record>() + record.heap_bytes()).sum()
    }
}

impl Record {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::CreatePart { properties, .. } | Self::PatchPart { patch: PartPatch { properties, .. }, .. } => {
                properties.heap_bytes()
            }
            Self::CreateCharacter { properties, .. }
            | Self::PatchCharacter { patch: CharacterPatch { properties, .. }, .. } => properties.heap_bytes(),
            Self::Destroy { .. } | Self::Hide { .. } => 0,
        }
    }
}

pub(super) fn read_records(reader: &mut Reader<'_>) -> Result<Records, WireError> {
    check(reader.remaining() <= MAX_RECORDS_BYTES, WireError::TooLong)?;
    let generation = Generation(varint_u32(reader)?);
    let head = RecordsHead { generation, tick: read_tick(reader)? };
    let mut records = Vec::new();
    while reader.remaining() > 0 {
        check(records.len() < MAX_RECORDS, WireError::TooLong)?;
        records.push(read_record(reader)?);
    }
    Ok(Records { head, records })
}

fn read_record(reader: &mut Reader<'_>) -> Result<Record, WireError> {
    let kind = reader.u8()?;
    let id = read_id(reader)?;
    Ok(match kind {
        CREATE_PART => {
            let PartPatch { mask, properties, pose } = part::read_patch(reader)?;
            check(mask == PartMask::ALL, WireError::Flags)?;
            Record::CreatePart { id, properties, pose }
        }
        PATCH_PART => Record::PatchPart { id, patch: part::read_patch(reader)? },
        CREATE_CHARACTER => {
            let properties = read_character_fields(reader, CharacterMask::ALL)?;
            let position = reader.bounded_vec3()?;
            let pose = CharacterPose { position, yaw: reader.bounded_f32()?, state: character_state(reader.u8()?)? };
            Record::CreateCharacter { id, properties, pose }
        }
        PATCH_CHARACTER => {
            let mask = CharacterMask(reader.u8()?);
            check(mask.0 & !CharacterMask::ALL.0 == 0, WireError::Flags)?;
            Record::PatchCharacter {
                id,
                patch: CharacterPatch { mask, properties: read_character_fields(reader, mask)? },
            }
        }
        DESTROY => {
            let count = reader.varint()?;
            check(count >= 1 && id.0.checked_add(count - 1).is_some(), WireError::Value)?;
            Record::Destroy { first: id, count }
        }
        HIDE => Record::Hide { id },
        _ => return Err(WireError::Kind),
    })
}

fn read_character_fields(reader: &mut Reader<'_>, mask: CharacterMask) -> Result<CharacterProperties, WireError> {
    let mut properties =
        CharacterProperties { player: PlayerId(0), name: Arc::from(""), color: Color::default(), seat: None };
    if mask.contains(CharacterProperty::Player) {
        properties.player = PlayerId(reader.varint()?);
    }
    if mask.contains(CharacterProperty::Name) {
        properties.name = Arc::from(reader.text(MAX_NAME_BYTES)?);
    }
    if mask.contains(CharacterProperty::Color) {
        properties.color = Color(read_array(reader)?);
    }
    if mask.contains(CharacterProperty::Seat) {
        properties.seat = read_seat(reader)?;
    }
    Ok(properties)
}

fn read_seat(reader: &mut Reader<'_>) -> Result<Option<Seat>, WireError> {
    match reader.u8()? {
        0 => Ok(None),
        1 => Ok(Some(Seat { part: read_id(reader)?, offset: reader.bounded_vec3()?, yaw: reader.bounded_f32()? })),
        _ => Err(WireError::Value),
    }
}
