//! Indexes the contents of units by name, topic and month.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::{MergeId, TopicId, UnitId};
use domain::unit::{Grain, Status, Unit};

use crate::pages::inputs::buckets::Buckets;
use crate::pages::inputs::buckets::bucket::{About, AboutKey, Bucket, Rank, most_frequent};
use crate::pages::inputs::lines;
use crate::pages::inputs::names::Name;
use crate::pages::inputs::unit_contents::{Reason, UnitContents, UnitNames};
use crate::pages::inputs::unit_table::{TimeAndId, UnitNumber, UnitRows, UnitTable};
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;
use crate::space::symbols::{Symbol, Symbols};

/// Maximum number of names that are used of a unit.
const NAMES_MAX: usize = 8;
/// Maximum length of a name, in bytes.
const NAME_BYTES: usize = 80;

/// The topics of event units, by event.
pub(crate) type TopicsOfEvents = SortedChunks<UnitId, TopicId>;

/// The contents of all units of a space.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContentIndex {
    pub(crate) units: UnitTable,
    /// The texts of the names in `units`.
    symbols: Symbols,
    buckets: Buckets,
    pub(crate) topics_of_events: TopicsOfEvents,
    /// Event units that were merged into another one, with the merges.
    merged: HashMap<UnitId, BTreeSet<MergeId>>,
    /// Things whose contents changed since the last round.
    pub(crate) touched: BTreeSet<About>,
}

impl ContentIndex {
    /// Applies the current state of a unit. Returns true if it changed.
    pub(crate) fn apply_unit(&mut self, unit: &Unit) -> bool {
        let new_contents = match unit.status {
            Status::Active | Status::Merged => Some(contents_of_unit(unit, &mut self.symbols)),
            Status::Superseded | Status::Archived => None,
        };
        if self.units.get(unit.id) == new_contents.as_ref() {
            return false;
        }
        self.count_unit(unit.id, false);
        self.units.remove(unit.id);
        if let Some(new_contents) = new_contents {
            self.units.add(new_contents);
            self.count_unit(unit.id, true);
        }
        true
    }

