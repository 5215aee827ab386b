//! Curation: what people decided about a memory, as records of their own; the state follows from units and these.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{CurationId, FactId, MergeId, PageId, RecordId, TopicId, UnitId};

/// One act. Never changed; another one undoes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Curation {
    /// Derived from the space and the caller's id for it.
    pub id: CurationId,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// Name of the key that did it; empty without keys.
    pub by: String,
    /// What was done.
    pub act: Act,
    /// Why, in the words of whoever did it.
    #[serde(default)]
    pub reason: String,
}

impl Curation {
    /// Returns true if it holds words of a person: why it was done, or what a fact should say.
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

    /// Returns the act without words: that it was done, when, by whom and to what stays. A correction without words corrects
    /// nothing.
    #[must_use]
    pub fn redacted(mut self) -> Curation {
        self.reason.clear();
        if let Act::CorrectFact { object, .. } = &mut self.act {
            object.clear();
        }
        self
    }

    /// Returns true if it is a correction whose words were redacted.
    fn corrects_nothing(&self) -> bool {
        matches!(&self.act, Act::CorrectFact { object, .. } if object.is_empty())
    }
}

/// What can be decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Act {
    /// The value of a fact is another one.
    CorrectFact {
        /// The fact.
        fact: FactId,
        /// What it should say.
        object: String,
    },
    /// A fact is not to be told any more.
    RetireFact {
        /// The fact.
        fact: FactId,
    },
    /// Two things that were taken for one are two.
    UndoMerge {
        /// The merge.
        merge: MergeId,
    },
    /// A topic is not to be called, or summed up, as a language model said.
    UndoLabel {
        /// The topic.
        topic: TopicId,
    },
    /// A page and its sections are not to be summed up as a language model said.
    UndoSummary {
        /// The page.
        page: PageId,
    },
    /// A unit is to stand before others of its kind.
    PinUnit {
        /// The unit.
        unit: UnitId,
    },
    /// A unit is not to be proposed any more; its record stays.
    ForgetUnit {
        /// The unit.
        unit: UnitId,
    },
    /// A record is erased with all that derives only from it. Cannot be undone.
    EraseRecord {
        /// The record.
        record: RecordId,
    },
    /// An earlier act is taken back.
    Undo {
        /// The act.
        curation: CurationId,
    },
}

/// Which facts, as they were told, corrections speak of.
#[derive(Clone, Debug, Default)]
pub struct Corrected(BTreeMap<FactId, FactId>);

impl Corrected {
    /// Reads all corrections, also those that were taken back: an act on what one said is about the same fact still.
    pub fn of(all: &[Curation]) -> Corrected {
        let corrected = all.iter().filter_map(|it| match it.act {
            Act::CorrectFact { fact, .. } => Some((FactId::corrected(fact, it.id), fact)),
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

    /// Returns the fact that was told, of it itself or of what a correction, or one of that, put in its place.
    pub fn told(&self, fact: FactId) -> FactId {
        let mut told = fact;
        while let Some(before) = self.0.get(&told) {
            told = *before;
        }
        told
    }
}

/// Acts that stand: those that no later act took back, by id.
///
/// A correction that was redacted, because the record of its fact was erased, does not stand. The later of two acts about the
/// same thing counts; acts are ordered by (`at`, `id`).
pub fn standing(all: &[Curation]) -> Vec<&Curation> {
    let mut sorted: Vec<&Curation> = all.iter().collect();
    sorted.sort_by_key(|it| (it.at, it.id));
    let mut undone = std::collections::BTreeSet::new();
    // From the last one back: an undoing that is undone itself takes nothing back.
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
