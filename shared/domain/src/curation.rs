//! Curation: decisions that people make about a memory. They are stored as separate records, which form the audit
//! log; the state of the memory follows from the units and these decisions.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{CurationId, FactId, MergeId, PageId, RecordId, TopicId, UnitId};

/// One decision. It is never changed; a later act undoes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Curation {
    /// Derived from the space and the caller's id for the act.
    pub id: CurationId,
    /// Time at which the curation was accepted.
    pub at: DateTime<Utc>,
    /// Name of the API key that was used; empty if the server has no keys.
    pub by: String,
    /// The act of the curation.
    pub act: Act,
    /// The reason, in the words of the person who acted.
    #[serde(default)]
    pub reason: String,
}

impl Curation {
    /// Returns true if the act holds words of a person: a reason, or the corrected value of a fact.
    pub fn has_words(&self) -> bool {
        let object = match &self.act {
            Act::CorrectFact { object, .. } => object.as_str(),
            Act::RetireFact { .. }
            | Act::UndoMerge { .. }
            | Act::UndoLabel { .. }
            | Act::UndoSummary { .. }
            | Act::PinUnit { .. }
            | Act::ForgetUnit { .. }
            | Act::EraseRecord { .. }
            | Act::Undo { .. } => "",
        };
        !object.is_empty() || !self.reason.is_empty()
    }

    /// Returns the act without words. Its kind, time, author and target stay. A correction without words corrects
    /// nothing.
    #[must_use]
    pub fn without_words(mut self) -> Curation {
        self.reason.clear();
        if let Act::CorrectFact { object, .. } = &mut self.act {
            object.clear();
        }
        self
    }

    /// Returns true if the act is a correction whose words were redacted.
    fn corrects_nothing(&self) -> bool {
        matches!(&self.act, Act::CorrectFact { object, .. } if object.is_empty())
    }
}

/// The kinds of decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Act {
    /// Replaces the value of a fact.
    CorrectFact {
        /// The fact.
        fact: FactId,
        /// The correct value.
        object: String,
    },
    /// Retracts a fact: it is no longer reported.
    RetireFact {
        /// The fact.
        fact: FactId,
    },
    /// Splits two things that were merged.
    UndoMerge {
        /// The merge.
        merge: MergeId,
    },
    /// Rejects the label and the summary that a language model gave to a topic.
    UndoLabel {
        /// The topic.
        topic: TopicId,
    },
    /// Rejects the summaries that a language model wrote for a page and its sections.
    UndoSummary {
        /// The page.
        page: PageId,
    },
    /// Ranks a unit above other units of its kind.
    PinUnit {
        /// The unit.
        unit: UnitId,
    },
    /// Stops a unit from being proposed; its record stays.
    ForgetUnit {
        /// The unit.
        unit: UnitId,
    },
    /// Erases a record and all data that derive only from it. Cannot be undone.
    EraseRecord {
        /// The record.
        record: RecordId,
    },
    /// Undoes an earlier act.
    Undo {
        /// The act.
        curation: CurationId,
    },
}

/// Maps each corrected fact to the fact that it was corrected from.
#[derive(Clone, Debug, Default)]
pub struct Corrected(BTreeMap<FactId, FactId>);

impl Corrected {
    /// Reads all corrections, including undone ones: an act on a corrected fact still concerns the original fact.
    pub fn from_curations(all: &[Curation]) -> Corrected {
        let corrected = all.iter().filter_map(|it| match it.act {
            Act::CorrectFact { fact, .. } => Some((FactId::of_correction(fact, it.id), fact)),
            Act::RetireFact { .. }
            | Act::UndoMerge { .. }
            | Act::UndoLabel { .. }
            | Act::UndoSummary { .. }
            | Act::PinUnit { .. }
            | Act::ForgetUnit { .. }
            | Act::EraseRecord { .. }
            | Act::Undo { .. } => None,
        });
        Corrected(corrected.collect())
    }

    /// Returns the original fact of `fact`, through any number of corrections. Returns `fact` itself if it is not a
    /// correction.
    pub fn original_fact(&self, fact: FactId) -> FactId {
        let mut original = fact;
        while let Some(before) = self.0.get(&original) {
            original = *before;
        }
        original
    }
}

/// Returns the acts in effect, in order of (`at`, `id`): all acts that no later act undid.
///
/// A correction that was redacted because the record of its fact was erased is not in effect. Of two acts about the
/// same thing, the later one counts.
pub fn acts_in_effect(all: &[Curation]) -> Vec<&Curation> {
    let mut sorted: Vec<&Curation> = all.iter().collect();
    sorted.sort_by_key(|it| (it.at, it.id));
    let mut undone = std::collections::BTreeSet::new();
    // From the last act to the first: an `Undo` that is itself undone undoes nothing.
    for act in sorted.iter().rev() {
        if let Act::Undo { curation } = act.act
            && !undone.contains(&act.id)
        {
            undone.insert(curation);
        }
    }
    sorted.retain(|it| !undone.contains(&it.id) && !matches!(it.act, Act::Undo { .. }) && !it.corrects_nothing());
    sorted
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use uuid::Uuid;

    use super::*;

    /// Returns the act with an id and a time that follow from its number.
    fn numbered_act(number: u8, act: Act) -> Curation {
        Curation {
            id: CurationId::from_uuid(Uuid::from_u128(number.into())),
            at: DateTime::UNIX_EPOCH + TimeDelta::seconds(number.into()),
            by: String::new(),
            act,
            reason: String::new(),
        }
    }

    fn ids_in_effect(all: &[Curation]) -> Vec<CurationId> {
        acts_in_effect(all).into_iter().map(|it| it.id).collect()
    }

    #[test]
    fn an_undone_act_has_no_effect_until_its_undo_is_undone() {
        let (fact, unit) = (FactId::from_uuid(Uuid::nil()), UnitId::from_uuid(Uuid::nil()));
        let retire = numbered_act(1, Act::RetireFact { fact });
        let pin = numbered_act(2, Act::PinUnit { unit });
        let undo = numbered_act(3, Act::Undo { curation: retire.id });
        let undo_of_undo = numbered_act(4, Act::Undo { curation: undo.id });
        let mut all = vec![retire.clone(), pin.clone()];
        assert_eq!(ids_in_effect(&all), [retire.id, pin.id]);
        all.push(undo);
        assert_eq!(ids_in_effect(&all), [pin.id]);
        all.push(undo_of_undo);
        assert_eq!(ids_in_effect(&all), [retire.id, pin.id]);
    }
}
