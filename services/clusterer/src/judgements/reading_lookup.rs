//! Contents of readings about the objects of a space (pairs of events, topics, pages). It tracks which readings have to
//! be looked up, which were found, and about which things a language model has to be asked.

use std::collections::BTreeMap;

use domain::id::{ReadingId, UnitId};

/// A thing and the id of the reading in which a language model speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadingSubject<K> {
    /// The thing.
    pub of: K,
    /// The reading.
    pub reading: ReadingId,
}

/// The content of a reading about one thing.
pub(crate) trait ReadingContent: Clone {
    /// The state of the thing that decides whether the model is asked again.
    type Size: Clone + std::fmt::Debug;

    /// Returns the id of the reading.
    fn reading_id(&self) -> ReadingId;

    /// Returns true if the model was shown this unit.
    fn has_shown_unit(&self, unit: UnitId) -> bool;

    /// Returns true if the model need not be asked again while the thing is in this state.
    fn is_fresh(&self, size: &Self::Size) -> bool;
}

/// The state of one thing.
#[derive(Clone, Debug)]
struct Entry<T: ReadingContent> {
    reading: ReadingId,
    size: T::Size,
    is_looked_up: bool,
    content: Option<T>,
}

impl<T: ReadingContent> Entry<T> {
    /// Returns the entry of a thing with this reading. It keeps the content of `known` if that has the same reading.
    fn from_known(reading: ReadingId, size: T::Size, known: Option<Entry<T>>) -> Entry<T> {
        let known = known.filter(|it| it.reading == reading);
        let (is_looked_up, saying) = known.map_or((false, None), |it| (it.is_looked_up, it.content));
        Entry {
            reading,
            size,
            is_looked_up,
            content: saying,
        }
    }

    fn to_subject<K>(&self, key: K) -> ReadingSubject<K> {
        ReadingSubject {
            of: key,
            reading: self.reading,
        }
    }

    /// Returns true if, as far as is known, the model has to be asked.
    fn is_due(&self) -> bool {
        !self.content.as_ref().is_some_and(|it| it.is_fresh(&self.size))
    }
}

/// Things of one space and the content of their readings.
#[derive(Clone, Debug)]
pub(crate) struct ReadingLookups<K, T: ReadingContent> {
    entries: BTreeMap<K, Entry<T>>,
}

impl<K, T: ReadingContent> Default for ReadingLookups<K, T> {
    fn default() -> ReadingLookups<K, T> {
        ReadingLookups {
            entries: BTreeMap::new(),
        }
    }
}

impl<K: Clone + Ord, T: ReadingContent> ReadingLookups<K, T> {
    /// Replaces the set of things. A thing that stays keeps the content of its reading. A reading that was not found
    /// is looked up again, because more of its sources may be there now.
    pub(crate) fn set_all(&mut self, things: impl Iterator<Item = (ReadingSubject<K>, T::Size)>) {
        let mut before = std::mem::take(&mut self.entries);
        for (place, size) in things {
            let known = before.remove(&place.of);
            let mut entry = Entry::from_known(place.reading, size, known);
            entry.is_looked_up &= entry.content.is_some();
            self.entries.insert(place.of, entry);
        }
    }

    /// Adds a thing or updates its state; the content of its reading is kept.
    pub(crate) fn set_subject(&mut self, place: ReadingSubject<K>, size: T::Size) {
        let known = self.entries.remove(&place.of);
        self.entries
            .insert(place.of, Entry::from_known(place.reading, size, known));
    }

    /// Forgets a thing.
    pub(crate) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    /// Marks the readings for which a model was shown `unit`, so that they are looked up again: an erased record may
    /// have removed them. Returns the things of these readings.
    pub(crate) fn mark_for_lookup(&mut self, unit: UnitId) -> Vec<K> {
        let mut shown = Vec::new();
        for (key, entry) in &mut self.entries {
            if entry.content.as_ref().is_some_and(|it| it.has_shown_unit(unit)) {
                entry.is_looked_up = false;
                shown.push(key.clone());
            }
        }
        shown
    }

    /// Marks all things about which the model has to be asked, so that their readings are looked up again.
    pub(crate) fn mark_open_questions(&mut self) {
        let entries = self.entries.values_mut().filter(|it| it.is_due());
        entries.for_each(|it| it.is_looked_up = false);
    }

    /// Returns the things whose readings have to be looked up.
    pub(crate) fn subjects_to_look_up(&self) -> Vec<ReadingSubject<K>> {
        let unlooked = self.entries.iter().filter(|it| !it.1.is_looked_up);
        unlooked.map(|(key, entry)| entry.to_subject(key.clone())).collect()
    }

    /// Applies the result of looking up `places`; a thing whose reading was not found loses its content. Returns the
    /// things whose content changed.
    pub(crate) fn apply_readings(&mut self, places: &[ReadingSubject<K>], found: &[T]) -> Vec<K>
    where
        T: PartialEq,
    {
        let found: BTreeMap<ReadingId, &T> = found.iter().map(|it| (it.reading_id(), it)).collect();
        let mut changed = Vec::new();
        for place in places {
            let entry = self.entries.get_mut(&place.of);
            let Some(entry) = entry.filter(|it| it.reading == place.reading) else {
                continue;
            };
            entry.is_looked_up = true;
            let saying = found.get(&place.reading).copied();
            if entry.content.as_ref() != saying {
                entry.content = saying.cloned();
                changed.push(place.of.clone());
            }
        }
        changed
    }

    /// Returns the content of the reading of a thing, or none if no reading was found.
    pub(crate) fn find_content(&self, key: &K) -> Option<&T> {
        self.entries.get(key)?.content.as_ref()
    }

    /// Returns the contents of all readings that were found.
    pub(crate) fn contents_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.values_mut().filter_map(|it| it.content.as_mut())
    }

    /// Returns the things about which the model has to be asked, with their states, by id.
    pub(crate) fn subjects_to_ask_about(&self) -> impl Iterator<Item = (ReadingSubject<K>, &T::Size)> {
        let due = self.entries.iter().filter(|it| it.1.is_looked_up && it.1.is_due());
        due.map(|(key, entry)| (entry.to_subject(key.clone()), &entry.size))
    }
}
