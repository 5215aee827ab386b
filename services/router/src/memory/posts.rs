use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::size_of;

/// Values of a key up to which they are a sorted list.
const FEW: usize = 16;

/// Values by key, both sorted; a key without values is dropped.
#[derive(Clone)]
pub(super) struct Posts<K, V> {
    values: BTreeMap<K, Values<V>>,
    /// Bytes of all values.
    bytes: usize,
}

/// Sorted values: in a list while they are few, since a set of one takes a node for eleven, in a set from then on.
#[derive(Clone)]
struct Values<V> {
    /// Empty once there were many.
    few: Vec<V>,
    many: BTreeSet<V>,
}

impl<V: Ord> Values<V> {
    fn insert(&mut self, value: V) {
        if !self.many.is_empty() {
            self.many.insert(value);
        } else if let Err(at) = self.few.binary_search(&value) {
            self.few.reserve_exact(1);
            self.few.insert(at, value);
            if self.few.len() > FEW {
                self.many = std::mem::take(&mut self.few).into_iter().collect();
            }
        }
    }

    fn remove(&mut self, value: &V) {
        if let Ok(at) = self.few.binary_search(value) {
            self.few.remove(at);
        }
        self.many.remove(value);
    }

    fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// What an allocator adds to a list included; a node of a set is two thirds full.
    fn bytes(&self) -> usize {
        let few = if self.few.is_empty() {
            0
        } else {
            16 + self.few.capacity() * size_of::<V>()
        };
        few + self.many.len() * (size_of::<V>() * 3 / 2 + 2)
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

impl<K: Ord, V: Ord + Copy> Posts<K, V> {
    /// Adds a value to a key, or takes it away.
    pub(super) fn set(&mut self, key: K, value: V, add: bool) {
        if add {
            let values = self.values.entry(key).or_insert_with(|| Values {
                few: Vec::new(),
                many: BTreeSet::new(),
            });
            self.bytes -= values.bytes();
            values.insert(value);
            self.bytes += values.bytes();
        } else if let Some(values) = self.values.get_mut(&key) {
            self.bytes -= values.bytes();
            values.remove(&value);
            self.bytes += values.bytes();
            if values.len() == 0 {
                self.bytes -= values.bytes();
                self.values.remove(&key);
            }
        }
    }

    /// Returns the values of a key, ascending.
    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> impl DoubleEndedIterator<Item = V> + '_ + use<'_, K, V, Q>
    where
        K: Borrow<Q>,
    {
        let values = self.values.get(key);
        let few = values.into_iter().flat_map(|it| &it.few);
        few.chain(values.into_iter().flat_map(|it| &it.many)).copied()
    }

    /// Returns the number of values of a key.
    pub(super) fn count<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.values.get(key).map_or(0, Values::len)
    }

    /// Returns the keys from `first` on.
    pub(super) fn keys_from<'a, Q: Ord + ?Sized>(&'a self, first: &Q) -> impl Iterator<Item = &'a K> + use<'a, K, V, Q>
    where
        K: Borrow<Q>,
    {
        self.values
            .range::<Q, _>((std::ops::Bound::Included(first), std::ops::Bound::Unbounded))
            .map(|it| it.0)
    }

    /// Returns roughly how much memory it takes, what keys point to left out.
    pub(super) fn bytes(&self) -> usize {
        // A node of the tree is two thirds full.
        self.values.len() * (size_of::<K>() + size_of::<Values<V>>()) * 3 / 2 + self.bytes
    }
}
