use std::collections::BTreeMap;

use glam::Vec3;

use super::placement::Bounds;
use super::shape::ColliderError;

/// Voxels along each side of a chunk.
const SIDE: i32 = 8;

/// Solid cubes on a grid, kept in chunks of 8 × 8 × 8 whose solid voxels are merged into few boxes.
///
/// The voxel at `[x, y, z]` reaches from `cell * [x, y, z]` to `cell * [x + 1, y + 1, z + 1]`. What boxes a chunk is merged
/// into follows from its voxels alone, so that the history of edits never shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Voxels {
    cell: f32,
    chunks: BTreeMap<[i32; 3], Chunk>,
}

/// The voxels of a chunk: a layer for each height, and in it a bit for each `z * 8 + x`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Chunk {
    layers: [u64; SIDE as usize],
    boxes: Vec<Merged>,
}

/// Voxels merged into a box: from its lowest to beyond its highest, within the chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Merged {
    low: [u8; 3],
    end: [u8; 3],
}

impl Voxels {
    /// Voxels lie within this many of the origin on every axis.
    pub const REACH: i32 = 1 << 17;
    /// The most voxels one [`Voxels::fill`] takes.
    pub const MOST_FILLED: u64 = 1 << 24;

    /// An empty grid of voxels `cell` studs long.
    ///
    /// # Errors
    ///
    /// [`ColliderError`] when `cell` is not finite or not above 0.
    pub fn new(cell: f32) -> Result<Self, ColliderError> {
        if !cell.is_finite() {
            Err(ColliderError::NonFinite)
        } else if cell > 0.0 {
            Ok(Self { cell, chunks: BTreeMap::new() })
        } else {
            Err(ColliderError::Empty)
        }
    }

    /// Whether there is a solid voxel at `at`.
    #[must_use]
    pub fn contains(&self, at: [i32; 3]) -> bool {
        let key = at.map(|part| part.div_euclid(SIDE));
        self.chunks.get(&key).is_some_and(|chunk| chunk.contains(at.map(|part| part.rem_euclid(SIDE) as u8)))
    }

