use domain::curation::Curation;
use domain::id::{ErasureId, FactId, MergeId, PageId, TopicId, UnitId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::json_object::deserialize_object;

/// A decision about the memory. The audit log keeps it permanently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCuration {
    /// Your id, unique in the space. The same id with the same content is applied once; with other content it is a
    /// conflict. If it is left out, the id derives from the `Idempotency-Key`; without that header, each request is a
    /// new act. Not `.` or `..`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub id: Option<String>,
    /// The change to make.
    #[serde(deserialize_with = "deserialize_object")]
    pub act: NewAct,
    /// The reason, in your words.
    #[serde(default)]
    #[schema(max_length = 1024)]
    pub reason: String,
}

/// Kinds of decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum NewAct {
    /// Replaces the value of a fact.
    CorrectFact {
        /// The fact.
        fact: FactId,
        /// The new value.
        #[schema(min_length = 1, max_length = 1024)]
        object: String,
    },
    /// Withdraws a fact. The fact is no longer used; lists still contain it, as withdrawn.
    RetireFact {
        /// The fact.
        fact: FactId,
    },
    /// Separates two objects that were merged into one.
    UndoMerge {
        /// The merge.
        merge: MergeId,
    },
    /// Removes the name and the summary that a language model gave a topic. The topic is named as without a model.
    UndoLabel {
        /// The topic.
        topic: TopicId,
    },
    /// Removes the summaries that a language model wrote for a page and its sections. Rules write the summary instead.
    UndoSummary {
        /// The page.
        page: PageId,
    },
    /// Ranks a unit before others of its kind.
    PinUnit {
        /// The unit.
        unit: UnitId,
    },
    /// Excludes a unit from all proposals; its record stays.
    ForgetUnit {
        /// The unit.
        unit: UnitId,
    },
    /// Erases a record and all data that derive only from it. This cannot be undone and needs the right `admin`.
    EraseRecord {
        /// Your id of the record, or Mnemic's. If the record has several versions, only the version with this id is
        /// erased: by `a` the first one, by `a#v2` the second one.
        #[schema(min_length = 1, max_length = 262)]
        record: String,
    },
    /// Takes back an earlier act. An erasure cannot be taken back.
    Undo {
        /// Your id of the act, or Mnemic's.
        #[schema(min_length = 1, max_length = 256)]
        curation: String,
    },
}

/// A decision that was accepted: 202 means that it is on disk and will be applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Curated {
    /// Watermark of this write. Once it is searchable, the memory reflects the decision.
    pub watermark: String,
    /// The act, as stored.
    pub curation: Curation,
    /// For an erasure: the id of its receipt, which exists once the watermark is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureId>,
}
