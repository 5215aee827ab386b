//! The events that may found a topic.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::id::{RecordId, TopicId, UnitId};
use serde::{Deserialize, Serialize};

use crate::space::id_map::IdMap;
use crate::space::spill_file::SpillFile;

/// An event that may found a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Founder {
    pub(super) unit: UnitId,
    /// The records of the event, at least one.
    pub(super) records: Box<[RecordId]>,
}

/// The events that may found a topic, by the id of the topic that each would found.
#[derive(Clone, Debug, Default)]
pub(super) struct Founders {
    all: IdMap<TopicId, Founder>,
    /// Copies of the founders of the current topics. All of them are needed after each change, so they are never
    /// spilled.
    current: BTreeMap<TopicId, Founder>,
}

impl Founders {
    pub(super) fn get(&self, topic: TopicId) -> Option<&Founder> {
        self.current.get(&topic).or_else(|| self.all.get(topic))
    }

    /// Inserts the founder of a topic, or replaces it.
    pub(super) fn insert(&mut self, topic: TopicId, founder: Founder) {
        if self.get(topic) != Some(&founder) {
            self.current.remove(&topic);
            self.all.insert(topic, founder);
        }
    }

    pub(super) fn remove(&mut self, topic: TopicId) {
        self.current.remove(&topic);
        self.all.remove(topic);
    }

    /// Sets the current topics, whose founders are never spilled.
    pub(super) fn set_current(&mut self, topics: impl Iterator<Item = TopicId>) {
        let mut before = std::mem::take(&mut self.current);
        for topic in topics {
            let founder = before.remove(&topic).or_else(|| self.all.get(topic).cloned());
            self.current.extend(founder.map(|it| (topic, it)));
        }
    }

    /// Spills what was not used since the last call to a file.
    pub(super) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.all.spill_unused(file);
    }
}