    /// Solid voxels held.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.chunks.values().flat_map(|chunk| chunk.layers).map(|layer| u64::from(layer.count_ones())).sum()
    }

    /// Whether no voxel is solid.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Makes every voxel from `low` to `high`, both included, solid or empty, and says how many that changed. Only chunks
    /// that change are merged again. `None`, and nothing changes, when `high` is below `low`, a corner is farther out than
    /// [`Self::REACH`] or there are more than [`Self::MOST_FILLED`].
    pub fn fill(&mut self, low: [i32; 3], high: [i32; 3], solid: bool) -> Option<u64> {
        let within = |at: [i32; 3]| at.iter().all(|part| (-Self::REACH..=Self::REACH).contains(part));
        if !within(low) || !within(high) || (0..3).any(|axis| high[axis] < low[axis]) {
            return None;
        }
        let count: u64 = (0..3).map(|axis| (high[axis] - low[axis] + 1) as u64).product();
        if count > Self::MOST_FILLED {
            return None;
        }
        let (first, last) = (low.map(|part| part.div_euclid(SIDE)), high.map(|part| part.div_euclid(SIDE)));
        let mut changed = 0;
        for x in first[0]..=last[0] {
            for y in first[1]..=last[1] {
                for z in first[2]..=last[2] {
                    let key = [x, y, z];
                    let from = [0, 1, 2].map(|axis| (low[axis] - key[axis] * SIDE).clamp(0, SIDE) as u8);
                    let end = [0, 1, 2].map(|axis| (high[axis] - key[axis] * SIDE + 1).clamp(0, SIDE) as u8);
                    changed += self.fill_chunk(key, &Merged { low: from, end }, solid);
                }
            }
        }
        Some(changed)
    }

    /// Calls `take` with the centre and half size of every box.
    #[cfg(feature = "physics")]
    pub(crate) fn each_box(&self, take: impl FnMut(Vec3, Vec3)) {
        self.gather(&Bounds { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY }, take);
    }

    /// Bounds of its chunks, a little loose; `None` when it is empty.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        let first = *self.chunks.keys().next()?;
        let (mut low, mut high) = (first, first);
        for key in self.chunks.keys() {
            for axis in 0..3 {
                (low[axis], high[axis]) = (low[axis].min(key[axis]), high[axis].max(key[axis]));
            }
        }
        Some(Bounds { min: self.corner(low, [0; 3]), max: self.corner(high, [SIDE as u8; 3]) })
    }

    /// Calls `take` with the centre and half size of each box that touches `bounds`, in a fixed order.
    pub(super) fn gather(&self, bounds: &Bounds, mut take: impl FnMut(Vec3, Vec3)) {
        let chunk = |at: Vec3| (at / (self.cell * SIDE as f32)).floor().to_array().map(|part| part as i32);
        // A box that only touches the bounds may lie in the chunk next to them.
        let (first, last) = (
            chunk(bounds.min).map(|part| part.saturating_sub(1)),
            chunk(bounds.max).map(|part| part.saturating_add(1)),
        );
        let spans = [0, 1, 2].map(|axis| f64::from(last[axis]) - f64::from(first[axis]) + 1.0);
        let mut each = |key: [i32; 3], chunk: &Chunk| {
            for merged in &chunk.boxes {
                let (min, max) = (self.corner(key, merged.low), self.corner(key, merged.end));
                if bounds.overlaps(&Bounds { min, max }) {
                    take((min + max) * 0.5, (max - min) * 0.5);
                }
            }
        };
        if spans.iter().product::<f64>() > self.chunks.len() as f64 {
            self.chunks.iter().for_each(|(key, chunk)| each(*key, chunk));
            return;
        }
        for x in first[0]..=last[0] {
            for y in first[1]..=last[1] {
                let row = self.chunks.range([x, y, first[2]]..=[x, y, last[2]]);
                row.for_each(|(key, chunk)| each(*key, chunk));
            }
        }
    }

    fn corner(&self, key: [i32; 3], within: [u8; 3]) -> Vec3 {
        Vec3::from([0, 1, 2].map(|axis| (key[axis] * SIDE + i32::from(within[axis])) as f32 * self.cell))
    }

    fn fill_chunk(&mut self, key: [i32; 3], region: &Merged, solid: bool) -> u64 {
        if !solid && !self.chunks.contains_key(&key) {
            return 0;
        }
        let chunk = self.chunks.entry(key).or_default();
        let mask = region.mask();
        let mut changed = 0;
        for layer in &mut chunk.layers[usize::from(region.low[1])..usize::from(region.end[1])] {
            let after = if solid { *layer | mask } else { *layer & !mask };
            changed += u64::from((after ^ *layer).count_ones());
            *layer = after;
        }
        if chunk.layers == [0; SIDE as usize] {
            self.chunks.remove(&key);
        } else if changed > 0 {
            chunk.merge();
        }
        changed
    }
}

impl Chunk {
    fn contains(&self, at: [u8; 3]) -> bool {
        self.layers[usize::from(at[1])] >> (at[2] * SIDE as u8 + at[0]) & 1 == 1
    }

    /// Covers the voxels with boxes: from the lowest voxel left along X, then Z, then up, as far as all are solid.
    fn merge(&mut self) {
        self.boxes.clear();
        let mut left = self.layers;
        for y in 0..SIDE as u8 {
            while left[usize::from(y)] != 0 {
                let layer = left[usize::from(y)];
                let bit = layer.trailing_zeros() as u8;
                let low = [bit % SIDE as u8, y, bit / SIDE as u8];
                let mut merged = Merged { low, end: low.map(|part| part + 1) };
                for axis in [0, 2, 1] {
                    while merged.end[axis] < SIDE as u8 {
                        let mut more = merged;
                        more.low[axis] = merged.end[axis];
                        more.end[axis] += 1;
                        let mask = more.mask();
                        let layers = &left[usize::from(more.low[1])..usize::from(more.end[1])];
                        if layers.iter().any(|layer| layer & mask != mask) {
                            break;
                        }
                        merged.end[axis] += 1;
                    }
                }
                let mask = merged.mask();
                left[usize::from(y)..usize::from(merged.end[1])].iter_mut().for_each(|layer| *layer &= !mask);
                self.boxes.push(merged);
            }
        }
    }
}

