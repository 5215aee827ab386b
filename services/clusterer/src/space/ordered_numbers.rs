//! Sorted lists of numbers of things that are stored elsewhere, in an order that depends on these things.
//!
//! A number takes four bytes, but the key by which a thing is sorted often takes 30. A large space has several numbers
//! for each of its units.

use std::cmp::Ordering;

use crate::space::sorted_chunks::SortedChunks;

/// Maximum number of entries in the single list; a longer list is in chunks.
const FEW: usize = 64;

/// Numbers in an order that the caller gives at each call: `order` compares the thing of a number with the thing that
/// is sought. The order of the things in the list must not change. A list in chunks remains so until it is empty.
#[derive(Clone, Debug)]
pub(crate) enum OrderedNumbers {
    Few(Vec<u32>),
    Many(Box<SortedChunks<u32, ()>>),
}

impl Default for OrderedNumbers {
    fn default() -> OrderedNumbers {
        OrderedNumbers::Few(Vec::new())
    }
}

impl OrderedNumbers {
    pub(crate) fn len(&self) -> usize {
        match self {
            OrderedNumbers::Few(few) => few.len(),
            OrderedNumbers::Many(many) => many.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the numbers in their order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = u32> {
        let (few, many) = match self {
            OrderedNumbers::Few(few) => (few.as_slice(), None),
            OrderedNumbers::Many(many) => (&[][..], Some(many)),
        };
        let many = many.into_iter().flat_map(|it| it.entries_after(None));
        few.iter().chain(many.map(|it| it.0)).copied()
    }

    /// Returns the number of the thing for which `order` returns `Equal`, if it is in the list.
    pub(crate) fn find(&self, order: impl Fn(u32) -> Ordering) -> Option<u32> {
        match self {
            OrderedNumbers::Few(few) => {
                let at = few.binary_search_by(|it| order(*it)).ok()?;
                Some(few[at])
            }
            OrderedNumbers::Many(many) => {
                let place = many.find_by(|it| order(*it)).ok()?;
                Some(*many.key_at(place))
            }
        }
    }

    /// Inserts a number, unless the list has the number of a thing for which `order` returns `Equal`.
    pub(crate) fn insert(&mut self, number: u32, order: impl Fn(u32) -> Ordering) {
        if let OrderedNumbers::Few(few) = self
            && few.len() == FEW
        {
            let mut many: SortedChunks<u32, ()> = SortedChunks::default();
            for earlier in std::mem::take(few) {
                // The list is sorted, so each number comes after those before it.
                let (Ok(end) | Err(end)) = many.find_by(|_| Ordering::Less);
                many.insert_at(end, earlier, ());
            }
            *self = OrderedNumbers::Many(Box::new(many));
        }
        match self {
            OrderedNumbers::Few(few) => {
                if let Err(at) = few.binary_search_by(|it| order(*it)) {
                    // Most lists are short, and a push would make room for four or more.
                    few.reserve_exact(1);
                    few.insert(at, number);
                }
            }
            OrderedNumbers::Many(many) => {
                if let Err(place) = many.find_by(|it| order(*it)) {
                    many.insert_at(place, number, ());
                }
            }
        }
    }

    /// Removes the number of the thing for which `order` returns `Equal`, if it is in the list.
    pub(crate) fn remove(&mut self, order: impl Fn(u32) -> Ordering) {
        match self {
            OrderedNumbers::Few(few) => {
                if let Ok(at) = few.binary_search_by(|it| order(*it)) {
                    few.remove(at);
                }
            }
            OrderedNumbers::Many(many) => {
                if let Ok(place) = many.find_by(|it| order(*it)) {
                    many.remove_at(place);
                }
                if many.is_empty() {
                    *self = OrderedNumbers::default();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn numbers_are_in_the_order_of_their_things(
            weights in prop::collection::vec(0_u8..9, 200),
            changes in prop::collection::vec((0_u32..200, any::<bool>()), 0..600),
            rounds in 1..4,
        ) {
            // Many things weigh the same, so ties are broken by the number.
            let key = |it: u32| (weights[it as usize], it);
            let (mut numbers, mut expected) = (OrderedNumbers::default(), BTreeSet::new());
            for round in 0..rounds {
                for (number, inserts) in &changes {
                    if *inserts {
                        numbers.insert(*number, |it| key(it).cmp(&key(*number)));
                        expected.insert(key(*number));
                    } else {
                        numbers.remove(|it| key(it).cmp(&key(*number)));
                        expected.remove(&key(*number));
                    }
                    let found = numbers.find(|it| key(it).cmp(&key(*number)));
                    prop_assert_eq!(found, inserts.then_some(*number));
                    prop_assert_eq!(numbers.len(), expected.len());
                }
                prop_assert!(numbers.iter().eq(expected.iter().map(|it| it.1)));
                prop_assert!(numbers.iter().rev().eq(expected.iter().rev().map(|it| it.1)));
                if round % 2 == 0 {
                    (0..200).for_each(|number| numbers.remove(|it| key(it).cmp(&key(number))));
                    expected.clear();
                    prop_assert!(numbers.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_long_list_is_in_chunks_until_it_is_empty() {
        let mut numbers = OrderedNumbers::default();
        (0..64)
            .rev()
            .for_each(|number| numbers.insert(number, |it| it.cmp(&number)));
        assert!(matches!(numbers, OrderedNumbers::Few(_)));
        numbers.insert(64, |it| it.cmp(&64));
        assert!(matches!(numbers, OrderedNumbers::Many(_)));
        assert!(numbers.iter().eq(0..65));
        (0..65).for_each(|number| numbers.remove(|it| it.cmp(&number)));
        assert!(matches!(numbers, OrderedNumbers::Few(_)) && numbers.is_empty());
    }
}
