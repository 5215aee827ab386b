use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::size_of;

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
#[derive(Clone)]
struct Values<V> {
    /// Empty after the values have moved to `many`.
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

    /// Returns the bytes of the values, including the overhead of the allocator for a list. A node of a set is assumed
    /// to be two thirds full.
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
    /// Adds a value to a key, or removes it if `add` is false.
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
    pub(super) fn bytes(&self) -> usize {
        // A node of the tree is assumed to be two thirds full.
        self.values.len() * (size_of::<K>() + size_of::<Values<V>>()) * 3 / 2 + self.bytes
    }
}
