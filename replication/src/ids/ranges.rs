use super::InstanceId;

/// A set of ids kept as ranges in a vector with a bound: the ids known as destroyed.
///
/// At the bound the two neighbouring ranges of smallest ids merge over the ids between them that were never seen
/// destroyed; an id swallowed so reads as destroyed.
#[derive(Clone, Debug)]
pub struct IdRanges {
    ranges: Vec<(u64, u64)>,
    limit: usize,
    merged: u64,
}

impl Default for IdRanges {
    fn default() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl IdRanges {
    /// Ranges kept by default.
    pub const DEFAULT_LIMIT: usize = 65_536;

    /// An empty set of at most `limit` ranges (at least 1).
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { ranges: Vec::new(), limit: limit.max(1), merged: 0 }
    }

    /// Adds an id.
    pub fn insert(&mut self, id: InstanceId) {
        self.insert_range(id, 1);
    }

    /// Adds `count` ids from `first` on; saturates at the largest id.
    pub fn insert_range(&mut self, first: InstanceId, count: u64) {
        let Some(last_offset) = count.checked_sub(1) else { return };
        let (mut start, mut end) = (first.0, first.0.saturating_add(last_offset));
        // Ranges that touch or overlap [start, end] lie between `from` and `to`.
        let from = self.ranges.partition_point(|range| range.1 < start.saturating_sub(1));
        let to = from + self.ranges[from..].partition_point(|range| range.0 <= end.saturating_add(1));
        if let Some(touched) = self.ranges.get(from..to).filter(|touched| !touched.is_empty()) {
            start = start.min(touched[0].0);
            end = end.max(touched[touched.len() - 1].1);
        }
        self.ranges.splice(from..to, [(start, end)]);
        if self.ranges.len() > self.limit {
            self.ranges[1].0 = self.ranges[0].0;
            self.ranges.remove(0);
            self.merged += 1;
        }
    }

    /// Whether `id` is in the set.
    #[must_use]
    pub fn contains(&self, id: InstanceId) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < id.0);
        self.ranges.get(at).is_some_and(|range| range.0 <= id.0)
    }

    /// The ranges, ascending, as first id and count.
    pub fn iter(&self) -> impl Iterator<Item = (InstanceId, u64)> {
        self.ranges.iter().map(|&(start, end)| (InstanceId(start), (end - start).saturating_add(1)))
    }

    /// Merges forced by the bound so far.
    #[must_use]
    pub fn forced_merges(&self) -> u64 {
        self.merged
    }

    /// Forgets every id.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        //
        #[test]
        fn ranges_equal_a_set(ops in proptest::collection::vec((0u64..200, 0u64..6), 0..80)) {
            let mut ranges = IdRanges::default();
            let mut naive = BTreeSet::new();
            for (first, count) in ops {
                ranges.insert_range(InstanceId(first), count);
                naive.extend(first..first + count);
            }
            for id in 0..220 {
                prop_assert_eq!(ranges.contains(InstanceId(id)), naive.contains(&id));
            }
            let listed: Vec<u64> = ranges.iter().flat_map(|(first, count)| first.0..first.0 + count).collect();
            prop_assert_eq!(listed, naive.into_iter().collect::<Vec<_>>());
            prop_assert!(ranges.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }

    #[test]
    fn the_bound_holds_and_keeps_every_destroyed_id() {
        let mut ranges = IdRanges::with_limit(3);
        for id in [10, 20, 30, 40, 50] {
            ranges.insert(InstanceId(id));
        }
        assert_eq!(ranges.iter().count(), 3);
        assert_eq!(ranges.forced_merges(), 2);
        assert!([10, 20, 30, 40, 50].iter().all(|&id| ranges.contains(InstanceId(id))));
    }

    #[test]
    fn the_largest_id_is_no_edge() {
        let mut ranges = IdRanges::default();
        ranges.insert(InstanceId(u64::MAX));
        ranges.insert_range(InstanceId(u64::MAX - 1), 5);
        assert!(ranges.contains(InstanceId(u64::MAX)));
        assert_eq!(ranges.iter().next(), Some((InstanceId(u64::MAX - 1), 2)));
    }
}
