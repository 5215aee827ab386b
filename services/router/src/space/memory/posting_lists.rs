use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::mem::size_of;

use rustc_hash::FxHashMap;

/// Maximum number of values of a key that are stored as a sorted list.
const FEW: usize = 16;

/// Values by key, both sorted. A key without values is removed.
#[derive(Clone)]
pub(super) struct Posts<K, V> {
    values: BTreeMap<K, Values<V>>,
    /// Bytes of all values.
    bytes: usize,
}

/// Sorted values: a list while they are few, then a set. A set with one value allocates a node for eleven.
#[expect(
    clippy::box_collection,
    reason = "a tree in place would make each list a third larger"
)]
#[derive(Clone)]
enum Values<V> {
    Few(Vec<V>),
    Many(Box<BTreeSet<V>>),
}

impl<V: Ord> Values<V> {
    fn insert(&mut self, value: V) {
        match self {
            Values::Many(many) => {
                many.insert(value);
            }
            Values::Few(few) => {
                let Err(at) = few.binary_search(&value) else { return };
                few.reserve_exact(1);
                few.insert(at, value);
                if few.len() > FEW {
                    *self = Values::Many(Box::new(std::mem::take(few).into_iter().collect()));
                }
            }
        }
    }

    fn remove(&mut self, value: &V) {
        match self {
            Values::Many(many) => {
                many.remove(value);
            }
            Values::Few(few) => {
                if let Ok(at) = few.binary_search(value) {
                    few.remove(at);
                }
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Few(few) => few.len(),
            Values::Many(many) => many.len(),
        }
    }

    fn few(&self) -> &[V] {
        match self {
            Values::Few(few) => few,
            Values::Many(_) => &[],
        }
    }

    fn many(&self) -> Option<&BTreeSet<V>> {
        match self {
            Values::Few(_) => None,
            Values::Many(many) => Some(many),
        }
    }

    /// Returns the bytes of the values, including the overhead of the allocator for a list. A node of a set is assumed
    /// to be two thirds full.
    fn size_in_bytes(&self) -> usize {
        match self {
            Values::Few(few) if few.capacity() == 0 => 0,
            Values::Few(few) => 16 + few.capacity() * size_of::<V>(),
            Values::Many(many) => 48 + many.len() * (size_of::<V>() * 3 / 2 + 2),
        }
    }
}

impl<K, V> Default for Posts<K, V> {
    fn default() -> Posts<K, V> {
        Posts {
            values: BTreeMap::new(),
            bytes: 0,
        }
    }
}

impl<K: Ord + Hash, V: Ord + Clone> Posts<K, V> {
    /// Collects pairs of keys and values, in any order. It is much faster than adding them one by one.
    pub(super) fn from_pairs(pairs: impl IntoIterator<Item = (K, V)>) -> Posts<K, V> {
        let mut lists: FxHashMap<K, Vec<V>> = FxHashMap::default();
        for (key, value) in pairs {
            lists.entry(key).or_default().push(value);
        }
        let mut posts = Posts::default();
        for (key, mut list) in lists {
            list.sort_unstable();
            list.dedup();
            let values = match list.len() {
                0..=FEW => {
                    list.shrink_to_fit();
                    Values::Few(list)
                }
                _ => Values::Many(Box::new(list.into_iter().collect())),
            };
            posts.bytes += values.size_in_bytes();
            posts.values.insert(key, values);
        }
        posts
    }
}

impl<K: Ord, V: Ord + Clone> Posts<K, V> {
    /// Adds a value to a key, or removes it if `add` is false.
    pub(super) fn add_or_remove(&mut self, key: K, value: V, add: bool) {
        if add {
            let values = self.values.entry(key).or_insert_with(|| Values::Few(Vec::new()));
            self.bytes -= values.size_in_bytes();
            values.insert(value);
            self.bytes += values.size_in_bytes();
        } else if let Some(values) = self.values.get_mut(&key) {
            self.bytes -= values.size_in_bytes();
            values.remove(&value);
            self.bytes += values.size_in_bytes();
            if values.len() == 0 {
                self.bytes -= values.size_in_bytes();
                self.values.remove(&key);
            }
        }
    }

    /// Returns the values of a key, ascending.
    pub(super) fn values_of_key<Q: Ord + ?Sized>(
        &self,
        key: &Q,
    ) -> impl DoubleEndedIterator<Item = V> + '_ + use<'_, K, V, Q>
    where
        K: Borrow<Q>,
    {
        let values = self.values.get(key);
        let few = values.into_iter().flat_map(Values::few);
        let many = values.and_then(Values::many);
        few.chain(many.into_iter().flatten()).cloned()
    }

    /// Returns the number of values of a key.
    pub(super) fn count_values<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.values.get(key).map_or(0, Values::len)
    }

    /// Returns the keys from `first` on, ascending.
    pub(super) fn keys_from<'a, Q: Ord + ?Sized>(&'a self, first: &Q) -> impl Iterator<Item = &'a K> + use<'a, K, V, Q>
    where
        K: Borrow<Q>,
    {
        self.values
            .range::<Q, _>((std::ops::Bound::Included(first), std::ops::Bound::Unbounded))
            .map(|it| it.0)
    }

    /// Returns roughly how many bytes it takes, without the memory that keys point to.
    pub(super) fn size_in_bytes(&self) -> usize {
        // A node of the tree is assumed to be two thirds full.
        self.values.len() * (size_of::<K>() + size_of::<Values<V>>()) * 3 / 2 + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collected_pairs_are_the_same_as_added_ones() {
        let pairs: Vec<(u8, u32)> = (0..200).map(|it| ((it % 7) as u8, it * 37 % 101)).collect();
        let (collected, mut added) = (Posts::from_pairs(pairs.clone()), Posts::default());
        pairs.iter().for_each(|it| added.add_or_remove(it.0, it.1, true));
        let list = |posts: &Posts<u8, u32>| -> Vec<(u8, Vec<u32>)> {
            let keys = posts.keys_from(&0).copied();
            keys.map(|it| (it, posts.values_of_key(&it).collect())).collect()
        };
        assert_eq!(list(&collected), list(&added));
        assert_eq!(list(&collected).len(), 7);
        assert!(list(&collected).iter().any(|it| it.1.len() > FEW));
    }
}
