use std::collections::HashMap;

/// A column of space, counted along the two axes across up.
pub(super) type Cell = [i32; 2];

/// Cells along each axis on either side of the origin that are found by index: ±16,384 studs of 64 (T-5).
const NEAR: i32 = 256;

/// Which bucket belongs to which column: by index near the origin, where nearly everything is, by hash beyond.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// One above the bucket, 0 for none; a row's memory is taken when something first enters it.
    near: Vec<Vec<u32>>,
    far: HashMap<Cell, u32>,
}

impl Columns {
    pub(super) fn new() -> Self {
        Self { near: vec![Vec::new(); 2 * NEAR as usize], far: HashMap::new() }
    }

    /// The bucket of a column.
    #[inline]
    pub(super) fn get(&self, cell: Cell) -> Option<u32> {
        match place(cell) {
            Some([row, at]) => self.near[row].get(at)?.checked_sub(1),
            None => self.far.get(&cell).copied(),
        }
    }

    /// Gives a column a bucket, or takes it away.
    pub(super) fn set(&mut self, cell: Cell, bucket: Option<u32>) {
        match (place(cell), bucket) {
            (Some([row, at]), bucket) => {
                let row = &mut self.near[row];
                if row.is_empty() {
                    row.resize(2 * NEAR as usize, 0);
                }
                row[at] = bucket.map_or(0, |bucket| bucket + 1);
            }
            (None, Some(bucket)) => {
                self.far.insert(cell, bucket);
            }
            (None, None) => {
                self.far.remove(&cell);
            }
        }
    }
}

/// Row and place in it, of a column near the origin.
#[inline]
fn place([a, b]: Cell) -> Option<[usize; 2]> {
    let near = (-NEAR..NEAR).contains(&a) && (-NEAR..NEAR).contains(&b);
    near.then(|| [(a + NEAR) as usize, (b + NEAR) as usize])
}
