use std::collections::VecDeque;

use tidelock_sim::Tick;

use super::arena::{Cell, MotionArena};
use super::batch::{BatchSpan, MAX_BATCH_BYTES, MAX_ENVELOPE_BYTES, MAX_ITEMS_BYTES, MotionEnvelope, MotionOutput};
use super::item::MAX_ITEM_BYTES;
use crate::ids::{Slot, SlotSet};
use crate::interest::VisibleSet;

/// Batches whose receipts one player may owe at once; beyond it the oldest counts as lost.
pub const MAX_PENDING_BATCHES: usize = 128;

/// What happened to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The client acknowledged it.
    Delivered,
    /// It was given up as lost.
    Lost,
}

/// What one player has been sent of everyone's motion, and what it is to get next.
#[derive(Clone, Debug, Default)]
pub struct MotionSchedule {
    broadcast: u64,
    seen: u64,
    words: Vec<PlayerWord>,
    pending: VecDeque<Pending>,
    next_key: u64,
    sent: SlotRing,
    envelope: Vec<u8>,
    tick: Tick,
    /// Whether the client has the last state of all it saw at the last build.
    settled: bool,
    /// Subjects whose motion comes from this player.
    own: SlotSet,
}

/// 64 subjects, a bit each.
#[derive(Clone, Copy, Debug, Default)]
struct PlayerWord {
    /// Those whose last state this client is not known to have.
    unacked: u64,
    /// Those to send at the next broadcast whether or not they move.
    urgent: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    tick: Tick,
    /// Running number of its first slot in the ring.
    first: u64,
    count: u32,
    settled: bool,
}

/// The slots of the pending batches, oldest first, by running number.
#[derive(Clone, Debug, Default)]
struct SlotRing {
    slots: Vec<u32>,
    start: u64,
    end: u64,
}

impl SlotRing {
    /// Makes room for `more` slots beside those kept; a power of two, so that a number's place is a mask away.
    fn make_room(&mut self, more: usize) {
        let needed = (self.end - self.start) as usize + more;
        if needed > self.slots.len() {
            let mut grown = vec![0; needed.next_power_of_two().max(1_024)];
            let mask = grown.len() as u64 - 1;
            for number in self.start..self.end {
                grown[(number & mask) as usize] = self.at(number);
            }
            self.slots = grown;
        }
    }

    #[inline]
    fn at(&self, number: u64) -> u32 {
        self.slots[(number & (self.slots.len() as u64 - 1)) as usize]
    }

    /// Appends the slots of a word's set bits.
    #[inline]
    fn push_bits(&mut self, word: usize, mut bits: u64) {
        self.make_room(64 + FEW as usize);
        let mask = self.slots.len() as u64 - 1;
        let count = u64::from(bits.count_ones());
        // Most words hold a few: those are written without asking how many, and what is too much is overwritten later.
        let mut put = |number: u64| {
            self.slots[(number & mask) as usize] = (word * 64) as u32 + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        };
        (self.end..self.end + FEW).for_each(&mut put);
        (self.end + FEW..self.end + count).for_each(put);
        self.end += count;
    }
}

/// Slots of a word that are written in one go.
const FEW: u64 = 4;

/// What counts as having come into sight.
#[derive(Clone, Copy, Debug)]
enum Entered {
    Everything,
    ByLastUpdate,
    Nothing,
}

impl MotionSchedule {
    /// A player that has been sent nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a player in `player_slot` is served at `tick`: players are spread over the phases by slot.
    #[must_use]
    pub fn is_served(player_slot: usize, tick: Tick, divisor: u32) -> bool {
        let divisor = u64::from(divisor.max(1));
        (tick.0 + player_slot as u64).is_multiple_of(divisor)
    }

    /// Forgets what was sent, as on entering a place; receipts of earlier batches are ignored from then on.
    pub fn reset(&mut self) {
        self.words.fill(PlayerWord::default());
        self.own.clear();
        self.pending.clear();
        self.sent.start = self.sent.end;
        self.seen = 0;
        self.settled = false;
    }

