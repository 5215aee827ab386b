//! What people decided, as far as it stands.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::curation::{Act, Corrected, Curation, standing};
use domain::id::{FactId, MergeId, UnitId};

/// The acts that bear on what is derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    /// What was decided about facts, by the fact as it was told; the later one counts.
    decided: BTreeMap<FactId, Vec<Decision>>,
    /// Merges that were undone, and since when.
    parted: BTreeMap<MergeId, DateTime<Utc>>,
    forgotten: BTreeSet<UnitId>,
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
                Act::ForgetUnit { unit } => {
                    acts.forgotten.insert(*unit);
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

    /// Says whether what a unit states is not to be told any more.
    pub fn is_forgotten(&self, unit: UnitId) -> bool {
        self.forgotten.contains(&unit)
    }

    /// Returns the facts, as they were told, that somebody corrected or retired.
    pub fn facts(&self) -> impl Iterator<Item = FactId> {
        self.decided.keys().copied()
    }

    /// Returns the units that are not to be proposed any more.
    pub fn forgotten(&self) -> impl Iterator<Item = UnitId> {
        self.forgotten.iter().copied()
    }

    /// Says whether two that were taken for one are two.
    pub fn is_parted(&self, merge: MergeId) -> bool {
        self.parted.contains_key(&merge)
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
