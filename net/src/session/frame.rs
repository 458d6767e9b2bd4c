//! Frames inside a packet's payload.
//!
//! A payload is a head (one byte whose two low bits tell the length of the packet number, then that many bytes of it) and frames
//! to its end. The first byte of a frame tells its kind.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use crate::disconnect::DisconnectCode;
use crate::session::received::ACK_FRAME;
use crate::session::varint::{PayloadReader, varint_bytes, write_varint};

/// Most bytes of a payload.
pub(crate) const PAYLOAD_BYTES: usize = 1_100;
/// Fragments begin at multiples of this and, but for the last, end at them.
pub(crate) const BLOCK_BYTES: usize = 16;
/// Most bytes of a disconnect's text.
pub(crate) const MAX_TEXT_BYTES: usize = 256;
/// Bits of a message id on the wire.
pub(crate) const ID_BITS: u32 = 24;

const PING_FRAME: u8 = 0;
const DISCONNECT_FRAME: u8 = 2;
const PADDING_FRAME: u8 = 3;
const LANE_FRAME: u8 = 0x80;
const FRAGMENT: u8 = 0x40;
const FOLLOWS: u8 = 0x20;
const TO_END: u8 = 0x10;

/// A range of a payload's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The bytes, in the payload they were found in.
    pub(crate) fn of(self, payload: &[u8]) -> &[u8] {
        &payload[Range::from(self)]
    }
}

impl From<Place> for Range<usize> {
    fn from(place: Place) -> Self {
        place.start as usize..place.end as usize
    }
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Frame {
    /// Says nothing, to the payload's end.
    Padding,
    /// Asks for an acknowledgement and says nothing.
    Ping,
    Ack(AckFrame),
    /// The connection is over.
    Disconnect {
        code: DisconnectCode,
        text: Place,
    },
    Lane(LaneFrame),
}

/// A message or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneFrame {
    pub(crate) lane: u8,
    pub(crate) id: WireId,
    /// First byte and length of the whole message, if this is a part.
    pub(crate) part: Option<(u32, u32)>,
    pub(crate) content: Place,
}

/// How a lane frame names its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireId {
    /// Low 24 bits of the id.
    Low(u32),
    /// One above the id of the frame before on the same lane.
    Follows,
    /// The lane's messages have no ids.
    None,
}

/// An acknowledgement; its ranges were checked when it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AckFrame {
    pub(crate) newest: u64,
    pub(crate) delay: Duration,
    ranges: Place,
    count: u8,
}

/// The range after one that begins with `before`; `None` where it would reach below zero or is cut off.
fn read_range(from: &mut PayloadReader<'_>, before: Option<u64>, newest: u64) -> Option<RangeInclusive<u64>> {
    let end = match before {
        None => newest,
        Some(before) => before.checked_sub(from.varint()?.checked_add(2)?)?,
    };
    Some(end.checked_sub(from.varint()?)?..=end)
}

impl AckFrame {
    /// Acknowledged numbers, newest first, from the payload the frame was read from.
    pub(crate) fn ranges<'a>(&self, payload: &'a [u8]) -> impl Iterator<Item = RangeInclusive<u64>> + use<'a> {
        let (mut reader, mut before, newest) = (PayloadReader::new(self.ranges.of(payload)), None, self.newest);
        (0..self.count).map_while(move |_| {
            let range = read_range(&mut reader, before, newest)?;
            before = Some(*range.start());
            Some(range)
        })
    }

    fn read(from: &mut PayloadReader<'_>) -> Option<Self> {
        let newest = from.varint()?;
        let delay = Duration::from_micros(from.varint()?.saturating_mul(8));
        let count = from.byte().filter(|&count| count > 0)?;
        let (start, mut before) = (from.position(), None);
        for _ in 0..count {
            before = Some(*read_range(from, before, newest)?.start());
        }
        Some(Self { newest, delay, ranges: Place::new(start, from.position()), count })
    }
}

/// Reads the frames of a payload.
pub(crate) struct FrameReader<'a> {
    from: PayloadReader<'a>,
    /// Lanes whose messages carry ids.
    with_ids: u16,
}

/// The frames of a payload are not as they must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameError;

