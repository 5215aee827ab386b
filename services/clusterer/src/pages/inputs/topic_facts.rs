//! Assigns facts to topics: a fact belongs to the topic of the event that contains its source.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use domain::fact::{Aspect, Fact};
use domain::id::{FactId, TopicId, UnitId};
use domain::unit::{Grain, Status, Unit};

use crate::pages::inputs::facts::RankedFact;
use crate::space::small_map::SmallMap;

/// The facts of a topic by aspect, best first, each with the number of events that contain its source.
pub(crate) type RankedFacts = SmallMap<Aspect, SmallMap<RankedFact, u32>>;

/// Events with their parts and topics, and the facts whose sources they contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactsByTopic {
    parts: HashMap<UnitId, Box<[UnitId]>>,
    /// Pairs of a part and an event.
    events: BTreeSet<(UnitId, UnitId)>,
    members: HashMap<UnitId, TopicId>,
    /// For each further active turn unit of a record with a long text, the record's first unit, which represents them
    /// all in events. Sorted, because the units of a record are found as a range of ids.
    first: BTreeMap<UnitId, UnitId>,
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
    facts: HashMap<UnitId, SmallMap<RankedFact, ()>>,
    topics: BTreeMap<TopicId, RankedFacts>,
}

impl FactsByTopic {
    /// Applies the current state of a unit. Returns true if it is an event whose parts changed.
    pub(crate) fn apply_unit(&mut self, unit: &Unit) -> bool {
        if unit.grain != Grain::Event {
            let is_used = unit.grain == Grain::Turn && matches!(unit.status, Status::Active | Status::Merged);
            let first = unit.records.first().filter(|_| is_used);
            let first = first.map(|it| UnitId::of_turn(*it)).filter(|it| *it != unit.id);
            self.set_first(unit.id, first);
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
            self.events.remove(&(part, unit.id));
        }
        if let Some(parts) = parts {
            self.events.extend(parts.iter().map(|it| (*it, unit.id)));
            self.parts.insert(unit.id, parts);
            self.count_event(unit.id, true);
        }
        true
    }

    /// Sets the first turn unit of the record of a further turn unit, or removes it. Facts of the further unit are
    /// counted again, because they are counted with the first one.
    fn set_first(&mut self, unit: UnitId, first: Option<UnitId>) {
        if self.first.get(&unit) == first.as_ref() {
            return;
        }
        let source = self.first_of(unit);
        let [current, withdrawn] = [&self.current, &self.withdrawn].map(|it| it.facts_of_unit(source, unit));
        current.iter().for_each(|it| self.count_fact(it, false));
        withdrawn.iter().for_each(|it| self.count_withdrawn_fact(it, false));
        match first {
            Some(first) => self.first.insert(unit, first),
            None => self.first.remove(&unit),
        };
        current.iter().for_each(|it| self.count_fact(it, true));
        withdrawn.iter().for_each(|it| self.count_withdrawn_fact(it, true));
        self.moved.extend(current.iter().chain(&withdrawn).map(|it| it.id));
    }

    /// Returns the first turn unit of each record of an event, and the event itself; nothing for any other unit.
    pub(crate) fn parts_of_event(&self, event: UnitId) -> &[UnitId] {
        self.parts.get(&event).map_or(&[], |it| it)
    }

    /// Returns the turn units of a record, by id; `first` is the first one.
    pub(crate) fn turn_units_of_record(&self, first: UnitId) -> impl Iterator<Item = UnitId> {
        let further = self.first.range(first..=first.last_part());
        std::iter::once(first).chain(further.map(|it| *it.0))
    }

    /// Returns the turn units of all records of an event; nothing for any other unit.
    pub(crate) fn turn_units_of_event(&self, event: UnitId) -> Vec<UnitId> {
        let first_units = self.parts_of_event(event).iter().filter(|it| **it != event);
        first_units.flat_map(|it| self.turn_units_of_record(*it)).collect()
    }

    /// Returns the events that contain all of these turn units, by id; none if there are no turn units.
    pub(crate) fn events_with_parts(&self, turns: &[UnitId]) -> impl Iterator<Item = UnitId> {
        let events = turns.first().into_iter().flat_map(|it| self.events_with_part(*it));
        let all_inside = move |event: &UnitId| {
            let parts = self.parts_of_event(*event);
            turns.iter().all(|it| parts.contains(it))
        };
        events.filter(all_inside)
    }

    /// Returns the events that contain a turn unit, or the event itself, by id.
    fn events_with_part(&self, part: UnitId) -> impl Iterator<Item = UnitId> {
        let first = (part, UnitId::from_uuid(Default::default()));
        let found = self.events.range(first..).take_while(move |it| it.0 == part);
        found.map(|it| it.1)
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
    pub(crate) fn count_fact(&mut self, fact: &Arc<Fact>, more: bool) {
        let (source, topics) = (self.first_of(fact.source), self.topics_of_each(fact.source));
        self.current.count_fact(fact, source, &topics, more);
        self.touched.extend(topics);
    }

    /// Adds a withdrawn fact in its last state, or removes it if `more` is false.
    pub(crate) fn count_withdrawn_fact(&mut self, fact: &Arc<Fact>, more: bool) {
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
    pub(super) fn first_of(&self, unit: UnitId) -> UnitId {
        self.first.get(&unit).copied().unwrap_or(unit)
    }

    /// Returns the topic of each event that contains a unit.
    fn topics_of_each(&self, unit: UnitId) -> Vec<TopicId> {
        let events = self.events_with_part(self.first_of(unit));
        events.filter_map(|it| self.members.get(&it)).copied().collect()
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
            for fact in facts.cloned().collect::<Vec<RankedFact>>() {
                stated.count_in_topic(topic, &fact, more);
                self.touched.insert(topic);
                self.moved.insert(fact.0.id);
            }
        }
    }
}

impl StatedFacts {
    /// Returns the facts of a unit among those that are counted with the unit `source`.
    fn facts_of_unit(&self, source: UnitId, unit: UnitId) -> Vec<Arc<Fact>> {
        let facts = self.facts.get(&source).into_iter().flat_map(|it| it.keys());
        facts
            .filter(|it| it.0.source == unit)
            .map(|it| Arc::clone(&it.0))
            .collect()
    }

    /// Adds a fact of the unit `source`, or removes it. `topics` has an entry for each event that contains the unit.
    fn count_fact(&mut self, fact: &Arc<Fact>, source: UnitId, topics: &[TopicId], more: bool) {
        let fact = RankedFact(Arc::clone(fact));
        let facts = self.facts.entry(source).or_default();
        if more {
            facts.insert(fact.clone(), ());
        } else {
            facts.remove(&fact);
        }
        if facts.is_empty() {
            self.facts.remove(&source);
        }
        topics.iter().for_each(|it| self.count_in_topic(*it, &fact, more));
    }

    /// Adds one event that contains the fact's source to the count of a topic, or subtracts it.
    fn count_in_topic(&mut self, topic: TopicId, fact: &RankedFact, more: bool) {
        let aspect = fact.0.aspect;
        let aspects = self.topics.entry(topic).or_default();
        let ranks = aspects.get_or_default(aspect);
        let count = ranks.get_or_default(fact.clone());
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            ranks.remove(fact);
        }
        if ranks.is_empty() {
            aspects.remove(&aspect);
        }
        if aspects.is_empty() {
            self.topics.remove(&topic);
        }
    }
}
