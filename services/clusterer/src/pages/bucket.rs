//! Ranked contents of units about a name, a topic or a month.

use std::cmp::Reverse;

use chrono::{DateTime, Datelike, Utc};
use domain::id::{TopicId, UnitId};

use super::names::Name;
use crate::small_map::SmallMap;

/// The thing that a bucket is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum About {
    /// A name.
    Name(Name),
    /// A topic.
    Topic(TopicId),
    /// A month.
    Month(Month),
}

/// Year, and month from 1 to 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Month(i32, u32);

impl Month {
    pub(super) fn of(date: &impl Datelike) -> Month {
        Month(date.year(), date.month())
    }

    /// Returns a key such as `2024-05`.
    pub(super) fn key(self) -> String {
        format!("{:04}-{:02}", self.0, self.1)
    }

    /// Returns a title such as `May 2024`.
    pub(super) fn title(self) -> String {
        let first = chrono::NaiveDate::from_ymd_opt(self.0, self.1, 1).unwrap_or_default();
        first.format("%B %Y").to_string()
    }
}

/// Counts by key, ordered by count.
#[derive(Clone, Debug)]
pub(super) struct Ranked<K> {
    counts: SmallMap<K, u32>,
    order: SmallMap<(Reverse<u32>, K), ()>,
}

impl<K: Ord + Clone> Ranked<K> {
    /// Adds one to a count, or subtracts one if `more` is false.
    pub(super) fn count(&mut self, key: &K, more: bool) {
        let before = self.counts.get(key).copied().unwrap_or_default();
        let after = if more { before + 1 } else { before.saturating_sub(1) };
        self.order.remove(&(Reverse(before), key.clone()));
        if after == 0 {
            self.counts.remove(key);
        } else {
            self.counts.insert(key.clone(), after);
            self.order.insert((Reverse(after), key.clone()), ());
        }
    }

    /// Returns the counts, greatest first, ties by key.
    pub(super) fn top(&self) -> impl Iterator<Item = (&K, u32)> {
        self.order.keys().map(|(count, key)| (key, count.0))
    }

    /// Returns all counted keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.counts.keys()
    }
}

impl<K> Default for Ranked<K> {
    fn default() -> Ranked<K> {
        Ranked {
            counts: SmallMap::default(),
            order: SmallMap::default(),
        }
    }
}

/// Rank of a line: highest score first, then earliest time.
pub(super) type Rank = (Reverse<u32>, DateTime<Utc>, UnitId);

/// The contents of units about one thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Bucket {
    /// Units from which a line is taken.
    pub(super) lines: SmallMap<Rank, ()>,
    /// All units.
    pub(super) times: SmallMap<(DateTime<Utc>, UnitId), ()>,
    /// The other things that these units mention, by number of units.
    pub(super) near: Ranked<About>,
    /// Names that a sentence gives as the reason.
    pub(super) reasons: Ranked<Name>,
}

impl Bucket {
    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty() && self.near.order.is_empty()
    }
}
