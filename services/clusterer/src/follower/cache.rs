//! A cache for the state of spaces between two changes, limited in number and in total weight.

use std::collections::BTreeMap;

/// A least-recently-used cache.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    values: BTreeMap<K, CachedValue<V>>,
    /// Total weight of the entries.
    weight: usize,
    /// Number of insertions so far, used to find the least recently used entry.
    uses: u64,
    count_max: usize,
    weight_max: usize,
}

#[derive(Debug)]
struct CachedValue<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<K: Ord + Clone, V> Cache<K, V> {
    /// Returns a cache of at most `count_max` entries and at most `weight_max` in total; a single entry may weigh
    /// more.
    pub(crate) fn new(count_max: usize, weight_max: usize) -> Cache<K, V> {
        Cache {
            values: BTreeMap::new(),
            weight: 0,
            uses: 0,
            count_max: count_max.max(1),
            weight_max,
        }
    }

    /// Removes an entry and returns its value.
    pub(crate) fn remove_value(&mut self, key: &K) -> Option<V> {
        let removed = self.values.remove(key)?;
        self.weight -= removed.weight;
        Some(removed.value)
    }

    /// Inserts an entry and returns the replaced value and the evicted ones, least recently used first. It never
    /// evicts the new entry.
    pub(crate) fn insert_and_evict(&mut self, key: K, value: V, weight: usize) -> Vec<V> {
        let mut evicted = Vec::from_iter(self.remove_value(&key));
        self.uses += 1;
        let used = self.uses;
        self.weight += weight;
        self.values.insert(key.clone(), CachedValue { value, weight, used });
        while self.values.len() > self.count_max || self.weight > self.weight_max {
            let others = self.values.iter().filter(|it| *it.0 != key);
            let Some(oldest) = others.min_by_key(|it| it.1.used).map(|it| it.0.clone()) else {
                break;
            };
            evicted.extend(self.remove_value(&oldest));
        }
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let mut cache = Cache::new(3, 100);
        assert!(cache.insert_and_evict("a", 1, 10).is_empty() && cache.insert_and_evict("b", 2, 10).is_empty());
        assert_eq!(cache.remove_value(&"a"), Some(1));
        assert!(cache.insert_and_evict("a", 1, 20).is_empty() && cache.insert_and_evict("c", 3, 60).is_empty());
        assert_eq!(cache.insert_and_evict("d", 4, 10), [2], "of four");
        assert_eq!(cache.insert_and_evict("e", 5, 50), [1, 3], "of more weight");
        assert_eq!((cache.remove_value(&"c"), cache.weight), (None, 60));
        assert_eq!(
            cache.insert_and_evict("f", 6, 1_000),
            [4, 5],
            "one is kept, whatever it weighs"
        );
        assert_eq!(cache.insert_and_evict("f", 7, 1), [6]);
        assert_eq!((cache.remove_value(&"f"), cache.weight), (Some(7), 0));
    }
}
