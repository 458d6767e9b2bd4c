use crate::collision::ColliderId;

/// Groups of parts that touch or are joined, directly or through others: each is one island. Memory is kept between fills.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    parts: Vec<ColliderId>,
    parents: Vec<u32>,
    /// Parts ordered by island and id; filled by [`Self::finish`].
    order: Vec<ColliderId>,
    ends: Vec<u32>,
    keys: Vec<(u32, ColliderId)>,
}

impl Partition {
    /// Begins anew with these parts, each alone. Ids that appear twice count once.
    pub fn reset(&mut self, parts: impl IntoIterator<Item = ColliderId>) {
        self.parts.clear();
        self.parts.extend(parts);
        self.parts.sort_unstable();
        self.parts.dedup();
        self.parents.clear();
        self.parents.extend(0..self.parts.len() as u32);
        self.order.clear();
        self.ends.clear();
    }

    /// Notes that two parts touch; parts that were not named to [`Self::reset`] are passed over.
    pub fn join(&mut self, first: ColliderId, second: ColliderId) {
        let (Ok(first), Ok(second)) = (self.parts.binary_search(&first), self.parts.binary_search(&second)) else {
            return;
        };
        let (first, second) = (self.root(first as u32), self.root(second as u32));
        // The lower one leads, so that the result does not depend on the order of contacts.
        self.parents[first.max(second) as usize] = first.min(second);
    }

    fn root(&mut self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            let above = self.parents[self.parents[index as usize] as usize];
            self.parents[index as usize] = above;
            index = above;
        }
        index
    }

    /// Orders the islands after the last join.
    pub fn finish(&mut self) {
        self.keys.clear();
        for index in 0..self.parts.len() as u32 {
            let root = self.root(index);
            self.keys.push((root, self.parts[index as usize]));
        }
        self.keys.sort_unstable();
        self.order.clear();
        self.ends.clear();
        for (at, (root, part)) in self.keys.iter().enumerate() {
            if at > 0 && self.keys[at - 1].0 != *root {
                self.ends.push(at as u32);
            }
            self.order.push(*part);
        }
        if !self.order.is_empty() {
            self.ends.push(self.order.len() as u32);
        }
    }

    /// The islands, ordered by their lowest id, each with its parts in ascending order.
    pub fn islands(&self) -> impl Iterator<Item = &[ColliderId]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let island = &self.order[start..*end as usize];
            start = *end as usize;
            island
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-51a
        #[test]
        fn islands_are_what_can_be_reached(
            parts in prop::collection::vec(0_u64..30, 0..30),
            joins in prop::collection::vec((0_u64..34, 0_u64..34), 0..40),
        ) {
            let mut partition = Partition::default();
            partition.reset(parts.iter().map(|part| ColliderId(*part)));
            for (a, b) in &joins {
                partition.join(ColliderId(*a), ColliderId(*b));
            }
            partition.finish();
            let mut model: std::collections::BTreeMap<u64, u64> = parts.iter().map(|part| (*part, *part)).collect();
            for _ in 0..40 {
                for (a, b) in &joins {
                    if let (Some(x), Some(y)) = (model.get(a).copied(), model.get(b).copied()) {
                        model.insert(*a, x.min(y));
                        model.insert(*b, x.min(y));
                    }
                }
            }
            let mut wanted = std::collections::BTreeMap::<u64, Vec<ColliderId>>::new();
            for (part, root) in model {
                wanted.entry(root).or_default().push(ColliderId(part));
            }
            let got: Vec<Vec<ColliderId>> = partition.islands().map(<[ColliderId]>::to_vec).collect();
            prop_assert_eq!(got, wanted.into_values().collect::<Vec<_>>());
        }
    }
}
