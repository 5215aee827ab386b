//! Indexes the contents of units by name, topic and month.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::id::{MergeId, TopicId, UnitId};
use domain::unit::{Grain, Status, Unit};

use super::bucket::{About, Bucket, Month, Rank};
use super::lines::{self, Spoken};
use super::names::Name;

/// Maximum number of names that are used of a unit.
const NAMES_MAX: usize = 8;
/// Maximum length of a name, in bytes.
const NAME_BYTES: usize = 80;

/// The contents of one unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    pub(super) at: DateTime<Utc>,
    pub(super) spoken: Option<Spoken>,
    /// Number of its records.
    pub(super) records: usize,
    names: Vec<Name>,
    /// The addressee: related to the names, but not a subject of the unit.
    to: Option<Name>,
    /// Pairs of (effect, cause).
    reasons: Vec<(Name, Name)>,
    /// Set for event units only.
    month: Option<Month>,
}

/// The contents of all units of a space.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pub(super) units: HashMap<UnitId, Held>,
    buckets: HashMap<About, Bucket>,
    /// Units by time, to find the newest.
    times: BTreeSet<(DateTime<Utc>, UnitId)>,
    members: HashMap<UnitId, TopicId>,
    /// Event units that were merged into another one, with the merges.
    merged: HashMap<UnitId, BTreeSet<MergeId>>,
    /// Things whose contents changed since the last round.
    pub(super) touched: BTreeSet<About>,
}

impl Store {
    /// Applies the current state of a unit.
    pub(super) fn apply(&mut self, unit: &Unit) {
        let held = match unit.status {
            Status::Active | Status::Merged => Some(held(unit)),
            Status::Superseded | Status::Archived => None,
        };
        if self.units.get(&unit.id) == held.as_ref() {
            return;
        }
        self.count(unit.id, false);
        if let Some(old) = self.units.remove(&unit.id) {
            self.times.remove(&(old.at, unit.id));
        }
        if let Some(held) = held {
            self.times.insert((held.at, unit.id));
            self.units.insert(unit.id, held);
            self.count(unit.id, true);
        }
    }

    /// Moves an event unit into a topic, or out of all topics.
    pub(super) fn place(&mut self, unit: UnitId, topic: Option<TopicId>) {
        if self.members.get(&unit) == topic.as_ref() {
            return;
        }
        self.count_topic(unit, false);
        match topic {
            Some(topic) => self.members.insert(unit, topic),
            None => self.members.remove(&unit),
        };
        self.count_topic(unit, true);
    }

    /// Records that an event unit was merged into another one, or no longer is.
    pub(super) fn merge(&mut self, unit: UnitId, merge: MergeId, holds: bool) {
        self.count(unit, false);
        if holds {
            self.merged.entry(unit).or_default().insert(merge);
        } else if let Some(merges) = self.merged.get_mut(&unit) {
            merges.remove(&merge);
            if merges.is_empty() {
                self.merged.remove(&unit);
            }
        }
        self.count(unit, true);
    }

    /// Returns the time at which the newest unit was observed.
    pub(super) fn newest(&self) -> Option<DateTime<Utc>> {
        self.times.last().map(|it| it.0)
    }

    pub(super) fn bucket(&self, about: &About) -> Option<&Bucket> {
        self.buckets.get(about)
    }

    /// Adds the contents of a unit to its buckets, or removes them.
    fn count(&mut self, id: UnitId, more: bool) {
        if self.merged.contains_key(&id) {
            return;
        }
        let Some(held) = self.units.get(&id) else { return };
        let names: Vec<About> = held.names.iter().cloned().map(About::Name).collect();
        let to = held.to.clone().map(About::Name);
        let month = held.month.map(About::Month);
        let mut tally = Tally::of(id, held, more, (&mut self.buckets, &mut self.touched));
        if let Some(month) = &month {
            tally.wider(month, &names);
        } else {
            for name in &names {
                let others = names.iter().filter(|it| *it != name).chain(&to);
                tally.tell(name, others, true);
            }
            if let Some(to) = &to {
                tally.tell(to, names.iter(), false);
            }
        }
        for (effect, cause) in &held.reasons {
            let bucket = tally.buckets.entry(About::Name(effect.clone())).or_default();
            bucket.reasons.count(cause, more);
        }
        tally.clear(names.iter().chain(&month).chain(&to));
        self.count_topic(id, more);
    }

