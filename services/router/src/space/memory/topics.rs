use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::{TopicId, UnitId};
use domain::topic::{Member, Topic};

use super::MemoryAsOf;
use super::posting_lists::Posts;

/// Topics and the units in them.
#[derive(Clone, Default)]
pub(super) struct Topics {
    all: BTreeMap<TopicId, Arc<Topic>>,
    of: BTreeMap<UnitId, Member>,
    units: Posts<TopicId, UnitId>,
    bytes: usize,
}

impl Topics {
    pub(super) fn put_topic(&mut self, topic: Topic) {
        self.remove_topic(topic.id);
        self.bytes += size_of_topic(&topic);
        self.all.insert(topic.id, Arc::new(topic));
    }

    pub(super) fn remove_topic(&mut self, id: TopicId) {
        if let Some(old) = self.all.remove(&id) {
            self.bytes -= size_of_topic(&old);
        }
    }

    pub(super) fn put_member(&mut self, member: Member) {
        self.remove_member(member.unit);
        self.units.add_or_remove(member.topic, member.unit, true);
        self.of.insert(member.unit, member);
    }

    pub(super) fn remove_member(&mut self, unit: UnitId) {
        if let Some(old) = self.of.remove(&unit) {
            self.units.add_or_remove(old.topic, unit, false);
        }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes + self.of.len() * 64 + self.units.size_in_bytes()
    }
}

fn size_of_topic(topic: &Topic) -> usize {
    160 + topic.label.len()
        + topic.summary.as_ref().map_or(0, String::len)
        + topic.keywords.iter().map(|it| 24 + it.len()).sum::<usize>()
}

impl<'a> MemoryAsOf<'a> {
    /// Returns a topic with the count and dates of the units that were known. Returns `None` if no unit was known, if
    /// all are forgotten, or if one of its units is outside of the scope, since the label may come from that unit.
    ///
    /// If some of its units are forgotten or replaced, it has no summary, and of its label and keywords only those that
    /// the other units contain.
    pub fn find_topic(self, id: TopicId) -> Option<Arc<Topic>> {
        let topic = self.memory.topics.all.get(&id)?;
        let members = &self.memory.topics.units;
        if self.scope.is_some() && !members.values_of_key(&id).all(|it| self.is_inside(it)) {
            return None;
        }
        let is_whole = self.may_show_all_units() || members.values_of_key(&id).all(|it| self.may_show_unit(it));
        if self.as_of.is_none() && is_whole {
            return Some(Arc::clone(topic));
        }
        let units = self.dated_units_of_topic(id);
        let (first, last) = (units.first()?.0, units.last()?.0);
        let mut shown = Topic {
            units: units.len() as u64,
            first_seen: first,
            last_seen: last,
            // The summary may contain later statements.
            summary: topic.summary.clone().filter(|_| is_whole && last >= topic.last_seen),
            ..Topic::clone(topic)
        };
        if !is_whole {
            self.limit_names_to_units(&mut shown, &units);
        }
        Some(Arc::new(shown))
    }

    /// Removes the keywords that none of these units contains, and replaces such a label by the first other keyword.
    fn limit_names_to_units(self, topic: &mut Topic, units: &[(DateTime<Utc>, UnitId)]) {
        let names = topic.keywords.iter().chain([&topic.label]);
        let mut missing: BTreeSet<String> = names.flat_map(|it| text::stem_words(it)).collect();
        for event in units.iter().filter_map(|it| self.find_event(it.1)) {
            if missing.is_empty() {
                return;
            }
            for stem in text::stem_words(&event.summary) {
                missing.remove(&stem);
            }
        }
        let is_contained = |name: &str| text::stem_words(name).iter().all(|it| !missing.contains(it));
        topic.keywords.retain(|it| is_contained(it));
        if !is_contained(&topic.label) {
            topic.label = topic.keywords.first().cloned().unwrap_or_default();
        }
    }

    /// Returns the topics, by id.
    pub fn all_topics(self) -> impl Iterator<Item = Arc<Topic>> + 'a {
        let ids = self.memory.topics.all.keys();
        ids.filter_map(move |it| self.find_topic(*it))
    }

    /// Returns the membership of an event unit in a topic. For a turn, returns that of the event that holds it.
    pub fn find_topic_member(self, unit: UnitId) -> Option<&'a Member> {
        let MemoryAsOf { memory, .. } = self;
        let of = |it: UnitId| memory.topics.of.get(&it);
        let event = || self.event_of(unit).and_then(of);
        of(unit).or_else(|| of(self.merge_target_of_unit(unit))).or_else(event)
    }

    /// Returns the units of a topic by when they were observed, ties by id. Of merged events only the kept one is
    /// returned.
    pub fn units_of(self, topic: TopicId) -> Vec<UnitId> {
        self.dated_units_of_topic(topic).into_iter().map(|it| it.1).collect()
    }

    fn dated_units_of_topic(self, topic: TopicId) -> Vec<(DateTime<Utc>, UnitId)> {
        let units = self.memory.topics.units.values_of_key(&topic);
        let unmerged = units.filter(|it| self.merge_target_of_unit(*it) == *it);
        let mut dated: Vec<(DateTime<Utc>, UnitId)> = unmerged
            .filter_map(|it| Some((self.observation_time(it)?, it)))
            .collect();
        dated.sort_unstable();
        dated
    }
}