impl<'a> FrameReader<'a> {
    #[cfg(test)]
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self { from: PayloadReader::new(payload), with_ids: u16::MAX }
    }

    /// Reads the head of a payload: the low bits of its packet number with their count, and its frames.
    pub(crate) fn open(payload: &'a [u8], with_ids: u16) -> Option<(u64, u32, Self)> {
        let mut from = PayloadReader::new(payload);
        let head = from.byte()?;
        if head & !3 != 0 {
            return None;
        }
        let bytes = usize::from(head & 3) + 1;
        let low = from.number(bytes)?;
        Some((low, 8 * bytes as u32, Self { from, with_ids }))
    }

    /// Appends all the frames to `frames`.
    pub(crate) fn read_all(mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        while self.from.remaining() > 0 {
            frames.push(self.read().ok_or(FrameError)?);
        }
        Ok(())
    }

    #[inline]
    fn read(&mut self) -> Option<Frame> {
        let kind = self.from.byte()?;
        match kind {
            PING_FRAME => Some(Frame::Ping),
            ACK_FRAME => AckFrame::read(&mut self.from).map(Frame::Ack),
            DISCONNECT_FRAME => {
                let code = DisconnectCode::from_byte(self.from.byte()?);
                let bytes = usize::try_from(self.from.varint()?).ok()?;
                let text = self.take(bytes)?;
                (bytes <= MAX_TEXT_BYTES).then_some(Frame::Disconnect { code, text })
            }
            PADDING_FRAME => self.take(self.from.remaining()).map(|_| Frame::Padding),
            kind if kind & LANE_FRAME != 0 => self.read_lane(kind).map(Frame::Lane),
            _ => None,
        }
    }

    fn take(&mut self, bytes: usize) -> Option<Place> {
        let start = self.from.position();
        self.from.take(bytes)?;
        Some(Place::new(start, self.from.position()))
    }

    #[inline]
    fn read_lane(&mut self, kind: u8) -> Option<LaneFrame> {
        let lane = kind & 15;
        let has_ids = self.with_ids >> lane & 1 == 1;
        let id = match (has_ids, kind & FOLLOWS != 0) {
            (true, false) => WireId::Low(self.from.number(3)? as u32),
            (true, true) => WireId::Follows,
            (false, false) => WireId::None,
            (false, true) => return None,
        };
        let part = if kind & FRAGMENT != 0 {
            let start = self.from.varint()?.checked_mul(BLOCK_BYTES as u64)?;
            Some((u32::try_from(start).ok()?, u32::try_from(self.from.varint()?).ok()?))
        } else {
            None
        };
        let bytes =
            if kind & TO_END != 0 { self.from.remaining() } else { usize::try_from(self.from.varint()?).ok()? };
        let content = self.take(bytes)?;
        if let Some((start, total)) = part {
            let end = start.checked_add(bytes as u32)?;
            let aligned = bytes > 0 && (bytes % BLOCK_BYTES == 0 || end == total);
            if !aligned || end > total {
                return None;
            }
        }
        Some(LaneFrame { lane, id, part, content })
    }
}

/// Begins a payload: writes the head with as much of `number` as the peer needs, given the oldest number it may expect next.
pub(crate) fn write_head(number: u64, peer_expects: u64, out: &mut Vec<u8>) {
    let distance = number.saturating_sub(peer_expects) + 1;
    let bytes = match distance {
        0..=0x3FFF => 2,
        0x4000..=0x003F_FFFF => 3,
        _ => 4,
    };
    out.push(bytes as u8 - 1);
    out.extend_from_slice(&number.to_le_bytes()[..bytes]);
}

/// Appends a ping.
pub(crate) fn write_ping(out: &mut Vec<u8>) {
    out.push(PING_FRAME);
}

/// Ends a payload with `bytes` of padding, which are not 0.
pub(crate) fn write_padding(bytes: usize, out: &mut Vec<u8>) {
    out.push(PADDING_FRAME);
    out.resize(out.len() + bytes - 1, 0);
}

/// Appends a disconnect; the text is cut at a character's end at or below 256 bytes.
pub(crate) fn write_disconnect(code: DisconnectCode, text: &str, out: &mut Vec<u8>) {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    out.push(DISCONNECT_FRAME);
    out.push(code as u8);
    write_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// What precedes a lane frame's content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneHead {
    pub(crate) lane: u8,
    pub(crate) id: WireId,
    pub(crate) part: Option<(u32, u32)>,
}

