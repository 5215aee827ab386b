//! Assigns facts to topics: a fact belongs to the topic of the event that contains its source.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::fact::{Aspect, Fact};
use domain::id::{FactId, TopicId, UnitId};
use domain::unit::{Grain, Status, Unit};

use crate::pages::inputs::facts::{Rank, rank_of_fact};
use crate::space::small_map::SmallMap;

/// The facts of a topic by aspect, best first, each with the number of events that contain its source.
pub(crate) type RankedFacts = SmallMap<Aspect, SmallMap<Rank, u32>>;

/// Events with their parts and topics, and the facts whose sources they contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactsByTopic {
    parts: HashMap<UnitId, Box<[UnitId]>>,
    /// Events by part.
    events: HashMap<UnitId, SmallMap<UnitId, ()>>,
    members: HashMap<UnitId, TopicId>,
    /// For each further turn unit of a record with a long text, the record's first unit, which represents them all in
    /// events.
    first: HashMap<UnitId, UnitId>,
    current: StatedFacts,
    /// Withdrawn facts.
    withdrawn: StatedFacts,
    /// Topics whose facts changed since the last round.
    pub(crate) touched: BTreeSet<TopicId>,
    /// Facts that were added to or removed from a topic since the last round.
    pub(crate) moved: BTreeSet<FactId>,
}

/// Facts by the unit that states them, and by topic.
#[derive(Clone, Debug, Default)]
struct StatedFacts {
    facts: HashMap<UnitId, SmallMap<(Aspect, Rank), ()>>,
    topics: BTreeMap<TopicId, RankedFacts>,
}

impl FactsByTopic {
    /// Applies the current state of a unit. Returns true if it is an event whose parts changed.
    pub(crate) fn apply_unit(&mut self, unit: &Unit) -> bool {
        if unit.grain != Grain::Event {
            let first = unit.records.first().map(|it| UnitId::of_turn(*it));
            if let Some(first) = first.filter(|it| *it != unit.id) {
                self.first.insert(unit.id, first);
            }
            return false;
        }
        let parts: Option<Box<[UnitId]>> = match unit.status {
            Status::Active | Status::Merged => {
                let turns = unit.records.iter().map(|it| UnitId::of_turn(*it));
                Some(turns.chain([unit.id]).collect())
            }
            Status::Superseded | Status::Archived => None,
        };
        if self.parts.get(&unit.id) == parts.as_ref() {
            return false;
        }
        self.count_event(unit.id, false);
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
                self.events.entry(*part).or_default().insert(unit.id, ());
            }
            self.parts.insert(unit.id, parts);
            self.count_event(unit.id, true);
        }
        true
    }

    /// Returns the first turn unit of each record of an event, and the event itself; nothing for any other unit.
    pub(crate) fn parts_of_event(&self, event: UnitId) -> &[UnitId] {
        self.parts.get(&event).map_or(&[], |it| it)
    }

    /// Returns the events that contain all of these turn units, by id; none if there are no turn units.
    pub(crate) fn events_with_parts(&self, turns: &[UnitId]) -> impl Iterator<Item = UnitId> {
        let first = turns.first().and_then(|it| self.events.get(it));
        let all_inside = move |event: &UnitId| {
            let parts = self.parts_of_event(*event);
            turns.iter().all(|it| parts.contains(it))
        };
        let events = first.into_iter().flat_map(SmallMap::keys);
        events.copied().filter(all_inside)
    }

    /// Moves an event unit into a topic, or out of all topics.
    pub(crate) fn set_topic_of_event(&mut self, event: UnitId, topic: Option<TopicId>) {
        if self.members.get(&event) == topic.as_ref() {
            return;
        }
        self.count_event(event, false);
        match topic {
            Some(topic) => self.members.insert(event, topic),
            None => self.members.remove(&event),
        };
        self.count_event(event, true);
    }

    /// Adds a fact, or removes it if `more` is false.
    pub(crate) fn count_fact(&mut self, fact: &Fact, more: bool) {
        let (source, topics) = (self.first_of(fact.source), self.topics_of_each(fact.source));
        self.current.count_fact(fact, source, &topics, more);
        self.touched.extend(topics);
    }

    /// Adds a withdrawn fact in its last state, or removes it if `more` is false.
    pub(crate) fn count_withdrawn_fact(&mut self, fact: &Fact, more: bool) {
        let (source, topics) = (self.first_of(fact.source), self.topics_of_each(fact.source));
        self.withdrawn.count_fact(fact, source, &topics, more);
        self.touched.extend(topics);
    }

    /// Returns the facts of a topic.
    pub(crate) fn facts_of_topic(&self, topic: TopicId) -> Option<&RankedFacts> {
        self.current.topics.get(&topic)
    }

    /// Returns the withdrawn facts of a topic.
    pub(crate) fn withdrawn_facts_of_topic(&self, topic: TopicId) -> Option<&RankedFacts> {
        self.withdrawn.topics.get(&topic)
    }

    /// Returns the first turn unit of the record of a turn unit.
    fn first_of(&self, unit: UnitId) -> UnitId {
        self.first.get(&unit).copied().unwrap_or(unit)
    }

    /// Returns the topic of each event that contains a unit.
    fn topics_of_each(&self, unit: UnitId) -> Vec<TopicId> {
        let events = self
            .events
            .get(&self.first_of(unit))
            .into_iter()
            .flat_map(|it| it.keys());
        events.filter_map(|it| self.members.get(it)).copied().collect()
    }

    /// Returns the topics of the events that contain a unit.
    pub(crate) fn topics_of(&self, unit: UnitId) -> BTreeSet<TopicId> {
        self.topics_of_each(unit).into_iter().collect()
    }

    fn count_event(&mut self, event: UnitId, more: bool) {
        let (Some(topic), Some(parts)) = (self.members.get(&event).copied(), self.parts.get(&event)) else {
            return;
        };
        for stated in [&mut self.current, &mut self.withdrawn] {
            let facts = parts.iter().filter_map(|it| stated.facts.get(it));
            let facts = facts.flat_map(|it| it.keys());
            for (aspect, rank) in facts.copied().collect::<Vec<_>>() {
                stated.count_in_topic(topic, aspect, rank, more);
                self.touched.insert(topic);
                self.moved.insert(rank.3);
            }
        }
    }
}

impl StatedFacts {
    /// Adds a fact of the unit `source`, or removes it. `topics` has an entry for each event that contains the unit.
    fn count_fact(&mut self, fact: &Fact, source: UnitId, topics: &[TopicId], more: bool) {
        let (aspect, rank) = (fact.aspect, rank_of_fact(fact));
        let facts = self.facts.entry(source).or_default();
        if more {
            facts.insert((aspect, rank), ());
        } else {
            facts.remove(&(aspect, rank));
        }
        if facts.is_empty() {
            self.facts.remove(&source);
        }
        topics
            .iter()
            .for_each(|it| self.count_in_topic(*it, aspect, rank, more));
    }

    /// Adds one event that contains the fact's source to the count of a topic, or subtracts it.
    fn count_in_topic(&mut self, topic: TopicId, aspect: Aspect, rank: Rank, more: bool) {
        let aspects = self.topics.entry(topic).or_default();
        let ranks = aspects.get_or_default(aspect);
        let count = ranks.get_or_default(rank);
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
