//! A map by id whose values can be spilled to a file.
//!
//! Ids are random, but they come and go in the order of time. Values are therefore stored by number, in the order in
//! which their ids were added: new values share a chunk, and chunks of old values stay in the file. The ids remain in
//! memory, so that looking up an unknown id reads nothing.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;

/// Number of a value. After a value is removed, another one may get its number.
type Number = u32;

/// Maximum number of values in a chunk. Old values are needed one by one, so a chunk is small.
const VALUES: usize = 16;

/// Values by id.
#[derive(Clone, Debug)]
pub(crate) struct IdMap<I, V> {
    numbers: SortedChunks<I, Number>,
    values: SortedChunks<Number, V, VALUES>,
    free: Vec<Number>,
}

impl<I, V> Default for IdMap<I, V> {
    fn default() -> IdMap<I, V> {
        IdMap {
            numbers: SortedChunks::default(),
            values: SortedChunks::default(),
            free: Vec::new(),
        }
    }
}

impl<I: Copy + Ord, V> IdMap<I, V> {
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn contains_id(&self, id: I) -> bool {
        self.numbers.contains_key(&id)
    }

    pub(crate) fn get(&self, id: I) -> Option<&V> {
        self.values.get(self.numbers.get(&id)?)
    }

    /// Returns the value of an id, to be changed.
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut V> {
        self.values.get_mut(self.numbers.get(&id)?)
    }

    /// Returns the value of an id, which is made if there is none.
    pub(crate) fn get_or_default(&mut self, id: I) -> &mut V
    where
        V: Default,
    {
        let number = self.number_or_new(id);
        self.values.get_or_default(number)
    }

    /// Inserts a value, or replaces the value of the same id and returns the former one.
    pub(crate) fn insert(&mut self, id: I, value: V) -> Option<V> {
        let number = self.number_or_new(id);
        self.values.insert(number, value)
    }

    /// Removes an id and returns its value.
    pub(crate) fn remove(&mut self, id: I) -> Option<V> {
        let number = self.numbers.remove(&id)?;
        self.free.push(number);
        self.values.remove(&number)
    }

    /// Returns the ids in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = I> {
        self.numbers.iter().map(|it| *it.0)
    }

    /// Returns the ids from `first` to `last`, both included, in order.
    pub(crate) fn ids_between(&self, first: I, last: I) -> impl Iterator<Item = I> {
        let from_first = self.numbers.entries_from(|it| *it < first).map(|it| *it.0);
        from_first.take_while(move |it| *it <= last)
    }

    /// Returns all ids with their values, ordered by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (I, &V)> {
        let numbers = self.numbers.iter();
        numbers.filter_map(|(id, number)| Some((*id, self.values.get(number)?)))
    }

    /// Spills the values that were not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>)
    where
        V: Serialize + DeserializeOwned,
    {
        self.values.spill_unused(file);
    }

    fn number_or_new(&mut self, id: I) -> Number {
        if let Some(number) = self.numbers.get(&id) {
            return *number;
        }
        // The memory limit is reached long before four billion values.
        let next = Number::try_from(self.numbers.len()).unwrap_or(Number::MAX);
        let number = self.free.pop().unwrap_or(next);
        self.numbers.insert(id, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_spilled_map_behaves_like_a_tree_map() {
        let (_folder, file) = SpillFile::create_for_test();
        let (mut map, mut tree) = (IdMap::default(), BTreeMap::<u32, Vec<u32>>::new());
        let mut number = 3_u32;
        for step in 0..4_000 {
            number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let id = (number >> 8) % 700;
            match number >> 28 & 7 {
                0 | 1 => assert_eq!(map.remove(id), tree.remove(&id)),
                2 => assert_eq!(map.get(id), tree.get(&id)),
                3 => {
                    map.get_or_default(id).push(step);
                    tree.entry(id).or_default().push(step);
                }
                4 => assert_eq!(map.get_mut(id).map(|it| it.pop()), tree.get_mut(&id).map(|it| it.pop())),
                _ => assert_eq!(map.insert(id, vec![step]), tree.insert(id, vec![step])),
            }
            assert_eq!((map.len(), map.contains_id(id)), (tree.len(), tree.contains_key(&id)));
            if step % 101 == 100 {
                // What was used since the first call is spilled by the second.
                (0..2).for_each(|_| map.spill_unused(&file));
                assert!(file.used_bytes() > 0, "step {step}");
            }
            if step % 499 == 0 {
                assert!(
                    map.iter().eq(tree.iter().map(|(id, value)| (*id, value))),
                    "step {step}"
                );
                assert!(map.ids_between(200, 300).eq(tree.range(200..=300).map(|it| *it.0)));
                assert!(map.ids().eq(tree.keys().copied()));
            }
        }
        assert!(!file.is_damaged());
    }
}
