//! A sorted map in chunks. Keys that arrive in ascending order fill each chunk before the next one begins.
//!
//! Most large maps of a space have keys that begin with a time, and units arrive roughly in that order. A `BTreeMap`
//! then leaves every node half empty, because it splits a full node in two halves.
//!
//! Chunks that are not in use can be spilled to a file. They are read back when one of their entries is needed.

mod chunk;

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::iter::{Chain, Flatten, Map};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::space::sorted_chunks::chunk::Chunk;
use crate::space::spill_file::SpillFile;

/// Entries by key, at most `CHUNK` of them in each chunk. A smaller chunk has less to read back for one entry; a larger
/// one leaves less in memory.
#[derive(Clone, Debug)]
pub(crate) struct SortedChunks<K, V, const CHUNK: usize = 64> {
    /// Sorted by key, over all chunks; no chunk is empty.
    chunks: Vec<Chunk<K, V>>,
    count: usize,
}

/// Iterator over the entries of a first list, of chunks and of a last list, ordered by key.
pub(crate) type Iter<'a, K, V> =
    Map<Chain<Chain<Entries<'a, K, V>, Flatten<Chunks<'a, K, V>>>, Entries<'a, K, V>>, Split<'a, K, V>>;
type Entries<'a, K, V> = std::slice::Iter<'a, (K, V)>;
type Chunks<'a, K, V> = std::slice::Iter<'a, Chunk<K, V>>;
type Split<'a, K, V> = fn(&'a (K, V)) -> (&'a K, &'a V);

/// Returns the entries of a list, of the chunks after it, and of the list after these.
pub(crate) fn iterate<'a, K, V>(first: &'a [(K, V)], chunks: &'a [Chunk<K, V>], last: &'a [(K, V)]) -> Iter<'a, K, V> {
    let entries = first.iter().chain(chunks.iter().flatten()).chain(last);
    entries.map(|(key, value)| (key, value))
}

impl<K, V, const CHUNK: usize> Default for SortedChunks<K, V, CHUNK> {
    fn default() -> SortedChunks<K, V, CHUNK> {
        SortedChunks {
            chunks: Vec::new(),
            count: 0,
        }
    }
}

impl<K: Ord, V, const CHUNK: usize> SortedChunks<K, V, CHUNK> {
    /// Inserts a value, or replaces the value of the same key and returns the former one.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(place) => Some(std::mem::replace(self.value_at_mut(place), value)),
            Err(place) => {
                self.insert_at(place, key, value);
                None
            }
        }
    }

    /// Returns the value of a key, which is made if there is none.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = match self.find(&key) {
            Ok(place) => place,
            Err(place) => self.insert_at(place, key, V::default()),
        };
        self.value_at_mut(place)
    }

    /// Returns the value of a key, to be changed.
    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        Some(self.value_at_mut(place))
    }

    /// Removes an entry and returns its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        Some(self.remove_at(place))
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        Some(&self.chunks[place.chunk].entries()[place.entry].1)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Returns the entries whose keys are greater than a key, or all entries if there is no key, ordered by key.
    pub(crate) fn entries_after(&self, key: Option<&K>) -> Iter<'_, K, V> {
        let place = match key.map(|it| self.find(it)) {
            None => Place::default(),
            Some(Ok(place)) => Place {
                entry: place.entry + 1,
                ..place
            },
            Some(Err(place)) => place,
        };
        match self.chunks.get(place.chunk) {
            Some(chunk) => iterate(&chunk.entries()[place.entry..], &self.chunks[place.chunk + 1..], &[]),
            None => iterate(&[], &[], &[]),
        }
    }

    /// Returns the entries whose keys are less than a key, ordered by key.
    pub(crate) fn entries_before(&self, key: &K) -> Iter<'_, K, V> {
        let (Ok(place) | Err(place)) = self.find(key);
        match self.chunks.get(place.chunk) {
            Some(chunk) => iterate(&[], &self.chunks[..place.chunk], &chunk.entries()[..place.entry]),
            None => iterate(&[], &[], &[]),
        }
    }

    /// Returns the entries whose keys are not less than a key, with their values to be changed, ordered by key.
    pub(crate) fn entries_mut_from(&mut self, key: &K) -> impl Iterator<Item = (&K, &mut V)> {
        let (Ok(place) | Err(place)) = self.find(key);
        let chunks = self.chunks.iter_mut().skip(place.chunk);
        let entries = chunks.flat_map(|it| it.entries_mut()).skip(place.entry);
        entries.map(|(key, value)| (&*key, value))
    }

    /// Returns the place of a key, or the place at which it has to be inserted.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        self.find_by(|it| Borrow::<Q>::borrow(it).cmp(key))
    }
}

