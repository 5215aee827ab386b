//! Assigns facts to topics: a fact belongs to the topic of the event that contains its source.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::fact::{Aspect, Fact};
use domain::id::{FactId, TopicId, UnitId};
use domain::unit::{Grain, Status, Unit};

use super::facts::{Rank, rank};

/// The facts of a topic by aspect, best first, each with the number of events that contain its source.
pub(super) type Told = BTreeMap<Aspect, BTreeMap<Rank, u32>>;

/// Events with their parts and topics, and the facts whose sources they contain.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    parts: HashMap<UnitId, Box<[UnitId]>>,
    /// Events by part.
    events: HashMap<UnitId, BTreeSet<UnitId>>,
    members: HashMap<UnitId, TopicId>,
    /// For each further turn unit of a record with a long text, the record's first unit, which represents them all in
    /// events.
    first: HashMap<UnitId, UnitId>,
    told: Stated,
    /// Withdrawn facts.
    taken: Stated,
    /// Topics whose facts changed since the last round.
    pub(super) touched: BTreeSet<TopicId>,
    /// Facts that were added to or removed from a topic since the last round.
    pub(super) moved: BTreeSet<FactId>,
}

/// Facts by the unit that states them, and by topic.
#[derive(Clone, Debug, Default)]
struct Stated {
    facts: HashMap<UnitId, BTreeSet<(Aspect, Rank)>>,
    topics: BTreeMap<TopicId, Told>,
}

impl Placed {
    /// Applies the current state of a unit.
    pub(super) fn apply(&mut self, unit: &Unit) {
        if unit.grain != Grain::Event {
            let first = unit.records.first().map(|it| UnitId::turn(*it));
            if let Some(first) = first.filter(|it| *it != unit.id) {
                self.first.insert(unit.id, first);
            }
            return;
        }
        let parts: Option<Box<[UnitId]>> = match unit.status {
            Status::Active | Status::Merged => {
                let turns = unit.records.iter().map(|it| UnitId::turn(*it));
                Some(turns.chain([unit.id]).collect())
            }
            Status::Superseded | Status::Archived => None,
        };
        if self.parts.get(&unit.id) == parts.as_ref() {
            return;
        }
        self.count(unit.id, false);
        for part in self.parts.remove(&unit.id).into_iter().flatten() {
            if let Some(events) = self.events.get_mut(&part) {
                events.remove(&unit.id);
                if events.is_empty() {
                    self.events.remove(&part);
                }
            }
        }
        if let Some(parts) = parts {
            for part in &parts {
                self.events.entry(*part).or_default().insert(unit.id);
            }
            self.parts.insert(unit.id, parts);
            self.count(unit.id, true);
        }
    }

    /// Moves an event unit into a topic, or out of all topics.
    pub(super) fn place(&mut self, event: UnitId, topic: Option<TopicId>) {
        if self.members.get(&event) == topic.as_ref() {
            return;
        }
        self.count(event, false);
        match topic {
            Some(topic) => self.members.insert(event, topic),
            None => self.members.remove(&event),
        };
        self.count(event, true);
    }

    /// Adds a fact, or removes it if `more` is false.
    pub(super) fn fact(&mut self, fact: &Fact, more: bool) {
        let (source, topics) = (self.first_of(fact.source), self.topics_of_each(fact.source));
        self.told.put(fact, source, &topics, more);
        self.touched.extend(topics);
    }

    /// Adds a withdrawn fact in its last state, or removes it if `more` is false.
    pub(super) fn taken_back(&mut self, fact: &Fact, more: bool) {
        let (source, topics) = (self.first_of(fact.source), self.topics_of_each(fact.source));
        self.taken.put(fact, source, &topics, more);
        self.touched.extend(topics);
    }

    /// Returns the facts of a topic.
    pub(super) fn told(&self, topic: TopicId) -> Option<&Told> {
        self.told.topics.get(&topic)
    }

    /// Returns the withdrawn facts of a topic.
    pub(super) fn taken(&self, topic: TopicId) -> Option<&Told> {
        self.taken.topics.get(&topic)
    }

    /// Returns the first turn unit of the record of a turn unit.
    fn first_of(&self, unit: UnitId) -> UnitId {
        self.first.get(&unit).copied().unwrap_or(unit)
    }

    /// Returns the topic of each event that contains a unit.
    fn topics_of_each(&self, unit: UnitId) -> Vec<TopicId> {
        let events = self.events.get(&self.first_of(unit)).into_iter().flatten();
        events.filter_map(|it| self.members.get(it)).copied().collect()
    }

    /// Returns the topics of the events that contain a unit.
    pub(super) fn topics_of(&self, unit: UnitId) -> BTreeSet<TopicId> {
        self.topics_of_each(unit).into_iter().collect()
    }

    fn count(&mut self, event: UnitId, more: bool) {
        let (Some(topic), Some(parts)) = (self.members.get(&event).copied(), self.parts.get(&event)) else {
            return;
        };
        for stated in [&mut self.told, &mut self.taken] {
            let facts = parts.iter().filter_map(|it| stated.facts.get(it)).flatten();
            for told in facts.copied().collect::<Vec<_>>() {
                stated.tell(topic, told, more);
                self.touched.insert(topic);
                self.moved.insert(told.1.3);
            }
        }
    }
}

impl Stated {
    /// Adds a fact of the unit `source`, or removes it. `topics` has an entry for each event that contains the unit.
    fn put(&mut self, fact: &Fact, source: UnitId, topics: &[TopicId], more: bool) {
        let told = (fact.aspect, rank(fact));
        let facts = self.facts.entry(source).or_default();
        if more {
            facts.insert(told);
        } else {
            facts.remove(&told);
        }
        if facts.is_empty() {
            self.facts.remove(&source);
        }
        topics.iter().for_each(|it| self.tell(*it, told, more));
    }

    /// Adds one event that contains the fact's source to the count of a topic, or subtracts it.
    fn tell(&mut self, topic: TopicId, (aspect, rank): (Aspect, Rank), more: bool) {
        let aspects = self.topics.entry(topic).or_default();
        let ranks = aspects.entry(aspect).or_default();
        let count = ranks.entry(rank).or_default();
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            ranks.remove(&rank);
        }
        if ranks.is_empty() {
            aspects.remove(&aspect);
        }
        if aspects.is_empty() {
            self.topics.remove(&topic);
        }
    }
}
