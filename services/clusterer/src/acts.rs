//! What people decided, as far as it stands.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::curation::{Act, Corrected, Curation, standing};
use domain::id::{FactId, MergeId, PageId, TopicId, UnitId};

/// The acts that bear on what is derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    /// What was decided about facts, by the fact as it was told; the later one counts.
    decided: BTreeMap<FactId, Vec<Decision>>,
    /// Merges that were undone, and since when.
    parted: BTreeMap<MergeId, DateTime<Utc>>,
    /// Units that are not to be told any more, and since when.
    forgotten: BTreeMap<UnitId, DateTime<Utc>>,
    /// Topics that are called as without a language model.
    unlabelled: BTreeSet<TopicId>,
    /// Pages that are summed up as without a language model.
    unsummed: BTreeSet<PageId>,
}

/// What was decided about one fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// When.
    pub(crate) at: DateTime<Utc>,
    /// The fact that stands in its place, and what that says; none if nothing does.
    pub(crate) instead: Option<(FactId, String)>,
}

impl Acts {
    /// Reads the acts that no later one took back.
    pub fn of(curations: &[Curation]) -> Acts {
        let mut acts = Acts::default();
        let corrected = Corrected::of(curations);
        let mut decide = |fact: &FactId, at, instead| {
            let decisions = acts.decided.entry(corrected.told(*fact)).or_default();
            decisions.push(Decision { at, instead });
        };
        for curation in standing(curations) {
            match &curation.act {
                Act::CorrectFact { fact, object } => {
                    let id = FactId::corrected(*fact, curation.id);
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
                    acts.unsummed.insert(*page);
                }
                Act::ForgetUnit { unit } => {
                    acts.forgotten.entry(*unit).or_insert(curation.at);
                }
                // The router and the writer see to these.
                Act::PinUnit { .. } | Act::EraseRecord { .. } | Act::Undo { .. } => {}
            }
        }
        acts
    }

    /// Returns what was decided about a fact that was told, by time.
    pub(crate) fn decided(&self, fact: FactId) -> &[Decision] {
        self.decided.get(&fact).map_or(&[], Vec::as_slice)
    }

    /// Returns since when what a unit states is not to be told any more; none if it is.
    pub(crate) fn forgotten_at(&self, unit: UnitId) -> Option<DateTime<Utc>> {
        self.forgotten.get(&unit).copied()
    }

    /// Returns the facts, as they were told, that somebody corrected or retired.
    pub fn facts(&self) -> impl Iterator<Item = FactId> {
        self.decided.keys().copied()
    }

    /// Returns the units that are not to be proposed any more.
    pub fn forgotten(&self) -> impl Iterator<Item = UnitId> {
        self.forgotten.keys().copied()
    }

    /// Says whether two that were taken for one are two.
    pub fn is_parted(&self, merge: MergeId) -> bool {
        self.parted.contains_key(&merge)
    }

    /// Returns the topics that are not to be called as a language model said.
    pub(crate) fn unlabelled(&self) -> &BTreeSet<TopicId> {
        &self.unlabelled
    }

    /// Returns the pages that are not to be summed up as a language model said.
    pub(crate) fn unsummed(&self) -> &BTreeSet<PageId> {
        &self.unsummed
    }

    /// Returns what was parted, and when.
    pub(crate) fn parted(&self) -> &BTreeMap<MergeId, DateTime<Utc>> {
        &self.parted
    }

    /// Returns since when two that were taken for one are two; none if they are one.
    pub(crate) fn parted_at(&self, merge: MergeId) -> Option<DateTime<Utc>> {
        self.parted.get(&merge).copied()
    }
}