impl<K, V, const CHUNK: usize> SortedChunks<K, V, CHUNK> {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns all entries, ordered by key.
    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        iterate(&[], &self.chunks, &[])
    }

    /// Returns all keys with their values, to be changed, ordered by key.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        let entries = self.chunks.iter_mut().flat_map(|it| it.entries_mut());
        entries.map(|(key, value)| (&*key, value))
    }

    /// Returns the key at a position in the order of keys, or none if there are fewer entries. It reads one chunk.
    pub(crate) fn nth_key(&self, position: usize) -> Option<&K> {
        let mut rest = position;
        for chunk in &self.chunks {
            match rest.checked_sub(chunk.len()) {
                Some(after) => rest = after,
                None => return chunk.entries().get(rest).map(|it| &it.0),
            }
        }
        None
    }

    /// Spills the chunks that were not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>)
    where
        K: Clone + Serialize + DeserializeOwned,
        V: Serialize + DeserializeOwned,
    {
        self.chunks.iter_mut().for_each(|it| it.spill_unused(file));
    }

    /// Returns the place of the key for which `order` returns `Equal`, or the place at which it has to be inserted.
    /// `order` compares a key of the map with the one that is sought.
    pub(crate) fn find_by(&self, order: impl Fn(&K) -> Ordering) -> Result<Place, Place> {
        let begin_before = self
            .chunks
            .partition_point(|it| it.first_key().is_some_and(|it| order(it).is_le()));
        let chunk = begin_before.saturating_sub(1);
        let Some(entries) = self.chunks.get(chunk) else {
            return Err(Place::default());
        };
        match entries.entries().binary_search_by(|it| order(&it.0)) {
            Ok(entry) => Ok(Place { chunk, entry }),
            Err(entry) => Err(Place { chunk, entry }),
        }
    }

    /// Returns the key at a place that [`SortedChunks::find_by`] found.
    pub(crate) fn key_at(&self, place: Place) -> &K {
        &self.chunks[place.chunk].entries()[place.entry].0
    }

    fn value_at_mut(&mut self, place: Place) -> &mut V {
        &mut self.chunks[place.chunk].entries_mut()[place.entry].1
    }

    /// Returns the entries from the first one whose key is not `before`, ordered by key. All keys that are `before`
    /// have to come first.
    pub(crate) fn entries_from(&self, before: impl Fn(&K) -> bool) -> Iter<'_, K, V> {
        let order = |it: &K| if before(it) { Ordering::Less } else { Ordering::Greater };
        let (Ok(place) | Err(place)) = self.find_by(order);
        match self.chunks.get(place.chunk) {
            Some(chunk) => iterate(&chunk.entries()[place.entry..], &self.chunks[place.chunk + 1..], &[]),
            None => iterate(&[], &[], &[]),
        }
    }

    /// Removes the entry at a place that [`SortedChunks::find_by`] found, and returns its value.
    pub(crate) fn remove_at(&mut self, place: Place) -> V {
        self.count -= 1;
        let (_, value) = self.chunks[place.chunk].entries_mut().remove(place.entry);
        self.join_small_chunks(place.chunk);
        value
    }

    /// Inserts an entry at the place that [`SortedChunks::find_by`] returned, and returns its place.
    pub(crate) fn insert_at(&mut self, Place { chunk, entry }: Place, key: K, value: V) -> Place {
        let inserted = (key, value);
        self.count += 1;
        // The entries, not their number: a chunk that cannot be read back is empty.
        let full = self.chunks.get(chunk).is_none_or(|it| it.entries().len() == CHUNK);
        if !full {
            self.chunks[chunk].entries_mut().insert(entry, inserted);
            return Place { chunk, entry };
        }
        if self.chunks.get(chunk).is_none_or(|it| entry == it.entries().len()) {
            let chunk = (chunk + 1).min(self.chunks.len());
            match self.chunks.get_mut(chunk).filter(|it| it.len() < CHUNK) {
                Some(next) => next.entries_mut().insert(0, inserted),
                None => self.chunks.insert(chunk, vec![inserted].into()),
            }
            return Place { chunk, entry: 0 };
        }
        let second = self.chunks[chunk].entries_mut().split_off(CHUNK / 2);
        self.chunks.insert(chunk + 1, second.into());
        let place = match entry.checked_sub(CHUNK / 2) {
            Some(entry) => Place {
                chunk: chunk + 1,
                entry,
            },
            None => Place { chunk, entry },
        };
        self.chunks[place.chunk].entries_mut().insert(place.entry, inserted);
        place
    }

    /// Removes an empty chunk, or joins a chunk with a neighbour if both together have few entries.
    fn join_small_chunks(&mut self, chunk: usize) {
        if self.chunks[chunk].len() == 0 {
            self.chunks.remove(chunk);
            return;
        }
        for first in [Some(chunk), chunk.checked_sub(1)].into_iter().flatten() {
            let both = self.chunks[first].len() + self.chunks.get(first + 1).map_or(CHUNK, Chunk::len);
            if both <= CHUNK / 2 {
                let mut second = self.chunks.remove(first + 1);
                self.chunks[first].entries_mut().append(second.entries_mut());
            }
        }
    }
}

