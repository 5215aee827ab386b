//! Assigns facts to topics: a fact belongs to the topic of the event that contains its source.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::fact::{Aspect, Fact};
use domain::id::{FactId, TopicId, UnitId};
use domain::unit::{Grain, Status, Unit};
use serde::{Deserialize, Serialize};

use crate::pages::inputs::facts::RankedFact;
use crate::pages::inputs::unit_index::TopicsOfEvents;
use crate::space::id_map::IdMap;
use crate::space::small_map::SmallMap;
use crate::space::spill_file::SpillFile;

/// The facts of a topic by aspect, best first, each with the number of events that contain its source.
pub(crate) type RankedFacts = SmallMap<Aspect, SmallMap<RankedFact, u32>>;

/// Events with their parts, and the facts whose sources they contain. The topics of events are given at each call, and
/// [`FactsByTopic::move_event`] is called for each event whose topic changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactsByTopic {
    parts: IdMap<UnitId, Box<[UnitId]>>,
    /// The events that each part belongs to.
    events: IdMap<UnitId, SmallMap<UnitId, ()>>,
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
    facts: IdMap<UnitId, SmallMap<RankedFact, FactPlace>>,
    topics: BTreeMap<TopicId, RankedFacts>,
}

/// A fact with its place.
#[derive(Clone, Copy, Debug)]
struct CountedFact {
    ranked: RankedFact,
    place: FactPlace,
}

/// What decides where a fact is counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FactPlace {
    aspect: Aspect,
    /// The unit that states it. For a record with a long text, the fact is counted with the record's first unit.
    source: UnitId,
}

impl FactsByTopic {
    /// Applies the current state of a unit. Returns true if it is an event whose parts changed.
    pub(crate) fn apply_unit(&mut self, unit: &Unit, topics_of_events: &TopicsOfEvents) -> bool {
        if unit.grain != Grain::Event {
            let is_used = unit.grain == Grain::Turn && matches!(unit.status, Status::Active | Status::Merged);
            let first = unit.records.first().filter(|_| is_used);
            let first = first.map(|it| UnitId::of_turn(*it)).filter(|it| *it != unit.id);
            self.set_first(unit.id, first, topics_of_events);
            return false;
        }
        let parts: Option<Box<[UnitId]>> = match unit.status {
            Status::Active | Status::Merged => {
                let turns = unit.records.iter().map(|it| UnitId::of_turn(*it));
                Some(turns.chain([unit.id]).collect())
            }
            Status::Superseded | Status::Archived => None,
        };
        if self.parts.get(unit.id) == parts.as_ref() {
            return false;
        }
        let topic = topics_of_events.get(&unit.id).copied();
        self.count_event(unit.id, topic, false);
        for part in self.parts.remove(unit.id).into_iter().flatten() {
            if let Some(events) = self.events.get_mut(part) {
                events.remove(&unit.id);
                if events.is_empty() {
                    self.events.remove(part);
                }
            }
        }
        if let Some(parts) = parts {
            for part in &parts {
                self.events.get_or_default(*part).insert(unit.id, ());
            }
            self.parts.insert(unit.id, parts);
            self.count_event(unit.id, topic, true);
        }
        true
    }

