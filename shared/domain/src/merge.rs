//! Merges: what was taken for one, why, and what it took over (CompassMem, section 3.2; REMem, section 3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{MergeId, RecordId, UnitId};
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
    /// How they stand to each other: `causes`, `motivates`, `enables`, `follows_up` and `before` read from the kept one to the
    /// merged one, all others from the merged one to the kept one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<RelationKind>,
    /// Why, in words.
    pub reason: String,
    /// The records of the merged unit, to which the kept one now points too.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// Of units: when the later telling was observed; before, there were no two to be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Whether a curation undid it.
    #[serde(default)]
    pub undone: bool,
    /// When that was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<DateTime<Utc>>,
}

impl Merge {
    /// Says whether the two are one, as was known at `as_of`; without it, as is known.
    pub fn holds(&self, as_of: Option<DateTime<Utc>>) -> bool {
        let undone = |as_of: DateTime<Utc>| self.undone && self.undone_at.is_none_or(|it| it <= as_of);
        self.same_event
            && match as_of {
                Some(as_of) => self.since.is_none_or(|it| it <= as_of) && !undone(as_of),
                None => !self.undone,
            }
    }
}

/// The merges of an event unit with others that tell of the same event: what is needed to find them by the unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The unit.
    pub unit: UnitId,
    /// The merge by which it went into another one; one that was undone too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<MergeId>,
    /// The merges by which others went into it, undone ones too: at most a hundred, by when those others were observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<MergeId>,
}
