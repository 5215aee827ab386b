//! All data derived from the units of one space.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::{PageId, SpaceId};
use domain::unit::Unit;

use crate::entities::Entities;
use crate::events::Events;
use crate::facts::Facts;
use crate::judgements::coreference::{Pair, PairJudgement, Question};
use crate::judgements::labels::{LabelQuestion, LabelSubject, TopicLabel};
use crate::judgements::people::{PeopleJudgement, PeopleQuestion, PeopleSubject};
use crate::judgements::summaries::{PageSummary, SummaryQuestion, SummarySubject};
use crate::pages::Pages;
use crate::topics::Topics;
use crate::{Acts, ChangedObjects, SpillFile};

/// Estimated bytes for a unit without its facts (`UNIT_BYTES`) and for a fact (`FACT_BYTES`), both here and in the
/// digests of the store.
const UNIT_BYTES: usize = 1_536;
const FACT_BYTES: usize = 1_024;
/// The same if everything that is not in use was spilled.
const SPILLED_UNIT_BYTES: usize = 512;
const SPILLED_FACT_BYTES: usize = 512;

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
    pub fn apply_unit(&mut self, unit: &Unit, vector: Option<&Arc<[f32]>>) {
        self.entities.apply_unit(unit);
        self.facts.apply_unit(unit);
        self.events.apply_unit(unit, vector);
        self.topics.apply_unit(unit, vector);
        self.pages.apply_unit(unit);
    }

    /// Returns the number of units applied.
    pub fn count_units(&self) -> usize {
        self.entities.count_turn_units() + self.events.count_event_units()
    }

    /// Returns a rough estimate of the memory used, in bytes, from the number of units and facts.
    pub fn estimated_bytes(&self) -> usize {
        self.count_units() * UNIT_BYTES + self.facts.count_stated_facts() * FACT_BYTES
    }

    /// Returns the same estimate for a memory from which everything was spilled that is not in use.
    pub(crate) fn estimated_bytes_if_spilled(&self) -> usize {
        self.count_units() * SPILLED_UNIT_BYTES + self.facts.count_stated_facts() * SPILLED_FACT_BYTES
    }

    /// Moves to a file what was not used since the last call. It is read back when it is needed, so nothing else
    /// changes; if that fails, [`SpillFile::is_damaged`] returns true, and the memory must not be used any longer.
    pub fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.entities.spill_unused(file);
        self.facts.spill_unused(file);
        self.events.spill_unused(file);
        self.topics.spill_unused(file);
        self.pages.spill_unused(file);
    }

    /// Returns the pairs of events whose readings have to be looked up before anything else is called; see
    /// [`Events::pairs_to_look_up`]. It may take seconds, so do not call it on an async thread.
    pub fn event_pairs_to_look_up(&mut self) -> Vec<Pair> {
        self.events.pairs_to_look_up()
    }

    /// Returns the topics whose readings have to be looked up, like [`Memory::event_pairs_to_look_up`] for events.
    pub fn unlooked_labels(&mut self) -> Vec<LabelSubject> {
        self.topics.topics_to_look_up()
    }

    /// Returns the pairs of names whose readings have to be looked up, like [`Memory::event_pairs_to_look_up`] for events.
    pub fn unlooked_people(&mut self, space: &SpaceId) -> Vec<PeopleSubject> {
        self.entities.name_pairs_to_look_up(space)
    }

    /// Applies what models said of pairs of names that were looked up.
    pub fn take_in_people(&mut self, places: &[PeopleSubject], verdicts: &[PeopleJudgement]) {
        self.entities.apply_readings(places, verdicts);
    }

    /// Returns at most `limit` questions about names for a language model.
    pub fn people_questions(&self, space: &SpaceId, limit: usize) -> Vec<PeopleQuestion> {
        self.entities.open_questions(space, limit)
    }

    /// Returns the pages whose readings have to be looked up. Call it after [`Memory::take_changes`];
    /// [`Memory::changed_pages`] then returns the pages that the readings change.
    pub fn unlooked_pages(&self) -> Vec<SummarySubject> {
        self.pages.pages_to_look_up()
    }

    /// Applies what models said of pages that were looked up.
    pub fn take_in_summaries(&mut self, places: &[SummarySubject], summaries: &[PageSummary]) {
        self.pages.apply_readings(places, summaries);
    }

    /// Returns at most `limit` questions about pages for a language model.
    pub fn summary_questions(&self, space: &SpaceId, limit: usize) -> Vec<SummaryQuestion> {
        self.pages.open_questions(space, limit)
    }

    /// Marks all open questions (about names, events, topics and pages) so that their readings are looked up again.
    pub fn mark_open_questions(&mut self) {
        self.entities.mark_open_questions();
        self.events.mark_open_questions();
        self.topics.mark_open_questions();
        self.pages.mark_open_questions();
    }

    /// Applies what models said of topics that were looked up.
    pub fn take_in_labels(&mut self, places: &[LabelSubject], labels: &[TopicLabel]) {
        self.topics.apply_readings(places, labels);
    }

    /// Returns at most `limit` questions about topics for a language model.
    pub fn label_questions(&self, limit: usize) -> Vec<LabelQuestion> {
        self.topics.open_questions(limit)
    }

    /// Applies what models said of pairs of events that were looked up.
    pub fn apply_readings(&mut self, pairs: &[Pair], verdicts: &[PairJudgement]) {
        self.events.apply_readings(pairs, verdicts);
    }

    /// Returns at most `limit` questions about events for a language model.
    pub fn event_questions(&self, limit: usize) -> Vec<Question> {
        self.events.open_questions(limit)
    }

    /// Returns everything that changed since the last call, or everything on the first call. `read` holds the time at
    /// which each page was last read. It may take seconds, so do not call it on an async thread.
    pub fn take_changes(
        &mut self,
        space: &SpaceId,
        acts: &Acts,
        read: &BTreeMap<PageId, DateTime<Utc>>,
    ) -> ChangedObjects {
        let mut all = self.take_changes_without_pages(space, acts);
        all.append_changes(self.pages.take_changes(space, read));
        all
    }

    /// Returns everything else than pages that changed since the last call. Pages that are affected wait for
    /// [`Memory::changed_pages`].
    pub(crate) fn take_changes_without_pages(&mut self, space: &SpaceId, acts: &Acts) -> ChangedObjects {
        let acts = acts.with_turns_of_forgotten_events(|it| self.pages.turns_of_event(it));
        let mut all = self.entities.take_changes(space, &acts);
        // The order matters: facts need the entities that names refer to, and pages need everything.
        all.append_changes(self.facts.take_changes(&self.entities, &acts));
        all.append_changes(self.events.take_changes(&acts));
        all.append_changes(self.topics.take_changes(&acts));
        self.pages.share_facts(self.facts.take_shared_facts());
        self.pages.apply_changes(&all);
        self.pages
            .set_pages_with_rejected_summary(acts.pages_with_rejected_summary());
        self.pages.set_forgotten(acts.forgotten_unit_ids());
        all
    }

    /// Returns about how many pages wait to be rebuilt.
    pub(crate) fn count_affected_pages(&self) -> usize {
        self.pages.count_affected()
    }

    /// Returns the pages that changed since the last call, for example because readings of pages were applied. It may
    /// take seconds, so do not call it on an async thread.
    pub fn changed_pages(&mut self, space: &SpaceId, read: &BTreeMap<PageId, DateTime<Utc>>) -> ChangedObjects {
        self.pages.take_changes(space, read)
    }
}