    /// Spills what was not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.parts.spill_unused(file);
        self.events.spill_unused(file);
        for stated in [&mut self.current, &mut self.withdrawn] {
            stated.facts.spill_unused(file);
            let ranks = stated.topics.values_mut().flat_map(SmallMap::few_values_mut);
            ranks.for_each(|it| it.spill_unused(file));
        }
    }

    /// Sets the first turn unit of the record of a further turn unit, or removes it. Facts of the further unit are
    /// counted again, because they are counted with the first one.
    fn set_first(&mut self, unit: UnitId, first: Option<UnitId>, topics_of_events: &TopicsOfEvents) {
        if self.first.get(&unit) == first.as_ref() {
            return;
        }
        let source = self.first_of(unit);
        let [current, withdrawn] = [&self.current, &self.withdrawn].map(|it| it.facts_of_unit(source, unit));
        self.count_facts_of_unit(unit, &current, &withdrawn, false, topics_of_events);
        match first {
            Some(first) => self.first.insert(unit, first),
            None => self.first.remove(&unit),
        };
        self.count_facts_of_unit(unit, &current, &withdrawn, true, topics_of_events);
        self.moved
            .extend(current.iter().chain(&withdrawn).map(|it| it.ranked.id));
    }

    /// Returns the first turn unit of each record of an event, and the event itself; nothing for any other unit.
    pub(crate) fn parts_of_event(&self, event: UnitId) -> &[UnitId] {
        self.parts.get(event).map_or(&[], |it| it)
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

    /// Returns the events with a part for which `is_sought` returns true. An event may be returned several times.
    pub(super) fn events_with_any_part(&self, is_sought: impl Fn(UnitId) -> bool) -> impl Iterator<Item = UnitId> {
        let parts = self.events.ids().filter(move |it| is_sought(*it));
        parts.flat_map(|it| self.events_with_part(it))
    }

    /// Returns the events that contain a turn unit, or the event itself, by id.
    pub(super) fn events_with_part(&self, part: UnitId) -> impl Iterator<Item = UnitId> {
        let events = self.events.get(part);
        events.into_iter().flat_map(|it| it.keys().copied())
    }

    /// Counts the facts of an event in the topic that it is in now instead of the one that it was in before.
    pub(crate) fn move_event(&mut self, event: UnitId, before: Option<TopicId>, now: Option<TopicId>) {
        if before != now {
            self.count_event(event, before, false);
            self.count_event(event, now, true);
        }
    }

    /// Adds a fact, or removes it if `more` is false.
    pub(crate) fn count_fact(&mut self, fact: &Fact, more: bool, topics_of_events: &TopicsOfEvents) {
        let current = [to_counted_fact(fact)];
        self.count_facts_of_unit(fact.source, &current, &[], more, topics_of_events);
    }

    /// Adds a withdrawn fact in its last state, or removes it if `more` is false.
    pub(crate) fn count_withdrawn_fact(&mut self, fact: &Fact, more: bool, topics_of_events: &TopicsOfEvents) {
        let withdrawn = [to_counted_fact(fact)];
        self.count_facts_of_unit(fact.source, &[], &withdrawn, more, topics_of_events);
    }

    fn count_facts_of_unit(
        &mut self,
        unit: UnitId,
        current: &[CountedFact],
        withdrawn: &[CountedFact],
        more: bool,
        topics_of_events: &TopicsOfEvents,
    ) {
        if current.is_empty() && withdrawn.is_empty() {
            return;
        }
        let (first, topics) = (self.first_of(unit), self.topics_of_each(unit, topics_of_events));
        for fact in current {
            self.current.count_fact(fact, first, &topics, more);
        }
        for fact in withdrawn {
            self.withdrawn.count_fact(fact, first, &topics, more);
        }
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
    fn topics_of_each(&self, unit: UnitId, topics_of_events: &TopicsOfEvents) -> Vec<TopicId> {
        let events = self.events_with_part(self.first_of(unit));
        events.filter_map(|it| topics_of_events.get(&it)).copied().collect()
    }

    /// Returns the topics of the events that contain a unit.
    pub(super) fn topics_of(&self, unit: UnitId, topics_of_events: &TopicsOfEvents) -> BTreeSet<TopicId> {
        self.topics_of_each(unit, topics_of_events).into_iter().collect()
    }

    /// Adds the facts of an event to a topic, or removes them. Nothing is done if there is no topic.
    fn count_event(&mut self, event: UnitId, topic: Option<TopicId>, more: bool) {
        let (Some(topic), Some(parts)) = (topic, self.parts.get(event)) else {
            return;
        };
        for stated in [&mut self.current, &mut self.withdrawn] {
            let facts = parts.iter().filter_map(|it| stated.facts.get(*it));
            let facts: Vec<CountedFact> = facts.flat_map(counted_facts).collect();
            for fact in facts {
                stated.count_in_topic(topic, &fact, more);
                self.touched.insert(topic);
                self.moved.insert(fact.ranked.id);
            }
        }
    }
}

fn to_counted_fact(fact: &Fact) -> CountedFact {
    CountedFact {
        ranked: RankedFact::from_fact(fact),
        place: FactPlace {
            aspect: fact.aspect,
            source: fact.source,
        },
    }
}

fn counted_facts(facts: &SmallMap<RankedFact, FactPlace>) -> impl Iterator<Item = CountedFact> {
    facts.iter().map(|(ranked, place)| CountedFact {
        ranked: *ranked,
        place: *place,
    })
}

impl StatedFacts {
    /// Returns the facts of a unit among those that are counted with the unit `source`.
    fn facts_of_unit(&self, source: UnitId, unit: UnitId) -> Vec<CountedFact> {
        let facts = self.facts.get(source).into_iter().flat_map(counted_facts);
        facts.filter(|it| it.place.source == unit).collect()
    }

    /// Adds a fact of the unit `source`, or removes it. `topics` has an entry for each event that contains the unit.
    fn count_fact(&mut self, fact: &CountedFact, source: UnitId, topics: &[TopicId], more: bool) {
        let facts = self.facts.get_or_default(source);
        if more {
            facts.insert(fact.ranked, fact.place);
        } else {
            facts.remove(&fact.ranked);
        }
        if facts.is_empty() {
            self.facts.remove(source);
        }
        topics.iter().for_each(|it| self.count_in_topic(*it, fact, more));
    }

    /// Adds one event that contains the fact's source to the count of a topic, or subtracts it.
    fn count_in_topic(&mut self, topic: TopicId, fact: &CountedFact, more: bool) {
        let (ranked, aspect) = (fact.ranked, fact.place.aspect);
        let aspects = self.topics.entry(topic).or_default();
        let ranks = aspects.get_or_default(aspect);
        let count = ranks.get_or_default(ranked);
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            ranks.remove(&ranked);
        }
        if ranks.is_empty() {
            aspects.remove(&aspect);
        }
        if aspects.is_empty() {
            self.topics.remove(&topic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgements::example::sample_event;
    use crate::pages::Pages;

    #[test]
    fn facts_follow_their_event_from_topic_to_topic() {
        let event = sample_event(1, "");
        let turn = Unit {
            id: UnitId::of_turn(event.records[0]),
            grain: Grain::Turn,
            ..event.clone()
        };
        let fact = fixtures::sample_fact(&turn, ["Ann", "owns", "a canoe"], Aspect::Possession);
        let [one, two] = [2, 3].map(|it| TopicId::from_founding_unit(sample_event(it, "").id));
        let counts = |pages: &Pages| {
            [one, two].map(|topic| {
                let facts = pages.known.facts_by_topic.facts_of_topic(topic);
                facts.map_or(0, |it| it.values().map(SmallMap::len).sum::<usize>())
            })
        };
        let mut pages = Pages::default();
        pages.apply_unit(&event);
        pages.set_fact(fact.id, Some(&fact));
        assert_eq!(counts(&pages), [0, 0]);
        for (topic, expected) in [
            (Some(one), [1, 0]),
            (Some(two), [0, 1]),
            (None, [0, 0]),
            (Some(two), [0, 1]),
        ] {
            pages.set_topic_of_event(event.id, topic);
            assert_eq!(counts(&pages), expected);
        }
        pages.known.facts_by_topic.touched.clear();
        pages.set_topic_of_event(event.id, Some(two));
        assert!(pages.known.facts_by_topic.touched.is_empty(), "nothing changed");
        // An event that is not in use keeps its topic until its member is removed.
        pages.apply_unit(&event.without_content());
        assert_eq!(counts(&pages), [0, 0]);
        pages.apply_unit(&event);
        assert_eq!(counts(&pages), [0, 1]);
        pages.set_fact(fact.id, None);
        assert_eq!(counts(&pages), [0, 0]);
    }
}
