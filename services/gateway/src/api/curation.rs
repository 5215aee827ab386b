use domain::curation::Curation;
use domain::id::{ErasureId, FactId, MergeId, PageId, TopicId, UnitId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::object::object;

/// Something decided about the memory. It is kept for good, in the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCuration {
    /// Your id, unique in the space: the same id with the same content is done once, with other content it is a conflict.
    /// Without one, it derives from the `Idempotency-Key`; without that, the act is a new one each time. Not `.` or `..`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub id: Option<String>,
    /// What is to be done.
    #[serde(deserialize_with = "object")]
    pub act: NewAct,
    /// Why, in your words.
    #[serde(default)]
    #[schema(max_length = 1024)]
    pub reason: String,
}

/// What can be decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum NewAct {
    /// The value of a fact is another one.
    CorrectFact {
        /// The fact.
        fact: FactId,
        /// What it should say.
        #[schema(min_length = 1, max_length = 1024)]
        object: String,
    },
    /// A fact is not to be told any more; it stays in the lists, withdrawn.
    RetireFact {
        /// The fact.
        fact: FactId,
    },
    /// Two things that were taken for one are two.
    UndoMerge {
        /// The merge.
        merge: MergeId,
    },
    /// A topic is not to be called, or summed up, as a language model said; it is called as without a model.
    UndoLabel {
        /// The topic.
        topic: TopicId,
    },
    /// A page and its sections are not to be summed up as a language model said; the rules sum the page up.
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
    /// A record is erased, with all that derives only from it. Cannot be undone; needs the right `admin`.
    EraseRecord {
        /// Your id of the record, or Mnemic's.
        #[schema(min_length = 1, max_length = 256)]
        record: String,
    },
    /// An earlier act is taken back; not an erasure.
    Undo {
        /// Your id of the act, or Mnemic's.
        #[schema(min_length = 1, max_length = 256)]
        curation: String,
    },
}

/// What was decided: 202 means that it is on disk and will be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Curated {
    /// Names this write; once it is searchable, the memory is as was decided.
    pub watermark: String,
    /// The act, as it is kept.
    pub curation: Curation,
    /// Of an erasure: the id of its receipt, which is there once the watermark is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureId>,
}