impl Merged {
    /// Its voxels within a layer.
    fn mask(&self) -> u64 {
        let wide = self.end[0] - self.low[0];
        if wide == 0 {
            return 0;
        }
        let row = (u64::MAX >> (u64::BITS - u32::from(wide))) << self.low[0];
        (self.low[2]..self.end[2]).fold(0, |mask, z| mask | row << (z * SIDE as u8))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn boxes(voxels: &Voxels, bounds: &Bounds) -> Vec<(Vec3, Vec3)> {
        let mut found = Vec::new();
        voxels.gather(bounds, |center, half| found.push((center, half)));
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        // S-13: against a set, and against a grid that never saw the edits undone.
        #[test]
        fn edits_do_as_a_set_does(edits in prop::collection::vec(
            ([-20..20, -12..12, -20..20_i32], [0..12, 0..6, 0..12_i32], any::<bool>()), 1..40,
        )) {
            let (mut voxels, mut set) = (Voxels::new(0.5).unwrap(), BTreeSet::new());
            for (low, size, solid) in edits {
                let high = [0, 1, 2].map(|axis| low[axis] + size[axis]);
                let mut changed = 0;
                for x in low[0]..=high[0] {
                    for y in low[1]..=high[1] {
                        for z in low[2]..=high[2] {
                            changed += u64::from(if solid { set.insert([x, y, z]) } else { set.remove(&[x, y, z]) });
                        }
                    }
                }
                prop_assert_eq!(voxels.fill(low, high, solid), Some(changed));
            }
            prop_assert_eq!(voxels.len(), set.len() as u64);
            let mut rebuilt = Voxels::new(0.5).unwrap();
            for at in &set {
                rebuilt.fill(*at, *at, true);
            }
            prop_assert_eq!(&rebuilt, &voxels);
            // The boxes hold every voxel once and nothing else.
            let all = boxes(&voxels, &Bounds { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY });
            let volume: f32 = all.iter().map(|(_, half)| half.element_product() * 8.0).sum();
            prop_assert_eq!(volume, set.len() as f32 * 0.125);
            for at in &set {
                let middle = Vec3::from(at.map(|part| (part as f32 + 0.5) * 0.5));
                let holding = all.iter().filter(|(center, half)| (middle - center).abs().cmplt(*half).all());
                prop_assert_eq!(holding.count(), 1);
            }
            // What is found by chunks is what is found by looking at every box.
            let near = Bounds::around(Vec3::new(1.0, -0.5, 2.0), Vec3::new(3.0, 2.0, 2.5));
            let touching = |one: &&(Vec3, Vec3)| near.overlaps(&Bounds::around(one.0, one.1));
            prop_assert_eq!(boxes(&voxels, &near), all.iter().filter(touching).copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_out_of_bounds_changes_nothing() {
        let mut voxels = Voxels::new(1.0).unwrap();
        let far = Voxels::REACH;
        assert_eq!(voxels.fill([0, 0, 0], [-1, 0, 0], true), None);
        assert_eq!(voxels.fill([0, 0, 0], [far + 1, 0, 0], true), None);
        assert_eq!(voxels.fill([i32::MIN; 3], [i32::MAX; 3], true), None);
        assert_eq!(voxels.fill([-far, 0, 0], [far, 80, 0], true), None);
        assert!(voxels.is_empty() && voxels.bounds().is_none());
        assert_eq!(voxels.fill([far; 3], [far; 3], true), Some(1));
        assert_eq!(voxels.fill([far; 3], [far; 3], false), Some(1));
        assert!(voxels.is_empty());
        assert_eq!(Voxels::new(0.0), Err(ColliderError::Empty));
        assert_eq!(Voxels::new(f32::NAN), Err(ColliderError::NonFinite));
    }

    #[test]
    fn a_whole_chunk_is_one_box() {
        let mut voxels = Voxels::new(2.0).unwrap();
        assert_eq!(voxels.fill([-8, 0, 0], [7, 7, 7], true), Some(1024));
        let all = boxes(&voxels, &Bounds { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY });
        assert_eq!(all, [(Vec3::new(-8.0, 8.0, 8.0), Vec3::splat(8.0)), (Vec3::splat(8.0), Vec3::splat(8.0))]);
    }
}