    /// Says whether a subject's motion comes from this player, who then is sent none of it. When that ends the subject goes
    /// into the next broadcast, moved or not.
    pub fn set_own(&mut self, slot: Slot, own: bool) {
        if own {
            self.own.insert(slot.index());
        } else if self.own.remove(slot.index())
            && let Some(held) = self.words.get_mut(slot.index() / 64)
        {
            held.urgent |= 1 << (slot.index() % 64);
            self.settled = false;
        }
    }

    /// Broadcasts built so far.
    #[must_use]
    pub fn broadcasts(&self) -> u64 {
        self.broadcast
    }

    /// Builds this broadcast's batches and appends them to `output`: what changed since the last broadcast, what has come
    /// into sight, what was lost, and what is due for refresh. An envelope with an acknowledgement goes out even alone.
    ///
    /// `visible` must have been updated in this tick, and once since the last build; after more than one update all it holds is
    /// sent as if it had just come into sight. `arena` must be sealed.
    pub fn build(
        &mut self,
        arena: &MotionArena,
        visible: &VisibleSet,
        envelope: &MotionEnvelope,
        output: &mut MotionOutput,
    ) {
        self.envelope.clear();
        envelope.write(&mut self.envelope);
        self.tick = envelope.tick;
        let missed = visible.revision() > self.seen + 1;
        let fresh = visible.revision() == self.seen + 1;
        self.seen = visible.revision();
        let due = arena.due(self.broadcast);
        self.broadcast += 1;
        let entered = match (missed, fresh) {
            (true, _) => Entered::Everything,
            (false, true) => Entered::ByLastUpdate,
            (false, false) => Entered::Nothing,
        };
        let first = self.sent.end;
        let nothing = self.settled && arena.is_still() && !missed && !(fresh && visible.has_entered());
        let started = !nothing && self.choose(arena, visible, entered, due);
        let mut filling = Filling { first, ..Filling::default() };
        self.fill(arena, started, output, &mut filling);
        if filling.limit == 0 && envelope.ack.is_some() {
            self.open(output, (&mut filling, self.sent.end));
        }
        self.close(output, (&filling, self.sent.end));
        self.settle_from_oldest();
    }

    /// Appends the slots to send to those sent; returns whether any of them has begun to move.
    fn choose(&mut self, arena: &MotionArena, visible: &VisibleSet, entered: Entered, due: &SlotSet) -> bool {
        let words = arena.words();
        if self.words.len() < words.len() {
            self.words.resize(words.len(), PlayerWord::default());
        }
        let (mut started, mut open) = (0, 0);
        for (word, seen) in visible.set().words() {
            let (Some(subjects), Some(held)) = (words.get(word), self.words.get_mut(word)) else { break };
            let seen = seen & !self.own.word(word);
            let entered = match entered {
                Entered::Everything => u64::MAX,
                Entered::ByLastUpdate => visible.entered_word(word),
                Entered::Nothing => 0,
            };
            let mut wanted = subjects.moved | entered | held.urgent;
            if held.unacked & seen & !wanted != 0 {
                wanted |= held.unacked & due.word(word);
            }
            let send = seen & wanted & subjects.present;
            open |= seen & (held.unacked | held.urgent | send);
            if send == 0 {
                continue;
            }
            held.unacked |= send;
            held.urgent &= !send;
            started |= send & subjects.started;
            self.sent.push_bits(word, send);
        }
        self.settled = open == 0;
        started != 0
    }

