//! Merges: what was taken for one, why, and what it took over (CompassMem, section 3.2; REMem, section 3).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{MergeId, RecordId};
use crate::relation::RelationKind;

/// What was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeOf {
    /// Two names of one entity.
    Entities,
    /// Two event units that tell of one event.
    Units,
}

/// A judgement that two are one, kept so that it can be read and undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Merge {
    /// Derived from both.
    pub id: MergeId,
    /// What was merged.
    pub of: MergeOf,
    /// The one that stays: the one observed first, ties by id.
    pub kept: Uuid,
    /// The one that went into it.
    pub merged: Uuid,
    /// Names of both, kept first: of entities as written, of units their tags.
    pub names: [String; 2],
    /// Cosine of the two.
    pub similarity: f32,
    /// Whether they were judged the same.
    pub same_event: bool,
    /// Whether they share people, time or place.
    pub has_overlap: bool,
    /// How they stand to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<RelationKind>,
    /// Why, in words.
    pub reason: String,
    /// The records of the merged unit, to which the kept one now points too.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// Whether a curation undid it.
    #[serde(default)]
    pub undone: bool,
}