    /// Adds the contents of a unit to the bucket of its topic, or removes them.
    fn count_topic(&mut self, id: UnitId, more: bool) {
        if self.merged.contains_key(&id) {
            return;
        }
        let (Some(held), Some(topic)) = (self.units.get(&id), self.members.get(&id)) else {
            return;
        };
        let Some(month) = held.month.map(About::Month) else {
            return;
        };
        let topic = About::Topic(*topic);
        let names = held.names.iter().cloned().map(About::Name);
        let others: Vec<About> = names.chain([month]).collect();
        let mut tally = Tally::of(id, held, more, (&mut self.buckets, &mut self.touched));
        tally.wider(&topic, &others);
        tally.clear(others.iter().chain([&topic]));
    }
}

/// The contribution of one unit to buckets, to be added or removed.
struct Tally<'a> {
    place: (DateTime<Utc>, UnitId),
    line: Option<Rank>,
    more: bool,
    buckets: &'a mut HashMap<About, Bucket>,
    touched: &'a mut BTreeSet<About>,
}

impl<'s> Tally<'s> {
    fn of(
        id: UnitId,
        held: &Held,
        more: bool,
        (buckets, touched): (&'s mut HashMap<About, Bucket>, &'s mut BTreeSet<About>),
    ) -> Tally<'s> {
        Tally {
            place: (held.at, id),
            line: held.spoken.as_ref().map(|it| (Reverse(it.score), held.at, id)),
            more,
            buckets,
            touched,
        }
    }

    /// Updates a bucket with the other things that the unit mentions and, if `own` is true, with the unit itself.
    fn tell<'a>(&mut self, about: &About, near: impl Iterator<Item = &'a About>, own: bool) {
        let bucket = self.buckets.entry(about.clone()).or_default();
        if own && self.more {
            bucket.times.insert(self.place, ());
            if let Some(line) = self.line {
                bucket.lines.insert(line, ());
            }
        } else if own {
            bucket.times.remove(&self.place);
            if let Some(line) = &self.line {
                bucket.lines.remove(line);
            }
        }
        near.for_each(|it| bucket.near.count(it, self.more));
        self.touched.insert(about.clone());
    }

    /// Updates the bucket of a month or topic with an event and the things it mentions, and updates the buckets of
    /// these things.
    fn wider(&mut self, about: &About, others: &[About]) {
        self.tell(about, others.iter(), true);
        for other in others {
            self.tell(other, [about].into_iter(), false);
        }
    }

    /// Removes empty buckets.
    fn clear<'a>(&mut self, all: impl Iterator<Item = &'a About>) {
        for about in all {
            if self.buckets.get(about).is_some_and(Bucket::is_empty) {
                self.buckets.remove(about);
            }
        }
    }
}

fn held(unit: &Unit) -> Held {
    let names = names(unit);
    let event = unit.grain == Grain::Event;
    let to = Some(Name::of(&unit.addressee)).filter(|it| !event && !it.is_empty() && it.len() <= NAME_BYTES);
    let to = to.filter(|it| names.iter().all(|name| name.1 != *it));
    Held {
        at: unit.observed_at.to_utc(),
        spoken: lines::spoken(unit),
        records: unit.records.len(),
        reasons: if event { Vec::new() } else { reasons(unit, &names) },
        names: names.into_iter().map(|it| it.1).collect(),
        to,
        month: event.then(|| Month::of(&unit.observed_at)),
    }
}

/// Returns the distinct names of a unit, as written and normalised: speaker, participants, place.
fn names(unit: &Unit) -> Vec<(String, Name)> {
    let mut out: Vec<(String, Name)> = Vec::new();
    let all = [&unit.actor]
        .into_iter()
        .chain(&unit.participants)
        .chain([&unit.location]);
    for name in all.filter(|it| !it.is_empty() && it.len() <= NAME_BYTES) {
        let key = Name::of(name);
        if out.len() < NAMES_MAX && !key.is_empty() && out.iter().all(|it| it.1 != key) {
            out.push((name.clone(), key));
        }
    }
    out
}

/// Returns pairs of names in sentences with a reason: one before the marker, one after it.
fn reasons(unit: &Unit, names: &[(String, Name)]) -> Vec<(Name, Name)> {
    let mut out: Vec<(Name, Name)> = Vec::new();
    for (effect, cause) in lines::reasons(unit) {
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
