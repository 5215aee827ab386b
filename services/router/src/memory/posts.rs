use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::size_of;

/// Values by key, both sorted; a key without values is dropped.
#[derive(Clone)]
pub(super) struct Posts<K, V> {
    values: BTreeMap<K, BTreeSet<V>>,
    count: usize,
}

impl<K, V> Default for Posts<K, V> {
    fn default() -> Posts<K, V> {
        Posts {
            values: BTreeMap::new(),
            count: 0,
        }
    }
}

impl<K: Ord, V: Ord + Copy> Posts<K, V> {
    /// Adds a value to a key, or takes it away.
    pub(super) fn set(&mut self, key: K, value: V, add: bool) {
        if add {
            self.count += usize::from(self.values.entry(key).or_default().insert(value));
        } else if let Some(values) = self.values.get_mut(&key) {
            self.count -= usize::from(values.remove(&value));
            if values.is_empty() {
                self.values.remove(&key);
            }
        }
    }

    /// Returns the values of a key, ascending.
    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> impl DoubleEndedIterator<Item = V> + '_ + use<'_, K, V, Q>
    where
        K: Borrow<Q>,
    {
        self.values.get(key).into_iter().flatten().copied()
    }

    /// Returns the number of values of a key.
    pub(super) fn count<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.values.get(key).map_or(0, BTreeSet::len)
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
        self.values.len() * (size_of::<K>() + 64) + self.count * (size_of::<V>() + 8)
    }
}
