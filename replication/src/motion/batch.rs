use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::report::ReportAck;
use tidelock_sim::{Sequence, SimSpan, Tick};

use super::item::{MAX_ITEM_BYTES, MotionItem, read_item};
use crate::ids::Generation;
use crate::wire::{WireError, check, read_tick, varint_u32};

/// The most bytes of a batch.
pub const MAX_BATCH_BYTES: usize = 1_100;
/// The most bytes before a batch's items.
pub const MAX_ENVELOPE_BYTES: usize = 96;
/// The most bytes of a batch's items together.
pub const MAX_ITEMS_BYTES: usize = MAX_BATCH_BYTES - MAX_ENVELOPE_BYTES;

/// What stands before the items of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MotionEnvelope {
    /// Tick whose state the items show.
    pub tick: Tick,
    /// Delivery generation of the place.
    pub generation: Generation,
    /// Acknowledgement of the receiving player's reports, if it has sent any (S-20b).
    pub ack: Option<ReportAck>,
}

const ACK: u8 = 0x01;

impl MotionEnvelope {
    /// Appends the envelope, at most [`MAX_ENVELOPE_BYTES`].
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let mut out = Writer::new(bytes);
        out.u8(if self.ack.is_some() { ACK } else { 0 });
        out.varint(self.tick.0);
        out.varint(u64::from(self.generation.0));
        if let Some(ack) = self.ack {
            out.u32(ack.sequence.0);
            out.varint(u64::from(ack.epoch));
            out.varint(u64::from(ack.budget.0));
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let flags = reader.u8()?;
        check(flags & !ACK == 0, WireError::Flags)?;
        let tick = read_tick(reader)?;
        let generation = Generation(varint_u32(reader)?);
        let ack = if flags & ACK != 0 {
            let sequence = Sequence(reader.u32()?);
            let epoch = varint_u32(reader)?;
            Some(ReportAck { sequence, epoch, budget: SimSpan(varint_u32(reader)?) })
        } else {
            None
        };
        Ok(Self { tick, generation, ack })
    }
}

/// A received batch whose every item has been checked.
#[derive(Clone, Copy, Debug)]
pub struct MotionBatch<'a> {
    /// Tick, generation, acknowledgement.
    pub envelope: MotionEnvelope,
    items: &'a [u8],
}

impl<'a> MotionBatch<'a> {
    /// Checks a batch whole, without allocating.
    ///
    /// # Errors
    ///
    /// The [`WireError`] of the first fault in the envelope or any item; nothing of such a batch may be used.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        check(bytes.len() <= MAX_BATCH_BYTES, WireError::TooLong)?;
        let mut reader = Reader::new(bytes);
        let envelope = MotionEnvelope::read(&mut reader)?;
        let items = reader.take(reader.remaining())?;
        let mut rest = Reader::new(items);
        while rest.remaining() > 0 {
            read_item(&mut rest, envelope.tick)?;
        }
        Ok(Self { envelope, items })
    }

    /// The items in order.
    pub fn items(&self) -> impl Iterator<Item = MotionItem> + use<'a> {
        let mut rest = Reader::new(self.items);
        let tick = self.envelope.tick;
        std::iter::from_fn(move || if rest.remaining() > 0 { read_item(&mut rest, tick).ok() } else { None })
    }
}

/// Batches built for players, one after another in one buffer that is reused each tick.
#[derive(Clone, Debug, Default)]
pub struct MotionOutput {
    pub(super) bytes: Vec<u8>,
    pub(super) used: usize,
    pub(super) batches: Vec<BatchSpan>,
}

/// Where a finished batch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSpan {
    /// First byte in [`MotionOutput::bytes`].
    pub start: usize,
    /// Bytes, at most [`MAX_BATCH_BYTES`].
    pub len: usize,
    /// What its receipt is to name; counts up per player.
    pub key: u64,
    /// Items in it.
    pub items: u32,
}

impl BatchSpan {
    /// The bytes covered, as a range.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

impl MotionOutput {
    /// Forgets all batches, keeping the memory.
    pub fn clear(&mut self) {
        self.used = 0;
        self.batches.clear();
    }

    /// Makes room for `more` bytes and one item's fixed-size store beyond them.
    pub(super) fn make_room(&mut self, more: usize) {
        let room = self.used + more + MAX_ITEM_BYTES;
        if self.bytes.len() < room {
            self.bytes.resize(room.next_power_of_two(), 0);
        }
    }

    /// The bytes of all batches.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Batches in the order they were built.
    #[must_use]
    pub fn batches(&self) -> &[BatchSpan] {
        &self.batches
    }
}
