//! A cache for the state of spaces between two changes, limited in number and in total weight.

use std::collections::BTreeMap;

/// A least-recently-used cache.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    kept: BTreeMap<K, Kept<V>>,
    /// Total weight of the entries.
    weight: usize,
    /// Number of insertions so far, used to find the least recently used entry.
    uses: u64,
    count_max: usize,
    weight_max: usize,
}

#[derive(Debug)]
struct Kept<V> {
    value: V,
    weight: usize,
    used: u64,
}

impl<K: Ord + Clone, V> Cache<K, V> {
    /// Returns a cache of at most `count_max` entries and at most `weight_max` in total; a single entry may weigh
    /// more.
    pub(crate) fn new(count_max: usize, weight_max: usize) -> Cache<K, V> {
        Cache {
            kept: BTreeMap::new(),
            weight: 0,
            uses: 0,
            count_max: count_max.max(1),
            weight_max,
        }
    }

    /// Removes an entry and returns its value.
    pub(crate) fn take(&mut self, key: &K) -> Option<V> {
        let kept = self.kept.remove(key)?;
        self.weight -= kept.weight;
        Some(kept.value)
    }

    /// Inserts an entry and returns the replaced value and the evicted ones, least recently used first. It never
    /// evicts the new entry.
    pub(crate) fn put(&mut self, key: K, value: V, weight: usize) -> Vec<V> {
        let mut gone = Vec::from_iter(self.take(&key));
        self.uses += 1;
        let used = self.uses;
        self.weight += weight;
        self.kept.insert(key.clone(), Kept { value, weight, used });
        while self.kept.len() > self.count_max || self.weight > self.weight_max {
            let others = self.kept.iter().filter(|it| *it.0 != key);
            let Some(oldest) = others.min_by_key(|it| it.1.used).map(|it| it.0.clone()) else {
                break;
            };
            gone.extend(self.take(&oldest));
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let mut cache = Cache::new(3, 100);
        assert!(cache.put("a", 1, 10).is_empty() && cache.put("b", 2, 10).is_empty());
        assert_eq!(cache.take(&"a"), Some(1));
        assert!(cache.put("a", 1, 20).is_empty() && cache.put("c", 3, 60).is_empty());
        assert_eq!(cache.put("d", 4, 10), [2], "of four");
        assert_eq!(cache.put("e", 5, 50), [1, 3], "of more weight");
        assert_eq!((cache.take(&"c"), cache.weight), (None, 60));
        assert_eq!(cache.put("f", 6, 1_000), [4, 5], "one is kept, whatever it weighs");
        assert_eq!(cache.put("f", 7, 1), [6]);
        assert_eq!((cache.take(&"f"), cache.weight), (Some(7), 0));
    }
}
