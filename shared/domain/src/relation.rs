//! Relations: typed, directed, evidenced edges between units.

use serde::{Deserialize, Serialize};

use crate::id::{RecordId, UnitId};

/// The closed set of relation types; `Other` keeps its label as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// The source brings the target about.
    Causes,
    /// The source is why somebody does the target.
    Motivates,
    /// The source makes the target possible.
    Enables,
    /// The target continues the source.
    FollowsUp,
    /// The source happened before the target.
    Before,
    /// The two stand against each other.
    Contrasts,
    /// The source is a piece of the target.
    PartOf,
    /// The two happen side by side.
    Parallel,
    /// The source says more about the target.
    Elaborates,
    /// The two tell of the same thing, as far as the weight says.
    SameAs,
    /// Anything else, named by the label.
    Other,
}

/// One edge `source -> target`. Its key is (source, kind, label, target).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Relation {
    /// Where it starts.
    pub source: UnitId,
    /// Where it leads.
    pub target: UnitId,
    /// Its type.
    pub kind: RelationKind,
    /// Free label; only `Other` has one.
    #[serde(default)]
    pub label: String,
    /// 0 to 1.
    pub weight: f32,
    /// The records that support it.
    pub evidence: Vec<RecordId>,
}
