use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::curation::{Act, Corrected, Curation, acts_in_effect};
use domain::id::{FactId, UnitId};

/// One decision about a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// The moment of the decision.
    pub(super) at: DateTime<Utc>,
    /// The corrected value; `None` if the fact was retired.
    pub(super) now: Option<String>,
}

/// The decisions of people about units that are in force. If two acts are about one unit, the later one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acts {
    /// Units that rank before others of their kind.
    pub(super) pinned: BTreeSet<UnitId>,
    /// Units that must not be shown any more.
    pub(super) forgotten: BTreeSet<UnitId>,
    /// The decisions about facts, by the fact as it was first stated, in the order in which they were made.
    pub(super) decided: BTreeMap<FactId, Vec<Decision>>,
}

impl Acts {
    /// Reads the acts that no later act undid.
    pub(super) fn from_curations(curations: &[Curation]) -> Acts {
        let mut acts = Acts::default();
        let corrected = Corrected::from_curations(curations);
        for curation in acts_in_effect(curations) {
            match &curation.act {
                Act::PinUnit { unit } => {
                    acts.forgotten.remove(unit);
                    acts.pinned.insert(*unit);
                }
                Act::ForgetUnit { unit } => {
                    acts.pinned.remove(unit);
                    acts.forgotten.insert(*unit);
                }
                Act::CorrectFact { fact, object } => {
                    acts.add_decision(corrected.original_fact(*fact), curation.at, Some(object.clone()));
                }
                Act::RetireFact { fact } => {
                    acts.add_decision(corrected.original_fact(*fact), curation.at, None);
                }
                // The clusterer and the writer apply these.
                Act::UndoMerge { .. }
                | Act::UndoLabel { .. }
                | Act::UndoSummary { .. }
                | Act::EraseRecord { .. }
                | Act::Undo { .. } => {}
            }
        }
        acts
    }

    fn add_decision(&mut self, original_fact: FactId, at: DateTime<Utc>, now: Option<String>) {
        self.decided
            .entry(original_fact)
            .or_default()
            .push(Decision { at, now });
    }
}
