//! A chunk of a sorted map, in memory or spilled to a file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::space::spill_file::{NotWritten, ReadBack, SpillFile, SpilledValue};

/// Entries in order of their keys.
#[derive(Debug)]
pub(crate) struct Chunk<K, V> {
    /// Empty if the entries are spilled.
    entries: Vec<(K, V)>,
    spilled: Option<Box<SpilledEntries<K, V>>>,
    /// True if the entries were used since the last call of [`Chunk::spill_unused`].
    is_used: AtomicBool,
    /// True if the entries are too large to be spilled.
    is_large: bool,
}

/// Entries in a file.
#[derive(Clone, Debug)]
struct SpilledEntries<K, V> {
    first: K,
    count: usize,
    place: Arc<SpilledValue>,
    read: ReadEntries<K, V>,
    /// The entries, once they were needed again.
    loaded: OnceLock<LoadedEntries<K, V>>,
}

/// Entries that were read back, and are still in the file.
#[derive(Clone, Debug)]
struct LoadedEntries<K, V> {
    entries: Vec<(K, V)>,
    _counted: ReadBack,
}

type ReadEntries<K, V> = fn(&SpilledValue) -> Option<Vec<(K, V)>>;

impl<K, V> SpilledEntries<K, V> {
    /// Returns the entries; none if they cannot be read, which marks the file as damaged.
    fn load(&self) -> &[(K, V)] {
        let loaded = self.loaded.get_or_init(|| LoadedEntries {
            entries: (self.read)(&self.place).unwrap_or_default(),
            _counted: ReadBack::new(&self.place),
        });
        &loaded.entries
    }

    fn into_entries(self) -> Vec<(K, V)> {
        let loaded = self.loaded.into_inner();
        loaded
            .map(|it| it.entries)
            .or_else(|| (self.read)(&self.place))
            .unwrap_or_default()
    }
}

impl<K, V> Chunk<K, V> {
    pub(super) fn len(&self) -> usize {
        self.spilled.as_ref().map_or(self.entries.len(), |it| it.count)
    }

    /// Returns the first key, or none if there are no entries.
    pub(super) fn first_key(&self) -> Option<&K> {
        match &self.spilled {
            Some(spilled) => Some(&spilled.first),
            None => self.entries.first().map(|it| &it.0),
        }
    }

    pub(super) fn entries(&self) -> &[(K, V)] {
        self.is_used.store(true, Ordering::Relaxed);
        self.spilled.as_ref().map_or(&self.entries, |it| it.load())
    }

    /// Returns the entries, to be changed.
    pub(super) fn entries_mut(&mut self) -> &mut Vec<(K, V)> {
        *self.is_used.get_mut() = true;
        self.is_large = false;
        if let Some(spilled) = self.spilled.take() {
            self.entries = spilled.into_entries();
        }
        &mut self.entries
    }

    /// Spills the entries, unless they were used since the last call.
    pub(super) fn spill_unused(&mut self, file: &Arc<SpillFile>)
    where
        K: Clone + Serialize + DeserializeOwned,
        V: Serialize + DeserializeOwned,
    {
        if std::mem::take(self.is_used.get_mut()) || self.is_large {
            return;
        }
        if let Some(spilled) = &mut self.spilled {
            spilled.loaded = OnceLock::new();
            return;
        }
        let Some(first) = self.first_key().cloned() else {
            return;
        };
        let place = match file.write_value(&self.entries) {
            Ok(place) => place,
            Err(NotWritten::TooLarge) => {
                self.is_large = true;
                return;
            }
            Err(NotWritten::Failed) => return,
        };
        self.spilled = Some(Box::new(SpilledEntries {
            first,
            count: self.entries.len(),
            place: Arc::new(place),
            read: SpilledValue::read,
            loaded: OnceLock::new(),
        }));
        self.entries = Vec::new();
    }
}

#[cfg(test)]
impl<K, V> Chunk<K, V> {
    /// Returns true if no entry is in memory.
    pub(super) fn is_spilled(&self) -> bool {
        self.spilled.as_ref().is_some_and(|it| it.loaded.get().is_none())
    }
}

impl<K, V> From<Vec<(K, V)>> for Chunk<K, V> {
    fn from(entries: Vec<(K, V)>) -> Chunk<K, V> {
        Chunk {
            entries,
            spilled: None,
            is_used: AtomicBool::new(true),
            is_large: false,
        }
    }
}

impl<K: Clone, V: Clone> Clone for Chunk<K, V> {
    fn clone(&self) -> Chunk<K, V> {
        Chunk {
            entries: self.entries.clone(),
            spilled: self.spilled.clone(),
            is_used: AtomicBool::new(self.is_used.load(Ordering::Relaxed)),
            is_large: self.is_large,
        }
    }
}

impl<'a, K, V> IntoIterator for &'a Chunk<K, V> {
    type Item = &'a (K, V);
    type IntoIter = std::slice::Iter<'a, (K, V)>;

    fn into_iter(self) -> std::slice::Iter<'a, (K, V)> {
        self.entries().iter()
    }
}