    /// Spills what was not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.units.rows.spill_unused(file);
    }

    /// Marks the month and the topic of an event, because its line may have changed.
    pub(crate) fn touch_event(&mut self, event: UnitId) {
        let month = self.units.get(event).and_then(|it| it.month).map(About::Month);
        let topic = self.topics_of_events.get(&event).copied().map(About::Topic);
        self.touched.extend(month.into_iter().chain(topic));
    }

    /// Marks the things that a unit mentions, because a line of theirs may have changed.
    pub(super) fn touch_names_of_unit(&mut self, unit: UnitId) {
        let names = self.units.get(unit).into_iter().flat_map(|it| it.names());
        self.touched.extend(names.map(|it| about_name(&self.symbols, it)));
    }

    /// Moves an event unit into a topic, or out of all topics. Returns the topic that it was in before.
    pub(crate) fn set_topic_of_event(&mut self, event: UnitId, topic: Option<TopicId>) -> Option<TopicId> {
        let before = self.topics_of_events.get(&event).copied();
        if before == topic {
            return before;
        }
        self.count_topic(event, false);
        match topic {
            Some(topic) => self.topics_of_events.insert(event, topic),
            None => self.topics_of_events.remove(&event),
        };
        self.count_topic(event, true);
        before
    }

    /// Records that an event unit was merged into another one, or no longer is.
    pub(crate) fn update_merge(&mut self, unit: UnitId, merge: MergeId, holds: bool) {
        self.count_unit(unit, false);
        if holds {
            self.merged.entry(unit).or_default().insert(merge);
        } else if let Some(merges) = self.merged.get_mut(&unit) {
            merges.remove(&merge);
            if merges.is_empty() {
                self.merged.remove(&unit);
            }
        }
        self.count_unit(unit, true);
    }

    /// Returns the time at which the newest unit was observed.
    pub(crate) fn newest_time(&self) -> Option<DateTime<Utc>> {
        self.units.newest_time()
    }

    pub(crate) fn find_bucket(&self, about: &About) -> Option<&Bucket> {
        self.buckets.find_bucket(about)
    }

    /// Returns the ranks of the lines of a bucket, best first.
    pub(crate) fn ranks_of_lines(&self, bucket: &Bucket) -> impl Iterator<Item = Rank> {
        bucket.lines.iter().filter_map(|it| self.units.rows.rank(it))
    }

    /// Returns true if a line of a bucket has this rank.
    pub(crate) fn has_line(&self, bucket: &Bucket, rank: Rank) -> bool {
        let found = bucket.lines.find(|it| self.units.rows.rank(it).cmp(&Some(rank)));
        found.is_some()
    }

    /// Returns the lines of a bucket, best first.
    pub(crate) fn lines_of_bucket(&self, bucket: &Bucket) -> impl Iterator<Item = &str> {
        bucket.lines.iter().filter_map(|it| self.units.rows.get(it)?.line())
    }

    /// Returns the times and ids of the units of a bucket, in order of time.
    pub(crate) fn times_of_bucket(&self, bucket: &Bucket) -> impl DoubleEndedIterator<Item = TimeAndId> {
        bucket.times.iter().filter_map(|it| self.units.rows.time_and_id(it))
    }

    /// Returns the things that the units of a bucket mention most, by number of units, ties by thing.
    pub(crate) fn nearest_things(&self, bucket: &Bucket, limit: usize) -> Vec<(&About, u32)> {
        let counts = bucket.near.counts();
        let counts = counts.filter_map(|(key, count)| Some((self.buckets.thing_of_key(*key)?, count)));
        most_frequent(counts, limit)
    }

    /// Returns all other things that the units of a bucket mention.
    pub(crate) fn near_things<'a>(&'a self, bucket: &'a Bucket) -> impl Iterator<Item = &'a About> {
        bucket.near.keys().filter_map(|it| self.buckets.thing_of_key(*it))
    }

    /// Adds the contents of a unit to its buckets, or removes them.
    fn count_unit(&mut self, id: UnitId, more: bool) {
        if self.merged.contains_key(&id) {
            return;
        }
        let Some(number) = self.units.find_number(id) else {
            return;
        };
        let Some(contents) = self.units.rows.get(number) else {
            return;
        };
        let about = |it: Symbol| about_name(&self.symbols, it);
        let names: Vec<About> = contents.names().map(about).collect();
        let to = contents.addressee().map(about);
        let month = contents.month.map(About::Month);
        let mut tally = Tally {
            number,
            more,
            rows: &self.units.rows,
            buckets: &mut self.buckets,
            touched: &mut self.touched,
        };
        if let Some(month) = &month {
            tally.update_buckets_of_event(month, &names);
        } else {
            for name in &names {
                let others = names.iter().filter(|it| *it != name).chain(&to);
                tally.update_bucket(name, others, true);
            }
            if let Some(to) = &to {
                tally.update_bucket(to, names.iter(), false);
            }
        }
        for Reason { effect, cause } in contents.reasons() {
            let cause = Name::from_normalised(Arc::clone(self.symbols.text(cause)));
            let bucket = tally.buckets.bucket_or_new(&about_name(&self.symbols, effect));
            bucket.reasons.count_key(&cause, more);
        }
        tally.remove_empty_buckets(names.iter().chain(&month).chain(&to));
        self.count_topic(id, more);
    }

    /// Adds the contents of a unit to the bucket of its topic, or removes them.
    fn count_topic(&mut self, id: UnitId, more: bool) {
        if self.merged.contains_key(&id) {
            return;
        }
        let (Some(number), Some(topic)) = (self.units.find_number(id), self.topics_of_events.get(&id)) else {
            return;
        };
        let Some(contents) = self.units.rows.get(number) else {
            return;
        };
        let Some(month) = contents.month.map(About::Month) else {
            return;
        };
        let topic = About::Topic(*topic);
        let names = contents.names().map(|it| about_name(&self.symbols, it));
        let others: Vec<About> = names.chain([month]).collect();
        let mut tally = Tally {
            number,
            more,
            rows: &self.units.rows,
            buckets: &mut self.buckets,
            touched: &mut self.touched,
        };
        tally.update_buckets_of_event(&topic, &others);
        tally.remove_empty_buckets(others.iter().chain([&topic]));
    }
}

/// The contribution of one unit to buckets, to be added or removed.
struct Tally<'a> {
    number: UnitNumber,
    more: bool,
    rows: &'a UnitRows,
    buckets: &'a mut Buckets,
    touched: &'a mut BTreeSet<About>,
}

