//! A sorted map that needs little memory for few entries. Most of the many maps of a space have few.
//!
//! A `BTreeMap` with one entry allocates a node for eleven: for a map of facts, 4 kB for 350 bytes.

use std::borrow::Borrow;
use std::collections::{BTreeMap, btree_map};
use std::iter::Chain;
use std::ops::Bound;

/// Maximum number of entries in the sorted list; a larger map is a tree.
const FEW: usize = 8;

/// Entries by key, in a sorted list while there are few, otherwise in a tree.
#[derive(Clone, Debug)]
pub(crate) struct SmallMap<K, V> {
    /// Empty once the entries have moved to `many`.
    few: Vec<(K, V)>,
    many: BTreeMap<K, V>,
}

/// Iterator over the entries, ordered by key.
type Iter<'a, K, V> =
    Chain<std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>, btree_map::Range<'a, K, V>>;

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> SmallMap<K, V> {
        SmallMap {
            few: Vec::new(),
            many: BTreeMap::new(),
        }
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
        self.few.len() + self.many.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    /// Inserts a value, or replaces the value of the same key and returns the former one.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if !self.many.is_empty() {
            return self.many.insert(key, value);
        }
        match self.few.binary_search_by(|it| it.0.cmp(&key)) {
            Ok(at) => return Some(std::mem::replace(&mut self.few[at].1, value)),
            Err(at) if self.few.len() < FEW => {
                // Without this, the first insertion would allocate room for four entries.
                self.few.reserve_exact(1);
                self.few.insert(at, (key, value));
            }
            Err(_) => {
                self.many = std::mem::take(&mut self.few).into_iter().collect();
                self.many.insert(key, value);
            }
        }
        None
    }

    /// Takes an entry out, and returns its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self.few.binary_search_by(|it| it.0.borrow().cmp(key)) {
            Ok(at) => Some(self.few.remove(at).1),
            Err(_) => self.many.remove(key),
        }
    }

    /// Returns the value of a key, which is made if there is none.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        if self.many.is_empty() && self.few.len() == FEW && self.few.binary_search_by(|it| it.0.cmp(&key)).is_err() {
            self.many = std::mem::take(&mut self.few).into_iter().collect();
        }
        if !self.many.is_empty() {
            return self.many.entry(key).or_default();
        }
        let at = match self.few.binary_search_by(|it| it.0.cmp(&key)) {
            Ok(at) => at,
            Err(at) => {
                self.few.reserve_exact(1);
                self.few.insert(at, (key, V::default()));
                at
            }
        };
        &mut self.few[at].1
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let few = self.few.binary_search_by(|it| it.0.borrow().cmp(key));
        few.ok().map(|at| &self.few[at].1).or_else(|| self.many.get(key))
    }

    /// Returns the entries, ordered by key.
    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        self.after(None)
    }

    /// Returns the entries after a key, or all entries if there is no key, ordered by key.
    pub(crate) fn after(&self, key: Option<&K>) -> Iter<'_, K, V> {
        let from = key.map_or(0, |key| self.few.partition_point(|it| it.0 <= *key));
        let few = self.few[from..]
            .iter()
            .map((|it| (&it.0, &it.1)) as fn(&(K, V)) -> (&K, &V));
        let from = key.map_or(Bound::Unbounded, Bound::Excluded);
        few.chain(self.many.range((from, Bound::Unbounded)))
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|it| it.0)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|it| it.1)
    }
}

impl<'a, K: Ord, V> IntoIterator for &'a SmallMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
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
            assert!(small.after(Some(&3)).eq(tree.range(4..)), "step {step}");
            assert_eq!(small.is_empty(), tree.is_empty());
        }
    }
}
