use std::collections::{BTreeMap, HashMap};

use glam::Vec3;

use crate::collision::ColliderId;

/// Edge of a cell, studs.
const CELL: f32 = 16.0;
/// How far beyond a part a character may touch it within a tick: its own extent and the fastest fall, studs.
const MARGIN: f32 = 12.0;
/// Cells one part may cover; a larger one is near everywhere.
const MAX_CELLS: i64 = 512;

/// Where loose parts are, coarsely: whoever is far from all of them pushes nothing and need not be simulated.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// How many parts are near a cell.
    cells: HashMap<[i32; 3], u32>,
    ranges: BTreeMap<ColliderId, Range>,
    /// Parts too large for cells.
    everywhere: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    Cells([i32; 3], [i32; 3]),
    Everywhere,
}

impl Range {
    fn around(least: Vec3, most: Vec3) -> Self {
        let (low, high) = (cell(least - Vec3::splat(MARGIN)), cell(most + Vec3::splat(MARGIN)));
        let edge = |axis: usize| i64::from(high[axis]) - i64::from(low[axis]) + 1;
        let covered = edge(0).saturating_mul(edge(1)).saturating_mul(edge(2));
        if covered > MAX_CELLS { Self::Everywhere } else { Self::Cells(low, high) }
    }
}

fn cell(position: Vec3) -> [i32; 3] {
    // A float cast saturates and maps NaN to 0.
    position.to_array().map(|axis| (axis / CELL).floor() as i32)
}

impl Reach {
    /// Notes where a part is now, by its bounds.
    pub(super) fn set(&mut self, id: ColliderId, least: Vec3, most: Vec3) {
        let range = Range::around(least, most);
        if self.ranges.get(&id) != Some(&range) {
            self.remove(id);
            self.count(range, true);
            self.ranges.insert(id, range);
        }
    }

    /// Forgets a part.
    pub(super) fn remove(&mut self, id: ColliderId) {
        if let Some(range) = self.ranges.remove(&id) {
            self.count(range, false);
        }
    }

    /// Whether a character at `position` could touch a part within a tick.
    pub(super) fn contains(&self, position: Vec3) -> bool {
        self.everywhere > 0 || self.cells.contains_key(&cell(position))
    }

    fn count(&mut self, range: Range, add: bool) {
        let Range::Cells(low, high) = range else {
            self.everywhere = if add { self.everywhere + 1 } else { self.everywhere - 1 };
            return;
        };
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let count = self.cells.entry([x, y, z]).or_default();
                    *count = if add { *count + 1 } else { *count - 1 };
                    if *count == 0 {
                        self.cells.remove(&[x, y, z]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn corner() -> impl Strategy<Value = Vec3> {
        (-60.0f32..60.0, -60.0f32..60.0, -60.0f32..60.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    proptest! {
        // Whoever is within the margin of a part is near it, whatever came and went before.
        #[test]
        fn nobody_within_the_margin_is_missed(
            ops in proptest::collection::vec((0u64..6, proptest::option::of(corner()), 0.5f32..20.0), 1..60),
            asked in corner(),
        ) {
            let mut reach = Reach::default();
            let mut parts = BTreeMap::new();
            for (id, place, size) in ops {
                let id = ColliderId(id);
                match place {
                    Some(least) => {
                        reach.set(id, least, least + Vec3::splat(size));
                        parts.insert(id, (least, least + Vec3::splat(size)));
                    }
                    None => {
                        reach.remove(id);
                        parts.remove(&id);
                    }
                }
            }
            let near = parts.values().any(|(least, most)| {
                asked.cmpge(*least - Vec3::splat(MARGIN)).all() && asked.cmple(*most + Vec3::splat(MARGIN)).all()
            });
            prop_assert!(!near || reach.contains(asked));
            parts.keys().for_each(|id| reach.remove(*id));
            prop_assert!(!reach.contains(asked) && reach.cells.is_empty());
        }
    }

    #[test]
    fn an_enormous_part_is_near_everywhere() {
        let mut reach = Reach::default();
        reach.set(ColliderId(1), Vec3::splat(-1e6), Vec3::splat(1e6));
        assert!(reach.contains(Vec3::splat(5e8)) && reach.cells.is_empty());
        reach.remove(ColliderId(1));
        assert!(!reach.contains(Vec3::ZERO));
    }
}
