use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::{TopicId, UnitId};
use domain::topic::{Member, Topic};

use super::Known;
use super::posts::Posts;

/// Topics and the units in them.
#[derive(Clone, Default)]
pub(super) struct Topics {
    all: BTreeMap<TopicId, Arc<Topic>>,
    of: BTreeMap<UnitId, Member>,
    units: Posts<TopicId, UnitId>,
    bytes: usize,
}

impl Topics {
    pub(super) fn put(&mut self, topic: Topic) {
        self.remove(topic.id);
        self.bytes += size(&topic);
        self.all.insert(topic.id, Arc::new(topic));
    }

    pub(super) fn remove(&mut self, id: TopicId) {
        if let Some(old) = self.all.remove(&id) {
            self.bytes -= size(&old);
        }
    }

    pub(super) fn put_member(&mut self, member: Member) {
        self.remove_member(member.unit);
        self.units.set(member.topic, member.unit, true);
        self.of.insert(member.unit, member);
    }

    pub(super) fn remove_member(&mut self, unit: UnitId) {
        if let Some(old) = self.of.remove(&unit) {
            self.units.set(old.topic, unit, false);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.of.len() * 64 + self.units.bytes()
    }
}

fn size(topic: &Topic) -> usize {
    160 + topic.label.len()
        + topic.summary.as_ref().map_or(0, String::len)
        + topic.keywords.iter().map(|it| 24 + it.len()).sum::<usize>()
}

impl<'a> Known<'a> {
    /// Returns a topic with the count and dates of the units that were known. Returns `None` if no unit was known, or
    /// if one of its units is outside of the scope, since the label may come from that unit.
    pub fn topic(self, id: TopicId) -> Option<Arc<Topic>> {
        let topic = self.memory.topics.all.get(&id)?;
        if self.scope.is_some() && !self.memory.topics.units.get(&id).all(|it| self.is_inside(it)) {
            return None;
        }
        if self.as_of.is_none() {
            return Some(Arc::clone(topic));
        }
        let units = self.dated(id);
        let (first, last) = (units.first()?.0, units.last()?.0);
        Some(Arc::new(Topic {
            units: units.len() as u64,
            first_seen: first,
            last_seen: last,
            // The summary may contain later statements.
            summary: topic.summary.clone().filter(|_| last >= topic.last_seen),
            ..Topic::clone(topic)
        }))
    }

    /// Returns the topics, by id.
    pub fn topics(self) -> impl Iterator<Item = Arc<Topic>> + 'a {
        let ids = self.memory.topics.all.keys();
        ids.filter_map(move |it| self.topic(*it))
    }

    /// Returns the membership of an event unit in a topic. For a turn, returns that of the event that holds it.
    pub fn member(self, unit: UnitId) -> Option<&'a Member> {
        let Known { memory, .. } = self;
        let of = |it: UnitId| memory.topics.of.get(&it);
        let event = || self.event_of(unit).and_then(of);
        of(unit).or_else(|| of(self.kept(unit))).or_else(event)
    }

    /// Returns the units of a topic by when they were observed, ties by id. Of merged events only the kept one is
    /// returned.
    pub fn units_of(self, topic: TopicId) -> Vec<UnitId> {
        self.dated(topic).into_iter().map(|it| it.1).collect()
    }

    fn dated(self, topic: TopicId) -> Vec<(DateTime<Utc>, UnitId)> {
        let units = self.memory.topics.units.get(&topic);
        let told = units.filter(|it| self.kept(*it) == *it);
        let mut dated: Vec<(DateTime<Utc>, UnitId)> = told.filter_map(|it| Some((self.observed(it)?, it))).collect();
        dated.sort_unstable();
        dated
    }
}
