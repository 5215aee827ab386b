//! A sorted map that needs little memory for few entries. Most of the many maps of a space have few.
//!
//! A `BTreeMap` with one entry allocates a node for eleven: for a map of facts, 4 kB for 350 bytes.

use std::borrow::Borrow;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::space::sorted_chunks::{Iter, SortedChunks, iterate};
use crate::space::spill_file::SpillFile;

/// Maximum number of entries in the single list; a larger map is in chunks.
const FEW: usize = 16;

/// Entries by key, in one sorted list while there are few, otherwise in chunks. A map in chunks remains so until it is
/// empty.
#[derive(Clone, Debug)]
pub(crate) enum SmallMap<K, V> {
    /// Sorted by key.
    Few(Vec<(K, V)>),
    Many(Box<SortedChunks<K, V>>),
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> SmallMap<K, V> {
        SmallMap::Few(Vec::new())
    }
}

impl<K: Ord, V: PartialEq> PartialEq for SmallMap<K, V> {
    fn eq(&self, other: &SmallMap<K, V>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Ord, V: Eq> Eq for SmallMap<K, V> {}

impl<K: Ord, V> SmallMap<K, V> {
    pub(crate) fn len(&self) -> usize {
        match self {
            SmallMap::Few(few) => few.len(),
            SmallMap::Many(many) => many.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Inserts a value, or replaces the value of the same key and returns the former one.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.make_room_for(&key);
        match self {
            SmallMap::Many(many) => many.insert(key, value),
            SmallMap::Few(few) => match few.binary_search_by(|it| it.0.cmp(&key)) {
                Ok(at) => Some(std::mem::replace(&mut few[at].1, value)),
                Err(at) => {
                    insert_exactly(few, at, (key, value));
                    None
                }
            },
        }
    }

    /// Removes an entry and returns its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self {
            SmallMap::Few(few) => {
                let at = few.binary_search_by(|it| it.0.borrow().cmp(key));
                at.ok().map(|at| few.remove(at).1)
            }
            SmallMap::Many(many) => {
                let removed = many.remove(key);
                if many.is_empty() {
                    *self = SmallMap::default();
                }
                removed
            }
        }
    }

    /// Returns the value of a key, which is made if there is none.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.make_room_for(&key);
        match self {
            SmallMap::Many(many) => many.get_or_default(key),
            SmallMap::Few(few) => {
                let at = few.binary_search_by(|it| it.0.cmp(&key));
                let at = at.unwrap_or_else(|at| {
                    insert_exactly(few, at, (key, V::default()));
                    at
                });
                &mut few[at].1
            }
        }
    }

    /// Returns the values of a map with few entries, to be changed; none of a large map.
    pub(crate) fn few_values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let few = match self {
            SmallMap::Few(few) => few.as_mut_slice(),
            SmallMap::Many(_) => &mut [],
        };
        few.iter_mut().map(|it| &mut it.1)
    }

    /// Spills the parts of a large map that were not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>)
    where
        K: Clone + Serialize + DeserializeOwned,
        V: Serialize + DeserializeOwned,
    {
        if let SmallMap::Many(many) = self {
            many.spill_unused(file);
        }
    }

    /// Puts a full list without the key into chunks.
    fn make_room_for(&mut self, key: &K) {
        if let SmallMap::Few(few) = self
            && few.len() == FEW
            && few.binary_search_by(|it| it.0.cmp(key)).is_err()
        {
            let mut many = SortedChunks::default();
            std::mem::take(few).into_iter().for_each(|(key, value)| {
                many.insert(key, value);
            });
            *self = SmallMap::Many(Box::new(many));
        }
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self {
            SmallMap::Few(few) => {
                let at = few.binary_search_by(|it| it.0.borrow().cmp(key));
                at.ok().map(|at| &few[at].1)
            }
            SmallMap::Many(many) => many.get(key),
        }
    }

    /// Returns the entries, ordered by key.
    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        self.entries_after(None)
    }

    /// Returns the entries after a key, or all entries if there is no key, ordered by key.
    pub(crate) fn entries_after(&self, key: Option<&K>) -> Iter<'_, K, V> {
        match self {
            SmallMap::Few(few) => {
                let start = key.map_or(0, |key| few.partition_point(|it| it.0 <= *key));
                iterate(&few[start..], &[], &[])
            }
            SmallMap::Many(many) => many.entries_after(key),
        }
    }

    /// Returns the entries from the first one whose key is not `before`, ordered by key. All keys that are `before`
    /// have to come first.
    pub(crate) fn entries_from(&self, before: impl Fn(&K) -> bool) -> Iter<'_, K, V> {
        match self {
            SmallMap::Few(few) => iterate(&few[few.partition_point(|it| before(&it.0))..], &[], &[]),
            SmallMap::Many(many) => many.entries_from(before),
        }
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|it| it.0)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|it| it.1)
    }
}

/// Inserts an element into a list that grows by one. Otherwise, the first one would allocate room for four.
fn insert_exactly<T>(list: &mut Vec<T>, at: usize, element: T) {
    list.reserve_exact(1);
    list.insert(at, element);
}

impl<'a, K: Ord, V> IntoIterator for &'a SmallMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K: Ord + Serialize, V: Serialize> Serialize for SmallMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // With the length: without it, the whole list is written to memory before anything else sees it.
        let mut entries = serializer.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|it| entries.serialize_element(&it))?;
        entries.end()
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for SmallMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SmallMap<K, V>, D::Error> {
        let mut map = SmallMap::default();
        for (key, value) in Vec::<(K, V)>::deserialize(deserializer)? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_small_map_behaves_like_a_tree_map() {
        let (mut small, mut tree) = (SmallMap::default(), BTreeMap::new());
        let mut number = 7_u32;
        for step in 0..400 {
            number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            // Few keys first, then many, then few again.
            let bound = if (100..300).contains(&step) { 40 } else { 6 };
            let key = number >> 8 & 0xff;
            let key = key % bound;
            if number >> 20 & 3 == 0 || (step > 300 && key > 3) {
                assert_eq!(small.remove(&key), tree.remove(&key));
            } else if number >> 22 & 1 == 0 {
                assert_eq!(small.insert(key, step), tree.insert(key, step));
            } else {
                *small.get_or_default(key) += 1;
                *tree.entry(key).or_default() += 1;
            }
            assert_eq!(small.len(), tree.len());
            assert!(small.iter().eq(tree.iter()), "step {step}");
            assert_eq!(small.get(&key), tree.get(&key));
            assert!(small.entries_after(Some(&3)).eq(tree.range(4..)), "step {step}");
            assert!(small.entries_from(|it| *it < 5).eq(tree.range(5..)), "step {step}");
            assert_eq!(small.is_empty(), tree.is_empty());
        }
    }

    #[test]
    fn a_map_in_chunks_becomes_a_list_again_without_entries() {
        let mut map: SmallMap<usize, ()> = SmallMap::default();
        (0..=FEW).for_each(|it| {
            map.insert(it, ());
        });
        assert!(matches!(map, SmallMap::Many(_)));
        assert!(map.keys().copied().rev().eq((0..=FEW).rev()));
        (0..=FEW).for_each(|it| {
            map.remove(&it);
        });
        assert!(matches!(map, SmallMap::Few(_)) && map.is_empty());
    }
}