impl LaneHead {
    /// Bytes before the content, of `bytes` bytes.
    pub(crate) fn bytes(&self, bytes: usize) -> usize {
        let id = if matches!(self.id, WireId::Low(_)) { 3 } else { 0 };
        let part = self.part.map_or(0, |(start, total)| {
            varint_bytes(u64::from(start) / BLOCK_BYTES as u64) + varint_bytes(u64::from(total))
        });
        1 + id + part + varint_bytes(bytes as u64)
    }

    /// Appends the frame.
    pub(crate) fn write(&self, content: &[u8], out: &mut Vec<u8>) {
        let fragment = if self.part.is_some() { FRAGMENT } else { 0 };
        let follows = if self.id == WireId::Follows { FOLLOWS } else { 0 };
        out.push(LANE_FRAME | fragment | follows | self.lane);
        if let WireId::Low(low) = self.id {
            out.extend_from_slice(&low.to_le_bytes()[..3]);
        }
        if let Some((start, total)) = self.part {
            write_varint(u64::from(start) / BLOCK_BYTES as u64, out);
            write_varint(u64::from(total), out);
        }
        write_varint(content.len() as u64, out);
        out.extend_from_slice(content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<Frame> {
        let mut frames = vec![];
        FrameReader::new(bytes).read_all(&mut frames).unwrap();
        frames
    }

    /// Lane, low bits of the id, part and content.
    type Sample = (u8, Option<u32>, Option<(u32, u32)>, Vec<u8>);

    fn lane_frame() -> impl Strategy<Value = Sample> {
        let part = prop::option::of((0u32..1_000, 1usize..20));
        (0u8..16, prop::option::of(0u32..1 << 24), part, prop::collection::vec(any::<u8>(), 0..300)).prop_map(
            |(lane, id, part, mut content)| {
                let part = part.map(|(block, blocks)| {
                    content.resize(blocks * BLOCK_BYTES, 7);
                    let start = block * BLOCK_BYTES as u32;
                    (start, start + content.len() as u32)
                });
                (lane, id, part, content)
            },
        )
    }

    proptest! {
        #[test]
        fn lane_frames_come_back(frames in prop::collection::vec(lane_frame(), 0..8), padding in 0usize..65) {
            let mut out = Vec::new();
            for (lane, id, part, content) in &frames {
                let head = LaneHead { lane: *lane, id: id.map_or(WireId::Follows, WireId::Low), part: *part };
                let before = out.len();
                head.write(content, &mut out);
                prop_assert_eq!(out.len() - before, head.bytes(content.len()) + content.len());
            }
            let length = out.len();
            if padding > 0 {
                write_padding(padding, &mut out);
            }
            prop_assert_eq!(out.len(), length + padding);
            let mut read = read(&out);
            if padding > 0 {
                prop_assert_eq!(read.pop(), Some(Frame::Padding));
            }
            prop_assert_eq!(read.len(), frames.len());
            for ((lane, id, part, content), frame) in frames.iter().zip(read) {
                let Frame::Lane(frame) = frame else { panic!("a lane frame") };
                prop_assert_eq!(frame.lane, *lane);
                prop_assert_eq!(frame.id, id.map_or(WireId::Follows, WireId::Low));
                prop_assert_eq!(frame.part, *part);
                prop_assert_eq!(frame.content.of(&out), &content[..]);
            }
        }

        // N-13
        #[test]
        fn any_payload_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), ids: u16) {
            if let Some((_, _, reader)) = FrameReader::open(&bytes, ids) {
                let mut frames = vec![];
                let _ = reader.read_all(&mut frames);
                prop_assert!(frames.len() <= bytes.len());
                for frame in frames {
                    if let Frame::Ack(ack) = frame {
                        prop_assert_eq!(ack.ranges(&bytes).count(), usize::from(ack.count));
                        prop_assert!(ack.ranges(&bytes).all(|range| *range.end() <= ack.newest));
                    }
                }
            }
        }
    }

    #[test]
    fn a_disconnect_comes_back_with_its_text_cut() {
        let mut out = Vec::new();
        write_disconnect(DisconnectCode::Kicked, &"é".repeat(200), &mut out);
        let [Frame::Disconnect { code, text }] = read(&out)[..] else { panic!("a disconnect") };
        assert_eq!((code, text.len()), (DisconnectCode::Kicked, 256));
    }
}
