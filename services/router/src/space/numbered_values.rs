//! Values that many units share. Each is stored once and has a number.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Values by number. A value that is used no more is dropped, and its number is given again.
pub(super) struct NumberedValues<T: ?Sized> {
    numbers: FxHashMap<Arc<T>, u32>,
    slots: Vec<Option<Slot<T>>>,
    free: Vec<u32>,
}

struct Slot<T: ?Sized> {
    value: Arc<T>,
    uses: u32,
}

impl<T: ?Sized> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot {
            value: Arc::clone(&self.value),
            uses: self.uses,
        }
    }
}

impl<T: ?Sized> Clone for NumberedValues<T> {
    fn clone(&self) -> NumberedValues<T> {
        NumberedValues {
            numbers: self.numbers.clone(),
            slots: self.slots.clone(),
            free: self.free.clone(),
        }
    }
}

impl<T: ?Sized> Default for NumberedValues<T> {
    fn default() -> NumberedValues<T> {
        NumberedValues {
            numbers: FxHashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: ?Sized + Eq + Hash> NumberedValues<T> {
    /// Counts a use of a value and returns its number, and the value if it is new.
    pub(super) fn add_use<V: Borrow<T> + Into<Arc<T>>>(&mut self, value: V) -> (u32, Option<&T>) {
        let sought: &T = value.borrow();
        if let Some(number) = self.numbers.get(sought).copied() {
            if let Some(Some(slot)) = self.slots.get_mut(number as usize) {
                slot.uses = slot.uses.saturating_add(1);
            }
            return (number, None);
        }
        let value: Arc<T> = value.into();
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            // The memory is full long before there are four billion values.
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        self.numbers.insert(Arc::clone(&value), number);
        let slot = self.slots.get_mut(number as usize);
        let slot = slot.map(|free| free.insert(Slot { value, uses: 1 }));
        (number, slot.map(|it| &*it.value))
    }

    /// Removes a use of the value with a number. Returns the value if this was its last use.
    pub(super) fn remove_use(&mut self, number: u32) -> Option<Arc<T>> {
        let slot = self.slots.get_mut(number as usize)?;
        if let Some(used) = slot.as_mut().filter(|it| it.uses > 1) {
            used.uses -= 1;
            return None;
        }
        let unused = slot.take()?;
        self.numbers.remove(&unused.value);
        self.free.push(number);
        Some(unused.value)
    }

    /// Returns the value with a number.
    pub(super) fn get(&self, number: u32) -> Option<&Arc<T>> {
        self.slots.get(number as usize)?.as_ref().map(|it| &it.value)
    }

    /// Returns all values with their numbers, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let used = (0_u32..).zip(&self.slots);
        used.filter_map(|(number, slot)| Some((number, &*slot.as_ref()?.value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_dropped_with_its_last_use_and_its_number_is_given_again() {
        let mut values: NumberedValues<str> = NumberedValues::default();
        assert_eq!(values.add_use("a"), (0, Some("a")));
        assert_eq!(values.add_use("b"), (1, Some("b")));
        assert_eq!(values.add_use("a"), (0, None));
        assert_eq!(values.remove_use(0), None);
        assert_eq!(values.remove_use(0).as_deref(), Some("a"));
        assert_eq!((values.remove_use(0), values.remove_use(7)), (None, None));
        assert_eq!((values.get(0), values.get(1).map(|it| &**it)), (None, Some("b")));
        assert_eq!(values.add_use("c"), (0, Some("c")));
        assert_eq!(values.iter().collect::<Vec<(u32, &str)>>(), [(0, "c"), (1, "b")]);
    }
}
