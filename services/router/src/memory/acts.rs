use std::collections::BTreeSet;

use domain::curation::{Act, Curation, standing};
use domain::id::UnitId;

/// What people decided about units, as far as it stands; of two acts about one unit the later one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acts {
    /// Units that stand before others of their kind.
    pub(super) pinned: BTreeSet<UnitId>,
    /// Units that are not to be told any more.
    pub(super) forgotten: BTreeSet<UnitId>,
}

impl Acts {
    /// Reads the acts that no later one took back.
    pub(super) fn of(curations: &[Curation]) -> Acts {
        let mut acts = Acts::default();
        for curation in standing(curations) {
            match curation.act {
                Act::PinUnit { unit } => {
                    acts.forgotten.remove(&unit);
                    acts.pinned.insert(unit);
                }
                Act::ForgetUnit { unit } => {
                    acts.pinned.remove(&unit);
                    acts.forgotten.insert(unit);
                }
                // The clusterer and the writer see to these.
                Act::CorrectFact { .. }
                | Act::RetireFact { .. }
                | Act::UndoMerge { .. }
                | Act::EraseRecord { .. }
                | Act::Undo { .. } => {}
            }
        }
        acts
    }
}
