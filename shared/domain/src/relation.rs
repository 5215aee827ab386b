//! Relations: typed, directed, evidenced edges between units.

use serde::{Deserialize, Serialize};

use crate::id::{RecordId, UnitId};

/// The closed set of relation types; `Other` keeps its label as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// The source is the cause of the target.
    Causes,
    /// The source is the reason for an action, the target.
    Motivates,
    /// The source makes the target possible.
    Enables,
    /// The target continues the source.
    FollowsUp,
    /// The source happened before the target.
    Before,
    /// The two contradict each other.
    Contrasts,
    /// The source is a piece of the target.
    PartOf,
    /// The two happen at the same time.
    Parallel,
    /// The source gives details of the target.
    Elaborates,
    /// The two describe the same thing, with a certainty given by the weight.
    SameAs,
    /// Anything else, named by the label.
    Other,
}

/// One edge `source -> target`. Its key is (source, kind, label, target).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Relation {
    /// Start of the edge.
    pub source: UnitId,
    /// End of the edge.
    pub target: UnitId,
    /// Type of the relation.
    pub kind: RelationKind,
    /// Free label; only set for `Other`.
    #[serde(default)]
    pub label: String,
    /// Weight, 0 to 1.
    pub weight: f32,
    /// The records that support the relation.
    pub evidence: Vec<RecordId>,
}
