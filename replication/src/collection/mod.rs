//! Changes of collections inside rows: the fewest edits, or the whole when that says it shorter.

use std::cmp::Ordering;

/// What became of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListDelta<T> {
    /// Nothing.
    None,
    /// Values replaced or appended, and perhaps an end cut off.
    Edits {
        /// Index and new value, by ascending index; an index at the end appends.
        replace: Vec<(usize, T)>,
        /// The new length, when that is less than before.
        truncate: Option<usize>,
    },
    /// The whole list.
    Whole(Vec<T>),
}

/// What became of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapDelta<K, V> {
    /// Nothing.
    None,
    /// Keys removed, and keys with new values.
    Edits {
        /// Keys removed, ascending.
        remove: Vec<K>,
        /// Keys added or changed, ascending, with their values.
        replace: Vec<(K, V)>,
    },
    /// The whole map, by ascending key.
    Whole(Vec<(K, V)>),
}

/// Whether so many edits are worth it for a collection of `len` values now.
fn is_worth(edits: usize, len: usize) -> bool {
    2 * edits <= len.max(1)
}

/// The change from one list to another.
#[must_use]
pub fn list_delta<T: Clone + PartialEq>(before: &[T], after: &[T]) -> ListDelta<T> {
    let replace: Vec<(usize, T)> = after
        .iter()
        .enumerate()
        .filter(|(index, value)| before.get(*index) != Some(value))
        .map(|(index, value)| (index, value.clone()))
        .collect();
    let truncate = (after.len() < before.len()).then_some(after.len());
    let edits = replace.len() + usize::from(truncate.is_some());
    if edits == 0 {
        ListDelta::None
    } else if is_worth(edits, after.len()) {
        ListDelta::Edits { replace, truncate }
    } else {
        ListDelta::Whole(after.to_vec())
    }
}

/// The change from one map to another, both by strictly ascending key.
#[must_use]
pub fn map_delta<K: Clone + Ord, V: Clone + PartialEq>(before: &[(K, V)], after: &[(K, V)]) -> MapDelta<K, V> {
    let (mut remove, mut replace) = (Vec::new(), Vec::new());
    let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old_key, _)), Some((new_key, _))) => old_key.cmp(new_key),
        };
        let gone = if order.is_le() { old.next() } else { None };
        let come = if order.is_ge() { new.next() } else { None };
        match (gone, come) {
            (Some((key, _)), None) => remove.push(key.clone()),
            (gone, Some((key, value))) if gone.is_none_or(|(_, held)| held != value) => {
                replace.push((key.clone(), value.clone()));
            }
            _ => {}
        }
    }
    let edits = remove.len() + replace.len();
    if edits == 0 {
        MapDelta::None
    } else if is_worth(edits, after.len()) {
        MapDelta::Edits { remove, replace }
    } else {
        MapDelta::Whole(after.to_vec())
    }
}

/// A delta names an index past the end of the list it is applied to: the sender holds another list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPastEnd;

/// Applies a change to the list it was made for.
///
/// # Errors
///
/// [`IndexPastEnd`]; the list is then as it was.
pub fn apply_list<T: Clone>(list: &mut Vec<T>, delta: &ListDelta<T>) -> Result<(), IndexPastEnd> {
    match delta {
        ListDelta::None => {}
        ListDelta::Whole(whole) => list.clone_from(whole),
        ListDelta::Edits { replace, truncate } => {
            let kept = truncate.unwrap_or(list.len());
            let mut end = kept;
            for (index, _) in replace {
                if *index > end {
                    return Err(IndexPastEnd);
                }
                end = end.max(index + 1);
            }
            if kept > list.len() {
                return Err(IndexPastEnd);
            }
            list.truncate(kept);
            for (index, value) in replace {
                match list.get_mut(*index) {
                    Some(held) => *held = value.clone(),
                    None => list.push(value.clone()),
                }
            }
        }
    }
    Ok(())
}

/// Applies a change to the map it was made for; keys stay ascending.
pub fn apply_map<K: Clone + Ord, V: Clone>(map: &mut Vec<(K, V)>, delta: &MapDelta<K, V>) {
    match delta {
        MapDelta::None => {}
        MapDelta::Whole(whole) => map.clone_from(whole),
        MapDelta::Edits { remove, replace } => {
            map.retain(|(key, _)| remove.binary_search(key).is_err());
            for (key, value) in replace {
                match map.binary_search_by(|(held, _)| held.cmp(key)) {
                    Ok(at) => map[at].1 = value.clone(),
                    Err(at) => map.insert(at, (key.clone(), value.clone())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        //
        #[test]
        fn a_delta_makes_the_one_list_of_the_other(before: Vec<u8>, after: Vec<u8>, keep in 0usize..20) {
            // Mostly equal lists too, which are what deltas are for.
            let mut near = before.clone();
            near.truncate(keep);
            for after in [after, near] {
                let mut list = before.clone();
                prop_assert_eq!(apply_list(&mut list, &list_delta(&before, &after)), Ok(()));
                prop_assert_eq!(list, after);
            }
        }

        //
        #[test]
        fn a_delta_makes_the_one_map_of_the_other(before: BTreeMap<u8, u8>, after: BTreeMap<u8, u8>, drop: u8) {
            let mut near = before.clone();
            near.remove(&drop);
            let before: Vec<(u8, u8)> = before.into_iter().collect();
            for after in [after, near] {
                let after: Vec<(u8, u8)> = after.into_iter().collect();
                let mut map = before.clone();
                apply_map(&mut map, &map_delta(&before, &after));
                prop_assert_eq!(map, after);
            }
        }
    }

    #[test]
    fn edits_of_another_list_change_nothing() {
        let mut list = vec![1, 2];
        let edits = ListDelta::Edits { replace: vec![(0, 9), (5, 9)], truncate: None };
        assert_eq!(apply_list(&mut list, &edits), Err(IndexPastEnd));
        let cut = ListDelta::Edits { replace: vec![], truncate: Some(3) };
        assert_eq!(apply_list(&mut list, &cut), Err(IndexPastEnd));
        assert_eq!(list, [1, 2]);
    }
}
