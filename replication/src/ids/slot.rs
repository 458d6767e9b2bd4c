/// A place in columns, with the generation of its occupant: 22 bits of index, 10 bits of generation.
///
/// A slot whose occupant left is handed out again under another generation, so a kept slot that outlived its occupant is
/// recognised. Slots never cross the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// Bits of the index.
    pub const INDEX_BITS: u32 = 22;
    /// The most slots in use at once, 4,194,304.
    pub const MAX: usize = 1 << Self::INDEX_BITS;

    fn new(index: usize, generation: u32) -> Self {
        Self(index as u32 | generation << Self::INDEX_BITS)
    }

    /// Index into columns, below [`Self::MAX`].
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize & (Self::MAX - 1)
    }

    /// Generation of the occupant, wrapping at 1,024.
    #[must_use]
    pub fn generation(self) -> u32 {
        self.0 >> Self::INDEX_BITS
    }
}

/// An instance and the slot it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placed {
    /// Its slot.
    pub slot: Slot,
    /// Its id.
    pub id: super::InstanceId,
}

/// Values by generational slot.
#[derive(Clone, Debug)]
pub struct SlotMap<T> {
    entries: Vec<SlotEntry<T>>,
    free: std::collections::VecDeque<u32>,
    len: usize,
}

#[derive(Clone, Debug)]
struct SlotEntry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Default for SlotMap<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: std::collections::VecDeque::new(), len: 0 }
    }
}

impl<T> SlotMap<T> {
    /// A map without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `value` into the slot that has been free the longest, or a new one. `None` when [`Slot::MAX`] are in use.
    pub fn insert(&mut self, value: T) -> Option<Slot> {
        let index = match self.free.pop_front() {
            Some(index) => index as usize,
            None if self.entries.len() < Slot::MAX => {
                self.entries.push(SlotEntry { generation: 0, value: None });
                self.entries.len() - 1
            }
            None => return None,
        };
        let entry = &mut self.entries[index];
        entry.value = Some(value);
        self.len += 1;
        Some(Slot::new(index, entry.generation))
    }

    /// Takes the value out and frees the slot, or `None` when the occupant is another or none.
    pub fn remove(&mut self, slot: Slot) -> Option<T> {
        let entry = self.entries.get_mut(slot.index())?;
        if entry.generation != slot.generation() {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = (entry.generation + 1) & ((1 << (32 - Slot::INDEX_BITS)) - 1);
        self.free.push_back(slot.index() as u32);
        self.len -= 1;
        Some(value)
    }

    /// The value in `slot`, unless its occupant is another or none.
    #[must_use]
    pub fn get(&self, slot: Slot) -> Option<&T> {
        self.entries.get(slot.index()).filter(|entry| entry.generation == slot.generation())?.value.as_ref()
    }

    /// The value in `slot`, unless its occupant is another or none.
    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        self.entries.get_mut(slot.index()).filter(|entry| entry.generation == slot.generation())?.value.as_mut()
    }

    /// The slot now occupied at `index`, if one is.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<(Slot, &T)> {
        let entry = self.entries.get(index)?;
        Some((Slot::new(index, entry.generation), entry.value.as_ref()?))
    }

    /// Occupied slots in index order.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &T)> {
        (0..self.entries.len()).filter_map(|index| self.at(index))
    }

    /// Occupied slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no slot is occupied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length a column needs to be indexed by every slot handed out so far.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        //
        #[test]
        fn a_slot_finds_its_own_value_or_none(ops in proptest::collection::vec(any::<Option<u8>>(), 1..200)) {
            let mut map = SlotMap::new();
            let mut alive: Vec<(Slot, u32)> = Vec::new();
            let mut gone = Vec::new();
            for (count, op) in ops.into_iter().enumerate() {
                match op {
                    Some(pick) if !alive.is_empty() => {
                        let (slot, value) = alive.swap_remove(usize::from(pick) % alive.len());
                        prop_assert_eq!(map.remove(slot), Some(value));
                        gone.push(slot);
                    }
                    _ => alive.push((map.insert(count as u32).unwrap(), count as u32)),
                }
                prop_assert_eq!(map.len(), alive.len());
                for (slot, value) in &alive {
                    prop_assert_eq!(map.get(*slot), Some(value));
                }
                for slot in &gone {
                    prop_assert_eq!(map.get(*slot), None);
                }
            }
        }
    }
}
