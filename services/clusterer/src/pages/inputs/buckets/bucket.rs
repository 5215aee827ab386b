//! Ranked contents of units about a name, a topic or a month.

use std::cmp::Reverse;

use chrono::{DateTime, Datelike, Utc};
use domain::id::{TopicId, UnitId};
use serde::{Deserialize, Serialize};
use text::gloss::PageTexts;

use crate::pages::inputs::names::Name;
use crate::space::ordered_numbers::OrderedNumbers;
use crate::space::small_map::SmallMap;

/// The thing that a bucket is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum About {
    /// A name.
    Name(Name),
    /// A topic.
    Topic(TopicId),
    /// A month.
    Month(Month),
}

/// Number of a thing in the store. A number is given to another thing once the bucket of its thing is gone.
pub(crate) type AboutKey = u32;

/// Year, and month from 1 to 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Month(i32, u32);

impl Month {
    pub(crate) fn from_date(date: &impl Datelike) -> Month {
        Month(date.year(), date.month())
    }

    /// Returns a key such as `2024-05`.
    pub(crate) fn to_key(self) -> String {
        format!("{:04}-{:02}", self.0, self.1)
    }

    /// Returns a title such as `May 2024`, in the language of these texts.
    pub(crate) fn to_title(self, texts: &PageTexts) -> String {
        let first = chrono::NaiveDate::from_ymd_opt(self.0, self.1, 1).unwrap_or_default();
        texts.format_month(&first)
    }
}

/// Counts by key.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<K> {
    counts: SmallMap<K, u32>,
}

impl<K: Ord + Clone> Ranked<K> {
    /// Adds one to a count, or subtracts one if `more` is false.
    pub(crate) fn count_key(&mut self, key: &K, more: bool) {
        let before = self.counts.get(key).copied().unwrap_or_default();
        let after = if more { before + 1 } else { before.saturating_sub(1) };
        if after == 0 {
            self.counts.remove(key);
        } else {
            self.counts.insert(key.clone(), after);
        }
    }

    /// Returns all counted keys with their counts, in the order of the keys.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&K, u32)> {
        self.counts.iter().map(|it| (it.0, *it.1))
    }

    /// Returns all counted keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.counts.keys()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl<K> Default for Ranked<K> {
    fn default() -> Ranked<K> {
        Ranked {
            counts: SmallMap::default(),
        }
    }
}

/// Returns the `limit` greatest counts, greatest first, ties by key. Sorting when a page is built takes less memory
/// than keeping every list of neighbours in a second order.
pub(crate) fn most_frequent<K: Ord>(counts: impl Iterator<Item = (K, u32)>, limit: usize) -> Vec<(K, u32)> {
    let order = |a: &(K, u32), b: &(K, u32)| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    let mut all: Vec<(K, u32)> = counts.collect();
    if all.len() > limit {
        all.select_nth_unstable_by(limit, order);
        all.truncate(limit);
    }
    all.sort_unstable_by(order);
    all
}

/// Rank of a line: highest score first, then earliest time.
pub(crate) type Rank = (Reverse<u32>, DateTime<Utc>, UnitId);

/// The contents of units about one thing. Units are given by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bucket {
    /// Units from which a line is taken, in the order of the ranks of these lines.
    pub(crate) lines: OrderedNumbers,
    /// All units, in the order of time.
    pub(crate) times: OrderedNumbers,
    /// The other things that these units mention, by number of units.
    pub(crate) near: Ranked<AboutKey>,
    /// Names that a sentence gives as the reason.
    pub(crate) reasons: Ranked<Name>,
}

impl Bucket {
    pub(crate) fn is_empty(&self) -> bool {
        self.times.is_empty() && self.near.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_counts_come_first_and_ties_by_key() {
        let counts = [("a", 1), ("b", 3), ("c", 1), ("d", 2), ("e", 3)];
        let most = |limit| most_frequent(counts.into_iter().rev(), limit);
        assert_eq!(most(9), [("b", 3), ("e", 3), ("d", 2), ("a", 1), ("c", 1)]);
        assert_eq!(most(4), [("b", 3), ("e", 3), ("d", 2), ("a", 1)]);
        assert_eq!(most(0), []);
    }
}