impl Tally<'_> {
    /// Updates a bucket with the other things that the unit mentions and, if `own` is true, with the unit itself.
    fn update_bucket<'a>(&mut self, about: &About, near: impl Iterator<Item = &'a About>, own: bool) {
        let near: Vec<AboutKey> = near.map(|it| self.buckets.key_or_new(it)).collect();
        let bucket = self.buckets.bucket_or_new(about);
        if own {
            update_lists(bucket, self.number, self.rows, self.more);
        }
        near.iter().for_each(|it| bucket.near.count_key(it, self.more));
        self.touched.insert(about.clone());
    }

    /// Updates the bucket of a month or topic with an event and the things it mentions, and updates the buckets of
    /// these things.
    fn update_buckets_of_event(&mut self, about: &About, others: &[About]) {
        self.update_bucket(about, others.iter(), true);
        for other in others {
            self.update_bucket(other, [about].into_iter(), false);
        }
    }

    /// Removes empty buckets.
    fn remove_empty_buckets<'a>(&mut self, all: impl Iterator<Item = &'a About>) {
        all.for_each(|it| self.buckets.remove_empty_bucket(it));
    }
}

/// Adds a unit to the lists of a bucket, or removes it.
fn update_lists(bucket: &mut Bucket, number: UnitNumber, rows: &UnitRows, more: bool) {
    let place = rows.time_and_id(number);
    let order_by_time = |it: UnitNumber| rows.time_and_id(it).cmp(&place);
    let rank = rows.rank(number).filter(|it| it.0.0 >= lines::SCORE_MIN);
    let order_by_rank = |it: UnitNumber| rows.rank(it).cmp(&rank);
    if more {
        bucket.times.insert(number, order_by_time);
    } else {
        bucket.times.remove(order_by_time);
    }
    match rank {
        Some(_) if more => bucket.lines.insert(number, order_by_rank),
        Some(_) => bucket.lines.remove(order_by_rank),
        None => {}
    }
}

/// Returns the thing that a name denotes.
fn about_name(symbols: &Symbols, name: Symbol) -> About {
    About::Name(Name::from_normalised(Arc::clone(symbols.text(name))))
}

fn contents_of_unit(unit: &Unit, symbols: &mut Symbols) -> UnitContents {
    let names = names_of_unit(unit);
    let event = unit.grain == Grain::Event;
    let to = Some(Name::from_written(&unit.addressee)).filter(|it| !event && !it.is_empty() && it.len() <= NAME_BYTES);
    let to = to.filter(|it| names.iter().all(|name| name.1 != *it));
    let reasons = match event {
        true => Vec::new(),
        false => reasons_between_names(unit, &names),
    };
    let to_reason = |(effect, cause): (Name, Name)| Reason {
        effect: symbols.intern(effect.as_str()),
        cause: symbols.intern(cause.as_str()),
    };
    let of_unit = UnitNames {
        reasons: reasons.into_iter().map(to_reason).collect(),
        names: names.into_iter().map(|it| symbols.intern(it.1.as_str())).collect(),
        addressee: to.map(|it| symbols.intern(it.as_str())),
    };
    UnitContents::from_unit(unit, lines::select_best_sentence(unit).as_ref(), &of_unit)
}

/// Returns the distinct names of a unit, as written and normalised: speaker, participants, place.
fn names_of_unit(unit: &Unit) -> Vec<(String, Name)> {
    let mut out: Vec<(String, Name)> = Vec::new();
    let all = [&unit.actor]
        .into_iter()
        .chain(&unit.participants)
        .chain([&unit.location]);
    for name in all.filter(|it| !it.is_empty() && it.len() <= NAME_BYTES) {
        let key = Name::from_written(name);
        if out.len() < NAMES_MAX && !key.is_empty() && out.iter().all(|it| it.1 != key) {
            out.push((name.clone(), key));
        }
    }
    out
}

/// Returns pairs of an effect and its cause from the sentences that state a reason: the names before and after a phrase
/// such as "because".
fn reasons_between_names(unit: &Unit, names: &[(String, Name)]) -> Vec<(Name, Name)> {
    let mut out: Vec<(Name, Name)> = Vec::new();
    for (effect, cause) in lines::find_reasons(unit) {
        let of = |text: &str| -> Vec<&Name> {
            let found = names.iter().filter(|it| text.contains(it.0.as_str()));
            found.map(|it| &it.1).collect()
        };
        for cause in of(cause) {
            let pairs = of(effect).into_iter().filter(|it| *it != cause);
            out.extend(pairs.map(|it| (it.clone(), cause.clone())));
        }
    }
    out.sort();
    out.dedup();
    out.truncate(NAMES_MAX);
    out
}

#[cfg(test)]
mod tests;