/// The place of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    chunk: usize,
    entry: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = 64;

    #[test]
    fn ascending_keys_fill_each_chunk() {
        let mut map = SortedChunks::<_, _, CHUNK>::default();
        (0..1_000).for_each(|it| {
            map.insert(it, ());
        });
        assert_eq!(map.chunks.len(), 1_000_usize.div_ceil(CHUNK));
        assert!(map.chunks.iter_mut().all(|it| it.entries_mut().capacity() <= CHUNK));
    }

    #[test]
    fn spilled_chunks_are_read_back_when_they_are_needed() {
        let (_folder, file) = SpillFile::create_for_test();
        let mut map = SortedChunks::<_, _, CHUNK>::default();
        let mut expected = std::collections::BTreeMap::new();
        let mut number = 11_u32;
        for step in 0..3_000_u32 {
            number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let key = (number >> 8) % 900;
            match number >> 28 & 3 {
                0 => assert_eq!(map.remove(&key), expected.remove(&key)),
                1 => assert_eq!(map.get(&key), expected.get(&key)),
                _ => assert_eq!(
                    map.insert(key, step.to_string()),
                    expected.insert(key, step.to_string())
                ),
            }
            if step % 97 == 0 {
                map.spill_unused(&file);
                assert_eq!(map.len(), expected.len());
            }
            if step % 613 == 0 {
                assert!(map.iter().eq(&expected), "step {step}");
                assert!(map.clone().entries_before(&400).rev().eq(expected.range(..400).rev()));
            }
        }
        (0..2).for_each(|_| map.spill_unused(&file));
        assert!(map.chunks.iter_mut().all(|it| it.is_spilled()) && file.used_bytes() > 0);
        assert!(map.iter().eq(&expected) && !file.is_damaged());
        drop(map);
        assert_eq!(file.used_bytes(), 0);
    }

    #[test]
    fn a_full_chunk_that_cannot_be_read_back_counts_as_empty() {
        let (_folder, file) = SpillFile::create_for_test();
        let mut map: SortedChunks<usize, String, CHUNK> = SortedChunks::default();
        (0..CHUNK * 2).for_each(|it| {
            map.insert(it * 2, "text".to_owned());
        });
        (0..2).for_each(|_| map.spill_unused(&file));
        file.damage();
        assert_eq!((map.get(&2), map.iter().count()), (None, 0));
        assert_eq!(map.insert(3, "new".to_owned()), None);
        assert_eq!(map.remove(&5), None);
        *map.get_or_default(CHUNK * 2 + 7) += "new";
        assert!(file.is_damaged());
    }

    #[test]
    fn descending_keys_between_full_chunks_share_chunks() {
        let mut map = SortedChunks::<_, _, CHUNK>::default();
        let low = CHUNK * 2;
        (0..low).chain(9_000..9_000 + low).for_each(|it| {
            map.insert(it, ());
        });
        (1_000..2_000).rev().for_each(|it| {
            map.insert(it, ());
        });
        assert!(
            map.entries_after(Some(&low))
                .map(|it| *it.0)
                .take(1_000)
                .eq(1_000..2_000)
        );
        assert!(map.chunks.len() < 50, "{}", map.chunks.len());
    }

    #[test]
    fn chunks_with_few_entries_are_joined() {
        let mut map = SortedChunks::<_, _, CHUNK>::default();
        (0..1_000).for_each(|it| {
            map.insert(it, ());
        });
        (0..1_000).filter(|it| it % 50 != 0).for_each(|it| {
            map.remove(&it);
        });
        assert!(map.entries_after(None).map(|it| *it.0).eq((0..1_000).step_by(50)));
        assert!(
            map.chunks.len() <= 2,
            "{} chunks for {} entries",
            map.chunks.len(),
            map.len()
        );
        (0..1_000).for_each(|it| {
            map.remove(&it);
        });
        assert!(map.is_empty() && map.chunks.is_empty());
    }
}