    /// Copies the spans of the slots chosen from `filling.first` on.
    fn fill(&mut self, arena: &MotionArena, started: bool, output: &mut MotionOutput, filling: &mut Filling) {
        let (words, cells) = (arena.words(), arena.cells());
        let chosen = filling.first..self.sent.end;
        // Knowing the room needed first also brings the cells close: these reads wait for nothing, those below would for
        // each other.
        let bytes: usize = chosen.clone().map(|number| usize::from(cells[self.sent.at(number) as usize].len)).sum();
        output.make_room(bytes + (bytes / (MAX_ITEMS_BYTES - MAX_ITEM_BYTES) + 1) * MAX_ENVELOPE_BYTES);
        for number in chosen {
            let index = self.sent.at(number) as usize;
            if started && words[index / 64].started >> (index % 64) & 1 != 0 {
                self.copy(arena.resting_cell(index), output, (filling, number));
                filling.resting += 1;
            }
            self.copy(&cells[index], output, (filling, number));
        }
    }

    /// Copies one span; first opens another batch when it would not fit.
    #[inline]
    fn copy(&mut self, cell: &Cell, output: &mut MotionOutput, (filling, number): (&mut Filling, u64)) {
        let len = usize::from(cell.len);
        if output.used + len > filling.limit {
            self.close(output, (filling, number));
            self.open(output, (filling, number));
        }
        // A fixed-size store beyond the span's own length: what follows overwrites it.
        output.bytes[output.used..output.used + MAX_ITEM_BYTES].copy_from_slice(&cell.bytes);
        output.used += len;
    }

    #[cold]
    fn open(&self, output: &mut MotionOutput, (filling, number): (&mut Filling, u64)) {
        let start = output.used;
        output.make_room(MAX_BATCH_BYTES);
        output.used += self.envelope.len();
        output.bytes[start..output.used].copy_from_slice(&self.envelope);
        *filling = Filling { start, limit: output.used + MAX_ITEMS_BYTES, first: number, resting: 0 };
    }

    #[cold]
    fn close(&mut self, output: &mut MotionOutput, (filling, number): (&Filling, u64)) {
        if filling.limit == 0 {
            return;
        }
        let key = self.next_key;
        self.next_key += 1;
        let count = (number - filling.first) as u32;
        let len = output.used - filling.start;
        output.batches.push(BatchSpan { start: filling.start, len, key, items: count + filling.resting });
        self.pending.push_back(Pending { tick: self.tick, first: filling.first, count, settled: false });
    }

    /// Learns what became of a batch. Unknown, settled and earlier keys are ignored.
    pub fn receipt(&mut self, arena: &MotionArena, key: u64, delivery: Delivery) {
        let oldest = self.next_key - self.pending.len() as u64;
        let Some(place) = key.checked_sub(oldest).map(|place| place as usize) else { return };
        let Some(&Pending { tick, first, count, settled: false }) = self.pending.get(place) else { return };
        self.pending[place].settled = true;
        for number in first..first + u64::from(count) {
            let index = self.sent.at(number) as usize;
            // A subject that changed later than this batch has been sent again since.
            if arena.changed(index) > tick {
                continue;
            }
            let Some(held) = self.words.get_mut(index / 64) else { continue };
            let bit = 1 << (index % 64);
            match delivery {
                Delivery::Delivered => held.unacked &= !bit,
                Delivery::Lost => held.urgent |= held.unacked & bit,
            }
        }
        self.settle_from_oldest();
    }

    /// Lets go of settled batches, and of the oldest beyond the bound.
    fn settle_from_oldest(&mut self) {
        while let Some(oldest) = self.pending.front() {
            if !oldest.settled && self.pending.len() <= MAX_PENDING_BATCHES {
                break;
            }
            self.sent.start = oldest.first + u64::from(oldest.count);
            self.pending.pop_front();
        }
    }
}

/// The batch being filled; a limit of 0 means none.
#[derive(Clone, Copy, Debug, Default)]
struct Filling {
    start: usize,
    /// Where its items must end.
    limit: usize,
    /// Running number of its first slot.
    first: u64,
    /// Resting states in it.
    resting: u32,
}
