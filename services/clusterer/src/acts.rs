//! What people decided, as far as it stands.

use std::collections::{BTreeMap, BTreeSet};

use domain::curation::{Act, Curation, standing};
use domain::id::{FactId, MergeId, UnitId};

/// The acts that bear on what is derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    corrected: BTreeMap<FactId, String>,
    retired: BTreeSet<FactId>,
    parted: BTreeSet<MergeId>,
    forgotten: BTreeSet<UnitId>,
}

impl Acts {
    /// Reads the acts that no later one took back; of two about the same fact the later one counts.
    pub fn of(curations: &[Curation]) -> Acts {
        let mut acts = Acts::default();
        for curation in standing(curations) {
            match &curation.act {
                Act::CorrectFact { fact, object } => {
                    acts.retired.remove(fact);
                    acts.corrected.insert(*fact, object.clone());
                }
                Act::RetireFact { fact } => {
                    acts.corrected.remove(fact);
                    acts.retired.insert(*fact);
                }
                Act::UndoMerge { merge } => {
                    acts.parted.insert(*merge);
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

    /// Returns what a fact should say, if somebody said so.
    pub fn correction(&self, fact: FactId) -> Option<&str> {
        self.corrected.get(&fact).map(String::as_str)
    }

    /// Says whether a fact is not to be told any more.
    pub fn is_retired(&self, fact: FactId) -> bool {
        self.retired.contains(&fact)
    }

    /// Says whether what a unit states is not to be told any more.
    pub fn is_forgotten(&self, unit: UnitId) -> bool {
        self.forgotten.contains(&unit)
    }

    /// Returns the facts that somebody corrected or retired.
    pub fn facts(&self) -> impl Iterator<Item = FactId> {
        self.corrected.keys().chain(&self.retired).copied()
    }

    /// Returns the units that are not to be proposed any more.
    pub fn forgotten(&self) -> impl Iterator<Item = UnitId> {
        self.forgotten.iter().copied()
    }

    /// Says whether two that were taken for one are two.
    pub fn is_parted(&self, merge: MergeId) -> bool {
        self.parted.contains(&merge)
    }
}
