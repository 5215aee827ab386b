//! What readings say of things of a space, looked up by the id of the reading: which readings are to be looked up, what was found,
//! and of which things a language model is to be asked.

use std::collections::BTreeMap;

use domain::id::{ReadingId, UnitId};

/// A thing with the reading in which a language model speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place<K> {
    /// The thing.
    pub of: K,
    /// The reading.
    pub reading: ReadingId,
}

/// What a reading says of a thing.
pub(crate) trait Saying: Clone {
    /// What the thing is like, as far as it decides whether a model is asked again.
    type Size: Clone + std::fmt::Debug;

    /// Returns the id of the reading.
    fn reading(&self) -> ReadingId;

    /// Returns true if a unit is among those that the model was shown.
    fn shows(&self, unit: UnitId) -> bool;

    /// Returns true if no model is to be asked while the thing is like that.
    fn is_fresh(&self, size: &Self::Size) -> bool;
}

/// What is known of one thing.
#[derive(Clone, Debug)]
struct Entry<T: Saying> {
    reading: ReadingId,
    size: T::Size,
    is_looked_up: bool,
    saying: Option<T>,
}

impl<T: Saying> Entry<T> {
    /// Returns what is known of a thing with this reading, of which `known` was known before.
    fn of(reading: ReadingId, size: T::Size, known: Option<Entry<T>>) -> Entry<T> {
        let known = known.filter(|it| it.reading == reading);
        let (is_looked_up, saying) = known.map_or((false, None), |it| (it.is_looked_up, it.saying));
        Entry {
            reading,
            size,
            is_looked_up,
            saying,
        }
    }

    fn place<K>(&self, key: K) -> Place<K> {
        Place {
            of: key,
            reading: self.reading,
        }
    }

    /// Returns true if a model is to be asked, as far as is known.
    fn is_due(&self) -> bool {
        !self.saying.as_ref().is_some_and(|it| it.is_fresh(&self.size))
    }
}

/// Things of one space and what readings say of them.
#[derive(Clone, Debug)]
pub(crate) struct LookedUp<K, T: Saying> {
    entries: BTreeMap<K, Entry<T>>,
}

impl<K, T: Saying> Default for LookedUp<K, T> {
    fn default() -> LookedUp<K, T> {
        LookedUp {
            entries: BTreeMap::new(),
        }
    }
}

impl<K: Clone + Ord, T: Saying> LookedUp<K, T> {
    /// Takes these for the things there are. What was said stays with its thing; a reading that was not found is looked up again,
    /// since more of what it was made of may be there now.
    pub(crate) fn set_all(&mut self, things: impl Iterator<Item = (Place<K>, T::Size)>) {
        let mut before = std::mem::take(&mut self.entries);
        for (place, size) in things {
            let known = before.remove(&place.of);
            let mut entry = Entry::of(place.reading, size, known);
            entry.is_looked_up &= entry.saying.is_some();
            self.entries.insert(place.of, entry);
        }
    }

    /// Takes a thing for being like that. What was said stays with it.
    pub(crate) fn set(&mut self, place: Place<K>, size: T::Size) {
        let known = self.entries.remove(&place.of);
        self.entries.insert(place.of, Entry::of(place.reading, size, known));
    }

    /// Forgets a thing.
    pub(crate) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    /// Has each reading looked up again of which a model was shown a unit: it may have gone with a record. Returns what they are of.
    pub(crate) fn look_again(&mut self, unit: UnitId) -> Vec<K> {
        let mut shown = Vec::new();
        for (key, entry) in &mut self.entries {
            if entry.saying.as_ref().is_some_and(|it| it.shows(unit)) {
                entry.is_looked_up = false;
                shown.push(key.clone());
            }
        }
        shown
    }

    /// Has the readings looked up again of all things about which a model is to be asked.
    pub(crate) fn look_for_open(&mut self) {
        let entries = self.entries.values_mut().filter(|it| it.is_due());
        entries.for_each(|it| it.is_looked_up = false);
    }

    /// Returns the things whose readings are to be looked up.
    pub(crate) fn unlooked(&self) -> Vec<Place<K>> {
        let unlooked = self.entries.iter().filter(|it| !it.1.is_looked_up);
        unlooked.map(|(key, entry)| entry.place(key.clone())).collect()
    }

    /// Takes in what was found for things that were looked up; one of which nothing was found has nothing any more. Returns the
    /// things of which something else is said than before.
    pub(crate) fn take_in(&mut self, places: &[Place<K>], found: &[T]) -> Vec<K>
    where
        T: PartialEq,
    {
        let found: BTreeMap<ReadingId, &T> = found.iter().map(|it| (it.reading(), it)).collect();
        let mut changed = Vec::new();
        for place in places {
            let entry = self.entries.get_mut(&place.of);
            let Some(entry) = entry.filter(|it| it.reading == place.reading) else {
                continue;
            };
            entry.is_looked_up = true;
            let saying = found.get(&place.reading).copied();
            if entry.saying.as_ref() != saying {
                entry.saying = saying.cloned();
                changed.push(place.of.clone());
            }
        }
        changed
    }

    /// Returns what the reading of a thing says; none if none was found.
    pub(crate) fn saying(&self, key: &K) -> Option<&T> {
        self.entries.get(key)?.saying.as_ref()
    }

    /// Returns the things about which a model is to be asked, with what they are like, by id.
    pub(crate) fn due(&self) -> impl Iterator<Item = (Place<K>, &T::Size)> {
        let due = self.entries.iter().filter(|it| it.1.is_looked_up && it.1.is_due());
        due.map(|(key, entry)| (entry.place(key.clone()), &entry.size))
    }
}
