//! Everything that is derived from the units of one space, joined.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::{PageId, SpaceId};
use domain::unit::Unit;

use crate::coreference::{Pair, Question, Verdict};
use crate::entities::Entities;
use crate::events::Events;
use crate::facts::Facts;
use crate::labels::{LabelPlace, LabelQuestion, TopicLabel};
use crate::pages::Pages;
use crate::people::{PeoplePlace, PeopleQuestion, PeopleVerdict};
use crate::summaries::{PageSummary, SummaryPlace, SummaryQuestion};
use crate::topics::Topics;
use crate::{Acts, Changed};

/// Bytes that a unit is assumed to take without its facts, and a fact, here and in what is held of the store: estimates.
const UNIT_BYTES: usize = 4_096;
const FACT_BYTES: usize = 3_072;

/// What the units of a space tell together. Equal sets of units give equal memories, whatever order they came in and how
/// often each was told.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entities: Entities,
    facts: Facts,
    events: Events,
    topics: Topics,
    pages: Pages,
}

impl Memory {
    /// Takes a unit in as it stands now; `vector` is that of an event's summary, of length 1.
    pub fn apply(&mut self, unit: &Unit, vector: Option<&[f32]>) {
        self.entities.apply(unit);
        self.facts.apply(unit);
        self.events.apply(unit, vector);
        self.topics.apply(unit, vector);
        self.pages.apply_unit(unit);
    }

    /// Returns the number of units it is made of.
    pub fn units(&self) -> usize {
        self.entities.units() + self.events.units()
    }

    /// Returns roughly how much memory it takes: so much for a unit and so much for a fact.
    pub fn bytes(&self) -> usize {
        self.units() * UNIT_BYTES + self.facts.len() * FACT_BYTES
    }

    /// Returns the pairs of events whose readings are to be looked up before anything else is asked for; see
    /// [`Events::unlooked`]. May take seconds: not for an async thread.
    pub fn unlooked(&mut self) -> Vec<Pair> {
        self.events.unlooked()
    }

    /// Returns the topics whose readings are to be looked up, as [`Memory::unlooked`] does of events.
    pub fn unlooked_labels(&mut self) -> Vec<LabelPlace> {
        self.topics.unlooked()
    }

    /// Returns the pairs of names whose readings are to be looked up, as [`Memory::unlooked`] does of events.
    pub fn unlooked_people(&mut self, space: &SpaceId) -> Vec<PeoplePlace> {
        self.entities.unlooked(space)
    }

    /// Takes in what models said of pairs of names that were looked up.
    pub fn take_in_people(&mut self, places: &[PeoplePlace], verdicts: &[PeopleVerdict]) {
        self.entities.take_in(places, verdicts);
    }

    /// Returns up to `limit` names about which a language model is to be asked.
    pub fn people_questions(&self, space: &SpaceId, limit: usize) -> Vec<PeopleQuestion> {
        self.entities.questions(space, limit)
    }

    /// Returns the pages whose readings are to be looked up, after it was asked what changed; [`Memory::changed_pages`] returns what
    /// follows from them.
    pub fn unlooked_pages(&self) -> Vec<SummaryPlace> {
        self.pages.unlooked()
    }

    /// Takes in what models said of pages that were looked up.
    pub fn take_in_summaries(&mut self, places: &[SummaryPlace], summaries: &[PageSummary]) {
        self.pages.take_in(places, summaries);
    }

    /// Returns up to `limit` pages about which a language model is to be asked.
    pub fn summary_questions(&self, space: &SpaceId, limit: usize) -> Vec<SummaryQuestion> {
        self.pages.questions(space, limit)
    }

    /// Has the readings of all pairs of names and of events, of all topics and of all pages looked up again about which a model is to
    /// be asked.
    pub fn look_for_open(&mut self) {
        self.entities.look_for_open();
        self.events.look_for_open();
        self.topics.look_for_open();
        self.pages.look_for_open();
    }

    /// Takes in what models said of topics that were looked up.
    pub fn take_in_labels(&mut self, places: &[LabelPlace], labels: &[TopicLabel]) {
        self.topics.take_in(places, labels);
    }

    /// Returns up to `limit` topics about which a language model is to be asked.
    pub fn label_questions(&self, limit: usize) -> Vec<LabelQuestion> {
        self.topics.questions(limit)
    }

    /// Takes in what models said of pairs of events that were looked up.
    pub fn take_in(&mut self, pairs: &[Pair], verdicts: &[Verdict]) {
        self.events.take_in(pairs, verdicts);
    }

    /// Returns up to `limit` events about which a language model is to be asked.
    pub fn questions(&self, limit: usize) -> Vec<Question> {
        self.events.questions(limit)
    }

    /// Returns what changed since it was asked last; the first time, everything. `read` tells when pages were read last. May
    /// take seconds: not for an async thread.
    pub fn changed(&mut self, space: &SpaceId, acts: &Acts, read: &BTreeMap<PageId, DateTime<Utc>>) -> Changed {
        let mut all = self.entities.changed(space, acts);
        // Facts are told of whom names mean, pages of everything.
        all.extend(self.facts.changed(&self.entities, acts));
        all.extend(self.events.changed(acts));
        all.extend(self.topics.changed(acts));
        self.pages.apply(&all);
        self.pages.set_unsummed(acts.unsummed());
        all.extend(self.pages.changed(space, read));
        all
    }

    /// Returns the pages that differ after what models said of them was taken in. May take seconds: not for an async thread.
    pub fn changed_pages(&mut self, space: &SpaceId, read: &BTreeMap<PageId, DateTime<Utc>>) -> Changed {
        self.pages.changed(space, read)
    }
}
