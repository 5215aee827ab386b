//! The decisions of users that are in force.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::curation::{Act, Corrected, Curation, acts_in_effect};
use domain::id::{FactId, MergeId, PageId, TopicId, UnitId};

/// The decisions that affect derived data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    /// The decisions about each fact, keyed by the id of the fact as it was stated; the latest decision counts.
    decided: BTreeMap<FactId, Vec<Decision>>,
    /// Merges that were undone, with the time of the decision.
    parted: BTreeMap<MergeId, DateTime<Utc>>,
    /// Units whose facts were withdrawn, with the time of the decision.
    forgotten: BTreeMap<UnitId, DateTime<Utc>>,
    /// Topics whose label by a language model was rejected.
    unlabelled: BTreeSet<TopicId>,
    /// Pages whose summary by a language model was rejected.
    pages_with_rejected_summary: BTreeSet<PageId>,
}

/// A decision about one fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Time of the decision.
    pub(crate) at: DateTime<Utc>,
    /// The id and the object of the fact that replaces it; none if the fact was retired.
    pub(crate) instead: Option<(FactId, String)>,
}

impl Acts {
    /// Returns the decisions that were not taken back by a later one.
    pub fn from_curations(curations: &[Curation]) -> Acts {
        let mut acts = Acts::default();
        let corrected = Corrected::from_curations(curations);
        let mut decide = |fact: &FactId, at, instead| {
            let decisions = acts.decided.entry(corrected.original_fact(*fact)).or_default();
            decisions.push(Decision { at, instead });
        };
        for curation in acts_in_effect(curations) {
            match &curation.act {
                Act::CorrectFact { fact, object } => {
                    let id = FactId::of_correction(*fact, curation.id);
                    decide(fact, curation.at, Some((id, object.clone())));
                }
                Act::RetireFact { fact } => decide(fact, curation.at, None),
                Act::UndoMerge { merge } => {
                    acts.parted.entry(*merge).or_insert(curation.at);
                }
                Act::UndoLabel { topic } => {
                    acts.unlabelled.insert(*topic);
                }
                Act::UndoSummary { page } => {
                    acts.pages_with_rejected_summary.insert(*page);
                }
                Act::ForgetUnit { unit } => {
                    acts.forgotten.entry(*unit).or_insert(curation.at);
                }
                // Of two acts about one unit, the later one counts.
                Act::PinUnit { unit } => {
                    acts.forgotten.remove(unit);
                }
                // The writer handles these.
                Act::EraseRecord { .. } | Act::Undo { .. } => {}
            }
        }
        acts
    }

    /// Returns the decisions with the turns of forgotten events, which are forgotten with their event. `turns_of_event`
    /// returns nothing for a unit that is not an event.
    pub(crate) fn with_turns_of_forgotten_events(
        &self,
        turns_of_event: impl Fn(UnitId) -> Vec<UnitId>,
    ) -> Cow<'_, Acts> {
        let mut acts = Cow::Borrowed(self);
        for (unit, at) in &self.forgotten {
            for turn in turns_of_event(*unit) {
                let forgotten_at = acts.to_mut().forgotten.entry(turn).or_insert(*at);
                *forgotten_at = (*forgotten_at).min(*at);
            }
        }
        acts
    }

    /// Returns the decisions about a fact as it was stated, in order of time.
    pub(crate) fn decisions_about_fact(&self, fact: FactId) -> &[Decision] {
        self.decided.get(&fact).map_or(&[], Vec::as_slice)
    }

    /// Returns the time at which a unit was forgotten, or none if it was not.
    pub(crate) fn forgotten_at(&self, unit: UnitId) -> Option<DateTime<Utc>> {
        self.forgotten.get(&unit).copied()
    }

    /// Returns the earliest time at which a turn unit of a record was forgotten, or none if none was. `first` is the
    /// first turn unit of the record.
    pub(crate) fn turn_of_record_forgotten_at(&self, first: UnitId) -> Option<DateTime<Utc>> {
        let turns = self.forgotten.range(first..=first.last_part());
        turns.map(|it| *it.1).min()
    }

    /// Returns the ids, as stated, of the facts about which other decisions are in force than in `other`.
    pub(crate) fn facts_decided_differently(&self, other: &Acts) -> BTreeSet<FactId> {
        let ids = self.decided.keys().chain(other.decided.keys()).copied();
        ids.filter(|it| self.decisions_about_fact(*it) != other.decisions_about_fact(*it))
            .collect()
    }

    /// Returns the units that are forgotten here but not in `other`, in `other` only, or at another time.
    pub(crate) fn units_forgotten_differently(&self, other: &Acts) -> BTreeSet<UnitId> {
        let ids = self.forgotten.keys().chain(other.forgotten.keys()).copied();
        ids.filter(|it| self.forgotten_at(*it) != other.forgotten_at(*it))
            .collect()
    }

    /// Returns the units that a user had forgotten.
    pub fn forgotten_unit_ids(&self) -> impl Iterator<Item = UnitId> {
        self.forgotten.keys().copied()
    }

    /// Returns true if a user undid this merge.
    pub fn is_parted(&self, merge: MergeId) -> bool {
        self.parted.contains_key(&merge)
    }

    /// Returns the topics whose label by a language model was rejected.
    pub(crate) fn topics_with_rejected_label(&self) -> &BTreeSet<TopicId> {
        &self.unlabelled
    }

    /// Returns the pages whose summary by a language model was rejected.
    pub(crate) fn pages_with_rejected_summary(&self) -> &BTreeSet<PageId> {
        &self.pages_with_rejected_summary
    }

    /// Returns the merges that a user undid, with the time of the decision.
    pub(crate) fn undone_merges(&self) -> &BTreeMap<MergeId, DateTime<Utc>> {
        &self.parted
    }

    /// Returns the time at which a merge was undone, or none if it was not.
    pub(crate) fn parted_at(&self, merge: MergeId) -> Option<DateTime<Utc>> {
        self.parted.get(&merge).copied()
    }
}
