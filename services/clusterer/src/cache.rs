//! What is kept of spaces between two changes: of so many spaces, and of so many units in all.

use std::collections::BTreeMap;

/// Things by key, the ones used last.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    kept: BTreeMap<K, Kept<V>>,
    /// Weight of all together.
    weight: usize,
    /// Number of uses, to tell what was not used for longest.
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
    /// Keeps at most so many things, and together at most so much weight unless one weighs more.
    pub(crate) fn new(count_max: usize, weight_max: usize) -> Cache<K, V> {
        Cache {
            kept: BTreeMap::new(),
            weight: 0,
            uses: 0,
            count_max: count_max.max(1),
            weight_max,
        }
    }

    /// Takes a thing out.
    pub(crate) fn take(&mut self, key: &K) -> Option<V> {
        let kept = self.kept.remove(key)?;
        self.weight -= kept.weight;
        Some(kept.value)
    }

    /// Puts a thing in and returns what has to go for it, the longest unused first; never the thing itself.
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
    fn what_was_not_used_for_longest_goes() {
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
