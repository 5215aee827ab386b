//! Merges: which two objects were judged to be the same, why, and what the kept one took over (CompassMem, section 3.2;
//! REMem, section 3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{MergeId, RecordId, UnitId};
use crate::relation::RelationKind;

/// The kind of objects that were merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeOf {
    /// Two names of one entity.
    Entities,
    /// Two event units that describe the same event.
    Units,
}

/// A judgement that two objects are the same, stored so that it can be read and undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Merge {
    /// Derived from both objects.
    pub id: MergeId,
    /// The kind of the two objects.
    pub of: MergeOf,
    /// The object that stays: the one observed first, ties by id.
    pub kept: Uuid,
    /// The object that was merged into `kept`.
    pub merged: Uuid,
    /// Names of both objects, `kept` first: of entities as written, of units their tags.
    pub names: [String; 2],
    /// Cosine similarity of the two.
    pub similarity: f32,
    /// Whether they were judged the same.
    pub same_event: bool,
    /// Whether they share people, time or place.
    pub has_overlap: bool,
    /// The relation between the two units. `causes`, `motivates`, `enables`, `follows_up` and `before` are read from
    /// `kept` to `merged`, all others from `merged` to `kept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<RelationKind>,
    /// The reason, in words.
    pub reason: String,
    /// The records of the merged unit; the kept unit now refers to them too.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// Of units: when the later one of the two was observed. The merge does not exist before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Whether a curation undid it.
    #[serde(default)]
    pub undone: bool,
    /// Time at which the curation was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<DateTime<Utc>>,
}

impl Merge {
    /// Returns true if the two objects count as the same at `as_of`, as far as was known then; without `as_of`, as far
    /// as is known today.
    pub fn holds_at(&self, as_of: Option<DateTime<Utc>>) -> bool {
        let undone = |as_of: DateTime<Utc>| self.undone && self.undone_at.is_none_or(|it| it <= as_of);
        self.same_event
            && match as_of {
                Some(as_of) => self.since.is_none_or(|it| it <= as_of) && !undone(as_of),
                None => !self.undone,
            }
    }
}

/// The merges of one event unit with other units about the same event; an index to find them by the unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The unit.
    pub unit: UnitId,
    /// The merge that put this unit into another one, even if it was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<MergeId>,
    /// The merges that put other units into this one, including undone ones. At most a hundred, sorted by when the
    /// other units were observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<MergeId>,
}
