use std::collections::HashMap;

use glam::Vec3;

/// A column of space, counted along the two axes across up.
pub(super) type Cell = [i32; 2];

/// Cells along each axis on either side of the origin that are found by index: ±16,384 studs of 64 (T-5).
const NEAR: i32 = 256;
/// Subjects held in a column itself.
const INLINE: usize = 3;

/// A subject and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) position: Vec3,
    pub(super) index: u32,
}

impl Entry {
    /// Nobody, infinitely far away.
    const NONE: Self = Self { position: Vec3::INFINITY, index: 0 };
}

/// The subjects of a column: the first in one cache line beside those of its neighbours, so that columns side by side are
/// read without waiting.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Column {
    first: [Entry; INLINE],
    len: u32,
    /// One above the place of the others in [`Columns::crowds`], 0 for none.
    crowd: u32,
}

impl Column {
    const EMPTY: Self = Self { first: [Entry::NONE; INLINE], len: 0, crowd: 0 };
}

/// Subjects by column: found by index near the origin, where nearly everything is, by hash beyond.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// A row's memory is taken when something first enters it.
    near: Vec<Vec<Column>>,
    far: HashMap<Cell, Column>,
    /// What columns do not hold themselves.
    crowds: Vec<Vec<Entry>>,
    /// Crowds without subjects, kept for the next column.
    free: Vec<u32>,
}

impl Columns {
    pub(super) fn new() -> Self {
        Self { near: vec![Vec::new(); 2 * NEAR as usize], far: HashMap::new(), crowds: Vec::new(), free: Vec::new() }
    }

    /// Adds a subject to a column; returns its place there.
    pub(super) fn push(&mut self, cell: Cell, entry: Entry) -> u32 {
        let Self { near, far, crowds, free } = self;
        let column = match place(cell) {
            Some([row, at]) => {
                let row = &mut near[row];
                if row.is_empty() {
                    row.resize(2 * NEAR as usize, Column::EMPTY);
                }
                &mut row[at]
            }
            None => far.entry(cell).or_insert(Column::EMPTY),
        };
        let at = column.len as usize;
        column.len += 1;
        if at < INLINE {
            column.first[at] = entry;
        } else {
            if column.crowd == 0 {
                let crowd = free.pop().unwrap_or_else(|| {
                    crowds.push(Vec::new());
                    (crowds.len() - 1) as u32
                });
                column.crowd = crowd + 1;
            }
            crowds[column.crowd as usize - 1].push(entry);
        }
        at as u32
    }

    /// Takes the subject at a place out of a column; returns the one that is there now instead.
    pub(super) fn remove(&mut self, cell: Cell, at: u32) -> Option<Entry> {
        let Self { near, far, crowds, free } = self;
        let column = match place(cell) {
            Some([row, at]) => near[row].get_mut(at)?,
            None => far.get_mut(&cell)?,
        };
        let last = column.len.checked_sub(1)?;
        column.len = last;
        let moved = match column.crowd.checked_sub(1) {
            Some(crowd) => {
                let held = &mut crowds[crowd as usize];
                let moved = held.pop()?;
                if held.is_empty() {
                    column.crowd = 0;
                    free.push(crowd);
                }
                moved
            }
            None => std::mem::replace(&mut column.first[last as usize], Entry::NONE),
        };
        if at != last {
            match (at as usize).checked_sub(INLINE) {
                None => column.first[at as usize] = moved,
                Some(place) => crowds[column.crowd as usize - 1][place] = moved,
            }
        }
        if last == 0 && place(cell).is_none() {
            far.remove(&cell);
        }
        (at != last).then_some(moved)
    }

    /// The subject at a place in a column.
    pub(super) fn get(&self, cell: Cell, at: u32) -> Option<&Entry> {
        let column = match place(cell) {
            Some([row, at]) => self.near[row].get(at)?,
            None => self.far.get(&cell)?,
        };
        match (at as usize).checked_sub(INLINE) {
            None => column.first.get(at as usize),
            Some(place) => self.crowds.get((column.crowd as usize).checked_sub(1)?)?.get(place),
        }
    }

    /// The subject at a place in a column, to move it.
    pub(super) fn get_mut(&mut self, cell: Cell, at: u32) -> Option<&mut Entry> {
        let column = match place(cell) {
            Some([row, at]) => self.near[row].get_mut(at)?,
            None => self.far.get_mut(&cell)?,
        };
        match (at as usize).checked_sub(INLINE) {
            None => column.first.get_mut(at as usize),
            Some(place) => self.crowds.get_mut((column.crowd as usize).checked_sub(1)?)?.get_mut(place),
        }
    }

    /// Gives every subject of the columns `low` to `high` of row `row` to `take`, which is also called with nobody, who is
    /// infinitely far away.
    #[inline]
    pub(super) fn each(&self, row: i32, (low, high): (i32, i32), mut take: impl FnMut(&Entry)) {
        if (-NEAR..NEAR).contains(&row) {
            let columns = &self.near[(row + NEAR) as usize];
            let (from, to) = (low.clamp(-NEAR, NEAR), high.saturating_add(1).clamp(-NEAR, NEAR));
            // An empty row has no columns at all.
            for column in columns.get((from + NEAR) as usize..(to + NEAR) as usize).unwrap_or_default() {
                self.each_of(column, &mut take);
            }
            if low >= -NEAR && high < NEAR {
                return;
            }
        }
        if !self.far.is_empty() {
            for at in low..=high {
                if let Some(column) = self.far.get(&[row, at]) {
                    self.each_of(column, &mut take);
                }
            }
        }
    }

    #[inline(always)]
    fn each_of(&self, column: &Column, take: &mut impl FnMut(&Entry)) {
        // Always all: how many there are cannot be foreseen, and asking costs more than looking at nobody.
        column.first.iter().for_each(&mut *take);
        if let Some(crowd) = column.crowd.checked_sub(1) {
            self.crowds[crowd as usize].iter().for_each(take);
        }
    }
}

/// Row and place in it, of a column near the origin.
#[inline]
fn place([a, b]: Cell) -> Option<[usize; 2]> {
    let near = (-NEAR..NEAR).contains(&a) && (-NEAR..NEAR).contains(&b);
    near.then(|| [(a + NEAR) as usize, (b + NEAR) as usize])
}
