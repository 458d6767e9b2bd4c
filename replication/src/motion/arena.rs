use tidelock_sim::{SimSpan, SimTime, Tick};

use super::item::{self, CharacterMotion, MAX_ITEM_BYTES, PartMotion, RESTING};
use crate::ids::{InstanceId, Slot, SlotSet};

/// Broadcasts between two refreshes of an unchanged subject.
pub const REFRESH_BROADCASTS: u64 = 20;

/// Ticks without a change after which a subject counts as resting: the gap a part's track bridges (S-42).
const REST_TICKS: u64 = 9;

/// How far before its first moving sample a character's resting state is placed at most.
const REST_LEAD: SimSpan = SimSpan(3_072);

/// The encoded motion of every subject, each changed one encoded once per tick.
///
/// A tick is: [`Self::begin_tick`], any number of puts and removals, [`Self::seal`], then any number of players read it, in
/// parallel if wished. Columns are indexed by [`Slot::index`].
#[derive(Clone, Debug)]
pub struct MotionArena {
    tick: Tick,
    divisor: u32,
    cells: Vec<Cell>,
    resting: Vec<Cell>,
    changed: Vec<Tick>,
    samples: Vec<SimTime>,
    ids: Vec<InstanceId>,
    /// Subjects changed in, and begun to move in, each of the last `divisor` ticks; the newest at `head`.
    history: Vec<Change>,
    head: usize,
    window: Change,
    residues: [SlotSet; REFRESH_BROADCASTS as usize],
    present: SlotSet,
    /// What players read of the sets, by word.
    words: Vec<ArenaWord>,
    scratch: Vec<u8>,
}

/// 64 subjects, a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArenaWord {
    /// Those that changed within the last `divisor` ticks.
    pub(super) moved: u64,
    /// Those that began to move within the last `divisor` ticks.
    pub(super) started: u64,
    /// Those there are.
    pub(super) present: u64,
}

#[derive(Clone, Debug, Default)]
struct Change {
    moved: SlotSet,
    started: SlotSet,
}

/// One encoded item in one cache line, so that copying it is one read and a fixed-size store.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Cell {
    pub(super) bytes: [u8; MAX_ITEM_BYTES],
    pub(super) len: u8,
}

impl Cell {
    const EMPTY: Self = Self { bytes: [0; MAX_ITEM_BYTES], len: 0 };

    fn of(encoded: &[u8]) -> Self {
        let mut cell = Self::EMPTY;
        cell.bytes[..encoded.len()].copy_from_slice(encoded);
        cell.len = encoded.len() as u8;
        cell
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The item as a resting state, with `when` in a part's added byte or a character's sample byte.
    fn resting(&self, id: InstanceId, when: u8, character: bool) -> Self {
        let mut cell = *self;
        cell.bytes[varint_len(id.0)] |= RESTING;
        if character {
            cell.bytes[usize::from(cell.len) - 1] = when;
        } else {
            cell.bytes[usize::from(cell.len)] = when;
            cell.len += 1;
        }
        cell
    }
}

fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

impl MotionArena {
    /// The largest divisor an item's sample time can bridge; fewer than 6 broadcasts a second are not served.
    pub const MAX_DIVISOR: u32 = 10;

    /// An empty arena for players served every `divisor` ticks (default 3, cut to 1..=[`Self::MAX_DIVISOR`]).
    #[must_use]
    pub fn new(divisor: u32) -> Self {
        let divisor = divisor.clamp(1, Self::MAX_DIVISOR);
        Self {
            tick: Tick(0),
            divisor,
            cells: Vec::new(),
            resting: Vec::new(),
            changed: Vec::new(),
            samples: Vec::new(),
            ids: Vec::new(),
            history: vec![Change::default(); divisor as usize],
            head: 0,
            window: Change::default(),
            residues: Default::default(),
            present: SlotSet::new(),
            words: Vec::new(),
            scratch: Vec::with_capacity(MAX_ITEM_BYTES),
        }
    }

    /// Ticks between two broadcasts to one player.
    #[must_use]
    pub fn divisor(&self) -> u32 {
        self.divisor
    }

    /// Serves players every `divisor` ticks from the next tick on, cut to 1..=[`Self::MAX_DIVISOR`].
    pub fn set_divisor(&mut self, divisor: u32) {
        let divisor = divisor.clamp(1, Self::MAX_DIVISOR);
        if divisor != self.divisor {
            // Whatever changed lately counts as changed now, so that no phase misses it.
            let mut carried = Change::default();
            for change in &self.history {
                carried.moved.union_with(&change.moved);
                carried.started.union_with(&change.started);
            }
            self.divisor = divisor;
            self.history = vec![Change::default(); divisor as usize];
            self.history[0] = carried;
            self.head = 0;
        }
    }

    /// The tick now being filled or read.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Makes room for slots below `columns`, so that filling them allocates nothing.
    pub fn reserve(&mut self, columns: usize) {
        if columns > self.cells.len() {
            self.cells.resize(columns, Cell::EMPTY);
            self.resting.resize(columns, Cell::EMPTY);
            self.changed.resize(columns, Tick(0));
            self.samples.resize(columns, SimTime(0));
            self.ids.resize(columns, InstanceId(0));
            self.words.resize(columns.div_ceil(64), ArenaWord::default());
            let sets =
                self.residues.iter_mut().chain([&mut self.present, &mut self.window.moved, &mut self.window.started]);
            sets.for_each(|set| set.reserve(columns));
            for change in &mut self.history {
                change.moved.reserve(columns);
                change.started.reserve(columns);
            }
        }
    }

