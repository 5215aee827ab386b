//! All data derived from the units of one space.

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

/// Estimated bytes for a unit without its facts (`UNIT_BYTES`) and for a fact (`FACT_BYTES`), both here and in the
/// digests of the store.
const UNIT_BYTES: usize = 4_096;
const FACT_BYTES: usize = 3_072;

/// The components that derive data from the units of a space. Equal sets of units give equal derived data, whatever
/// their order and however often each unit was applied.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entities: Entities,
    facts: Facts,
    events: Events,
    topics: Topics,
    pages: Pages,
}

impl Memory {
    /// Applies the current state of a unit; `vector` is the vector of an event's summary, of length 1.
    pub fn apply(&mut self, unit: &Unit, vector: Option<&[f32]>) {
        self.entities.apply(unit);
        self.facts.apply(unit);
        self.events.apply(unit, vector);
        self.topics.apply(unit, vector);
        self.pages.apply_unit(unit);
    }

    /// Returns the number of units applied.
    pub fn units(&self) -> usize {
        self.entities.units() + self.events.units()
    }

    /// Returns a rough estimate of the memory used, in bytes, from the number of units and facts.
    pub fn bytes(&self) -> usize {
        self.units() * UNIT_BYTES + self.facts.len() * FACT_BYTES
    }

    /// Returns the pairs of events whose readings have to be looked up before anything else is called; see
    /// [`Events::unlooked`]. It may take seconds, so do not call it on an async thread.
    pub fn unlooked(&mut self) -> Vec<Pair> {
        self.events.unlooked()
    }

    /// Returns the topics whose readings have to be looked up, like [`Memory::unlooked`] for events.
    pub fn unlooked_labels(&mut self) -> Vec<LabelPlace> {
        self.topics.unlooked()
    }

    /// Returns the pairs of names whose readings have to be looked up, like [`Memory::unlooked`] for events.
    pub fn unlooked_people(&mut self, space: &SpaceId) -> Vec<PeoplePlace> {
        self.entities.unlooked(space)
    }

    /// Applies what models said of pairs of names that were looked up.
    pub fn take_in_people(&mut self, places: &[PeoplePlace], verdicts: &[PeopleVerdict]) {
        self.entities.take_in(places, verdicts);
    }

    /// Returns at most `limit` questions about names for a language model.
    pub fn people_questions(&self, space: &SpaceId, limit: usize) -> Vec<PeopleQuestion> {
        self.entities.questions(space, limit)
    }

    /// Returns the pages whose readings have to be looked up. Call it after [`Memory::changed`];
    /// [`Memory::changed_pages`] then returns the pages that the readings change.
    pub fn unlooked_pages(&self) -> Vec<SummaryPlace> {
        self.pages.unlooked()
    }

    /// Applies what models said of pages that were looked up.
    pub fn take_in_summaries(&mut self, places: &[SummaryPlace], summaries: &[PageSummary]) {
        self.pages.take_in(places, summaries);
    }

    /// Returns at most `limit` questions about pages for a language model.
    pub fn summary_questions(&self, space: &SpaceId, limit: usize) -> Vec<SummaryQuestion> {
        self.pages.questions(space, limit)
    }

    /// Marks all open questions (about names, events, topics and pages) so that their readings are looked up again.
    pub fn look_for_open(&mut self) {
        self.entities.look_for_open();
        self.events.look_for_open();
        self.topics.look_for_open();
        self.pages.look_for_open();
    }

    /// Applies what models said of topics that were looked up.
    pub fn take_in_labels(&mut self, places: &[LabelPlace], labels: &[TopicLabel]) {
        self.topics.take_in(places, labels);
    }

    /// Returns at most `limit` questions about topics for a language model.
    pub fn label_questions(&self, limit: usize) -> Vec<LabelQuestion> {
        self.topics.questions(limit)
    }

    /// Applies what models said of pairs of events that were looked up.
    pub fn take_in(&mut self, pairs: &[Pair], verdicts: &[Verdict]) {
        self.events.take_in(pairs, verdicts);
    }

    /// Returns at most `limit` questions about events for a language model.
    pub fn questions(&self, limit: usize) -> Vec<Question> {
        self.events.questions(limit)
    }

    /// Returns everything that changed since the last call, or everything on the first call. `read` holds the time at
    /// which each page was last read. It may take seconds, so do not call it on an async thread.
    pub fn changed(&mut self, space: &SpaceId, acts: &Acts, read: &BTreeMap<PageId, DateTime<Utc>>) -> Changed {
        let mut all = self.entities.changed(space, acts);
        // The order matters: facts need the entities that names refer to, and pages need everything.
        all.extend(self.facts.changed(&self.entities, acts));
        all.extend(self.events.changed(acts));
        all.extend(self.topics.changed(acts));
        self.pages.apply(&all);
        self.pages.set_unsummed(acts.unsummed());
        all.extend(self.pages.changed(space, read));
        all
    }

    /// Returns the pages that changed after the readings of pages were applied. It may take seconds, so do not call
    /// it on an async thread.
    pub fn changed_pages(&mut self, space: &SpaceId, read: &BTreeMap<PageId, DateTime<Utc>>) -> Changed {
        self.pages.changed(space, read)
    }
}