    /// Begins a tick; ticks only grow.
    pub fn begin_tick(&mut self, tick: Tick) {
        self.tick = tick;
        self.head = (self.head + 1) % self.history.len();
        self.history[self.head].moved.clear();
        self.history[self.head].started.clear();
    }

    /// Sets a part's motion; true when that differs on the wire from what was last set.
    pub fn put_part(&mut self, slot: Slot, id: InstanceId, motion: &PartMotion) -> bool {
        self.scratch.clear();
        item::write_part(&mut self.scratch, id, motion);
        self.enter(slot, id);
        let index = slot.index();
        if self.cells[index].as_slice() == self.scratch.as_slice() {
            return false;
        }
        if self.had_rested(index) {
            let rested_until = self.tick.0.saturating_sub(1) as u8;
            self.resting[index] = self.cells[index].resting(id, rested_until, false);
            self.history[self.head].started.insert(index);
        }
        self.cells[index] = Cell::of(&self.scratch);
        self.mark(index);
        true
    }

    /// Sets a character's motion; true when more than its sample time differs on the wire from what was last set.
    pub fn put_character(&mut self, slot: Slot, id: InstanceId, motion: &CharacterMotion) -> bool {
        self.scratch.clear();
        item::write_character(&mut self.scratch, id, motion, self.tick);
        self.enter(slot, id);
        let index = slot.index();
        let sample = item::clamp_sample(motion.sample, self.tick);
        // The last byte is the sample time, which alone is no change.
        let last = self.scratch.len() - 1;
        let held = &mut self.cells[index];
        if usize::from(held.len) == last + 1 && held.bytes[..last] == self.scratch[..last] {
            held.bytes[last] = self.scratch[last];
            self.samples[index] = sample;
            return false;
        }
        // One last seen moving did not rest: what told of it was lost on the way here.
        let moving = self.cells[index].bytes[varint_len(id.0)] & item::MOVING != 0;
        if self.had_rested(index) && !moving {
            let rested_until = self.samples[index].max(sample - REST_LEAD).min(sample - item::SAMPLE_STEP);
            let when = item::sample_byte(rested_until);
            self.resting[index] = self.cells[index].resting(id, when, true);
            self.history[self.head].started.insert(index);
        }
        self.cells[index] = Cell::of(&self.scratch);
        self.samples[index] = sample;
        self.mark(index);
        true
    }

    /// Forgets a subject: it was destroyed, or moves no longer.
    pub fn remove(&mut self, slot: Slot) {
        let index = slot.index();
        if self.present.remove(index) {
            let bit = !(1 << (index % 64));
            let word = &mut self.words[index / 64];
            *word = ArenaWord { moved: word.moved & bit, started: word.started & bit, present: word.present & bit };
            let residue = (self.ids[index].0 % REFRESH_BROADCASTS) as usize;
            self.residues[residue].remove(index);
            for change in self.history.iter_mut().chain([&mut self.window]) {
                change.moved.remove(index);
                change.started.remove(index);
            }
            self.cells[index] = Cell::EMPTY;
        }
    }

    /// Ends the filling of a tick: what changed since each player's last broadcast is now settled.
    pub fn seal(&mut self) {
        for (word, _) in self.window.moved.words() {
            self.words[word].moved = 0;
            self.words[word].started = 0;
        }
        self.window.moved.clear();
        self.window.started.clear();
        for change in &self.history {
            self.window.moved.union_with(&change.moved);
            self.window.started.union_with(&change.started);
        }
        // What began to move has moved, so the first set's words are all there are.
        for (word, moved) in self.window.moved.words() {
            self.words[word].moved = moved;
            self.words[word].started = self.window.started.word(word);
        }
    }

    /// Whether a subject has motion here.
    #[must_use]
    pub fn contains(&self, slot: Slot) -> bool {
        self.present.contains(slot.index())
    }

    /// Whether nothing has changed within the last `divisor` ticks.
    pub(super) fn is_still(&self) -> bool {
        self.window.moved.is_empty()
    }

    fn enter(&mut self, slot: Slot, id: InstanceId) {
        let index = slot.index();
        self.reserve(index + 1);
        if self.ids[index] != id {
            self.remove(slot);
        }
        if self.present.insert(index) {
            self.words[index / 64].present |= 1 << (index % 64);
            self.ids[index] = id;
            self.residues[(id.0 % REFRESH_BROADCASTS) as usize].insert(index);
        }
    }

    fn had_rested(&self, index: usize) -> bool {
        self.cells[index].len != 0 && self.tick.0.saturating_sub(self.changed[index].0) > REST_TICKS
    }

    fn mark(&mut self, index: usize) {
        self.changed[index] = self.tick;
        self.history[self.head].moved.insert(index);
    }

    /// What players read of 64 subjects each; slots beyond have no motion.
    pub(super) fn words(&self) -> &[ArenaWord] {
        &self.words
    }

    /// The encoded items, by index.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Subjects whose turn to refresh is broadcast `broadcast`: those with `(broadcast + id) % 20 == 0`.
    pub(super) fn due(&self, broadcast: u64) -> &SlotSet {
        &self.residues[((REFRESH_BROADCASTS - broadcast % REFRESH_BROADCASTS) % REFRESH_BROADCASTS) as usize]
    }

    pub(super) fn resting_cell(&self, index: usize) -> &Cell {
        &self.resting[index]
    }

    /// When the subject at `index` changed last.
    #[inline]
    pub(super) fn changed(&self, index: usize) -> Tick {
        self.changed.get(index).copied().unwrap_or_default()
    }
}
